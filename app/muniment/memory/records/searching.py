"""The searching half of the store of records: its indexes, and when they may be trusted unseen."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.clock import utc_now
from muniment.memory.records.scan import COARSE_CLOCK_NS
from muniment.memory.records.scope import ScopeChain, resolve_chain
from muniment.paths import Paths

if TYPE_CHECKING:
    from threading import Thread

    from muniment.memory.recall.query import Query
    from muniment.memory.records.index.catalog import Catalog
    from muniment.memory.records.index.search import RecordPool, SearchResult
    from muniment.memory.records.plans import ScopeWord


class SearchedStore:
    """What searches the records of one working directory; safe for threads, which take turns in the indexes.

    A command that only searches needs no more than this, and loads no more.
    """

    def __init__(self, paths: Paths, cwd: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.paths = paths
        self.cwd = cwd
        self.clock = clock
        self.watched: Callable[[], int | None] | None = None
        """What a session's watcher says: a number as long as no record changed, None where nobody watches."""
        self._looked_at: object = None
        self._tidying: Thread | None = None

    def chain(self) -> ScopeChain:
        """Return the scopes as they are now."""
        return resolve_chain(self.cwd, self.paths)

    def search(
        self,
        query: str | Query,
        *,
        scope: ScopeWord | None = None,
        limit: int = 10,
        include_overridden: bool = False,
    ) -> SearchResult:
        """Rank the records that hold any word of the query, best first; only effective ones unless asked.

        The index is brought up to date first; where it cannot be used, files are read and a notice says so.
        """
        if scope is not None:
            from muniment.memory.records.planning import check_scope_word

            check_scope_word(scope)
        chain = self.chain()
        mark = self._mark(chain)
        result = self._catalog.search(
            chain,
            query,
            now=self.clock(),
            scope=scope,
            limit=limit,
            include_overridden=include_overridden,
            trust=mark is not None and mark == self._looked_at,
        )
        self._answered(mark)
        return result

    def _answered(self, mark: object) -> None:
        """Note what was looked at, and let removed text leave the index behind the answer."""
        self._looked_at = mark
        if self._catalog.untidy:
            from threading import Thread

            # The process does not end before that is done.
            self._tidying = Thread(target=self._catalog.tidy, name="tidy search index")
            self._tidying.start()

    def recall(self, query: Query, *, limit: int, build: bool = True) -> RecordPool:
        """Return the effective records of the chain that fit a built query best, with their contents.

        Without `build` no index is made where there is none.
        """
        chain = self.chain()
        mark = self._mark(chain)
        trust = mark is not None and mark == self._looked_at
        pool = self._catalog.recall(chain, query, now=self.clock(), limit=limit, build=build, trust=trust)
        if build:
            self._answered(mark)
        return pool

    def forget_removed(self) -> None:
        """Take the text of records that are gone out of the search indexes, before this returns."""
        self._catalog.levels(self.chain())
        self._catalog.tidy()

    def close(self) -> None:
        """Let the search indexes go; they are opened again when they are needed."""
        if self._tidying is not None:
            self._tidying.join()
        if "_catalog" in vars(self):
            self._catalog.close()

    @cached_property
    def _catalog(self) -> Catalog:
        from muniment.memory.records.index.catalog import Catalog

        return Catalog(self.paths.memindex)

    def mark(self) -> object:
        """Return what stays the same as long as no file can have changed; None where that cannot be told."""
        try:
            return self._mark(self.chain())
        except OSError:
            return None

    def _mark(self, chain: ScopeChain) -> object:
        """Return what stays the same as long as nothing can have changed; None where that cannot be told.

        The watcher hears of everything a moment late. What came, went or was replaced, which is how all
        programs but the simplest write, is seen at once in the time of the directory.
        """
        count = None if self.watched is None else self.watched()
        if count is None:
            return None
        times: list[object] = [count]
        recent = time.time_ns() - COARSE_CLOCK_NS
        for scope in chain.scopes:
            try:
                info = scope.memory_dir.lstat()
            except FileNotFoundError:
                times.append((scope, None))
                continue
            if info.st_mtime_ns >= recent:
                return None
            times.append((scope, info.st_mtime_ns, info.st_ino))
        return times
