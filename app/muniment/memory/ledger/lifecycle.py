"""What becomes of a row: made, judged anew, and judged as it was before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from muniment.memory.ledger.row import (
    MAX_SOURCE_CHARS,
    NewRow,
    Row,
    hash_of,
    id_of,
    one_line,
    status_at,
    stored_status,
)
from muniment.memory.records.times import whole_seconds

PURGED = "(purged)"
"""Stands where the texts of a row were."""


def made(new: NewRow, known: Sequence[Row], now: datetime) -> Row:
    """Return the row that a new one becomes beside those that are known of its source."""
    taken = {row.id for row in known}
    turn = 0
    while (row_id := id_of(new, turn)) in taken:
        turn += 1
    return Row(
        row_id,
        new.type,
        new.scope_kind,
        new.scope_key,
        new.project,
        new.title,
        new.body,
        new.trust,
        "active",
        new.source,
        new.source_key,
        new.paths,
        new.tags,
        new.importance,
        new.confidence,
        hash_of(new.body),
        None,
        None if new.expires_at is None else whole_seconds(new.expires_at),
        now,
        now,
    )


def same_place(row: Row, new: NewRow) -> bool:
    """Tell whether a row stands where a new one is to stand."""
    return (row.scope_kind, row.scope_key, row.project) == (new.scope_kind, new.scope_key, new.project)


def is_shown_elsewhere(row: Row, source: str, project: str | None) -> bool:
    """Tell whether a row of a project that may still be read shows another source than this."""
    return row.project == project and row.status != "superseded" and row.source != source


def active(row: Row, now: datetime) -> Row:
    """Return a row that holds again; a time that has passed is dropped."""
    late = status_at("active", row.expires_at, now) == "expired"
    return replace(row, status="active", superseded_by=None, expires_at=None if late else row.expires_at)


def pinned(row: Row, now: datetime) -> Row:
    """Return a row that its reader made their own."""
    return replace(active(row, now), trust="human", importance=1.0, confidence=1.0)


def as_stored(row: Row) -> Row:
    """Return a row as it is, whether its time has passed meanwhile or not."""
    return replace(row, status=stored_status(row.status))  # type: ignore[arg-type]  # one of the four words


def retracted(row: Row) -> Row:
    """Return a row that is out of recall."""
    return replace(row, status="retracted", superseded_by=None)


def purged(row: Row, now: datetime, reason: str) -> Row:
    """Return what is left of a row without anything that it said or that was made of what it said."""
    return replace(
        retracted(row),
        title=PURGED,
        body=PURGED,
        source=PURGED,
        source_key=f"{PURGED}/{row.id}",
        paths=(),
        tags=(),
        content_hash="0" * 64,
        updated_at=max(now, row.updated_at),
        purged_at=now,
        purge_reason=one_line(reason)[:MAX_SOURCE_CHARS] or None,
    )


def judged_as(row: Row, before: Row | None, now: datetime) -> Row:
    """Return a row judged as it was before a write, out of recall where that write made it."""
    if before is None:
        return replace(retracted(row), updated_at=max(now, row.updated_at))
    return replace(
        row,
        status=status_at(stored_status(before.status), before.expires_at, now),  # type: ignore[arg-type]  # one of the four words
        trust=before.trust,
        source=before.source,
        importance=before.importance,
        confidence=before.confidence,
        superseded_by=before.superseded_by,
        expires_at=before.expires_at,
        updated_at=before.updated_at,
    )
