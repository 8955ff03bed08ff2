"""Records into and out of an index's tables."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from muniment.memory.records.index.read import Opened
from muniment.memory.records.index.schema import (
    INSERT_BODY,
    INSERT_RECORD,
    PUT_FILE,
    TEXTS,
    labels_of,
    meta_row,
    read_tags,
)
from muniment.memory.records.scan import Meta, Signature

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.records.index.file import ScopeState
    from muniment.memory.records.scope import Scope

_PACK = struct.Struct("<QqqQ").pack


def packed(signature: Signature) -> bytes:
    """Return a signature as it is kept."""
    return _PACK(*signature)


def put_rows(connection: sqlite3.Connection, opened: list[Opened], number: int) -> tuple[int, int]:
    """Write files and records; return how many records and characters were added."""
    connection.executemany(
        PUT_FILE,
        [
            (each.name, b"" if each.signature is None else packed(each.signature), each.reason)
            for each in opened
            if each.record is not None or each.reason
        ],
    )
    metas: list[tuple[object, ...]] = []
    bodies: list[tuple[int, str]] = []
    texts: list[tuple[int, tuple[str, str, str]]] = []
    characters = 0
    for each in opened:
        record = each.record
        if record is None:
            continue
        row = meta_row(record)
        labels = labels_of(record.id, record.category, record.tags)
        metas.append((number, *row))
        bodies.append((number, record.content))
        texts.append((number, (record.title, labels, record.content)))
        characters += len(record.title) + len(labels) + len(record.content)
        number += 1
    connection.executemany(INSERT_RECORD, metas)
    connection.executemany(INSERT_BODY, bodies)
    TEXTS.insert(connection, texts)
    return len(metas), characters


def forget_rows(connection: sqlite3.Connection, names: list[str]) -> tuple[int, int]:
    """Take the records of files out; return how many records and characters went."""
    texts: list[tuple[int, tuple[str, str, str]]] = []
    characters = 0
    for name in names:
        row: tuple[int, str, str, str, str, str] | None = connection.execute(
            "SELECT number, id, category, title, tags, content FROM record JOIN body USING (number)"
            " WHERE id = ?",
            (name.removesuffix(".yaml"),),
        ).fetchone()
        if row is not None:
            number, record_id, category, title, tags, content = row
            labels = labels_of(record_id, category, read_tags(tags))
            texts.append((number, (title, labels, content)))
            characters += len(title) + len(labels) + len(content)
    TEXTS.remove(connection, texts)
    numbers = [(number,) for number, _ in texts]
    connection.executemany("DELETE FROM record WHERE number = ?", numbers)
    connection.executemany("DELETE FROM body WHERE number = ?", numbers)
    return len(texts), characters


def meta_of(row: Sequence[Any], scope: Scope) -> Meta:
    """Return the metadata in a row of the index, which has the columns of `META_COLUMNS`."""
    record_id, category, title, tags, source, created, updated, expires = row
    return Meta(record_id, category, title, read_tags(tags), source, created, updated, expires, scope)


def live_among(state: ScopeState, ids: Iterable[str], now: str) -> set[str]:
    """Return which of these ids a scope holds a readable, unexpired copy of."""
    asked = set(ids)
    live = {
        record.id
        for record in state.held.values()
        if record.id in asked and is_live(meta_row(record)[7], now)
    }
    rest = asked - state.hidden
    if state.connection is not None and rest:
        import json

        rows = state.connection.execute(
            "SELECT id FROM record WHERE id IN (SELECT value FROM json_each(?))"
            " AND (expires IS NULL OR expires > ?)",
            (json.dumps(list(rest)), now),
        )
        live.update(row[0] for row in rows)
    return live


def is_live(expires: object, now: str) -> bool:
    return expires is None or str(expires) > now
