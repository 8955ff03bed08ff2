"""Rows as the table of the ledger holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.memory.ledger.row import Row, as_json, status_at, stored_status
from muniment.memory.records.times import format_time

if TYPE_CHECKING:
    import sqlite3

_NAMES = (
    "id",
    "type",
    "scope_kind",
    "scope_key",
    "project",
    "title",
    "body",
    "trust",
    "status",
    "source",
    "source_key",
    "paths",
    "tags",
    "importance",
    "confidence",
    "content_hash",
    "superseded_by",
    "expires_at",
    "created_at",
    "updated_at",
    "purged_at",
    "purge_reason",
)
COLUMNS = ", ".join(_NAMES)
"""The columns of a row in the order of `read_row` and `row_values`."""
JOINED = ", ".join(f"memory.{name}" for name in _NAMES)


_RECALLED = (
    "id",
    "type",
    "scope_kind",
    "scope_key",
    "project",
    "title",
    "body",
    "trust",
    "status",
    "source",
    "paths",
    "tags",
    "importance",
    "confidence",
    "expires_at",
    "updated_at",
)
RECALLED = ", ".join(f"memory.{name}" for name in _RECALLED)


class Recalled(NamedTuple):
    """What recall looks at of a row, as the table holds it in `RECALLED`.

    Most of them are weighed and left, so a value is only read out of its text where it is asked for.
    """

    id: str
    type: str
    scope_kind: str
    scope_key: str | None
    project: str | None
    title: str
    body: str
    trust: str
    stored_status: str
    source: str
    paths_json: str
    tags_json: str
    importance: float
    confidence: float
    expires_at: str | None
    updated_at: str

    @property
    def fields(self) -> tuple[str, str, str]:
        """The texts of the row in the order of the weights."""
        return self.title, f"{self.tags_json} {self.paths_json}", self.body

    @property
    def paths(self) -> tuple[str, ...]:
        return _labels(self.paths_json)

    @property
    def date(self) -> datetime:
        return datetime.fromisoformat(self.updated_at)

    def status(self, now: str) -> str:
        """Return the status at a written time; all times are written in one form, so texts compare."""
        late = self.stored_status == "active" and self.expires_at is not None and self.expires_at <= now
        return "expired" if late else self.stored_status


def read_row(values: Sequence[Any], now: datetime) -> Row:
    """Return the row of a table's values, its status as it is now."""
    (
        row_id,
        kind,
        scope_kind,
        scope_key,
        project,
        title,
        body,
        trust,
        status,
        source,
        source_key,
        paths,
        tags,
        importance,
        confidence,
        content_hash,
        superseded_by,
        expires_at,
        created_at,
        updated_at,
        purged_at,
        purge_reason,
    ) = values
    expires = None if expires_at is None else datetime.fromisoformat(expires_at)
    return Row(
        row_id,
        kind,
        scope_kind,
        scope_key,
        project,
        title,
        body,
        trust,
        status_at(status, expires, now),  # type: ignore[arg-type]  # the CHECKs allow no other word
        source,
        source_key,
        _labels(paths),
        _labels(tags),
        importance,
        confidence,
        content_hash,
        superseded_by,
        expires,
        datetime.fromisoformat(created_at),
        datetime.fromisoformat(updated_at),
        None if purged_at is None else datetime.fromisoformat(purged_at),
        purge_reason,
    )


def row_values(row: Row) -> tuple[object, ...]:
    """Return a row's values as the table takes them."""
    return (
        row.id,
        row.type,
        row.scope_kind,
        row.scope_key,
        row.project,
        row.title,
        row.body,
        row.trust,
        stored_status(row.status),
        row.source,
        row.source_key,
        as_json(row.paths),
        as_json(row.tags),
        row.importance,
        row.confidence,
        row.content_hash,
        row.superseded_by,
        None if row.expires_at is None else format_time(row.expires_at),
        format_time(row.created_at),
        format_time(row.updated_at),
        None if row.purged_at is None else format_time(row.purged_at),
        row.purge_reason,
    )


def columns_in(connection: sqlite3.Connection) -> str:
    """Return the columns as a ledger of any version has them; what an older one lacks is NULL."""
    there = {str(column[1]) for column in connection.execute("PRAGMA table_info(memory)")}
    return ", ".join(name if name in there else f"NULL AS {name}" for name in _NAMES)


def _labels(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(str(each) for each in json.loads(text))
