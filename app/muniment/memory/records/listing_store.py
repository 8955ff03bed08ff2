"""The listing half of the store of records: every copy in the chain with its standing, and counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from muniment.memory.clock import utc_now
from muniment.memory.records.listing import ScopeCount, Snapshot, Stats, resolve
from muniment.memory.records.scan import Meta, Seen, Skipped, scan_scope
from muniment.memory.records.scope import Scope, ScopeChain
from muniment.memory.records.searching import SearchedStore
from muniment.paths import Paths

INDEX_WORTH_BYTES = 1_000_000
"""From this size of a scope's index on, listing from it beats reading the files for the first time."""


class ListedStore(SearchedStore):
    """What lists and counts the records of one working directory.

    A command that only lists needs no more than this, and loads no more.
    """

    def __init__(self, paths: Paths, cwd: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(paths, cwd, clock=clock)
        self._seen: dict[Scope, dict[str, Seen]] = {}

    def snapshot(self, *, all: bool = False) -> Snapshot:  # noqa: A002 - the word of the commands
        """Return the effective records, or with `all` every readable copy, and what was skipped."""
        chain = self.chain()
        now = self.clock()
        levels, skipped, _ = self._levels(chain)
        return Snapshot(chain, tuple(resolve(levels, now, everything=all)), tuple(skipped))

    def skipped(self) -> tuple[Skipped, ...]:
        """Return what was skipped, without the list of the rest."""
        chain = self.chain()
        if not self._seen and self._index_is_worth_it(chain):
            return tuple(self._catalog.skipped(chain))
        return tuple(self._levels(chain)[1])

    def stats(self) -> Stats:
        """Count the chain; a repeated id counts in each scope and once in `distinct`."""
        chain = self.chain()
        levels, skipped, counts = self._levels(chain)
        distinct = {meta.id for metas in levels for meta in metas}
        return Stats(tuple(counts), chain.excluded, len(distinct), tuple(skipped))

    def _levels(self, chain: ScopeChain) -> tuple[list[list[Meta]], list[Skipped], list[ScopeCount]]:
        """Look at every scope, global first; what was known before and did not change is not read again."""
        if not self._seen and self._index_is_worth_it(chain):
            return self._catalog.levels(chain)
        known, self._seen = self._seen, {}
        levels: list[list[Meta]] = []
        skipped: list[Skipped] = []
        counts: list[ScopeCount] = []
        for scope in chain.scopes:
            passed = len(skipped)
            try:
                seen = scan_scope(scope, known.get(scope, {}))
            except OSError as error:
                skipped.append(Skipped(scope.memory_dir, f"cannot be read: {error.strerror or error}", scope))
                seen = {}
            self._seen[scope] = seen
            metas = [each.meta for each in seen.values() if each.meta is not None]
            skipped += [
                Skipped(scope.memory_dir / name, seen[name].reason, scope)
                for name in sorted(name for name, each in seen.items() if each.meta is None)
            ]
            levels.append(metas)
            counts.append(ScopeCount(scope, len(metas), len(skipped) - passed))
        return levels, skipped, counts

    def _index_is_worth_it(self, chain: ScopeChain) -> bool:
        """Tell whether an index would list the records faster than reading them all for the first time."""
        from muniment.memory.records.index.place import index_path

        for scope in chain.scopes:
            with suppress(OSError):  # no index, or none to be read: then the files are
                if index_path(self.paths.memindex, scope.directory).lstat().st_size >= INDEX_WORTH_BYTES:
                    return True
        return False
