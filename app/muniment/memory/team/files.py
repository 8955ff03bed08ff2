"""The files of a workspace: reached without following a link, written whole, journalled first."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.journal import Target
from muniment.memory.origin import Origin
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import MunimentError
from muniment.safety.files import (
    FileRefused,
    ensure_private_dir,
    move_file,
    read_regular,
    remove_stale_temps,
    write_atomic,
)

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

_DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or directory that is not used, with the reason as words after its name."""

    path: Path
    reason: str


class TeamFiles:
    """Reads and writes below the workspace; every name is entered component by component."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._kept = threading.local()

    def read(self, path: Path, *, max_bytes: int) -> bytes | None:
        """Return a file's bytes, None where nothing is there; raise `FileRefused` for what is not opened."""
        try:
            with self.opened(path.parent) as fd:
                return None if fd is None else read_regular(path, max_bytes=max_bytes, dir_fd=fd)
        except FileNotFoundError:
            return None

    def names(self, directory: Path) -> list[str]:
        """Return the names that end in `.md` and begin with no dot; none where the directory is absent."""
        with self.opened(directory) as fd:
            if fd is None:
                return []
            return sorted(name for name in os.listdir(fd) if name.endswith(".md") and name[0] != ".")

    def directories(self, directory: Path) -> list[str]:
        """Return the names of the real directories in a directory."""
        with self.opened(directory) as fd:
            if fd is None:
                return []
            with os.scandir(fd) as entries:
                return sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))

    def status(self, path: Path) -> os.stat_result | None:
        """Return what stands at a path, without following it; None where nothing does."""
        try:
            with self.opened(path.parent) as fd:
                return None if fd is None else os.stat(path.name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def write(
        self,
        path: Path,
        data: bytes,
        origin: Origin,
        *,
        surface: str,
        item: str,
        before: bytes | None,
    ) -> str:
        """Put `data` at `path`, journalled before it happens, and return the journal's id of the write.

        Call it inside `Team.guard`, with the bytes that stand there now. Raise `TeamRefused`.
        """
        action = "create" if before is None else "replace"
        self.prepare(path.parent)
        with self._journalled(path, origin, surface, item, action, before, data) as entry:
            with self._ready(path, "written"), self.opened(path.parent) as fd:
                write_atomic(path, data, dir_fd=fd)
            return entry

    def remove(self, path: Path, origin: Origin, *, surface: str, item: str, before: bytes) -> str:
        """Remove a file, journalled before it happens; inside `Team.guard`. Raise `TeamRefused`."""
        with self._journalled(path, origin, surface, item, "delete", before, None) as entry:
            with self._ready(path, "removed"), self.opened(path.parent) as fd:
                if fd is not None:
                    with suppress(FileNotFoundError):
                        os.unlink(path.name, dir_fd=fd)
                    os.fsync(fd)
            return entry

    def move(
        self, path: Path, target: Path, origin: Origin, *, surface: str, item: str, before: bytes
    ) -> str:
        """Move a file inside the workspace, its time kept; the journal tells it as a removal with its text.

        Nothing is overwritten: raise `TeamRefused` where something stands at the target.
        """
        self.prepare(target.parent)
        with self._journalled(path, origin, surface, item, "delete", before, None) as entry:
            with (
                self._ready(path, "moved"),
                self.opened(path.parent) as source,
                self.opened(target.parent) as destination,
            ):
                if source is None or destination is None:
                    raise FileNotFoundError(2, "it is gone", str(path))
                move_file(path.name, target.name, source=source, destination=destination)
            return entry

    @contextmanager
    def opened(self, directory: Path) -> Iterator[int | None]:
        """Open a directory of the workspace for use with `dir_fd`; None where it is absent.

        The data directory may be reached through links, nothing below a workspace may be one. Raise
        `FileRefused` for a link, something else than a directory, or one that is another user's.
        """
        kept: tuple[Path, int | None] | None = getattr(self._kept, "open", None)
        if kept is not None and kept[0] == directory:
            yield kept[1]
            return
        root = self._team.directory
        parts = directory.relative_to(root).parts if directory != root else ()
        flags = _DIR_FLAGS & ~os.O_NOFOLLOW if root == self._team.paths.data else _DIR_FLAGS
        at = root
        try:
            fd = _enter(root, flags, None)
            for part in parts:
                at = at / part
                outer = fd
                try:
                    fd = _enter(at, _DIR_FLAGS, outer)
                finally:
                    os.close(outer)
        except FileNotFoundError:
            yield None
            return
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def keeping(self, directory: Path) -> Iterator[None]:
        """Keep a directory open, so that many of its files can be read without entering it for each."""
        with self.opened(directory) as fd:
            self._kept.open = (directory, fd)
            try:
                yield
            finally:
                self._kept.open = None

    def prepare(self, directory: Path) -> None:
        """Make a directory of the workspace, and the project's own file where it is the first write.

        Raise `TeamRefused` where a link or something else stands on the way.
        """
        with self._ready(directory, "used"):
            self._make(directory)

    def _make(self, directory: Path) -> None:
        from muniment.memory.records.project import ensure_project

        root = self._team.directory
        if self._team.scope == "project":
            ensure_project(root)
        else:
            ensure_private_dir(root)
        # What stands on the way is judged before anything is made below it.
        at = root
        for part in directory.relative_to(root).parts:
            at = at / part
            with self.opened(at) as fd:
                if fd is None:
                    ensure_private_dir(at)
        with suppress(OSError, MunimentError):  # what a killed process left is no reason to write nothing
            remove_stale_temps(directory)

    def _journalled(
        self,
        path: Path,
        origin: Origin,
        surface: str,
        item: str,
        action: str,
        before: bytes | None,
        after: bytes | None,
    ) -> AbstractContextManager[str]:
        return self._team.journal.announced(
            Target(
                surface=surface,
                action=action,
                scope=self._team.scope,
                directory=self._team.directory,
                item=item,
                path=path,
            ),
            origin,
            before=before,
            after=after,
        )

    @contextmanager
    def _ready(self, path: Path, verb: str) -> Iterator[None]:
        try:
            yield
        except FileRefused as refused:
            raise TeamRefused(f"{path} was not {verb}: {refused.path} {worded(refused.reason)}.") from refused
        except OSError as error:
            why = error.strerror or str(error)
            raise TeamRefused(f"{path} was not {verb}: {why[:1].lower()}{why[1:]}.") from error


def listed(files: TeamFiles, directory: Path, take: Callable[[Path], None]) -> list[Problem]:
    """Give every `*.md` of a directory to `take` and return what could not be used and why.

    A file that vanishes between listing and reading is nobody's business.
    """
    problems: list[Problem] = []
    try:
        with files.keeping(directory):
            for name in files.names(directory):
                problem = _taken(directory / name, take)
                if problem is not None:
                    problems.append(problem)
    except FileRefused as refused:
        problems.append(
            Problem(refused.path if isinstance(refused.path, Path) else directory, worded(refused.reason))
        )
    except OSError as error:
        problems.append(Problem(directory, f"cannot be read: {error.strerror or error}"))
    return problems


def _taken(path: Path, take: Callable[[Path], None]) -> Problem | None:
    try:
        take(path)
    except FileNotFoundError:
        return None
    except FileRefused as refused:
        return Problem(path, worded(refused.reason))
    except MunimentError as fault:
        return Problem(path, fault.sentence)
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror or error}")
    return None


def worded(reason: str) -> str:
    """Turn a reason of `FileRefused` into words that fit after a file's name."""
    if reason.startswith(("has ", "is ")):
        return reason
    return f"is a {reason}" if reason == "symbolic link" else f"is {reason}"


def _enter(path: Path, flags: int, outer: int | None) -> int:
    try:
        fd = os.open(path.name, flags, dir_fd=outer) if outer is not None else os.open(path, flags)
    except NotADirectoryError:
        kind = "symbolic link" if path.is_symlink() else "not a directory"
        raise FileRefused(path, kind) from None
    except PermissionError as error:
        raise FileRefused(path, "permission denied") from error
    info = os.fstat(fd)
    if info.st_uid not in (os.geteuid(), 0) or not stat.S_ISDIR(info.st_mode):
        os.close(fd)
        raise FileRefused(path, "owned by someone else")
    return fd
