"""What may be recalled at all: rows of the ledger and effective records that hold a word of the need.

At most 50 in all. Of the ledger only active rows of global scope, of this project and of this agent come,
and how to do things only by people or by the engine. A record counts as a fact of middle importance; its
trust is what the journal of this machine knows about its text, never what the file says about itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from muniment.memory.ledger.row import Places
from muniment.memory.ledger.searching import WEIGHTS as LEDGER_WEIGHTS
from muniment.memory.ledger.tables import Recalled
from muniment.memory.recall.need import Need
from muniment.memory.recall.rank import Candidate
from muniment.memory.recall.score import Corpus, Scorer, telling

if TYPE_CHECKING:
    from muniment.memory.ledger.ledger import Ledger
    from muniment.memory.recall.authors import Authors
    from muniment.memory.records.scan import Meta
    from muniment.memory.records.store import RecordStore

MAX_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class Record:
    """A record that may be recalled."""

    meta: Meta
    content: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """The candidates, best fit first, and what the reader should know about how they were found."""

    candidates: tuple[Candidate, ...]
    notices: tuple[str, ...] = ()


def gather(
    need: Need,
    *,
    ledger: Ledger | None,
    records: RecordStore | None,
    authors: Authors,
    places: Places,
    limit: int = MAX_CANDIDATES,
    build: bool = True,
) -> Gathered:
    """Find candidates in what is given; None leaves a source out. Without `build` no index is made."""
    if not need.query:
        return Gathered(())
    from muniment.memory.records.index.schema import WEIGHTS as RECORD_WEIGHTS
    from muniment.memory.records.index.search import fields_of as record_fields

    rows: Sequence[Recalled] = ()
    found: Sequence[tuple[Meta, str]] = ()
    corpora: list[Corpus] = []
    notices: list[str] = []
    if ledger is not None:
        pool = ledger.pool(need.query, places, limit=limit)
        rows = pool.rows
        corpora.append(pool.corpus)
        notices += [pool.notice] if pool.notice else []
    if records is not None:
        recalled = records.recall(need.query, limit=limit, build=build)
        found = recalled.records
        corpora.append(recalled.corpus)
        notices += [recalled.notice] if recalled.notice else []
    query, corpus = telling(need.query, _together(corpora, len(need.query.terms)))
    fits: list[tuple[float, Recalled | Record]] = []
    if rows:
        of_rows = Scorer(query, LEDGER_WEIGHTS).fits([row.fields for row in rows], corpus)
        fits += zip(of_rows, rows, strict=True)
    if found:
        texts = [record_fields(meta, content) for meta, content in found]
        of_records = Scorer(query, RECORD_WEIGHTS).fits(texts, corpus)
        fits += zip(of_records, [Record(*each) for each in found], strict=True)
    # What an index found fits, even where its words stand further on than is looked at here.
    fits.sort(key=_fit, reverse=True)
    fits = fits[:limit]
    if any(isinstance(each, Record) for _, each in fits):
        authors.refresh()
    candidates = [
        _of_record(each, fit, authors) if isinstance(each, Record) else _of_row(each, fit)
        for fit, each in fits
    ]
    return Gathered(tuple(candidates), tuple(notices))


_fit: Callable[[tuple[float, object]], float] = itemgetter(0)


def _together(corpora: Sequence[Corpus], terms: int) -> Corpus:
    """Count over all sources as if they were one, so that a fit means the same wherever it stands."""
    size = sum(each.size for each in corpora)
    characters = sum(each.size * each.mean_length for each in corpora)
    counts = [sum(each.frequencies[at] for each in corpora) for at in range(terms)]
    return Corpus(size, characters / max(size, 1), counts)


def _of_row(row: Recalled, fit: float) -> Candidate:
    row_id, kind, scope, _, _, title, body, trust, _, source, _, _, importance, confidence, _, _ = row
    return Candidate(
        row_id,
        "ledger",
        kind,
        scope,
        trust,
        title,
        body,
        source,
        row.date,
        fit,
        row.paths,
        importance,
        confidence,
    )


def _of_record(record: Record, fit: float, authors: Authors) -> Candidate:
    meta = record.meta
    return Candidate(
        meta.id,
        "record",
        "semantic",
        meta.scope.kind,
        authors.trust_of(meta.path),
        meta.title,
        record.content,
        f"record {meta.id}",
        meta.updated_at,
        fit,
    )
