"""The one way to open, replace, append to and lock files: regular files, never through a link of ours.

Everything at and below a `.muniment` directory, and a directory named `memory`, is entered without
following a link, component by component on open directories, so that nobody can swap one for a link between
look and use. Links further up (a linked home or temporary directory) are followed as usual.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from contextlib import nullcontext, suppress
from pathlib import Path

from muniment.paths import PROJECT_DIR_NAME
from muniment.safety.errors import MunimentError

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600

_DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TEMP_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
ANY_AGE = float("-inf")
"""For `remove_stale_temps`: however new a temporary file is."""
_UNLINKED_NAME = "memory"
_MAX_TEMP_STEM = 120
_CHUNK = 1_048_576
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05
"""Seconds between two tries for a lock."""


class FileRefused(MunimentError):  # noqa: N818 - says what happened
    """A file or directory that is not opened; `reason` is short and fits after "is skipped:"."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path} is not opened: {reason}.")
        self.path = path
        self.reason = reason


class LockBusy(MunimentError):  # noqa: N818 - as above
    """Another process holds the lock and did not let go in time."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


class Held:
    """An open directory, or a lock, that is let go at the end of a `with` block."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __enter__(self) -> int:
        return self.fd

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def open_directory(path: Path, *, follow: bool = True) -> Held:
    """Open a directory for use with `dir_fd`; raise `FileRefused` for a link where none may be.

    Without `follow` the directory itself may be none wherever it stands.
    """
    return Held(_enter(path, follow=follow))


def ensure_private_dir(path: Path) -> None:
    """Create a directory and its missing parents, each 0700 whatever the umask.

    An existing directory of yours with another mode is corrected where that is allowed, and used as it is
    where not. Raise `FileRefused` where something else stands there or a link where none may be, `OSError`
    as it comes.
    """
    try:
        fd = _enter(path)
    except FileNotFoundError:
        _make_missing(path)
        fd = _enter(path)
    try:
        info = os.fstat(fd)
        if stat.S_IMODE(info.st_mode) != PRIVATE_DIR and info.st_uid == os.geteuid():
            with suppress(PermissionError):  # some sandboxes forbid chmod; the directory works all the same
                os.fchmod(fd, PRIVATE_DIR)
    finally:
        os.close(fd)


def _make_missing(path: Path) -> None:
    missing: list[Path] = []
    at = path
    while not _is_there(at):
        missing.append(at)
        at = at.parent
    for each in reversed(missing):
        with open_directory(each.parent) as parent, suppress(FileExistsError):  # another process was faster
            os.mkdir(each.name, PRIVATE_DIR, dir_fd=parent)
            if stat.S_IMODE(os.stat(each.name, dir_fd=parent).st_mode) != PRIVATE_DIR:
                os.chmod(each.name, PRIVATE_DIR, dir_fd=parent)


