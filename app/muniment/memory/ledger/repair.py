"""Checking the ledger's file, and making a sound one of what a damaged one and the files still hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from muniment.memory.database_file import BUSY, remove_database
from muniment.memory.ledger.database import WAIT_SECONDS, Database, make_words
from muniment.memory.ledger.faults import LedgerBusy, LedgerDamaged, LedgerFault
from muniment.memory.ledger.row import NewRow, Row
from muniment.memory.ledger.tables import columns_in, read_row
from muniment.memory.origin import Origin

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.ledger.ledger import Ledger

COMPANIONS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found, in one sentence and as a word; `rows` counts what is there."""

    sentence: str
    rows: int = 0
    problem: Literal["", "damaged", "stale index", "unusable"] = ""
    """`damaged`: rows may be lost. `stale index`: only the search is. `unusable`: not for us to repair."""

    @property
    def ok(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a repair did: where the damaged file lies now, None where it was sound, and the rows counted."""

    set_aside: Path | None
    saved: int
    written: int
    rows: int
    reindexed: bool = False

    @property
    def sentence(self) -> str:
        if self.set_aside is None:
            index = "its index was made anew" if self.reindexed else "it was sound"
            return (
                f"The ledger holds {self.rows} rows, {self.written} of them written from the files; {index}."
            )
        return (
            f"The damaged ledger was set aside as {self.set_aside}; {self.saved} rows were saved from it and "
            f"{self.written} written from the files, the new one holds {self.rows}."
        )


def check(database: Database) -> Health:
    """Look at every page and at the index; see `Ledger.health`."""
    path = database.path
    try:
        with database.reading() as connection:
            if connection is None:
                return Health(f"There is no ledger yet; {path} is made with the first row.")
            said = [text for (text,) in connection.execute("PRAGMA quick_check(3)")]
            if said != ["ok"]:
                raise LedgerDamaged(path, said[0].replace("\n", " "))
            lost = connection.execute("PRAGMA foreign_key_check").fetchone()
            rows = int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])
            stale = lost is None and database.full_text and not _index_is_whole(connection, rows)
    except LedgerDamaged as damaged:
        return Health(damaged.sentence, problem="damaged")
    except LedgerFault as fault:
        return Health(fault.sentence, problem="unusable")
    if stale:
        return Health(
            f"The index of the ledger {path} does not fit its {rows} rows; "
            "muniment doctor --fix makes it anew.",
            rows,
            "stale index",
        )
    if not database.full_text:
        return Health(f"{rows} rows; this SQLite has no full-text search, so every row is read.", rows)
    return Health(f"{rows} rows in {path}.", rows)


def rebuild(ledger: Ledger, database: Database, rows: Sequence[NewRow], origin: Origin) -> Rebuilt:
    """Repair; see `Ledger.rebuild`."""
    # One at a time: a second repair would take the new ledger, not yet filled, for all there is to save.
    with ledger.journal.guard(database.path):
        health = check(database)
        aside: Path | None = None
        saved = 0
        if health.problem == "damaged":
            database.close()
            with _without_writers(database.path) as connection:
                kept = salvage(connection, ledger.clock())
                aside, saved = _exchange(ledger, kept)
        elif health.problem == "stale index":
            with database.writing() as connection:
                make_words(connection)
        before = sum(ledger.counts().values())
        ledger.upsert(rows, origin)
        total = sum(ledger.counts().values())
    return Rebuilt(aside, saved, total - before, total, health.problem == "stale index")


def _exchange(ledger: Ledger, kept: Sequence[Row]) -> tuple[Path, int]:
    """Set the damaged file aside and put one with the rows in its place, whole from its first moment on."""
    path = ledger.path
    # Named as what a killed process leaves, which a later doctor removes.
    fresh = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    made = ledger.at(fresh)
    try:
        saved = made.adopt(kept)
        made.close()
        aside = set_aside(path, ledger.clock())
        if not _put(fresh, path):
            saved = ledger.adopt(kept)
        return aside, saved
    finally:
        made.close()
        remove_database(fresh)


def set_aside(path: Path, now: datetime) -> Path:
    """Rename a damaged file and its companions, so that nothing of them is lost, and return the new name."""
    stem = f"{path.name}.damaged-{now:%Y%m%d-%H%M%S}"
    target = path.with_name(stem)
    number = 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{stem}-{number}")
    # The file itself goes last: from then on another process may make a new one with companions of its own.
    _move(path, target, (*COMPANIONS, ""))
    return target


def _put(fresh: Path, path: Path) -> bool:
    """Put a whole new file where none is; False where that cannot be, and rows have to be written one by one.

    Not over a file that another process made in this moment, nor beside a log of the damaged one that a
    process left which opened it in its last moment: to a file with content SQLite would apply that.
    """
    if any(os.path.lexists(path.with_name(path.name + end)) for end in COMPANIONS):
        return False
    try:
        os.link(fresh, path)
    except OSError:  # it is there already, or this disk has no links
        return False
    return True


def _move(path: Path, target: Path, ends: Sequence[str]) -> None:
    for end in ends:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(target.with_name(target.name + end))


@contextmanager
def _without_writers(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a damaged file and keep others from writing it, so that no row comes after it was read."""
    import sqlite3

    with closing(sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in BUSY:
                raise LedgerBusy(path) from error
            # What is too damaged to be locked cannot be written by others either.
        yield connection


def salvage(connection: sqlite3.Connection, now: datetime) -> list[Row]:
    """Read what a damaged file still gives: row by row, past every place that cannot be read."""
    import sqlite3

    kept: dict[str, Row] = {}
    try:
        connection.execute("SELECT 1 FROM memory LIMIT 0")
        columns = columns_in(connection)
        for start, end in _ranges(connection):
            _read_range(connection, columns, start, end, now, kept)
    except sqlite3.Error:
        # No database, or not even its list of tables is readable; then the files are all there is.
        return list(kept.values())
    return list(kept.values())


def _ranges(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    import sqlite3

    try:
        last = connection.execute("SELECT max(number) FROM memory").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        last = 100_000
    return [(start, start + 255) for start in range(1, int(last) + 1, 256)]


def _read_range(
    connection: sqlite3.Connection, columns: str, start: int, end: int, now: datetime, kept: dict[str, Row]
) -> None:
    """Read rows of a range; where that fails, each half by itself, down to the single row that is lost."""
    import sqlite3

    try:
        rows = connection.execute(
            f"SELECT {columns} FROM memory WHERE number BETWEEN ? AND ?",  # noqa: S608 - names of ours
            (start, end),
        ).fetchall()
        for row in rows:
            with suppress(ValueError, TypeError):
                read = read_row(row, now)
                kept[read.id] = read
    except sqlite3.DatabaseError:
        if start < end:
            middle = (start + end) // 2
            _read_range(connection, columns, start, middle, now, kept)
            _read_range(connection, columns, middle + 1, end, now, kept)


def _index_is_whole(connection: sqlite3.Connection, rows: int) -> bool:
    import sqlite3

    try:
        indexed = connection.execute("SELECT count(*) FROM memory_text_docsize").fetchone()[0]
        # A check that finds nothing wrong changes nothing, though it is written as an insertion.
        connection.execute("INSERT INTO memory_text(memory_text) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        return False
    return bool(indexed == rows)
