"""All records of a scope chain through their indexes: `Catalog` is what the store asks.

One `Catalog` serves one process for as long as it likes, from any thread:

    catalog = Catalog(paths.memindex)
    catalog.search(chain, "what was the rule", now=clock())     hits, searched, truncated, notice
    catalog.levels(chain)                                       metadata of every copy, and what is skipped
    catalog.tidy()                                              after the answer was given
    catalog.close()                                             at the end, or before the cache is moved

Both look at the files first, every time: one `stat` each, and only what changed is read. `search` makes an
index where there is none; `levels` reads the files where there is none. With `trust=True` the files are not
looked at, for a session whose watcher says that nothing changed since the last look.

An index is never the authority. Where it cannot be used at all (no FTS5, nothing can be written, damage
that comes back) or another process keeps writing it, the records that it does not know are read directly,
ranked the same way, and the result carries one notice that says so.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from muniment.memory.database_file import DatabaseUnavailable
from muniment.memory.records.index.file import ScopeIndex, ScopeState
from muniment.memory.records.index.rows import live_among, meta_of
from muniment.memory.records.index.schema import META_COLUMNS, meta_row, written
from muniment.memory.records.scan import Meta, Skipped

if TYPE_CHECKING:
    from muniment.memory.recall.query import Query
    from muniment.memory.records.index.search import RecordPool, SearchResult
    from muniment.memory.records.listing import ScopeCount
    from muniment.memory.records.scope import Scope, ScopeChain

Levels: TypeAlias = "tuple[list[list[Meta]], list[Skipped], list[ScopeCount]]"
"""Per scope, global first, the metadata of its copies; all that is skipped; the counts of each scope."""


class Catalog:
    """The indexes of the scopes that were asked for, kept open and up to date."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._indexes: dict[Path, ScopeIndex] = {}
        self._counted: dict[object, int] = {}

    def search(
        self,
        chain: ScopeChain,
        query: str | Query,
        *,
        now: datetime,
        scope: Literal["project", "global"] | None = None,
        limit: int = 10,
        include_overridden: bool = False,
        trust: bool = False,
    ) -> SearchResult:
        """Rank the records that hold any word of the query, best first; no hit is older than its file."""
        # A list of records comes from here as well, without what searches.
        from muniment.memory.records.index.search import search_states

        moment = written(now)
        kinds = frozenset(("project", "global") if scope is None else (scope,))
        with self._lock:
            states, skipped = self._states(chain, build=True, trust=trust)
            if include_overridden:
                searched = sum(_copies(state) for state in states if state.scope.kind in kinds)
            else:
                searched = self._effective(states, kinds, moment)
            result = search_states(
                states,
                query,
                now=moment,
                limit=limit,
                kinds=kinds,
                include_overridden=include_overridden,
                searched=searched,
            )
        notice = _notice(states, skipped)
        return result if notice is None else result._replace(notice=notice)

    def recall(
        self,
        chain: ScopeChain,
        query: Query,
        *,
        now: datetime,
        limit: int,
        build: bool = True,
        trust: bool = False,
    ) -> RecordPool:
        """Return the effective records that fit a query best, whole; no record is older than its file.

        Without `build` no index is made where there is none: the files are read instead.
        """
        from muniment.memory.records.index.search import recall_states

        with self._lock:
            states, skipped = self._states(chain, build=build, trust=trust)
            pool = recall_states(states, query, now=written(now), limit=limit)
        return pool._replace(notice=_notice(states, skipped))

    def levels(self, chain: ScopeChain) -> Levels:
        """Return the metadata of every readable copy, what is skipped and why, and counts."""
        from muniment.memory.records.listing import ScopeCount

        levels: list[list[Meta]] = []
        skipped: list[Skipped] = []
        counts: list[ScopeCount] = []
        with self._lock:
            states, unlisted = self._states(chain, build=False, trust=False)
            passed = {each.scope: each for each in unlisted}
            for state in states:
                metas = _metas(state)
                out = [passed[state.scope]] if state.scope in passed else _skipped(state)
                levels.append(metas)
                skipped += out
                counts.append(ScopeCount(state.scope, len(metas), len(out)))
        return levels, skipped, counts

    def skipped(self, chain: ScopeChain) -> list[Skipped]:
        """Return what is no record and why; much less work than to list what is one."""
        with self._lock:
            states, unlisted = self._states(chain, build=False, trust=False)
            passed = {each.scope: each for each in unlisted}
            return [
                each
                for state in states
                for each in ([passed[state.scope]] if state.scope in passed else _skipped(state))
            ]

    @property
    def untidy(self) -> bool:
        """Whether there is something for `tidy` to do."""
        return any(index.untidy for index in list(self._indexes.values()))

    def tidy(self) -> None:
        """Let the text of removed records vanish from the indexes; call it after the answer was given."""
        with self._lock:
            for index in self._indexes.values():
                index.tidy()

    def rebuild(self, chain: ScopeChain) -> list[ScopeState]:
        """Make the indexes of a chain anew from the files."""
        with self._lock:
            self._counted.clear()
            return [self._index(scope).rebuild() for scope in chain.scopes]

    def close(self) -> None:
        """Close the databases; they are opened again when they are needed."""
        with self._lock:
            for index in self._indexes.values():
                index.close()

    def _index(self, scope: Scope) -> ScopeIndex:
        index = self._indexes.get(scope.directory)
        if index is None:
            index = self._indexes[scope.directory] = ScopeIndex(self.directory, scope)
        index.scope = scope
        return index

    def _states(
        self, chain: ScopeChain, *, build: bool, trust: bool
    ) -> tuple[list[ScopeState], list[Skipped]]:
        """Return what is known of each scope, global first, and the scopes that cannot be listed."""
        states: list[ScopeState] = []
        unlisted: list[Skipped] = []
        for scope in chain.scopes:
            index = self._index(scope)
            if trust:
                try:
                    states.append(index.state())
                    continue
                except DatabaseUnavailable:
                    pass  # then the files are looked at, which always answers
            try:
                states.append(index.refresh(build=build))
            except OSError as error:
                reason = f"cannot be read: {error.strerror or error}"
                unlisted.append(Skipped(scope.memory_dir, reason, scope))
                states.append(ScopeState(scope, None))
        return states, unlisted

    def _effective(self, states: Sequence[ScopeState], kinds: frozenset[str], now: str) -> int:
        """Count the records that count, in scopes of these kinds."""
        steady = all(state.connection is not None and not state.changed for state in states)
        late = tuple(_expired(state, now) for state in states)
        key = (tuple(state.generation for state in states), late, kinds)
        if steady and key in self._counted:
            return self._counted[key]
        count = _union(states, now)
        if kinds == {"project"}:
            count = _union([state for state in states if state.scope.kind == "project"], now)
        elif kinds == {"global"}:
            count -= _union([state for state in states if state.scope.kind == "project"], now)
        if steady:
            if len(self._counted) > 100:
                self._counted.clear()
            self._counted[key] = count
        return count


