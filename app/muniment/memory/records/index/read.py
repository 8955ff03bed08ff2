"""Looking at a scope's record files for its index: which there are, which changed, what they hold."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from muniment.memory.records.ids import SUFFIX, is_valid_id
from muniment.memory.records.scan import COARSE_CLOCK_NS, Signature, open_memory_dir, read_in

if TYPE_CHECKING:
    from muniment.memory.records.record import Record
    from muniment.memory.records.scope import Scope

_CUT = len(SUFFIX)
_SIGNATURE = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")
_WITHOUT_REFERENCES = 2
_ATTEMPTS = 3
_UNSTEADY = "changed while it was read"


class Look(NamedTuple):
    """The files of a scope at one moment; `digest` is the same as long as none of them changes."""

    files: list[tuple[str, Signature]]
    digest: bytes
    packed: bytes
    """`files` in a few bytes, to be kept until the next look."""

    @staticmethod
    def unpack(packed: bytes) -> dict[str, Signature]:
        """Return the files of an earlier look by name."""
        return dict(marshal.loads(packed))  # noqa: S302 - bytes of this process, never of a file


class Opened(NamedTuple):
    """What one file holds now: a record or the reason why it is none; neither where it is gone."""

    name: str
    signature: Signature | None
    """None where the file may change again without a trace, so that it must be read again next time."""
    record: Record | None
    reason: str = ""


def look(scope: Scope) -> Look:
    """List the files of a scope with their signatures; raise `OSError` where that is impossible."""
    files: list[tuple[str, Signature]] = []
    with open_memory_dir(scope) as dir_fd:
        if dir_fd is not None:
            files = _list(dir_fd)
    packed = pack_files(files)
    return Look(files, hashlib.blake2b(packed, digest_size=16).digest(), packed)


def pack_files(files: list[tuple[str, Signature]]) -> bytes:
    """Return files and signatures as bytes, the same in every process."""
    return marshal.dumps(files, _WITHOUT_REFERENCES)  # back references would depend on the process


def _list(dir_fd: int) -> list[tuple[str, Signature]]:
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError), os.scandir(dir_fd) as entries:
            return [
                (name, _SIGNATURE(entry.stat(follow_symlinks=False)))
                for entry in entries
                if ((name := entry.name)[-_CUT:] == SUFFIX and name[0] != ".") or _counts(entry)
            ]
    # Files come and go all the time: take those that stay long enough to be looked at.
    files: list[tuple[str, Signature]] = []
    with os.scandir(dir_fd) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if _counts(entry):
                    files.append((entry.name, _SIGNATURE(entry.stat(follow_symlinks=False))))
    return files


def _counts(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    if name.endswith(SUFFIX):
        return name[0] != "."
    return entry.is_symlink() and name[0] != "." and not name.endswith("~")


def open_files(scope: Scope, files: Sequence[tuple[str, Signature]], now_ns: int) -> Iterator[Opened]:
    """Read files of a scope, each once; `now_ns` is the time before they were listed."""
    if not files:
        return
    from muniment.memory.records.record import RecordFault, decode

    recent = now_ns - COARSE_CLOCK_NS
    with open_memory_dir(scope) as dir_fd:
        for name, listed in files:
            if dir_fd is None:
                yield Opened(name, None, None)
                continue
            if not name.endswith(SUFFIX):
                yield Opened(name, listed, None, "is a symbolic link")
                continue
            reading = read_in(dir_fd, name)
            signature: Signature | None = reading.signature or listed
            if signature is None or signature[2] >= recent or reading.reason == _UNSTEADY:
                signature = None
            if reading.data is None:
                yield Opened(name, signature, None, reading.reason)
                continue
            stem = name[:-_CUT]
            if not is_valid_id(stem):
                yield Opened(name, signature, None, "has a name that is no identifier")
                continue
            try:
                record = decode(reading.data, stem, reading.mtime)
            except RecordFault as fault:
                yield Opened(name, signature, None, str(fault))
            else:
                yield Opened(name, signature, record)
