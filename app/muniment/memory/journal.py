"""The journal: every write to memory, kept with the text before it, on disk before the write happens."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from muniment.memory.origin import Origin, utc_now
from muniment.safety.errors import MunimentError
from muniment.safety.files import (
    ANY_AGE,
    FileRefused,
    Held,
    append_durable,
    digest,
    ensure_private_dir,
    locked,
    open_directory,
    read_regular,
    remove_stale_temps,
    write_atomic,
)

MAX_SEGMENT_BYTES = 1_073_741_824
_SUFFIX = ".jsonl"
_LOCK_TIMEOUT = 20.0
_LOCKS = ".locks"
_LINK = "it is a symbolic link"


class JournalFault(MunimentError):  # noqa: N818 - a fault of the place, not of the program
    """The journal cannot be kept, so what it should announce is not done."""

    def __init__(self, directory: Path, error: OSError) -> None:
        why = (error.strerror or str(error)).lower()
        super().__init__(f"Nothing was written: the journal in {directory} cannot be kept: {why}.")


class Entry(NamedTuple):
    """One write. Digests are SHA-256 of the file's bytes, None where the file did or will not exist.

    `surface` says what was written: `record`, `user`, `pinned`, `notes`, `inbox`, `notebook`, `knowledge`,
    `ledger`.
    `text_before` is the whole earlier text, None where there was none or where it was purged.
    """

    id: str
    time: datetime
    origin: Origin
    surface: str
    action: str
    """`create`, `replace` or `delete`; what an undo did is told the same way."""
    scope: str
    directory: str
    item: str
    path: str
    digest_before: str | None
    digest_after: str | None
    text_before: str | None = None
    undoes: str | None = None
    purged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON values, with the text before."""
        values = self._asdict()
        values["time"] = self.time.isoformat()
        values["origin"] = dict(zip(_ORIGIN_FIELDS, _ORIGIN_VALUES(self.origin), strict=True))
        return values


_ORIGIN_FIELDS = tuple(each.name for each in fields(Origin))
_ORIGIN_VALUES = attrgetter(*_ORIGIN_FIELDS)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Line:
    """An entry with what became of it: `settled` once its effect is on disk, `failed` where it never came."""

    entry: Entry
    settled: bool
    failed: bool
    undone_by: str | None


