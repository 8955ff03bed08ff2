"""The index of one scope: a disposable database, made from the files and never instead of them.

`refresh` compares the files with what the index knows and brings it up to date in one transaction. Where
that cannot be done now, because another process writes or nothing can be written at all, the files that
differ are held in memory: an answer is never older than the files, whatever state the index is in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.database_file import (
    BUSY,
    DAMAGED,
    DatabaseFile,
    DatabaseUnavailable,
    cause_of,
    remove_database,
    roll_back,
)
from muniment.memory.records.index.place import index_path
from muniment.memory.records.index.read import Look, Opened, look, open_files, pack_files
from muniment.memory.records.index.rows import forget_rows, packed, put_rows
from muniment.memory.records.index.schema import PUT_ABOUT, TEXTS, VERSION, create_tables, drop_tables
from muniment.memory.records.scan import Signature

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.records.record import Record
    from muniment.memory.records.scope import Scope

WRITE_WAIT_SECONDS = 0.5
_CHUNK = 2_000
_NEVER: Signature = (-1, -1, -1, -1)
"""The signature of no file."""


@dataclass(slots=True)
class ScopeState:
    """What is known of one scope's files now: rows of the index, corrected by what is held in memory."""

    scope: Scope
    connection: sqlite3.Connection | None
    size: int = 0
    """Rows in the index, those that `changed` corrects included."""
    characters: int = 0
    generation: object = None
    """Another value after every change of what the index holds."""
    changed: dict[str, Opened] = field(default_factory=dict)
    """By file name: what differs from the index, or everything where there is no index."""
    reason: str = ""
    """Why files are held in memory, as a clause; empty where the index is up to date."""

    @property
    def held(self) -> dict[str, Record]:
        """The records held in memory, by id."""
        return {each.record.id: each.record for each in self.changed.values() if each.record is not None}

    @property
    def hidden(self) -> frozenset[str]:
        """Ids whose rows in the index no longer hold."""
        return frozenset(name.removesuffix(".yaml") for name in self.changed)


