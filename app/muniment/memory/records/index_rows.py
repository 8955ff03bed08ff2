"""Records into and out of an index's tables."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from muniment.memory.records.index_read import Opened
from muniment.memory.records.index_schema import (
    INSERT_BODY,
    INSERT_RECORD,
    PUT_FILE,
    TEXTS,
    labels_of,
    meta_row,
    read_tags,
)
from muniment.memory.records.scan import Signature

if TYPE_CHECKING:
    import sqlite3

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
