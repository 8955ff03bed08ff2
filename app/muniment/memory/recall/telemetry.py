"""What recall did, turn by turn: kept apart from memory, bounded, never sent anywhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.memory.database_file import (
    DAMAGED,
    DatabaseFile,
    DatabaseUnavailable,
    cause_of,
    remove_database,
)
from muniment.memory.records.times import format_time
from muniment.safety.errors import MunimentError

if TYPE_CHECKING:
    import sqlite3

MAX_ROWS = 1_000
"""The newest so many turns are kept."""
WAIT_SECONDS = 1.0
_CREATE = (
    "CREATE TABLE IF NOT EXISTS recall(number INTEGER PRIMARY KEY, time TEXT NOT NULL, session TEXT NOT NULL,"
    " query TEXT NOT NULL, candidates INTEGER NOT NULL, selected TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " duration_ms REAL NOT NULL, shadow INTEGER NOT NULL)"
)
_BOUND = (
    "CREATE TRIGGER IF NOT EXISTS recall_bounded AFTER INSERT ON recall BEGIN"  # noqa: S608 - a number of ours
    f" DELETE FROM recall WHERE number <= new.number - {MAX_ROWS}; END"
)
"""Part of the same write, so that a turn waits for one only."""
_COLUMNS = "time, session, query, candidates, selected, bytes, duration_ms, shadow"


class TelemetryFault(MunimentError):  # noqa: N818 - a fault of the place
    """What recall did could not be noted."""


@dataclass(frozen=True, slots=True)
class Noted:
    """One turn of recall: the terms asked, how many candidates, the ids chosen, and what they took.

    `duration_ms` is in milliseconds, `bytes` counts the text inside the fence. In shadow nothing was sent.
    """

    time: datetime
    session: str
    query: str
    candidates: int
    selected: tuple[str, ...]
    bytes: int
    duration_ms: float
    shadow: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the row for programs."""
        return {
            "time": format_time(self.time),
            "session": self.session,
            "query": self.query,
            "candidates": self.candidates,
            "selected": len(self.selected),
            "ids": list(self.selected),
            "bytes": self.bytes,
            "duration_ms": self.duration_ms,
            "shadow": self.shadow,
        }


class Telemetry:
    """One small database beside the sessions; safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file = DatabaseFile(path, wait_seconds=WAIT_SECONDS, prepare=_prepare)

    def note(self, noted: Noted) -> None:
        """Keep what one turn did; raise `TelemetryFault` where that cannot be."""
        values = (
            format_time(noted.time),
            noted.session,
            noted.query,
            noted.candidates,
            json.dumps(noted.selected),
            noted.bytes,
            noted.duration_ms,
            int(noted.shadow),
        )
        self._guarded(lambda connection: _insert(connection, values), make=True)

    def newest(self, limit: int = 20) -> list[Noted]:
        """Return the newest turns, newest first."""
        return self._guarded(lambda connection: _newest(connection, limit), make=False) or []

    def count(self) -> int:
        """Return how many turns are kept."""

        def counted(connection: sqlite3.Connection) -> int:
            return int(connection.execute("SELECT count(*) FROM recall").fetchone()[0])

        return self._guarded(counted, make=False) or 0

    def close(self) -> None:
        """Let the file go; the next use opens it again."""
        with self._lock:
            self._file.close()

    def _guarded(self, work: Any, *, make: bool) -> Any:
        """Do some work on the open database, once more with a new one where this one is damaged."""
        import sqlite3

        with self._lock:
            for attempt in (1, 2):
                try:
                    connection = self._file.open(make=make)
                    return None if connection is None else work(connection)
                except DatabaseUnavailable as unavailable:
                    raise TelemetryFault(
                        f"What was recalled cannot be noted in {self.path}: {unavailable.reason}."
                    ) from unavailable
                except sqlite3.Error as error:
                    self._file.close()
                    damaged = ((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF) in DAMAGED
                    if attempt == 1 and (damaged or "no such" in str(error)):
                        # Counts of the past are worth no repair.
                        remove_database(self.path)
                        continue
                    raise TelemetryFault(
                        f"What was recalled cannot be noted in {self.path}: {cause_of(error)}."
                    ) from error
        return None


def _prepare(connection: sqlite3.Connection) -> None:
    # Nothing of value is lost with the power; no turn should wait for the disk for this.
    for pragma in ("journal_mode = WAL", "synchronous = OFF", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute(_CREATE)
    connection.execute(_BOUND)


def _insert(connection: sqlite3.Connection, values: Sequence[object]) -> None:
    connection.execute(
        f"INSERT INTO recall({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - names of ours
        values,
    )


def _newest(connection: sqlite3.Connection, limit: int) -> list[Noted]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM recall ORDER BY number DESC LIMIT ?",  # noqa: S608 - names of ours
        (limit,),
    )
    return [
        Noted(
            datetime.fromisoformat(time),
            session,
            query,
            candidates,
            tuple(json.loads(selected)),
            size,
            duration,
            bool(shadow),
        )
        for time, session, query, candidates, selected, size, duration, shadow in rows
    ]
