"""Rows as the table of the ledger holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from muniment.memory.ledger.row import Row, as_json, status_at
from muniment.memory.records.times import format_time

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
)
COLUMNS = ", ".join(_NAMES)
"""The columns of a row in the order of `read_row` and `row_values`."""
JOINED = ", ".join(f"memory.{name}" for name in _NAMES)


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
        "active" if row.status == "expired" else row.status,
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
    )


def _labels(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(str(each) for each in json.loads(text))