def text_of(data: bytes) -> str:
    """Return a file's bytes as text such that `bytes_of` gives the same bytes back, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Target:
    """What a write is about to change; the words are those of `Entry`."""

    surface: str
    action: str
    scope: str
    directory: Path
    item: str
    path: Path


class Journal:
    """Append-only JSON lines in one directory, a file a month; writers of all processes take turns."""

    def __init__(self, directory: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.directory = directory
        self.clock = clock
        self._locks = directory / _LOCKS
        self._own_lock = self._locks / "journal.lock"
        self._segment: Path | None = None
        """The file that the newest entry of this process went to."""

    def is_link(self) -> bool:
        """Tell whether a link stands in the journal's place: what is evidence is kept nowhere else."""
        return self.directory.is_symlink()

    def guard(self, directory: Path) -> Held:
        """Lock one memory directory between processes; hold it while a state is compared and then written.

        Raise `LockBusy` where another process keeps it and `JournalFault` where there can be no lock.
        """
        try:
            link = self.is_link()
        except OSError as error:
            raise JournalFault(self.directory, error) from error
        if link:
            raise JournalFault(self.directory, OSError(errno.ELOOP, _LINK))
        key = hashlib.sha256(_real(directory).encode("utf-8", "surrogateescape")).hexdigest()
        return self._lock(self._locks / f"{key[:32]}.lock")

    def begin(
        self,
        target: Target,
        origin: Origin,
        *,
        before: bytes | None,
        digest_before: str | None,
        digest_after: str | None,
        undoes: str | None = None,
    ) -> Entry:
        """Put a write on disk before it happens and return its entry; call `settle` or `fail` after it."""
        entry = Entry(
            id=os.urandom(8).hex(),
            time=self.clock(),
            origin=origin,
            surface=target.surface,
            action=target.action,
            scope=target.scope,
            directory=str(target.directory),
            item=target.item,
            path=str(target.path),
            digest_before=digest_before,
            digest_after=digest_after,
            text_before=None if before is None else text_of(before),
            undoes=undoes,
        )
        self.write(entry)
        return entry

    @contextmanager
    def announced(
        self,
        target: Target,
        origin: Origin,
        *,
        before: bytes | None,
        after: bytes | None,
        undoes: str | None = None,
    ) -> Iterator[str]:
        """Announce the write that the block does and give its entry's id; note then whether it was done.

        `before` and `after` are the file's bytes, None where there is no file. Hold the directory's guard.
        """
        entry = self.begin(
            target,
            origin,
            before=before,
            digest_before=None if before is None else digest(before),
            digest_after=None if after is None else digest(after),
            undoes=undoes,
        ).id
        try:
            yield entry
        except (OSError, MunimentError):
            with suppress(OSError, MunimentError):  # whatever stopped the write may stop this note too
                self.fail(entry)
            raise
        with suppress(OSError, MunimentError):  # the write is done; its digest proves it without the note
            self.settle(entry)

    def write(self, entry: Entry) -> None:
        """Append an entry durably; raise `JournalFault` where that cannot be."""
        try:
            self._segment = self._append({"entry": entry.as_dict()})
        except OSError as error:
            raise JournalFault(self.directory, error) from error

    def settle(self, entry_id: str) -> None:
        """Note that the effect of an entry is on disk."""
        self._append({"settled": entry_id}, self._segment)

    def fail(self, entry_id: str) -> None:
        """Note that the effect of an entry never came."""
        self._append({"failed": entry_id}, self._segment)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries, newest first, without those that are known to have failed."""
        return (line.entry for line in self.lines() if not line.failed)

    def lines(self) -> list[Line]:
        """Return every entry with what became of it, newest first; unreadable lines are passed over."""
        entries: list[Entry] = []
        settled: set[str] = set()
        failed: set[str] = set()
        undone: dict[str, str] = {}
        for segment in self._segments():
            for raw in self._read(segment).split(b"\n"):
                item = _parse(raw)
                if isinstance(item, Entry):
                    entries.append(item)
                    if item.undoes is not None:
                        undone[item.undoes] = item.id
                elif item is not None:
                    (settled if item[0] == "settled" else failed).add(item[1])
        live = {target: by for target, by in undone.items() if by not in failed}
        return [
            Line(entry, entry.id in settled, entry.id in failed, live.get(entry.id))
            for entry in reversed(entries)
        ]

    def unreadable(self) -> int:
        """Count the lines that cannot be read; each was cut off by a crash, or damaged."""
        lines = (raw for segment in self._segments() for raw in self._read(segment).split(b"\n") if raw)
        return sum(1 for raw in lines if _parse(raw) is None)

    def find(self, entry_id: str) -> Entry | None:
        return next((entry for entry in self.entries() if entry.id == entry_id), None)

    def history(self, surface: str, item: str) -> list[Line]:
        """Return the writes of one item, newest first."""
        return [line for line in self.lines() if line.entry.surface == surface and line.entry.item == item]

    def purge(self, matches: Callable[[Entry], bool]) -> int:
        """Remove the earlier texts of matching entries for good and return how many there were."""
        removed = 0
        with self._opened(), self._lock(self._own_lock):
            # A purge that was killed left the texts that it had not come to.
            remove_stale_temps(self.directory, older_than=ANY_AGE)
            for segment in self._segments():
                kept: list[bytes] = []
                changed = False
                for raw in self._read(segment).split(b"\n"):
                    item = _parse(raw)
                    if isinstance(item, Entry) and item.text_before is not None and matches(item):
                        removed += 1
                        changed = True
                        raw = _encode({"entry": item._replace(text_before=None, purged=True).as_dict()})
                    if raw:
                        kept.append(raw)
                if changed:
                    write_atomic(segment, b"\n".join(kept) + b"\n")
        return removed

    def clear(self, directory: Path, path: Path) -> None:
        """Remove what killed writers left of a file of a memory directory: it may hold what is to be gone."""
        with self.guard(directory), suppress(FileNotFoundError, FileRefused):
            remove_stale_temps(path.parent, older_than=ANY_AGE, mark=f"{path.name}.")

    def _append(self, item: dict[str, Any], segment: Path | None = None) -> Path:
        """Add a line to a segment, the newest where none is given, and return which one that was."""
        data = _encode(item) + b"\n"
        with self._opened() as place, self._lock(self._own_lock):
            if segment is None:
                # Never behind the last one: a clock that went back must not put a write among the old ones.
                segment = self.directory / max((self.clock().isoformat()[:7] + _SUFFIX, *_names(place)))
            append_durable(segment, data, own_line=True, dir_fd=place)
        return segment

    def _opened(self) -> Held:
        """Open the journal's directory, which is made where it is missing and may be no link."""
        try:
            try:
                return open_directory(self.directory, follow=False)
            except FileNotFoundError:
                ensure_private_dir(self._locks)
                return open_directory(self.directory, follow=False)
        except FileRefused as refused:
            why = _LINK if self.is_link() else refused.reason
            raise JournalFault(self.directory, OSError(errno.ENOTDIR, why)) from refused
        except OSError as error:
            raise JournalFault(self.directory, error) from error

    def _lock(self, lock: Path) -> Held:
        try:
            return locked(lock, timeout=_LOCK_TIMEOUT)
        except OSError as error:
            raise JournalFault(self.directory, error) from error

    def _segments(self) -> list[Path]:
        try:
            with open_directory(self.directory) as place:
                return [self.directory / name for name in sorted(_names(place))]
        except FileNotFoundError:
            return []

    def _read(self, segment: Path) -> bytes:
        return read_regular(segment, max_bytes=MAX_SEGMENT_BYTES)


def _real(directory: Path) -> str:
    """Return what `realpath` does, in half the time where no link is on the way."""
    at = ""
    if directory.parts[:1] == ("/",) and ".." not in directory.parts:
        with suppress(OSError):
            for part in directory.parts[1:]:
                at = f"{at}/{part}"
                if stat.S_ISLNK(os.lstat(at).st_mode):
                    return os.path.realpath(directory)
            return at or "/"
    return os.path.realpath(directory)


def _names(place: int) -> list[str]:
    """Return the names of the segments in the journal's open directory."""
    return [name for name in os.listdir(place) if name.endswith(_SUFFIX) and name[0] != "."]


def _encode(item: dict[str, Any]) -> bytes:
    try:
        return _ENCODER.encode(item).encode("utf-8")
    except UnicodeEncodeError:
        # Bytes that are no UTF-8 stand as lone surrogates here; as JSON escapes they survive.
        return json.dumps(item, separators=(",", ":")).encode("ascii")


def _parse(raw: bytes) -> Entry | tuple[str, str] | None:
    """Read one line; a line torn by a crash announces a write that did not happen and counts as absent."""
    if not raw:
        return None
    try:
        item = json.loads(raw)
        if "entry" in item:
            fields = item["entry"]
            fields["time"] = datetime.fromisoformat(fields["time"])
            fields["origin"] = Origin(**fields["origin"])
            return Entry(**fields)
        for word in ("settled", "failed"):
            if word in item:
                return (word, str(item[word]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return None
