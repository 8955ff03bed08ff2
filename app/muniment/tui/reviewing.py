"""What is done about each thing that waits: prepared, put on the desk as a whole, carried out if allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.memory.team.consolidate_plan import Preview
from muniment.memory.team.notebook_summary import SummaryDue
from muniment.session.holdings.review_proposals import (
    consolidation_proposal,
    summary_proposal,
    sweep_proposal,
)
from muniment.session.team.digesting import digested, summarised
from muniment.session.waiting import uncut
from muniment.tui.by_hand.door import asker_of, decide, origin_of

if TYPE_CHECKING:
    from muniment.memory.team.sweep import SweepItem
    from muniment.session.engine import Engine
    from muniment.session.holdings.review import Waiting
    from muniment.tui.app import MunimentApp

_NOT_ALLOWED = "Nothing was changed; it goes on waiting."


class Reviewer:
    """Decides on what waits, through the same desk and dialog as a model's proposals."""

    def __init__(self, app: MunimentApp, engine: Engine) -> None:
        self._app = app
        self._engine = engine

    @property
    def asks_model(self) -> bool:
        """Whether a real model is there to write a digest or a summary."""
        model = self._engine.model
        return model is not None and model.provider != "rehearsal"

    async def with_model_digest(self, preview: Preview) -> Preview:
        """Return the preview with a digest by the model, or by the rules with the reason."""
        return (await digested(self._engine.surfaces, preview, self._engine.model)).preview

    async def decide(self, waiting: Waiting) -> str:
        """Open the dialog for this and return what came of it, as a sentence; raise `MunimentError`."""
        match waiting.kind, waiting.ref:
            case "proposal", _:
                self._app.desk.open_now()
                return ""
            case "consolidation", Preview() as preview:
                return await self._consolidate(preview)
            case "summary", SummaryDue() as due:
                return await self._summarise(due)
            case "sweep", tuple() as items:
                return await self._sweep(items)
            case _:
                return ""

    async def _consolidate(self, preview: Preview) -> str:
        team = self._engine.surfaces.team
        before = await asyncio.to_thread(team.notes.read)
        proposal = consolidation_proposal(
            preview,
            before,
            team.directory,
            asker_of(self._engine),
            max_bytes=team.settings.notes.max_bytes,
        )
        if not (await decide(self._app, proposal)).allowed:
            return _NOT_ALLOWED
        outcome = await uncut(lambda: team.consolidation.apply(preview, origin_of(self._engine)))
        count = len(outcome.archived)
        self._app.session_screen.written(f"{'archived' if outcome.breaker else 'consolidated'} {count} notes")
        if outcome.breaker:
            return f"{count} notes went to the archive unread; nothing was learned from them."
        said = " ".join(outcome.notes)
        books = f", {len(outcome.notebooks)} notebooks" if len(outcome.notebooks) > 1 else ""
        return f"Consolidated {count} notes: {outcome.rows} ledger rows{books}. {said}".strip()

    async def _sweep(self, items: tuple[SweepItem, ...]) -> str:
        team = self._engine.surfaces.team
        proposal = sweep_proposal(items, team.directory, asker_of(self._engine))
        if not (await decide(self._app, proposal)).allowed:
            return _NOT_ALLOWED
        outcome = await uncut(lambda: team.sweep.apply(items, origin_of(self._engine)))
        self._app.session_screen.written("swept the knowledge base")
        return f"Swept: {len(outcome.swept)} left the knowledge base, {len(outcome.filed)} were filed anew."

    async def _summarise(self, due: SummaryDue) -> str:
        from muniment.memory.team.notebook_summary import commit

        team = self._engine.surfaces.team
        plan = await summarised(due, self._engine.model)
        proposal = summary_proposal(plan, team.directory, asker_of(self._engine))
        if not (await decide(self._app, proposal)).allowed:
            return _NOT_ALLOWED
        await uncut(lambda: commit(team, plan, origin_of(self._engine)))
        self._app.session_screen.written(f"summarised the notebook of {due.agent}")
        return f"The notebook of {due.agent} has one entry in place of {len(due.entries)}."