def read_regular(
    path: Path,
    *,
    max_bytes: int,
    single_link: bool = True,
    any_owner: bool = False,
    dir_fd: int | None = None,
) -> bytes:
    """Return the bytes of a regular file of yours or root's, at most `max_bytes`.

    The size is checked before a byte is read, and a pipe never blocks. With `dir_fd` only the last
    component of `path` counts, in that open directory. `any_owner` and `single_link=False` are for files
    that are the project's and not ours. Raise `FileNotFoundError` where nothing is there, else
    `FileRefused`.
    """
    try:
        if dir_fd is not None:
            fd = os.open(path.name, _READ_FLAGS, dir_fd=dir_fd)
        else:
            with open_directory(path.parent) as parent:
                fd = os.open(path.name, _READ_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FileRefused(path, _open_reason(error)) from error
    try:
        info = os.fstat(fd)
        reason = _kind_reason(info, single_link=single_link, any_owner=any_owner)
        if reason is None and info.st_size > max_bytes:
            reason = f"larger than {max_bytes} bytes"
        if reason is not None:
            raise FileRefused(path, reason)
        data = _read_up_to(fd, info.st_size, max_bytes + 1)
    except OSError as error:
        raise FileRefused(path, _open_reason(error)) from error
    finally:
        os.close(fd)
    if len(data) > max_bytes:
        raise FileRefused(path, f"larger than {max_bytes} bytes")
    return data


def write_atomic(
    path: Path,
    data: bytes,
    *,
    mode: int = PRIVATE_FILE,
    durable: bool = True,
    dir_fd: int | None = None,
    temp_mark: str = "",
) -> None:
    """Put `data` at `path` whole or not at all; what was there stays until the new file is on disk.

    The temporary file stands beside it under a dotted name that no loader takes for content, and is gone
    after any error. With `dir_fd` only the last component of `path` counts, in that open directory;
    `temp_mark` makes the temporary name one that is told from other programs' names. Raise `OSError` (no
    space, read-only, …) or `FileRefused` with the old file untouched.
    """
    with open_directory(path.parent) if dir_fd is None else nullcontext(dir_fd) as parent:
        temp = _temp_name(path.name, temp_mark)
        try:
            fd = os.open(temp, _TEMP_FLAGS, mode, dir_fd=parent)
        except OSError as error:
            error.filename = str(path)  # the name that means something to a reader
            raise
        try:
            try:
                if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
                    os.fchmod(fd, mode)
                _write_all(fd, data)
                if durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
            os.replace(temp, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):  # the first error is the one to tell
                os.unlink(temp, dir_fd=parent)
            raise
        if durable:
            _sync_directory(parent)


def append_durable(path: Path, data: bytes, *, own_line: bool = False, dir_fd: int | None = None) -> None:
    """Add `data` at the end of a file, made 0600 where it is missing, and return when it is on disk.

    With `own_line` a line that was cut off before it is ended first. With `dir_fd` only the last component
    of `path` counts, in that open directory. Where the data does not fit whole the file is cut back to its
    former length before the `OSError` goes on.
    """
    with open_directory(path.parent) if dir_fd is None else nullcontext(dir_fd) as parent:
        created = False
        try:
            fd = os.open(path.name, _APPEND_FLAGS, dir_fd=parent)
        except FileNotFoundError:
            fd = os.open(path.name, _APPEND_FLAGS | os.O_CREAT, PRIVATE_FILE, dir_fd=parent)
            created = True
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
                raise FileRefused(path, _open_reason(error)) from error
            raise
        try:
            info = os.fstat(fd)
            reason = _kind_reason(info, single_link=True, any_owner=False)
            if reason is not None:
                raise FileRefused(path, reason)
            if created and stat.S_IMODE(info.st_mode) != PRIVATE_FILE:
                os.fchmod(fd, PRIVATE_FILE)
            if own_line and info.st_size and os.pread(fd, 1, info.st_size - 1) != b"\n":
                data = b"\n" + data
            try:
                _write_all(fd, data)
                os.fsync(fd)
            except OSError:
                with suppress(OSError):  # the first error is the one to tell
                    os.ftruncate(fd, info.st_size)
                raise
        finally:
            os.close(fd)
        if created:
            _sync_directory(parent)


def remove_file(path: Path, *, durable: bool = True, dir_fd: int | None = None) -> bool:
    """Remove a file, never through a link of ours; return False where nothing was there.

    With `dir_fd` only the last component of `path` counts, in that open directory.
    """
    try:
        with open_directory(path.parent) if dir_fd is None else nullcontext(dir_fd) as parent:
            os.unlink(path.name, dir_fd=parent)
            if durable:
                _sync_directory(parent)
    except FileNotFoundError:
        return False
    return True


def move_file(name: str, target: str, *, source: int, destination: int) -> None:
    """Move a file from one open directory to another; raise `FileExistsError` where the target is taken.

    Whoever calls it holds a lock under which nobody else makes the target.
    """
    try:
        os.stat(target, dir_fd=destination, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, target, src_dir_fd=source, dst_dir_fd=destination)
        _sync_directory(destination)
        _sync_directory(source)
        return
    raise FileExistsError(errno.EEXIST, "it is there already", target)


def remove_stale_temps(
    directory: Path, *, older_than: float = 3600.0, mark: str = "", dir_fd: int | None = None
) -> int:
    """Remove temporary files that a killed process left, older than so many seconds; return how many.

    `ANY_AGE` is for whoever holds the lock under which they are written. In a directory that is not ours
    alone `mark` picks those written with it; the name of a file with a full stop behind it picks those of
    that file. `dir_fd` is the directory where it is open already.
    """
    removed = 0
    border = time.time() - older_than
    opened = open_directory(directory) if dir_fd is None else nullcontext(dir_fd)
    with opened as parent, os.scandir(parent) as entries:
        for entry in entries:
            if not (entry.name.startswith(f".{mark}") and entry.name.endswith(".tmp")):
                continue
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(info.st_mode) and info.st_mtime < border and info.st_uid == os.geteuid():
                os.unlink(entry.name, dir_fd=parent)
                removed += 1
    return removed


def locked(path: Path, *, timeout: float = 10.0) -> Held:
    """Take the lock file `path` against all other processes, waiting up to `timeout` seconds.

    Use it in a `with` block, whose end lets go. Raise `LockBusy` where another one keeps it. Not reentrant:
    a second lock on the same path waits for the first.
    """
    try:
        fd = os.open(path, _LOCK_FLAGS, PRIVATE_FILE)
    except FileNotFoundError:
        ensure_private_dir(path.parent)
        fd = os.open(path, _LOCK_FLAGS, PRIVATE_FILE)
    try:
        if stat.S_IMODE(os.fstat(fd).st_mode) != PRIVATE_FILE:
            with suppress(PermissionError):  # some sandboxes forbid chmod; the lock holds all the same
                os.fchmod(fd, PRIVATE_FILE)
        _take_turn(fd, path, time.monotonic() + timeout)
    except BaseException:
        os.close(fd)
        raise
    return Held(fd)


def _take_turn(fd: int, path: Path, deadline: float) -> None:
    import fcntl

    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
                raise LockBusy(
                    f"{path.parent} is on a file system without locks; move it to one that has them."
                ) from None
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                raise
        if time.monotonic() >= deadline:
            raise LockBusy(
                f"{path} is held by another process; try again when that one has finished."
            ) from None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _enter(path: Path, *, follow: bool = True) -> int:
    """Open a directory, without following links from the first `.muniment` on."""
    parts = path.parts
    if PROJECT_DIR_NAME in parts:
        cut = parts.index(PROJECT_DIR_NAME)
    elif path.name == _UNLINKED_NAME:
        cut = len(parts) - 1
    else:
        cut = len(parts)
    # Joined by hand: in a store this is done a dozen times, and a new path costs as much as opening it.
    base = os.path.join(*parts[:cut]) if 0 < cut < len(parts) else path if cut else "."  # noqa: PTH118 - as above
    try:
        fd = os.open(base, _DIR_FLAGS if follow or cut < len(parts) else _DIR_FLAGS | os.O_NOFOLLOW)
        for part in parts[cut:]:
            outer = fd
            try:
                fd = os.open(part, _DIR_FLAGS | os.O_NOFOLLOW, dir_fd=outer)
            finally:
                os.close(outer)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise FileRefused(path, _not_a_directory(path)) from error
        raise
    return fd


def _not_a_directory(path: Path) -> str:
    """Linux reports a link opened as a directory as ENOTDIR: look which of both it is."""
    for each in (path, *path.parents):
        if each.is_symlink():
            return "symbolic link"
    return "not a directory"


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except NotADirectoryError as error:
        raise FileRefused(path, "not a directory") from error
    return True


def _temp_name(name: str, mark: str = "") -> str:
    stem = name.encode("utf-8", "surrogateescape")[:_MAX_TEMP_STEM].decode("utf-8", "ignore")
    # What `secrets` does, whose import costs a search more than its answer.
    return f".{mark}{stem}.{os.urandom(6).hex()}.tmp"


def _write_all(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


def _read_up_to(fd: int, expected: int, limit: int) -> bytes:
    """Read to the end or to `limit`; most files arrive in the first read."""
    first = os.read(fd, min(expected + 1, limit))
    if len(first) == expected:
        return first
    pieces = [first]
    total = len(first)
    while first and total < limit:
        first = os.read(fd, min(_CHUNK, limit - total))
        pieces.append(first)
        total += len(first)
    return b"".join(pieces)


def _sync_directory(fd: int) -> None:
    with suppress(OSError):  # some file systems cannot sync a directory; the rename itself has happened
        os.fsync(fd)


def _kind_reason(info: os.stat_result, *, single_link: bool, any_owner: bool) -> str | None:
    if not stat.S_ISREG(info.st_mode):
        return "a directory" if stat.S_ISDIR(info.st_mode) else "not a regular file"
    if single_link and info.st_nlink > 1:
        return "has several hard links"
    if not any_owner and info.st_uid not in (os.geteuid(), 0):
        return "owned by someone else"
    return None


def _open_reason(error: OSError) -> str:
    match error.errno:
        case errno.ELOOP | errno.EMLINK:
            return "symbolic link"
        case errno.EACCES | errno.EPERM:
            return "permission denied"
        case errno.ENXIO:
            return "not a regular file"
        case errno.EISDIR:
            return "a directory"
        case errno.ENOTDIR:
            return "not a directory"
        case errno.ENAMETOOLONG:
            return "name too long"
        case _:
            return (error.strerror or str(error)).lower()
