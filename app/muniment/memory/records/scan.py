"""Reading a scope's files: only regular files of yours, never through a link, each opened once."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from muniment.memory.records.ids import MAX_RECORD_BYTES, SUFFIX, is_valid_id
from muniment.memory.records.scope import MEMORY_DIR_NAME, Scope
from muniment.memory.records.times import format_time, parse_time

if TYPE_CHECKING:
    from muniment.memory.records.record import Record

# What decodes a file is imported where one is read: where an index knows them all, none is.

_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CUT = len(SUFFIX)

COARSE_CLOCK_NS = 50_000_000
"""A file changed this shortly before a look may change again with the same time, so it is read again."""

Signature = tuple[int, int, int, int]
"""Size, mtime, ctime and inode of a file; a changed file has another, even where its mtime was set back."""


class Meta(NamedTuple):
    """What a list shows of one copy of a record; no body. There are many: a tuple is made fastest.

    Times are as they are written: a later one is greater as text, and few are ever needed as times.
    """

    id: str
    category: str
    title: str
    tags: tuple[str, ...]
    source: str
    created: str
    updated: str
    expires: str | None
    scope: Scope

    @property
    def updated_at(self) -> datetime:
        return parse_time(self.updated)

    @property
    def path(self) -> Path:
        return record_path(self.scope, self.id)


class Skipped(NamedTuple):
    """Something in a scope that is not read, with the reason as words after its name."""

    path: Path
    reason: str
    scope: Scope


class Seen(NamedTuple):
    """What one file name led to: a copy's metadata or the reason why it is skipped."""

    signature: Signature | None
    """None where the file must be read again next time."""
    meta: Meta | None
    reason: str = ""


class Reading(NamedTuple):
    """A file as it is now: its bytes, or why it is not read; absent where both are empty."""

    data: bytes | None = None
    mtime: float = 0.0
    signature: Signature | None = None
    reason: str = ""

    @property
    def absent(self) -> bool:
        return self.data is None and not self.reason


ABSENT = Reading()
"""What reading a file that is not there leads to."""


def record_path(scope: Scope, record_id: str) -> Path:
    return scope.memory_dir / f"{record_id}{SUFFIX}"


@contextmanager
def open_memory_dir(scope: Scope) -> Iterator[int | None]:
    """Open a scope's `memory/` without following a link there; None where it does not exist."""
    outer = inner = None
    try:
        # The data directory may be reached through a link; a project's own directory may not be one.
        extra = 0 if scope.kind == "global" else os.O_NOFOLLOW
        outer = os.open(scope.directory, _DIR_FLAGS | extra)
        inner = os.open(MEMORY_DIR_NAME, _DIR_FLAGS | os.O_NOFOLLOW, dir_fd=outer)
    except FileNotFoundError:
        inner = None
    finally:
        if outer is not None:
            os.close(outer)
    try:
        yield inner
    finally:
        if inner is not None:
            os.close(inner)


