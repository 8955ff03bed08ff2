"""The tables of a scope's index, and the rows that records become in it."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from muniment.memory.recall.fts import TextTable
from muniment.memory.recall.tokens import ANALYSIS

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.records.record import Record

VERSION = f"4/{ANALYSIS}"
"""An index with another version is made anew; it changes with what a row holds and how a file is read."""

TEXTS = TextTable("words", (("title", 3.0), ("labels", 2.0), ("content", 1.0)))
WEIGHTS = tuple(weight for _, weight in TEXTS.columns)

_TABLES = (
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE file(name TEXT PRIMARY KEY, signature BLOB, reason TEXT) WITHOUT ROWID",
    (
        "CREATE TABLE record(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, category TEXT NOT NULL,"
        " title TEXT NOT NULL, tags TEXT NOT NULL, source TEXT NOT NULL, created TEXT NOT NULL,"
        " updated TEXT NOT NULL, expires TEXT)"
    ),
    "CREATE INDEX record_expires ON record(expires) WHERE expires IS NOT NULL",
    "CREATE TABLE body(number INTEGER PRIMARY KEY, content TEXT NOT NULL)",
)
META_COLUMNS = "id, category, title, tags, source, created, updated, expires"
INSERT_RECORD = f"INSERT INTO record(number, {META_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - names of ours
INSERT_BODY = "INSERT INTO body(number, content) VALUES (?, ?)"
PUT_FILE = "INSERT OR REPLACE INTO file(name, signature, reason) VALUES (?, ?, ?)"
PUT_ABOUT = "INSERT OR REPLACE INTO about(key, value) VALUES (?, ?)"

MetaRow = tuple[str, str, str, str, str, str, str, str | None]


def create_tables(connection: sqlite3.Connection) -> None:
    """Create all tables in an empty database; raise `sqlite3.OperationalError` where FTS5 is missing."""
    for statement in _TABLES:
        connection.execute(statement)
    TEXTS.create(connection)


def drop_tables(connection: sqlite3.Connection) -> None:
    """Drop whatever another version left; tables that belong to a dropped one go with it."""
    for virtual in (True, False):
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND (sql LIKE 'CREATE VIRTUAL%') = ?",
            (virtual,),
        ).fetchall()
        for (name,) in sorted(rows, reverse=True):
            quoted = name.replace('"', '""')
            connection.execute(f'DROP TABLE IF EXISTS "{quoted}"')


def meta_row(record: Record) -> MetaRow:
    """Return what a list needs of a record."""
    created = written(record.created_at)
    updated = created if record.updated_at is record.created_at else written(record.updated_at)
    tags = _written_tags(record.tags) if record.tags else "[]"
    expires = None if record.expires_at is None else written(record.expires_at)
    return (record.id, record.category, record.title, tags, record.source, created, updated, expires)


def _written_tags(tags: tuple[str, ...]) -> str:
    joined = '", "'.join(tags)
    # Plain words need no escapes; only tags that hold a quote or more than words take the long way.
    if joined.isprintable() and "\\" not in joined and joined.count('"') == 2 * (len(tags) - 1):
        return f'["{joined}"]'
    import json

    return json.dumps(tags, ensure_ascii=False)


def written(moment: datetime) -> str:
    """Write a UTC time in whole seconds so that later ones compare greater as text."""
    return moment.isoformat()[:19] + "Z"


@lru_cache(maxsize=1_024)
def read_tags(text: str) -> tuple[str, ...]:
    if text == "[]":
        return ()
    import json

    return tuple(json.loads(text))


def labels_of(record_id: str, category: str, tags: tuple[str, ...]) -> str:
    """Return what a record is called and filed under, as one text."""
    return " \n".join((record_id, category, *tags)) if tags else f"{record_id} \n{category}"
