"""Notes that are worth consolidating, and everything a consolidation leaves behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from muniment.memory.ledger.row import Row
from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.notefile import NewNote, Note
from muniment.paths import Paths
from muniment.settings import Settings
from muniment.settings.values import NotebookSettings, NoteSettings
from support.ledger import all_rows
from support.records import Clock
from support.team import AGENT, NOON, USER, Workspace

FACTS = (
    "- **Locking**: every writer takes the lock of its workspace before it looks",
    "- **Clocks**: the tests stop the clock and never sleep for anything",
    "- **Parsing**: dates without an offset are read as coordinated universal time",
    "- **Caching**: indexes are thrown away whenever their files were touched",
    "- **Errors**: each sentence names the place and the way out of it",
    "- **Naming**: identifiers are derived from titles and stay short",
    "- **Colours**: warnings are yellow on every background that exists",
    "- **Budget**: a request keeps a quarter of its window for the answer",
)
AGENTS = ("dallas", "ripley")


def settings(
    *, threshold: int = 5, agents: tuple[str, ...] = ("ripley",), max_bytes: int = 50_000, **more: object
) -> Settings:
    notes = replace(NoteSettings(threshold=threshold, max_bytes=max_bytes), **more)  # type: ignore[arg-type]
    return Settings(notes=notes, notebooks=NotebookSettings(agents=agents))


def world(root: Path, *, notes: int = 5, using: Settings | None = None) -> Workspace:
    """Return a workspace with so many notes by two agents, of whom one has a notebook."""
    made = Workspace(root, settings=using or settings())
    add_notes(made.surfaces, notes)
    return made


class Reopened(Workspace):
    """A workspace that another process has made."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths = Paths(*(root / name for name in ("config", "data", "state", "cache")))
        self.project = root / "project"
        self.directory = self.project / ".muniment"
        self.settings = settings()
        self.clock = Clock(NOON)
        self.surfaces = self.at(self.project)


def add_notes(surfaces: Surfaces, count: int, *, first: int = 0, origin: Origin = AGENT) -> list[Note]:
    return [
        surfaces.team.inbox.add(
            NewNote(f"Finding {number}", FACTS[number % len(FACTS)], AGENTS[number % 2], "agent"),
            replace(origin, session=f"{number:032x}"),
        )
        for number in range(first, first + count)
    ]


def inbox(surfaces: Surfaces) -> list[str]:
    return sorted(each.name for each in surfaces.team.inbox.list())


def archived(made: Workspace) -> list[str]:
    return sorted(path.name for path in (made.directory / "notes" / "archive").glob("*.md"))


def entries(made: Workspace) -> list[str]:
    return [each.key for each in made.team.knowledge.list()]


def rows(surfaces: Surfaces) -> list[Row]:
    return all_rows(surfaces.ledger)


def consolidate(surfaces: Surfaces, origin: Origin = USER) -> None:
    work = surfaces.team.consolidation
    work.apply(work.preview(), origin)
