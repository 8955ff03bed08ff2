"""Searching the ledger: rows that belong to the places asked for and still hold, ranked like records.

Where this SQLite has no full-text search every row is read and ranked the same way, and a notice says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from muniment.memory.ledger.row import Places, Row, as_json, may_be_recalled
from muniment.memory.ledger.tables import COLUMNS, JOINED, RECALLED, Recalled, read_row
from muniment.memory.recall.fts import TextTable, WordCounts
from muniment.memory.recall.query import Query, build_query
from muniment.memory.recall.score import Corpus, Scorer, rank_texts, telling
from muniment.memory.records.times import format_time

if TYPE_CHECKING:
    import sqlite3

WEIGHTS = (3.0, 2.0, 1.0)
"""What a word in the title, in tags and paths, and in the body is worth."""
TEXTS = TextTable("memory_text", (("title", 3.0), ("labels", 2.0), ("body", 1.0)))
NO_FULL_TEXT = "This Python's SQLite has no full-text search, so every ledger row was read."
DEFAULT_LIMIT = 20

_CANDIDATES = 50
_ROOM = 3
"""So many times as many rows as are wanted are ranked by the index first, of whatever place."""
_DECIMALS = 6
_LIVE = "status = 'active' AND (expires_at IS NULL OR expires_at > :now)"
_RECALLED = f"{_LIVE} AND (type <> 'procedural' OR trust IN ('human', 'system'))"


@dataclass(frozen=True, slots=True)
class Found:
    """A row that matches; a higher score is better, 0 where nothing was asked."""

    row: Row
    score: float

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a hit for programs."""
        row = self.row
        return {
            "id": row.id,
            "type": row.type,
            "scope": row.scope_kind,
            "scope_key": row.scope_key,
            "trust": row.trust,
            "status": row.status,
            "title": row.title,
            "source": row.source,
            "date": format_time(row.updated_at),
            "score": self.score,
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; `searched` counts the rows looked at, `truncated` tells that more matched."""

    hits: tuple[Found, ...]
    searched: int
    truncated: bool
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Rows that may be recalled, best first by their words, and the counts of the whole ledger."""

    rows: tuple[Recalled, ...]
    corpus: Corpus
    notice: str | None = None


def fields_of(row: Row) -> tuple[str, str, str]:
    """Return the texts of a row in the order of the weights."""
    return row.title, f"{as_json(row.tags)} {as_json(row.paths)}", row.body


def search(
    connection: sqlite3.Connection | None,
    text: str | Query,
    *,
    places: Places,
    kind: str | None,
    limit: int | None,
    everything: bool,
    now: datetime,
    full_text: bool,
) -> SearchResult:
    """Search or, without a text, list; see `Ledger.search`."""
    if connection is None:
        return SearchResult((), 0, False)
    condition, parameters = places.condition()
    parameters |= {"now": format_time(now)}
    if kind is not None:
        condition, parameters = f"{condition} AND scope_kind = :kind", parameters | {"kind": kind}
    if not everything:
        condition = f"{condition} AND {_LIVE}"
    room = DEFAULT_LIMIT if limit is None else limit
    searched = connection.execute(f"SELECT count(*) FROM memory WHERE {condition}", parameters).fetchone()[0]  # noqa: S608 - names of ours
    query = build_query(text) if isinstance(text, str) else text
    if isinstance(text, str) and not text.strip():
        found = [Found(row, 0.0) for row in _newest(connection, condition, parameters, room + 1, now)]
        return SearchResult(tuple(found[:room]), searched, len(found) > room)
    if not query:
        return SearchResult((), searched, False)
    if not full_text:
        found = _scan(_newest(connection, condition, parameters, -1, now), query)
        return SearchResult(tuple(found[:room]), searched, len(found) > room, NO_FULL_TEXT)
    corpus = corpus_of(connection, query)
    query, corpus = telling(query, corpus)
    wanted = max(_CANDIDATES, room + 1)
    rows = _matching(connection, query, corpus, JOINED, condition, parameters, wanted)
    found = _scored([read_row(row, now) for row in rows], query, corpus)
    return SearchResult(tuple(found[:room]), searched, len(found) > room)


def pool(
    connection: sqlite3.Connection | None,
    query: Query,
    places: Places,
    *,
    limit: int,
    now: datetime,
    full_text: bool,
    counts: WordCounts | None = None,
) -> Pool:
    """Return at most `limit` rows that may reach a model in these places, with counts for the whole query."""
    if connection is None or not query:
        return Pool((), Corpus(0, 0.0, [0] * len(query.terms)))
    written = format_time(now)
    condition, parameters = places.condition()
    condition, parameters = f"{condition} AND {_RECALLED}", parameters | {"now": written}
    if not full_text:
        every = connection.execute(
            f"SELECT {RECALLED} FROM memory WHERE {condition} ORDER BY updated_at DESC, id",  # noqa: S608 - names of ours
            parameters,
        )
        rows = [Recalled._make(each) for each in every]
        ranked = rank_texts(query, [row.fields for row in rows], WEIGHTS)
        best = [rows[number] for number, _, _ in ranked[:limit]]
        return Pool(_allowed(best, places, written), Corpus(0, 0.0, [0] * len(query.terms)), NO_FULL_TEXT)
    corpus = corpus_of(connection, query, counts)
    asked, counted = telling(query, corpus)
    found = _matching(connection, asked, counted, RECALLED, condition, parameters, limit)
    return Pool(_allowed([Recalled._make(each) for each in found], places, written), corpus)


def _allowed(rows: Sequence[Recalled], places: Places, now: str) -> tuple[Recalled, ...]:
    """Look at each row once more by itself: what is not for here does not pass, whatever the SQL said."""
    passed: dict[tuple[str | None, ...], bool] = {}
    kept: list[Recalled] = []
    for row in rows:
        # Most rows are alike in all that is looked at; each kind of them is judged once.
        kind = (
            row.scope_kind,
            row.scope_key,
            row.project,
            row.type,
            row.trust,
            row.stored_status,
            row.expires_at,
        )
        passes = passed.get(kind)
        if passes is None:
            passes = places.hold(row) and may_be_recalled(row.type, row.trust, row.status(now))
            passed[kind] = passes
        if passes:
            kept.append(row)
    return tuple(kept)


def _matching(
    connection: sqlite3.Connection,
    query: Query,
    corpus: Corpus,
    columns: str,
    condition: str,
    parameters: dict[str, str | None],
    limit: int,
) -> list[tuple[Any, ...]]:
    """Select the rows that the index ranks first among those of a condition; `corpus` counts the terms.

    To find a few best of all that match costs less than to sort them all, which is only done where too many
    of the few are of other places. A row of another place costs one look.
    """
    statement = (
        f"SELECT {columns} FROM (SELECT rowid AS found FROM memory_text WHERE memory_text MATCH :match"  # noqa: S608 - names of ours
        " ORDER BY rank, rowid LIMIT :room) CROSS JOIN memory ON memory.number = found"
        f" WHERE {condition} LIMIT :limit"
    )
    given = parameters | {"match": query.expression, "limit": limit}
    rows = connection.execute(statement, given | {"room": limit * _ROOM}).fetchall()
    if len(rows) < limit and sum(corpus.frequencies) > limit * _ROOM:
        rows = connection.execute(statement, given | {"room": -1}).fetchall()
    return rows


def corpus_of(connection: sqlite3.Connection, query: Query, counts: WordCounts | None = None) -> Corpus:
    """Return the counts of the whole ledger, kept by its triggers, for a query's terms."""
    about = dict(connection.execute("SELECT key, value FROM about WHERE key IN ('size', 'characters')"))
    size = int(about.get("size", 0))
    frequencies = TEXTS.frequencies(connection, query) if counts is None else counts.of(connection, query)
    return Corpus(size, int(about.get("characters", 0)) / max(size, 1), frequencies)


def _newest(
    connection: sqlite3.Connection,
    condition: str,
    parameters: dict[str, str | None],
    limit: int,
    now: datetime,
) -> list[Row]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM memory WHERE {condition} ORDER BY updated_at DESC, id LIMIT :limit",  # noqa: S608 - names of ours
        parameters | {"limit": limit},
    )
    return [read_row(row, now) for row in rows]


def _scan(rows: Sequence[Row], query: Query) -> list[Found]:
    ranked = rank_texts(query, [fields_of(row) for row in rows], WEIGHTS)
    return [Found(rows[number], round(score, _DECIMALS)) for number, score, _ in ranked]


def _scored(rows: Sequence[Row], query: Query, corpus: Corpus) -> list[Found]:
    fits = Scorer(query, WEIGHTS).fits([fields_of(row) for row in rows], corpus)
    # What the index found counts, even where its words stand further on than is looked at here.
    found = [
        Found(row, max(round(fit, _DECIMALS), 10**-_DECIMALS)) for row, fit in zip(rows, fits, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.score, each.row.id))
