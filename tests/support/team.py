"""A workspace for tests of team memory: real directories, and a clock that is set by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.notefile import NewNote, Note
from muniment.memory.team.workspace import Team
from muniment.paths import Paths
from muniment.settings import Settings
from support.records import Clock

USER = Origin("user", "cli", decided_by="user")
AGENT = Origin("agent", "tool", "a" * 32, "assistant", "reviewer")
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class Workspace:
    """A project with a `.muniment`, and the surfaces of it."""

    def __init__(self, root: Path, *, settings: Settings | None = None) -> None:
        self.root = root
        self.paths = Paths(*(root / name for name in ("config", "data", "state", "cache")))
        self.project = root / "project"
        self.directory = self.project / ".muniment"
        self.directory.mkdir(parents=True, mode=0o700, exist_ok=True)
        self.settings = settings or Settings()
        self.clock = Clock(NOON)
        self.surfaces = self.at(self.project)

    def at(self, cwd: Path) -> Surfaces:
        """Return the surfaces of another working directory, as another process would have them."""
        return Surfaces(self.paths, cwd, self.settings, clock=self.clock)

    @property
    def team(self) -> Team:
        return self.surfaces.team

    @property
    def inbox(self) -> Path:
        return self.directory / "notes" / "inbox"

    def put(self, name: str, data: str | bytes, *, age: float = 0.0) -> Path:
        """Write a file of the inbox by hand, so many seconds ago."""
        self.inbox.mkdir(parents=True, exist_ok=True)
        path = self.inbox / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        when = 1_796_000_000 - age
        os.utime(path, (when, when))
        return path

    def note(self, title: str = "Fan", body: str = "It is loud.", **more: Any) -> Note:
        fields: dict[str, Any] = {"agent": "user", "source": "user"} | more
        return self.team.inbox.add(NewNote(title, body, **fields), USER)


def tree(directory: Path) -> dict[str, bytes]:
    """Return every file below a directory with its bytes."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def titles(notes: Sequence[Note]) -> list[str]:
    return [each.title for each in notes]
