"""Where a scope's index lies, how its file is made and removed, and what is told when that fails."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError
from muniment.safety.files import FileRefused, ensure_private_dir

if TYPE_CHECKING:
    import sqlite3

DAMAGED = (11, 26)
"""SQLite's codes for a file that is damaged or no database."""
BUSY = (5, 6)
"""SQLite's codes for what another connection keeps locked."""


class IndexUnavailable(MunimentError):  # noqa: N818 - named for what it says
    """There is no index to use; `reason` is one clause that fits after "the records were read directly:"."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The search index cannot be used: {reason}.")
        self.reason = reason


def index_path(directory: Path, scope_directory: Path) -> Path:
    """Return where the index of a scope lies below the cache."""
    return directory / f"{sha256(os.fsencode(scope_directory)).hexdigest()[:32]}.db"


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return which file stands there; raise `IndexUnavailable` for anything but a regular file of yours."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexUnavailable(f"{path.parent} cannot be entered ({error.strerror or error})") from error
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
        raise IndexUnavailable(f"{path} is not a file of yours")
    return (info.st_dev, info.st_ino)


def create_file(path: Path) -> None:
    """Create the file with its mode, which the database's companions take over."""
    try:
        ensure_private_dir(path.parent)
        for leftover in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + leftover).unlink(missing_ok=True)
        with suppress(FileExistsError):  # another process was faster
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            os.fchmod(fd, 0o600)
            os.close(fd)
    except FileRefused as refused:
        raise IndexUnavailable(f"{refused.path} is {refused.reason}") from refused
    except OSError as error:
        raise IndexUnavailable(f"{path.parent} cannot be written ({error.strerror or error})") from error


def remove_index(path: Path) -> None:
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
        try:
            each.unlink(missing_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"{path.parent} cannot be written ({error.strerror or error})") from error


def roll_back(connection: sqlite3.Connection) -> None:
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
