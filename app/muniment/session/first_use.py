"""Records that came with a directory: told once, before anybody relies on what others wrote."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError

if TYPE_CHECKING:
    from muniment.memory.records.scope import Scope
    from muniment.memory.surfaces import Surfaces

_PLACES = "places"


def tell_foreign_records(surfaces: Surfaces) -> tuple[str, ...]:
    """Return a sentence for each project in a git work tree that brings records and was never worked in here.

    Only what the journal of this machine does not know counts: what was written here came with nobody.
    """
    told = []
    for scope in surfaces.records.chain().scopes:
        if (
            scope.kind == "global"
            or os.path.lexists(_mark(surfaces, scope))
            or not _in_work_tree(scope.directory)
        ):
            continue
        count = _foreign(surfaces, scope)
        if count:
            noun, stand = ("record", "stands") if count == 1 else ("records", "stand")
            told.append(
                f"{count} {noun} in {scope.directory} came with the directory and {stand} in the digest like "
                "any other: nobody on this machine wrote or approved what is said there."
            )
    return tuple(told)


def remember_places(surfaces: Surfaces) -> None:
    """Note that the projects of this chain have been worked in, so that nothing is told about them again."""
    from muniment.safety.files import ensure_private_dir, write_atomic

    for scope in surfaces.records.chain().scopes:
        mark = _mark(surfaces, scope)
        if scope.kind == "project" and not os.path.lexists(mark):
            with suppress(OSError, MunimentError):  # it is told once more then, which is the smaller evil
                ensure_private_dir(mark.parent)
                write_atomic(mark, os.fsencode(scope.directory) + b"\n", durable=False)


def _mark(surfaces: Surfaces, scope: Scope) -> Path:
    from muniment.safety.files import digest

    return surfaces.paths.state / _PLACES / digest(os.fsencode(scope.directory))[:32]


def _in_work_tree(directory: Path) -> bool:
    return any(os.path.lexists(each / ".git") for each in directory.parents)


def _foreign(surfaces: Surfaces, scope: Scope) -> int:
    from muniment.memory.records.ids import SUFFIX

    try:
        names = {each[: -len(SUFFIX)] for each in os.listdir(scope.memory_dir) if each.endswith(SUFFIX)}
    except OSError:
        return 0
    if not names:
        return 0
    directory = str(scope.directory)
    written = {line.entry.item for line in surfaces.journal.lines() if line.entry.directory == directory}
    return len(names - written)
