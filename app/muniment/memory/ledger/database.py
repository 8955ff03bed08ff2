"""The ledger's file: made private, brought to the present version, opened by any number of processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.database_file import (
    BUSY,
    DAMAGED,
    DatabaseFile,
    DatabaseUnavailable,
    cause_of,
    roll_back,
)
from muniment.memory.ledger.faults import LedgerBusy, LedgerDamaged, LedgerFault
from muniment.memory.recall.fts import prepare
from muniment.memory.recall.tokens import ANALYSIS

if TYPE_CHECKING:
    import sqlite3

MIGRATIONS = ("schema.sql", "purged.sql")
"""Script number n, counted from 1, takes a ledger from version n - 1 to n; a new ledger runs all of them."""
VERSION = len(MIGRATIONS)
WAIT_SECONDS = 5.0
_MOVES = 3
"""How often a writer follows a file that a repair puts another one in the place of."""

_WORDS = "words.sql"
_WORD_TRIGGERS = ("memory_added", "memory_removed", "memory_changed")


class Database:
    """One process's door to the file; safe for threads, which take turns."""

    def __init__(
        self, path: Path, *, wait_seconds: float = WAIT_SECONDS, full_text: bool | None = None
    ) -> None:
        """`full_text` False treats this SQLite as one that was built without full-text search."""
        self.path = path
        self._wanted = full_text
        self._lock = threading.RLock()
        self._file = DatabaseFile(path, wait_seconds=wait_seconds, prepare=self._prepare)
        self.full_text = True
        """Whether the open database can be searched by its index; else every row has to be read."""

    def close(self) -> None:
        """Let the file go; the next use opens it again."""
        with self._lock:
            self._file.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection whose reads all see one state; None where there is no ledger yet."""
        with self._turn(), self._translated():
            connection = self._file.open(make=False)
            if connection is None:
                yield None
                return
            connection.execute("BEGIN")
            try:
                # Another process may have brought it to a newer version since it was opened here.
                self._known_version(connection)
                yield connection
            finally:
                roll_back(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that is kept if the block ends well."""
        with self._turn(), self._translated():
            connection = self._begin()
            try:
                self._known_version(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                roll_back(connection)
                raise

    def vacate(self) -> bool:
        """Let the words of removed text vanish from the file and its log; False where others read it now."""
        with self._turn(), self._translated():
            connection = self._file.open(make=False)
            return connection is None or forget_words(connection)

    def _begin(self) -> sqlite3.Connection:
        """Open the file for writing, and once more where it was set aside while its lock was waited for."""
        for _ in range(_MOVES):
            connection = self._file.open(make=True)
            if connection is None:
                raise LedgerFault(f"The ledger {self.path} cannot be made.")
            connection.execute("BEGIN IMMEDIATE")
            if self._file.stands():
                return connection
            roll_back(connection)
        raise LedgerBusy(self.path)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what SQLite says into one sentence."""
        import sqlite3

        try:
            yield
        except DatabaseUnavailable as unavailable:
            raise LedgerFault(
                f"The ledger {self.path} cannot be used: {unavailable.reason}."
            ) from unavailable
        except sqlite3.DatabaseError as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            if code in BUSY:
                raise LedgerBusy(self.path) from error
            self.close()
            if code in DAMAGED or "malformed" in str(error) or "no such table" in str(error):
                raise LedgerDamaged(self.path, str(error)) from error
            if isinstance(error, sqlite3.IntegrityError):
                raise LedgerFault(f"The ledger {self.path} refused a row: {error}.") from error
            raise LedgerFault(f"The ledger {self.path} cannot be used: {cause_of(error)}.") from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Bring version, index and analysis up to date; a ledger that is has nothing written to it."""
        if self.path.stat().st_mode & 0o077:
            with suppress(OSError):  # not being able to is no reason to refuse what can be read
                self.path.chmod(0o600)
        for pragma in (
            "secure_delete = ON",
            "synchronous = FULL",
            "temp_store = MEMORY",
            "foreign_keys = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        has_module = self._has_full_text(connection)
        if not self._is_current(connection, has_module):
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._migrate(connection, has_module)
                connection.execute("COMMIT")
            except BaseException:
                roll_back(connection)
                raise
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            import sqlite3

            with suppress(sqlite3.OperationalError):  # in use right now; the next to open it does it
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
        self.full_text = has_module and _has(connection, "memory_text")

    def _is_current(self, connection: sqlite3.Connection, has_module: bool) -> bool:
        if self._known_version(connection) < VERSION:
            return False
        if has_module != _has(connection, _WORD_TRIGGERS[0]):
            return False
        known = connection.execute("SELECT value FROM about WHERE key = 'analysis'").fetchone()
        return known is not None and known[0] == ANALYSIS

    def _known_version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            raise LedgerFault(
                f"The ledger {self.path} was written by a newer Muniment (version {version}, this one knows "
                f"{VERSION}); it is left alone, use that one."
            )
        return version

    def _migrate(self, connection: sqlite3.Connection, has_module: bool) -> None:
        # Another process may have migrated it since, a newer one too: what counts is seen under the lock.
        version = self._known_version(connection)
        if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise LedgerFault(f"{self.path} is a database of something else; move it away.")
        for number in range(version, VERSION):
            run_script(connection, MIGRATIONS[number])
            connection.execute(f"PRAGMA user_version = {number + 1}")
        known = connection.execute("SELECT value FROM about WHERE key = 'analysis'").fetchone()
        if known is not None and known[0] != ANALYSIS:
            _analyse_again(connection)
        connection.execute("INSERT OR REPLACE INTO about(key, value) VALUES ('analysis', ?)", (ANALYSIS,))
        if not has_module:
            # Without their table the triggers would refuse every write; the next SQLite that has
            # full-text search fills the index anew.
            for name in _WORD_TRIGGERS:
                connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        elif not _has(connection, _WORD_TRIGGERS[0]):
            make_words(connection)

    def _has_full_text(self, connection: sqlite3.Connection) -> bool:
        if self._wanted is not None:
            return self._wanted
        modules = {name for (name,) in connection.execute("PRAGMA module_list")}
        return not modules or "fts5" in modules


def make_words(connection: sqlite3.Connection) -> None:
    """Make the full-text index anew from the rows, inside the caller's transaction."""
    for name in _WORD_TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    for name in ("memory_text_words", "memory_text"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    run_script(connection, _WORDS)


def forget_words(connection: sqlite3.Connection) -> bool:
    """Let words of removed text vanish from index, free pages and log; False where the log is in use.

    Only outside of transactions. Text that was put over is overwritten (`secure_delete`), but the index
    keeps words in older segments until they are merged, and the log every page until it is emptied.
    """
    if _has(connection, "memory_text"):
        connection.execute("INSERT INTO memory_text(memory_text) VALUES ('optimize')")
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def run_script(connection: sqlite3.Connection, name: str) -> None:
    """Run a script statement by statement, so that it stays inside the caller's transaction."""
    import sqlite3

    statement = ""
    with files(__package__).joinpath(name).open(encoding="utf-8") as stream:
        text = stream.read()
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def word_columns(
    title: str, tags: str, paths: str, body: str
) -> tuple[str | None, str | None, str | None, str]:
    """Return the four columns that say how a row is indexed; None where the index takes the text as it is."""
    labels = f"{tags} {paths}"
    _, *words, code = (str(each) for each in prepare(0, (title, labels, body)))
    kept = [None if word == text else word for word, text in zip(words, (title, labels, body), strict=True)]
    return kept[0], kept[1], kept[2], code


def _analyse_again(connection: sqlite3.Connection) -> None:
    """Prepare every text anew where words are cut in another way than when it was written."""
    rows = connection.execute("SELECT number, title, tags, paths, body FROM memory").fetchall()
    connection.executemany(
        "UPDATE memory SET title_words = ?, labels_words = ?, body_words = ?, code_words = ?"
        " WHERE number = ?",
        [(*word_columns(*texts), number) for number, *texts in rows],
    )


def _has(connection: sqlite3.Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None
