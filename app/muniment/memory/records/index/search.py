"""Searching the scopes of a chain: candidates from each index, one ranking over all, truth before rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muniment.memory.recall.query import Query, build_query
from muniment.memory.recall.score import Corpus, Scorer, Tally, telling
from muniment.memory.recall.snippet import make_snippet
from muniment.memory.records.index.rows import is_live, live_among, meta_of
from muniment.memory.records.index.schema import (
    META_COLUMNS,
    TEXTS,
    WEIGHTS,
    labels_of,
    meta_row,
    read_tags,
)
from muniment.memory.records.scan import Meta

if TYPE_CHECKING:
    from muniment.memory.records.index.file import ScopeState
    from muniment.memory.records.scope import Scope

CANDIDATES = 50
_DECIMALS = 6
_UNCOUNTED = Tally((), 0, ())


class Hit(NamedTuple):
    """A record that matches; a higher score is better.

    The snippet is one line around the best place, `spans` are start and end of the words found in it.
    """

    meta: Meta
    snippet: str
    score: float
    effective: bool
    overridden_by: Scope | None
    expired: bool = False
    spans: tuple[tuple[int, int], ...] = ()


class SearchResult(NamedTuple):
    """Hits, best first; `searched` counts the records looked at, `truncated` tells that more matched."""

    hits: tuple[Hit, ...]
    searched: int
    truncated: bool
    notice: str | None = None


class RecordPool(NamedTuple):
    """Records that may be recalled with their contents, and the counts of all that were searched."""

    records: tuple[tuple[Meta, str], ...]
    corpus: Corpus
    notice: str | None = None


@dataclass(slots=True)
class _Found:
    """One candidate: its row, where it stands, and what was counted in it."""

    depth: int
    row: Sequence[object]
    content: str
    tally: Tally
    score: float = 0.0

    @property
    def id(self) -> str:
        return str(self.row[0])


def search_states(
    states: Sequence[ScopeState],
    text: str | Query,
    *,
    now: str,
    limit: int,
    kinds: frozenset[str],
    include_overridden: bool,
    searched: int,
) -> SearchResult:
    """Search the scopes of these kinds; `states` is the whole chain, global first, `now` a written time.

    Only copies that count are hits, unless `include_overridden`; the others are marked then.
    """
    query = build_query(text) if isinstance(text, str) else text
    places = [depth for depth, state in enumerate(states) if state.scope.kind in kinds]
    if not query or not places or limit < 1:
        return SearchResult((), searched, False)
    held, tallies = _held(states, places, query)
    corpus = _corpus(states, places, query, tallies)
    query, telling_corpus = telling(query, corpus)
    if telling_corpus is not corpus:
        corpus = telling_corpus
        held, _ = _held(states, places, query)
    scorer = Scorer(query, WEIGHTS)
    found, standing = _gather(states, places, query, held, now, limit + 1, include_overridden)
    for each in found:
        if each.tally is _UNCOUNTED:
            each.tally = _tally(scorer, each.row, each.content)
        # What the index found counts, even where its words stand further on than is looked at here.
        each.score = max(round(scorer.score(each.tally, corpus), _DECIMALS), 10**-_DECIMALS)
    found.sort(key=lambda each: each.id)
    found.sort(key=lambda each: (each.score, each.depth, each.row[6]), reverse=True)
    hits = tuple(_hit(states, each, standing, now) for each in found[:limit])
    return SearchResult(hits, searched, len(found) > limit)


def recall_states(states: Sequence[ScopeState], query: Query, *, now: str, limit: int) -> RecordPool:
    """Return about `limit` effective records that the indexes rank first, with counts for the whole query."""
    places = list(range(len(states)))
    held, tallies = _held(states, places, query)
    corpus = _corpus(states, places, query, tallies)
    asked, _ = telling(query, corpus)
    if asked is not query:
        held, _ = _held(states, places, asked)
    found, _ = _gather(states, places, asked, held, now, limit, False)
    return RecordPool(
        tuple((meta_of(each.row, states[each.depth].scope), each.content) for each in found), corpus
    )


def fields_of(meta: Meta, content: str) -> tuple[str, str, str]:
    """Return the texts of a record in the order of the weights."""
    return meta.title, labels_of(meta.id, meta.category, meta.tags), content


def _gather(
    states: Sequence[ScopeState],
    places: Sequence[int],
    query: Query,
    held: Sequence[_Found],
    now: str,
    wanted: int,
    include_overridden: bool,
) -> tuple[list[_Found], dict[str, int]]:
    """Return at least so many candidates where there are so many, and the depth of the copy that counts."""
    room = max(CANDIDATES, wanted)
    while True:
        more = False
        found = list(held)
        for depth in places:
            rows = _candidates(states[depth], query, room)
            more = more or len(rows) == room
            hidden = states[depth].hidden
            for *row, content in rows:
                if row[0] not in hidden:
                    found.append(_Found(depth, row, content, _UNCOUNTED))
        standing = _standing(states, found, now)
        if not include_overridden:
            found = [each for each in found if _counts(each, standing, now)]
        if len(found) >= wanted or not more:
            return found, standing
        room *= 4


def _held(
    states: Sequence[ScopeState], places: Iterable[int], query: Query
) -> tuple[list[_Found], list[Tally]]:
    """Return the matching records that are held in memory, and the tallies of all that are."""
    scorer = Scorer(query, WEIGHTS)
    found: list[_Found] = []
    tallies: list[Tally] = []
    for depth in places:
        for record in states[depth].held.values():
            row = meta_row(record)
            tally = _tally(scorer, row, record.content)
            tallies.append(tally)
            if tally and all(tally.counts[at] for at, term in enumerate(query.terms) if term.required):
                found.append(_Found(depth, row, record.content, tally))
    return found, tallies


def _tally(scorer: Scorer, row: Sequence[object], content: str) -> Tally:
    labels = labels_of(str(row[0]), str(row[1]), read_tags(str(row[3])))
    return scorer.tally((str(row[2]), labels, content))


def _corpus(
    states: Sequence[ScopeState], places: Iterable[int], query: Query, tallies: Sequence[Tally]
) -> Corpus:
    """Count the terms over all scopes searched, so that a hit weighs the same wherever it stands."""
    size = len(tallies)
    characters = sum(tally.length for tally in tallies)
    counts = [sum(1 for tally in tallies if tally.counts[at]) for at in range(len(query.terms))]
    for depth in places:
        state = states[depth]
        if state.connection is None:
            continue
        size += state.size
        characters += state.characters
        indexed = TEXTS.frequencies(state.connection, query)
        counts = [held + more for held, more in zip(counts, indexed, strict=True)]
    return Corpus(size, characters / max(size, 1), counts)


def _candidates(state: ScopeState, query: Query, room: int) -> list[tuple[str, ...]]:
    """Return metadata and content of the rows that an index ranks first."""
    if state.connection is None or not state.size:
        return []
    numbers = TEXTS.candidates(state.connection, query, room)
    rows: list[tuple[str, ...]] = []
    for start in range(0, len(numbers), 500):
        part = numbers[start : start + 500]
        marks = ",".join("?" * len(part))
        rows += state.connection.execute(
            f"SELECT {META_COLUMNS}, content FROM record JOIN body USING (number)"  # noqa: S608 - names of ours
            f" WHERE number IN ({marks})",
            part,
        ).fetchall()
    return rows


def _standing(states: Sequence[ScopeState], found: Iterable[_Found], now: str) -> dict[str, int]:
    """Return for each id the depth of the copy that counts."""
    standing: dict[str, int] = {}
    by_depth: dict[str, int] = {}
    for each in found:
        if is_live(each.row[7], now):
            standing[each.id] = max(each.depth, standing.get(each.id, -1))
        by_depth[each.id] = min(each.depth, by_depth.get(each.id, len(states)))
    for depth in range(1, len(states)):
        deeper = [name for name, least in by_depth.items() if least < depth]
        for name in live_among(states[depth], deeper, now) if deeper else ():
            standing[name] = max(depth, standing.get(name, -1))
    return standing


def _counts(found: _Found, standing: dict[str, int], now: str) -> bool:
    return is_live(found.row[7], now) and standing.get(found.id) == found.depth


def _hit(states: Sequence[ScopeState], found: _Found, standing: dict[str, int], now: str) -> Hit:
    snippet = make_snippet(found.content, found.tally.spans)
    winner = standing.get(found.id, -1)
    expired = not is_live(found.row[7], now)
    return Hit(
        meta_of(found.row, states[found.depth].scope),
        snippet.text,
        found.score,
        winner == found.depth and not expired,
        states[winner].scope if winner > found.depth else None,
        expired,
        snippet.spans,
    )
