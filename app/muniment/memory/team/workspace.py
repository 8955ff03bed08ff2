"""The team memory of one workspace: pinned text, inbox, notes, notebooks and knowledge behind one door."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from muniment.memory.origin import utc_now
from muniment.memory.team.refusals import TeamRefused
from muniment.paths import Paths

if TYPE_CHECKING:
    from muniment.memory.journal import Journal
    from muniment.memory.ledger.ledger import Ledger
    from muniment.memory.records.project import Project
    from muniment.memory.team.consolidate import Consolidation
    from muniment.memory.team.files import Problem, TeamFiles
    from muniment.memory.team.holds import Holds
    from muniment.memory.team.inbox import Inbox
    from muniment.memory.team.knowledge import Knowledge
    from muniment.memory.team.notebooks import Notebooks
    from muniment.memory.team.notes import TeamNotes
    from muniment.memory.team.pending import Pending
    from muniment.memory.team.pinned import Pinned
    from muniment.memory.team.sweep import Sweep
    from muniment.settings import Settings


class Team:
    """The team memory of the deepest project that takes part, or of the data directory without one.

    The workspace is looked for anew at every use: the first write into a project makes its directory.
    """

    def __init__(
        self,
        paths: Paths,
        cwd: Path,
        settings: Settings,
        journal: Journal,
        clock: Callable[[], datetime] = utc_now,
        *,
        ledger: Callable[[], Ledger],
    ) -> None:
        self.paths = paths
        self.cwd = cwd
        self.settings = settings
        self.journal = journal
        self.clock = clock
        self._ledger = ledger
        self._turn = RLock()
        self._depth = 0
        self._told: frozenset[tuple[Path, str]] = frozenset()

    @property
    def directory(self) -> Path:
        """The workspace: the `.muniment` of the deepest project, or the data directory."""
        from muniment.memory.records.scope import resolve_chain

        return resolve_chain(self.cwd, self.paths).workspace

    def at(self, directory: Path) -> Team:
        """Return the team memory that lies in another workspace, such as one further out."""
        return self if directory == self.directory else _Elsewhere(self, directory)

    @property
    def scope(self) -> str:
        """`project` or `global`: the kind of the workspace."""
        return "global" if self.directory == self.paths.data else "project"

    @property
    def project(self) -> Project | None:
        """The project's stable id and name; None without a project or before its first write."""
        from muniment.memory.records.project import read_project

        directory = self.directory
        return None if directory == self.paths.data else read_project(directory)

    @property
    def scope_key(self) -> str | None:
        """The key that the project's ledger rows carry; None without a project."""
        project = self.project
        return None if project is None else project.id

    def writable(self) -> Path:
        """Return the workspace for a write; raise `TeamRefused` where the own directory here is untrusted."""
        from muniment.memory.records.scope import resolve_chain
        from muniment.paths import PROJECT_DIR_NAME

        chain = resolve_chain(self.cwd, self.paths)
        barred = chain.exclusion(chain.cwd / PROJECT_DIR_NAME)
        if chain.deepest_project is None and barred is not None and not _is_data(barred.reason):
            raise TeamRefused(f"Nothing was written: {barred.directory} {barred.reason}.")
        if chain.workspace != self.paths.data:
            self._identified(chain.workspace)
        return chain.workspace

    def _identified(self, directory: Path) -> None:
        """Refuse a project whose own file is unreadable: its rows in the ledger would count everywhere."""
        from muniment.memory.records.project import project_fault

        fault = project_fault(directory)
        if fault is not None:
            raise TeamRefused(f"Nothing was written: {fault}")

    def news(self, problems: Sequence[Problem], *, repeat: bool = False) -> tuple[str, ...]:
        """Return a sentence for each problem that was not told before; for all of them with `repeat`."""
        told = frozenset() if repeat else self._told
        fresh = [each for each in problems if (each.path, each.reason) not in told]
        if not repeat:
            self._told |= {(each.path, each.reason) for each in fresh}
        return tuple(f"{each.path} {each.reason} and is left out." for each in fresh)

    @contextmanager
    def guard(self) -> Iterator[Path]:
        """Hold the workspace against all other writers and return it; may be entered again inside itself.

        Raise `TeamRefused` for an untrusted place, `LockBusy` where another process keeps it.
        """
        with self._turn:
            if self._depth:
                yield self.writable()
                return
            directory = self.writable()
            with self.journal.guard(directory):
                self._depth += 1
                try:
                    yield directory
                finally:
                    self._depth -= 1

    @cached_property
    def files(self) -> TeamFiles:
        from muniment.memory.team.files import TeamFiles

        return TeamFiles(self)

    @cached_property
    def holds(self) -> Holds:
        from muniment.memory.team.holds import Holds

        return Holds(self)

    @property
    def ledger(self) -> Ledger:
        return self._ledger()

    @cached_property
    def pinned(self) -> Pinned:
        from muniment.memory.team.pinned import Pinned

        return Pinned(self)

    @cached_property
    def inbox(self) -> Inbox:
        from muniment.memory.team.inbox import Inbox

        return Inbox(self)

    @cached_property
    def notes(self) -> TeamNotes:
        from muniment.memory.team.notes import TeamNotes

        return TeamNotes(self)

    @cached_property
    def notebooks(self) -> Notebooks:
        from muniment.memory.team.notebooks import Notebooks

        return Notebooks(self)

    @cached_property
    def knowledge(self) -> Knowledge:
        from muniment.memory.team.knowledge import Knowledge

        return Knowledge(self)

    @cached_property
    def pending(self) -> Pending:
        from muniment.memory.team.pending import Pending

        return Pending(self)

    @cached_property
    def consolidation(self) -> Consolidation:
        from muniment.memory.team.consolidate import Consolidation

        return Consolidation(self)

    @cached_property
    def sweep(self) -> Sweep:
        from muniment.memory.team.sweep import Sweep

        return Sweep(self)


class _Elsewhere(Team):
    """The team memory of a directory that is given, whatever one works in."""

    def __init__(self, near: Team, directory: Path) -> None:
        super().__init__(
            near.paths, directory.parent, near.settings, near.journal, near.clock, ledger=lambda: near.ledger
        )
        self._directory = directory

    @property
    def directory(self) -> Path:
        return self._directory


def _is_data(reason: str) -> bool:
    return reason == "is the global data directory"
