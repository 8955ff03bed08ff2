"""The one way for tools into a project's files: below its root, through no link, plain UTF-8 files only."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from muniment.approval.policy import protected_component
from muniment.paths import Paths
from muniment.safety.errors import InvalidInput
from muniment.safety.files import FileRefused, read_regular, remove_stale_temps, write_atomic

MAX_FILE_BYTES = 65_536
NEW_FILE_MODE = 0o644
NEW_DIRECTORY_MODE = 0o755
MAX_LOOKED_AT = 20_000
"""Directory entries that one listing looks at before it stops and says so."""

TEMP_MARK = "muniment-"
"""How the name of a temporary file in a project begins, after its dot, so that only ours are swept."""

Parts = tuple[str, ...]
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OutsideRoot(InvalidInput):
    """A path that does not lie below the project's root."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was seen: its bytes and mode, or None for both where nothing stands there."""

    data: bytes | None
    mode: int
    missing: Parts = ()
    """The directories above it that do not exist yet, outermost first, as paths from the root."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths below a directory, from the root; a directory ends in a slash, a link says what it is."""

    paths: tuple[str, ...]
    protected: int
    """How many entries are left out because no tool opens them."""
    complete: bool


def check_path(text: str) -> PurePosixPath:
    """Return a path that may be asked for, before the disk is looked at; raise `InvalidInput`."""
    path = PurePosixPath(text)
    if not text.strip() or not path.parts:
        raise InvalidInput("the path is empty")
    if ".." in path.parts:
        raise InvalidInput('the path goes up by ".."; give it from the project\'s root on')
    if any(len(part.encode("utf-8", "replace")) > 255 for part in path.parts) or len(text) > 4_000:
        raise InvalidInput("the path is too long")
    return path


