"""A database in a private file: how it is made, kept open and removed, and what is told when that fails."""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError
from muniment.safety.files import PRIVATE_FILE, FileRefused, ensure_private_dir

if TYPE_CHECKING:
    import sqlite3

DAMAGED = (11, 26)
"""SQLite's codes for a file that is damaged or no database."""
BUSY = (5, 6)
"""SQLite's codes for what another connection keeps locked."""


class DatabaseUnavailable(MunimentError):  # noqa: N818 - named for what it says
    """There is no database to use; `reason` is one clause."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The database cannot be used: {reason}.")
        self.reason = reason


class DatabaseFile:
    """A database kept open for as long as the very same file stands at its path; not safe for threads."""

    def __init__(
        self, path: Path, *, wait_seconds: float, prepare: Callable[[sqlite3.Connection], None]
    ) -> None:
        """`prepare` is given each new connection before anybody else; what it raises closes it again."""
        self.path = path
        self.identity: tuple[int, int] | None = None
        """Which file is open; None where none was."""
        self._wait = wait_seconds
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._ended: weakref.finalize[[], DatabaseFile] | None = None

    def open(self, *, make: bool) -> sqlite3.Connection | None:
        """Return the open database; None where there is none and none is to be made."""
        import sqlite3

        identity = identity_of(self.path)
        if self._connection is not None:
            if identity is not None and identity == self.identity:
                return self._connection
            self.close()
        if identity is None:
            if not make:
                return None
            create_file(self.path)
        connection = sqlite3.connect(
            self.path, timeout=self._wait, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        # An owner that is only forgotten lets the file go too.
        self._ended = weakref.finalize(self, connection.close)
        self.identity = identity_of(self.path)
        return connection

    def stands(self) -> bool:
        """Tell whether the file that is open is still the one at the path."""
        return self._connection is not None and identity_of(self.path) == self.identity

    def close(self) -> None:
        """Let the file go; it is opened again when it is needed."""
        if self._ended is not None:
            self._ended()
            self._ended = self._connection = None


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return which file stands there; raise `DatabaseUnavailable` for all but a regular file of yours."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatabaseUnavailable(f"{path.parent} cannot be entered ({error.strerror or error})") from error
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
        raise DatabaseUnavailable(f"{path} is not a file of yours")
    return (info.st_dev, info.st_ino)


def create_file(path: Path) -> None:
    """Create the file with its mode, which the database's companions take over.

    Companions that an earlier file left are SQLite's to remove, which it does for an empty file and under its
    locks: removed from here, they could be those of another process that was faster.
    """
    try:
        ensure_private_dir(path.parent)
        with suppress(FileExistsError):  # another process was faster
            fd = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE
            )
            try:
                # Some sandboxes forbid chmod, also where the mode is right.
                if stat.S_IMODE(os.fstat(fd).st_mode) != PRIVATE_FILE:
                    os.fchmod(fd, PRIVATE_FILE)
            finally:
                os.close(fd)
    except FileRefused as refused:
        raise DatabaseUnavailable(f"{refused.path} is {refused.reason}") from refused
    except OSError as error:
        raise DatabaseUnavailable(f"{path.parent} cannot be written ({error.strerror or error})") from error


def remove_database(path: Path) -> None:
    """Remove the file and its companions; raise `DatabaseUnavailable` where that cannot be."""
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
        try:
            each.unlink(missing_ok=True)
        except OSError as error:
            raise DatabaseUnavailable(
                f"{path.parent} cannot be written ({error.strerror or error})"
            ) from error


def roll_back(connection: sqlite3.Connection) -> None:
    """Take back what was begun, where something was."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def cause_of(error: Exception) -> str:
    """Say in plain words what kept the database from being used."""
    text = str(error)
    if "full" in text:
        return "the disk is full"
    if "readonly" in text or "unable to open" in text or "permission" in text:
        return "its directory cannot be written"
    if "no such module" in text or "tokenizer" in text:
        return "this Python's SQLite has no full-text search"
    return "it cannot be read or written"