def read_in(dir_fd: int, name: str) -> Reading:
    """Read one file of an open directory; anything that is not a plain file of yours gives a reason."""
    try:
        fd = os.open(name, _FILE_FLAGS, dir_fd=dir_fd)
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        return Reading(reason=_open_problem(error))
    try:
        info = os.fstat(fd)
        mode = info.st_mode
        size = info.st_size
        if not stat.S_ISREG(mode):
            return Reading(reason="is a directory" if stat.S_ISDIR(mode) else "is not a regular file")
        if info.st_nlink != 1:
            return Reading(reason="has several hard links")
        if info.st_uid != os.geteuid() and info.st_uid != 0:
            return Reading(reason=f"is owned by another user (uid {info.st_uid})")
        signature = (size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        if size > MAX_RECORD_BYTES:
            return Reading(signature=signature, reason=f"is larger than {MAX_RECORD_BYTES} bytes")
        data = os.read(fd, size + 1)
        if len(data) != size:
            return Reading(reason="changed while it was read")
        return Reading(data, info.st_mtime, signature)
    except OSError as error:
        return Reading(reason=f"cannot be read: {error.strerror or error}")
    finally:
        os.close(fd)


def read_copy(scope: Scope, record_id: str) -> Reading:
    """Read one record file of a scope by its id."""
    try:
        with open_memory_dir(scope) as dir_fd:
            return ABSENT if dir_fd is None else read_in(dir_fd, f"{record_id}{SUFFIX}")
    except OSError as error:
        return Reading(reason=_open_problem(error))


def read_bodies(metas: Iterable[Meta]) -> Iterator[tuple[Meta, Record]]:
    """Read the records behind some metadata, opening each directory once; what is gone is left out."""
    from muniment.memory.records.record import Record

    by_scope: dict[Scope, list[Meta]] = {}
    for meta in metas:
        by_scope.setdefault(meta.scope, []).append(meta)
    for scope, group in by_scope.items():
        try:
            with open_memory_dir(scope) as dir_fd:
                if dir_fd is None:
                    continue
                for meta in group:
                    record = decode_reading(read_in(dir_fd, f"{meta.id}{SUFFIX}"), meta.id)
                    if isinstance(record, Record):
                        yield meta, record
        except OSError:
            # The directory went away between the list and this look: so did its records.
            continue


def decode_reading(reading: Reading, record_id: str) -> Record | str:
    """Return the record in a reading that is not absent, or the reason why there is none."""
    if reading.data is None:
        return reading.reason
    from muniment.memory.records.record import RecordFault, decode

    try:
        return decode(reading.data, record_id, reading.mtime)
    except RecordFault as fault:
        return str(fault)


def scan_scope(scope: Scope, known: dict[str, Seen]) -> dict[str, Seen]:
    """Look at every record file of a scope; files with the signature of `known` are not read again.

    Only direct children named `*.yaml` that do not start with a dot count; other links are named as skipped,
    all else is ignored. Raise `OSError` where the directory cannot be listed.
    """
    seen: dict[str, Seen] = {}
    recent = time.time_ns() - COARSE_CLOCK_NS
    with open_memory_dir(scope) as dir_fd:
        if dir_fd is None:
            return seen
        with os.scandir(dir_fd) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if not name.endswith(SUFFIX):
                    if entry.is_symlink() and not name.endswith("~"):
                        seen[name] = Seen(None, None, "is a symbolic link")
                    continue
                old = known.get(name)
                if old is not None and old.signature is not None and old.signature == _signature(entry):
                    seen[name] = old
                    continue
                seen[name] = _look(scope, dir_fd, name, recent)
    # A file that vanished between listing and opening was never there.
    return {name: each for name, each in seen.items() if each.meta is not None or each.reason}


def _look(scope: Scope, dir_fd: int, name: str, recent: int) -> Seen:
    from muniment.memory.records.record import RecordFault, decode

    reading = read_in(dir_fd, name)
    signature = reading.signature
    if signature is not None and signature[2] >= recent:
        signature = None
    data = reading.data
    if data is None:
        return Seen(signature, None, reading.reason)
    stem = name[:-_CUT]
    if not is_valid_id(stem):
        return Seen(signature, None, "has a name that is no identifier")
    try:
        record = decode(data, stem, reading.mtime)
    except RecordFault as fault:
        return Seen(signature, None, str(fault))
    meta = Meta(
        record.id,
        record.category,
        record.title,
        record.tags,
        record.source,
        format_time(record.created_at),
        format_time(record.updated_at),
        None if record.expires_at is None else format_time(record.expires_at),
        scope,
    )
    return Seen(signature, meta)


def _signature(entry: os.DirEntry[str]) -> Signature | None:
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def _open_problem(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "is a symbolic link"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "cannot be read: permission denied"
    if error.errno == errno.ENXIO:
        return "is not a regular file"
    if error.errno == errno.ENOTDIR:
        return "is not a directory"
    return f"cannot be read: {error.strerror or error}"