class Workspace:
    """The files below one root. Directories are opened one by one, so that none can be swapped for a link."""

    def __init__(self, root: Path, paths: Paths) -> None:
        self.root = Path(os.path.realpath(root))
        self._spellings = (self.root, root)
        self._private = tuple(Path(os.path.realpath(each)) for each in paths.private_dirs())

    def locate(self, path: PurePosixPath) -> Parts:
        """Return a path's parts from the root on; raise `OutsideRoot` or `FileRefused`."""
        if path.is_absolute():
            for root in self._spellings:
                if path.is_relative_to(root):
                    path = path.relative_to(root)
                    break
            else:
                raise OutsideRoot(f"{path} is outside the project's root {self.root}.")
        part = protected_component(path)
        if part is not None:
            raise FileRefused(str(path), f"protected ({part})")
        target = self.root.joinpath(*path.parts)
        if any(target.is_relative_to(each) for each in self._private):
            raise FileRefused(str(path), "in one of Muniment's own directories")
        return path.parts

    def read(self, parts: Parts) -> str:
        """Return a file's text; raise `FileNotFoundError`, or `FileRefused` for what is no plain text."""
        with self._directory(parts[:-1]) as fd:
            return text_of(self._bytes(parts, fd), parts)

    def state(self, parts: Parts) -> FileState:
        """Return what stands at a path now; raise `FileRefused` where that may not be opened."""
        depth = self._depth(parts[:-1])
        if depth < len(parts) - 1:
            missing = tuple("/".join(parts[: end + 1]) for end in range(depth, len(parts) - 1))
            return FileState(None, NEW_FILE_MODE, missing)
        with self._directory(parts[:-1]) as fd:
            try:
                data = self._bytes(parts, fd)
                mode = stat.S_IMODE(os.stat(parts[-1], dir_fd=fd, follow_symlinks=False).st_mode) & 0o777
            except FileNotFoundError:
                return FileState(None, NEW_FILE_MODE)
        return FileState(data, mode)

    def write(self, parts: Parts, data: bytes, mode: int) -> None:
        """Put a file in place whole or not at all, with the directories above it that are missing."""
        for end in range(1, len(parts)):
            with self._directory(parts[: end - 1]) as fd:
                try:
                    os.mkdir(parts[end - 1], NEW_DIRECTORY_MODE, dir_fd=fd)
                except FileExistsError:
                    continue
        with self._directory(parts[:-1]) as fd:
            with suppress(OSError):  # what a killed writer left must not keep anybody from writing
                remove_stale_temps(self.root, mark=TEMP_MARK, dir_fd=fd)
            write_atomic(self.root.joinpath(*parts), data, mode=mode, dir_fd=fd, temp_mark=TEMP_MARK)

    def listing(self, parts: Parts, *, most: int, pattern: str | None = None) -> Listing:
        """List what lies below a directory, nearest first, at most `most` paths; follows no link."""
        found: list[str] = []
        protected = looked_at = 0
        waiting: deque[Parts] = deque([parts])
        while waiting:
            at = waiting.popleft()
            for name, kind in self._entries(at, optional=at != parts):
                looked_at += 1
                here = (*at, name)
                if protected_component(PurePosixPath(name)) or self._is_private(here):
                    protected += 1
                    continue
                path = "/".join(here)
                wanted = pattern is None or _matches(path, name, pattern)
                if looked_at > MAX_LOOKED_AT or (wanted and len(found) == most):
                    return Listing(tuple(found), protected, False)
                if kind == "/":
                    waiting.append(here)
                if wanted:
                    found.append(path + kind)
        return Listing(tuple(found), protected, True)

    def _is_private(self, parts: Parts) -> bool:
        return self.root.joinpath(*parts) in self._private

    def _entries(self, parts: Parts, *, optional: bool) -> list[tuple[str, str]]:
        """Return names with `/` for directories and words for links and special files, in order."""
        try:
            with self._directory(parts) as fd, os.scandir(fd) as entries:
                return sorted((each.name, _kind(each)) for each in entries)
        except (FileNotFoundError, PermissionError, FileRefused):
            if optional:
                return []
            raise

    def _bytes(self, parts: Parts, fd: int) -> bytes:
        name = Path(*parts)
        return read_regular(name, max_bytes=MAX_FILE_BYTES, any_owner=True, dir_fd=fd)

    def _depth(self, parts: Parts) -> int:
        """Return how many of these directories exist, counted from the root."""
        for depth in range(len(parts), 0, -1):
            try:
                with self._directory(parts[:depth]):
                    return depth
            except FileNotFoundError:
                continue
        return 0

    @contextmanager
    def _directory(self, parts: Parts) -> Iterator[int]:
        """Open a directory below the root component by component, refusing links."""
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for depth, part in enumerate(parts, 1):
                try:
                    inner = os.open(part, _DIRECTORY, dir_fd=fd)
                except FileNotFoundError as error:
                    error.filename = "/".join(parts[:depth])
                    raise
                except OSError as error:
                    raise FileRefused("/".join(parts[:depth]), _reason(part, fd, error)) from error
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)


def text_of(data: bytes, parts: Parts) -> str:
    """Return a file's bytes as text; raise `FileRefused` for what is none."""
    if b"\x00" in data:
        raise FileRefused("/".join(parts), "not text: it holds NUL characters")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileRefused("/".join(parts), f"not UTF-8 text (byte {error.start + 1})") from None


def _reason(name: str, fd: int, error: OSError) -> str:
    try:
        if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            return "symbolic link"
    except OSError:
        return "not readable"
    return "not a directory" if isinstance(error, NotADirectoryError) else (error.strerror or "").lower()


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return " (a link, not followed)"
    if entry.is_dir(follow_symlinks=False):
        return "/"
    return "" if entry.is_file(follow_symlinks=False) else " (not a regular file)"


def _matches(path: str, name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    # `**/` stands for any directories above, and for none.
    short = pattern.removeprefix("**/")
    return (
        fnmatchcase(path, pattern)
        or fnmatchcase(path, short)
        or ("/" not in short and fnmatchcase(name, short))
    )
