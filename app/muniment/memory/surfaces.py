"""Every surface that remembers, behind one door; each is loaded when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.origin import Origin, utc_now
from muniment.paths import Paths

if TYPE_CHECKING:
    from muniment.memory.journal import Journal
    from muniment.memory.journal_undo import UndoPlan
    from muniment.memory.ledger.ledger import Ledger
    from muniment.memory.recall.recall import Recall
    from muniment.memory.records.store import RecordStore
    from muniment.memory.skills import Catalog
    from muniment.memory.team.workspace import Team
    from muniment.memory.user.store import UserMemory
    from muniment.settings import Settings


class Surfaces:
    """The memory of one working directory; command line, screen, tools and requests all use this object."""

    def __init__(
        self, paths: Paths, cwd: Path, settings: Settings, *, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.paths = paths
        self.cwd = cwd
        self.settings = settings
        self.clock = clock

    @cached_property
    def journal(self) -> Journal:
        from muniment.memory.journal import Journal

        return Journal(self.paths.journal, clock=self.clock)

    @cached_property
    def records(self) -> RecordStore:
        from muniment.memory.records.store import RecordStore

        store = RecordStore(self.paths, self.cwd, journal=self.journal, clock=self.clock)
        store.before_undo = self._before_undo
        store.beside_undo = self._beside_undo
        return store

    def _before_undo(self, plan: UndoPlan) -> None:
        if plan.work:
            from muniment.memory.team.follow import finished

            finished(self.team, plan)

    def _beside_undo(self, plan: UndoPlan, origin: Origin) -> None:
        if any(part.entry.surface == "knowledge" for part in plan.parts):
            from muniment.memory.team.follow import follow_undo

            follow_undo(self.team, plan, origin)

    @cached_property
    def user(self) -> UserMemory:
        from muniment.memory.user.store import UserMemory

        return UserMemory(self.paths, journal=self.journal)

    @cached_property
    def team(self) -> Team:
        from muniment.memory.team.workspace import Team

        return Team(self.paths, self.cwd, self.settings, self.journal, self.clock, ledger=lambda: self.ledger)

    @cached_property
    def ledger(self) -> Ledger:
        from muniment.memory.ledger.ledger import Ledger

        return Ledger(self.paths.ledger, journal=self.journal, clock=self.clock)

    @cached_property
    def recall(self) -> Recall:
        from muniment.memory.recall.recall import Recall

        return Recall(self)

    @cached_property
    def skills(self) -> Catalog:
        """The project's skills as they were first looked at; a session puts its own frozen list here."""
        from muniment.memory.records.scope import resolve_chain
        from muniment.memory.skills import scan_skills

        return scan_skills(resolve_chain(self.cwd, self.paths))

    def close(self) -> None:
        """Let every database go that was opened here; each is opened again where it is needed."""
        opened = vars(self)
        if "records" in opened:
            self.records.close()
        if "ledger" in opened:
            self.ledger.close()
        if "recall" in opened:
            self.recall.close()
