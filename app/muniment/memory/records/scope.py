"""The scope chain: which directories hold memory for a working directory, and which are kept out and why."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from muniment.paths import PROJECT_DIR_NAME, Paths

ScopeKind = Literal["global", "project"]
MEMORY_DIR_NAME = "memory"
_INNER = f"holds a {MEMORY_DIR_NAME}/ that "


@dataclass(frozen=True, slots=True)
class Scope:
    """One level of the chain; `directory` is the `.muniment` itself, or the data directory."""

    kind: ScopeKind
    directory: Path
    warnings: tuple[str, ...] = ()
    memory_dir: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory_dir", self.directory / MEMORY_DIR_NAME)

    @property
    def label(self) -> str:
        """A short name for people: `global`, or the name of the project's directory."""
        return "global" if self.kind == "global" else f"project {self.directory.parent.name or '/'}"


class Excluded(NamedTuple):
    """A directory that would be a scope but takes no part, with the reason as words after its name."""

    directory: Path
    reason: str


class ScopeChain(NamedTuple):
    """The scopes of one working directory, global first and deepest last."""

    cwd: Path
    data: Path
    scopes: tuple[Scope, ...]
    excluded: tuple[Excluded, ...] = ()

    @property
    def workspace(self) -> Path:
        """The deepest project's `.muniment`, or the data directory where there is none."""
        deepest = self.deepest_project
        return self.data if deepest is None else deepest.directory

    @property
    def deepest_project(self) -> Scope | None:
        if self.scopes and self.scopes[-1].kind == "project":
            return self.scopes[-1]
        return None

    @property
    def global_scope(self) -> Scope | None:
        if self.scopes and self.scopes[0].kind == "global":
            return self.scopes[0]
        return None

    @property
    def root(self) -> Path:
        """The project's root: the directory of the deepest `.muniment`, else the working directory."""
        deepest = self.deepest_project
        return self.cwd if deepest is None else deepest.directory.parent

    def exclusion(self, directory: Path) -> Excluded | None:
        """Return why a directory takes no part, or None where nothing was excluded there."""
        return next((each for each in self.excluded if each.directory == directory), None)

    def scope_at(self, directory: Path) -> Scope | None:
        return next((each for each in self.scopes if each.directory == directory), None)


def resolve_chain(cwd: Path, paths: Paths) -> ScopeChain:
    """Resolve the chain from what stands on disk now; nothing is created and nothing inside is opened."""
    here = Path(os.path.realpath(cwd))
    scopes: list[Scope] = []
    excluded: list[Excluded] = []
    data = paths.data
    _judge("global", data, scopes, excluded)
    data_identity = _identity(data)
    for ancestor in (*reversed(here.parents), here):
        candidate = ancestor / PROJECT_DIR_NAME
        if not os.path.lexists(candidate):
            continue
        if data_identity is not None and data_identity == _identity(candidate):
            excluded.append(Excluded(candidate, "is the global data directory"))
            continue
        _judge("project", candidate, scopes, excluded)
    return ScopeChain(here, data, tuple(scopes), tuple(excluded))


def still_takes_part(scope: Scope, data: Path) -> bool:
    """Tell whether a scope of an earlier chain may be written to; one that is gone may be made again."""
    found = _examine(scope, [], may_be_absent=True)
    if found is None or isinstance(found, str) or scope.kind == "global":
        return not isinstance(found, str)
    return _identity(data) != (found.st_dev, found.st_ino)


def _judge(kind: ScopeKind, directory: Path, scopes: list[Scope], excluded: list[Excluded]) -> None:
    """Put a directory among the scopes or the excluded; an absent global directory is an empty scope."""
    scope = Scope(kind, directory)
    warnings: list[str] = []
    found = _examine(scope, warnings, may_be_absent=kind == "global")
    if isinstance(found, str):
        excluded.append(Excluded(directory, found))
    else:
        scopes.append(replace(scope, warnings=tuple(warnings)) if warnings else scope)


def _examine(scope: Scope, warnings: list[str], *, may_be_absent: bool) -> os.stat_result | str | None:
    """Return what stands at a scope's directory, None where nothing does, or why it can be no scope."""
    follow = scope.kind == "global"
    outer = _inspect(scope.directory, "", warnings, follow=follow, may_be_absent=may_be_absent)
    if isinstance(outer, str):
        return outer
    inner = _inspect(scope.memory_dir, _INNER, warnings, follow=False, may_be_absent=True)
    return inner if isinstance(inner, str) else outer


def _inspect(
    path: Path, subject: str, warnings: list[str], *, follow: bool, may_be_absent: bool
) -> os.stat_result | str | None:
    """Return what stands there, None where nothing does, or why it cannot be trusted.

    What is only worth a warning is appended.
    """
    try:
        info = path.stat() if follow else os.lstat(path)
    except FileNotFoundError:
        return None if may_be_absent else "vanished while it was looked at"
    except PermissionError:
        return f"{subject}cannot be read: permission denied"
    except OSError as error:
        return f"{subject}cannot be read: {error.strerror or error}"
    if stat.S_ISLNK(info.st_mode):
        return f"{subject}is a symbolic link"
    if not stat.S_ISDIR(info.st_mode):
        return f"{subject}is not a directory"
    if info.st_uid not in (os.geteuid(), 0):
        return f"{subject}is owned by another user (uid {info.st_uid})"
    if info.st_mode & stat.S_IWOTH:
        warnings.append(f"{path} is writable by everyone on this machine")
    return info


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return (info.st_dev, info.st_ino)
