"""Purging a row: its text leaves the table, the index, the free pages, the log and the journal for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.memory.journal import Target
from muniment.memory.ledger.lifecycle import as_stored, purged
from muniment.memory.ledger.notes import SURFACE
from muniment.memory.ledger.row import Row, as_json
from muniment.memory.ledger.tables import COLUMNS, read_row, row_values
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.records.times import whole_seconds
from muniment.safety.errors import NotFound

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.ledger.database import Database
    from muniment.memory.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Purged:
    """What was done: the row as it is left, how many texts the journal lost, and where text may be left."""

    row: Row
    already: bool
    """Its text was gone before; what was left of it elsewhere is removed all the same."""
    texts_removed: int
    same_text: tuple[str, ...]
    """Other rows that hold the very same body."""
    left: tuple[str, ...]
    """Sentences on what could not be removed now."""


def purge(ledger: Ledger, database: Database, row: Row, reason: str, origin: Origin) -> Purged:
    """Purge a row as it was seen; see `Ledger.purge`. Cut off at any point, the next purge finishes it."""
    journal = ledger.journal
    target = Target(
        surface=SURFACE,
        action="delete",
        scope=row.scope_kind,
        directory=ledger.path.parent,
        item=row.id,
        path=ledger.path,
    )
    same: tuple[str, ...] = ()
    after = row
    if row.purged_at is None:
        # The journal learns that it happened and nothing of what is to be gone.
        with journal.announced(target, origin, before=None, after=None), database.writing() as connection:
            after = now = _read(connection, row.id, ledger)
            if now.purged_at is None:
                if as_stored(now) != as_stored(row):
                    raise ChangedAfterApproval(f"{row.id} was changed meanwhile, nothing was purged.")
                same = _others(connection, now)
                after = purged(now, whole_seconds(ledger.clock()), reason)
                _put_over(connection, after)
    texts = journal.purge(lambda entry: entry.surface == SURFACE and entry.item == row.id)
    left: list[str] = []
    if not database.vacate():
        left.append(
            f"Another session reads the ledger, so its log {ledger.path}-wal still holds the text; "
            "purge again once that has ended."
        )
    if not database.full_text:
        left.append(
            "This Python's SQLite has no full-text search, so its old index may hold words of the text; "
            "open the ledger with one that has it."
        )
    return Purged(after, row.purged_at is not None, texts, same, tuple(left))


def _read(connection: sqlite3.Connection, row_id: str, ledger: Ledger) -> Row:
    values = connection.execute(
        f"SELECT {COLUMNS} FROM memory WHERE id = ?",  # noqa: S608 - names of ours
        (row_id,),
    ).fetchone()
    if values is None:
        raise NotFound(f"There is no ledger row {row_id}.")
    return read_row(values, ledger.clock())


def _others(connection: sqlite3.Connection, row: Row) -> tuple[str, ...]:
    found = connection.execute(
        "SELECT id FROM memory WHERE content_hash = ? AND id <> ? ORDER BY number",
        (row.content_hash, row.id),
    )
    return tuple(each for (each,) in found)


def _put_over(connection: sqlite3.Connection, row: Row) -> None:
    """Write what is left of a row over the whole of it."""
    from muniment.memory.ledger.database import word_columns

    words = word_columns(row.title, as_json(row.tags), as_json(row.paths), row.body)
    names = [*COLUMNS.split(", "), "title_words", "labels_words", "body_words", "code_words"]
    assigned = ", ".join(f"{name} = ?" for name in names)
    connection.execute(
        f"UPDATE memory SET {assigned} WHERE id = ?",  # noqa: S608 - names of ours
        (*row_values(row), *words, row.id),
    )