class ScopeIndex:
    """The index of one scope, kept open between searches; safe for several processes, not for threads."""

    def __init__(self, directory: Path, scope: Scope) -> None:
        self.scope = scope
        self.path = index_path(directory, scope.directory)
        self._file = DatabaseFile(self.path, wait_seconds=WRITE_WAIT_SECONDS, prepare=self._prepare)
        self.untidy = False
        """Whether the text of removed records has yet to vanish from the file."""
        self._held: dict[str, Opened] = {}
        self._looked = False
        self._last: tuple[object, bytes] | None = None
        """The generation of the index that has just been written, and the files it knows, packed."""

    def close(self) -> None:
        """Let the database go; the next refresh opens it again."""
        self._looked = False
        self._file.close()

    def refresh(self, *, build: bool = True) -> ScopeState:
        """Bring the index up to date with the files and say what is known.

        Without `build` an index that is not there yet is not made, and few changed files are written to one
        that is. Raise `OSError` where the directory of the records cannot be listed.
        """
        now_ns = time.time_ns()
        seen = look(self.scope)
        self._looked = False
        try:
            return self._guarded(seen, now_ns, build and bool(seen.files))
        except DatabaseUnavailable as unavailable:
            self.close()
            return self._in_memory(seen, now_ns, unavailable.reason)

    def state(self) -> ScopeState:
        """Return what the index knows without looking at the files; raise `DatabaseUnavailable`."""
        connection = self._file.open(make=False)
        if connection is None or not self._looked:
            raise DatabaseUnavailable("it is not up to date")
        return self._state(connection, {})

    def tidy(self) -> None:
        """Make the text of removed records vanish from the file; to be called after the answer was given.

        Where another process reads at this moment it stays for the next time.
        """
        import sqlite3

        try:
            connection = self._file.open(make=False)
            if connection is None or not self._about(connection).get("removed"):
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                TEXTS.optimize(connection)
                connection.execute("COMMIT")
            except sqlite3.Error:
                roll_back(connection)
                raise
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                # Written last: whoever dies before this leaves the work to the next.
                connection.execute(PUT_ABOUT, ("removed", 0))
                self.untidy = False
        except (sqlite3.Error, DatabaseUnavailable):
            # The note in the index stays, so the next search does it.
            self.close()

    def rebuild(self) -> ScopeState:
        """Throw the index away and make it anew from the files."""
        self.close()
        remove_database(self.path)
        return self.refresh()

    # Opening

    def _guarded(self, seen: Look, now_ns: int, build: bool) -> ScopeState:
        """Refresh, once more with a new database where this one is damaged."""
        import sqlite3

        for attempt in (1, 2):
            try:
                connection = self._file.open(make=build)
                if connection is None:
                    return self._in_memory(seen, now_ns, "")
                return self._refresh(connection, seen, now_ns)
            except sqlite3.Error as error:
                self.close()
                code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
                if code in BUSY:
                    raise DatabaseUnavailable("another process is writing the index") from error
                if attempt == 1 and (code in DAMAGED or "no such" in str(error)):
                    if "no such module" in str(error) or "tokenizer" in str(error):
                        raise DatabaseUnavailable("this Python's SQLite has no full-text search") from error
                    remove_database(self.path)
                    continue
                raise DatabaseUnavailable(cause_of(error)) from error
        raise DatabaseUnavailable("it is damaged")

    def _prepare(self, connection: sqlite3.Connection) -> None:
        for pragma in ("secure_delete = ON", "synchronous = NORMAL", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        if not self._is_current(connection):
            self._make(connection)

    def _is_current(self, connection: sqlite3.Connection) -> bool:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone()
        if known is None:
            return False
        about = self._about(connection)
        return about.get("version") == VERSION and about.get("scope") == os.fsencode(self.scope.directory)

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables, unless another process has just done so."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not self._is_current(connection):
                drop_tables(connection)
                create_tables(connection)
                start = {"version": VERSION, "scope": os.fsencode(self.scope.directory), "generation": 0}
                start |= {"size": 0, "characters": 0, "next": 1, "digest": b"", "removed": 0}
                connection.executemany(PUT_ABOUT, list(start.items()))
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise

    @staticmethod
    def _about(connection: sqlite3.Connection) -> dict[str, object]:
        return dict(connection.execute("SELECT key, value FROM about").fetchall())

    # Refreshing

    def _state(self, connection: sqlite3.Connection, changed: dict[str, Opened]) -> ScopeState:
        about = self._about(connection)
        self.untidy = bool(about["removed"])
        return ScopeState(
            self.scope,
            connection,
            _number(about["size"]),
            _number(about["characters"]),
            (self.path, self._file.identity, about["generation"]),
            changed,
        )

    def _refresh(self, connection: sqlite3.Connection, seen: Look, now_ns: int) -> ScopeState:
        about = self._about(connection)
        if about["digest"] == seen.digest:
            return self._fresh(connection)
        differing, removed = self._compared(connection, about, seen)
        opened: Iterable[Opened] = self._open_changed(differing, now_ns)
        if len(differing) <= _CHUNK:
            opened = list(opened)
        try:
            self._write(connection, about, seen, opened, removed)
        except _Outpaced:
            return self._refresh(connection, seen, now_ns)
        except BaseException as error:
            roll_back(connection)
            import sqlite3

            if not isinstance(error, sqlite3.OperationalError) or not isinstance(opened, list):
                raise
            code = (error.sqlite_errorcode or 0) & 0xFF
            if code in DAMAGED or "no such" in str(error):
                raise
            # The index stays as old as it is, and what differs from it is known: the answer is not old.
            changed = {each.name: each for each in opened}
            changed |= {name: Opened(name, None, None) for name in removed}
            self._held = changed
            state = self._state(connection, changed)
            state.reason = "another process is writing the index" if code in BUSY else cause_of(error)
            return state
        return self._fresh(connection)

    def _compared(
        self, connection: sqlite3.Connection, about: dict[str, object], seen: Look
    ) -> tuple[list[tuple[str, Signature]], set[str]]:
        """Return the files that differ from what the index knows, and the names that are gone."""
        if self._last is not None and self._last[0] == (self._file.identity, about["generation"]):
            # Nobody has written the index since: what was seen then need not be fetched from it.
            before = Look.unpack(self._last[1])
            differing = [each for each in seen.files if before.get(each[0]) != each[1]]
            names = set(before)
        else:
            kept: dict[str, bytes] = dict(connection.execute("SELECT name, signature FROM file"))
            if not kept:
                return seen.files, set()
            differing = [each for each in seen.files if kept.get(each[0]) != packed(each[1])]
            names = set(kept)
        if len(names) + sum(name not in names for name, _ in differing) == len(seen.files):
            return differing, set()
        return differing, names - {name for name, _ in seen.files}

    def _fresh(self, connection: sqlite3.Connection) -> ScopeState:
        self._held = {}
        self._looked = True
        return self._state(connection, {})

    def _open_changed(self, files: list[tuple[str, Signature]], now_ns: int) -> Iterable[Opened]:
        """Read the files that differ, save those that were read before and have not changed since."""
        if not self._held:
            return open_files(self.scope, files, now_ns)
        held = self._held
        same = [held[name] for name, signature in files if name in held and held[name].signature == signature]
        names = {each.name for each in same}
        rest = [each for each in files if each[0] not in names]
        return [*same, *open_files(self.scope, rest, now_ns)]

    def _in_memory(self, seen: Look, now_ns: int, reason: str) -> ScopeState:
        """Hold every file in memory."""
        opened = {each.name: each for each in self._open_changed(seen.files, now_ns)}
        self._held = opened
        return ScopeState(self.scope, None, changed=opened, reason=reason)

    def _write(
        self,
        connection: sqlite3.Connection,
        about: dict[str, object],
        seen: Look,
        opened: Iterable[Opened],
        removed: Iterable[str],
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if self._about(connection)["generation"] != about["generation"]:
            roll_back(connection)
            raise _Outpaced
        fresh = not _number(about["size"])
        size, characters, number = (_number(about[key]) for key in ("size", "characters", "next"))
        forgotten = 0
        gone = list(removed)
        if gone:
            count, length = forget_rows(connection, gone)
            forgotten += count
            size, characters = size - count, characters - length
            connection.executemany("DELETE FROM file WHERE name = ?", [(name,) for name in gone])
        listed = dict(seen.files)
        unsteady: set[str] = set()
        chunk: list[Opened] = []

        def put() -> None:
            nonlocal size, characters, number, forgotten
            if not fresh:
                count, length = forget_rows(connection, [each.name for each in chunk])
                forgotten += count
                size, characters = size - count, characters - length
            added, length = put_rows(connection, chunk, number)
            size, characters, number = size + added, characters + length, number + added
            chunk.clear()

        for each in opened:
            if each.signature != listed.get(each.name):
                unsteady.add(each.name)
            chunk.append(each)
            if len(chunk) == _CHUNK:
                put()
        put()
        values = {
            "digest": b"" if unsteady else seen.digest,
            "size": size,
            "characters": characters,
            "next": number,
            "generation": _number(about["generation"]) + 1,
            "removed": 1 if forgotten else about["removed"],
        }
        connection.executemany(PUT_ABOUT, list(values.items()))
        connection.execute("COMMIT")
        known = seen.packed
        if unsteady:
            known = pack_files([(name, _NEVER if name in unsteady else at) for name, at in seen.files])
        self._last = ((self._file.identity, values["generation"]), known)
        if fresh:
            # From now on readers and a writer do not wait for each other.
            connection.execute("PRAGMA journal_mode = WAL").fetchone()


class _Outpaced(Exception):  # noqa: N818 - caught right here
    """Another process brought the index up to date in between."""


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise DatabaseUnavailable("it is damaged")
    return value