def _union(states: Sequence[ScopeState], now: str) -> int:
    """Count the ids that any of the scopes holds a live copy of."""
    if not states:
        return 0
    largest = max(states, key=_copies)
    others: set[str] = set()
    for state in states:
        if state is not largest and _copies(state):
            others |= live_among(state, _ids(state), now)
    together = live_among(largest, others, now) if others else set()
    return _live(largest, now) + len(others) - len(together)


def _copies(state: ScopeState) -> int:
    """Count the readable copies of a scope."""
    return state.size - _hidden_rows(state) + len(state.held)


def _hidden_rows(state: ScopeState) -> int:
    if state.connection is None:
        return 0
    return sum(
        state.connection.execute("SELECT count(*) FROM record WHERE id = ?", (name,)).fetchone()[0]
        for name in state.hidden
    )


def _live(state: ScopeState, now: str) -> int:
    if not state.changed:
        return state.size - _expired(state, now)
    return len(live_among(state, _ids(state), now))


def _expired(state: ScopeState, now: str) -> int:
    if state.connection is None:
        return 0
    row = state.connection.execute("SELECT count(*) FROM record WHERE expires <= ?", (now,)).fetchone()
    return int(row[0])


def _ids(state: ScopeState) -> list[str]:
    ids = list(state.held)
    if state.connection is not None:
        hidden = state.hidden
        rows = state.connection.execute("SELECT id FROM record")
        ids += [name for (name,) in rows if name not in hidden]
    return ids


def _metas(state: ScopeState) -> list[Meta]:
    scope = state.scope
    metas = [meta_of(meta_row(record), scope) for record in state.held.values()]
    if state.connection is not None:
        hidden = state.hidden
        rows = state.connection.execute(f"SELECT {META_COLUMNS} FROM record")  # noqa: S608 - names of ours
        metas += [meta_of(row, scope) for row in rows if row[0] not in hidden]
    return metas


def _skipped(state: ScopeState) -> list[Skipped]:
    """Return the files that are no records, by name, with the reason."""
    reasons = {name: each.reason for name, each in state.changed.items() if each.reason}
    if state.connection is not None:
        rows = state.connection.execute("SELECT name, reason FROM file WHERE reason <> ''")
        reasons |= {name: reason for name, reason in rows if name not in state.changed}
    return [Skipped(state.scope.memory_dir / name, reasons[name], state.scope) for name in sorted(reasons)]


def _notice(states: Sequence[ScopeState], unlisted: Sequence[Skipped]) -> str | None:
    """Say in one sentence what kept an index from being used, or that a directory could not be read."""
    if unlisted:
        first = unlisted[0]
        return f"{first.path} {first.reason}, so it was not searched."
    reasons = list(dict.fromkeys(state.reason for state in states if state.reason))
    if not reasons:
        return None
    return (
        f"The search index could not be used or renewed ({'; '.join(reasons)}); records were read directly."
    )
