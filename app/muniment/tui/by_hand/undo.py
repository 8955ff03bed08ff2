"""Taking back what this session wrote last: at once, or after a look where the file was changed since."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.approval.proposal import Change, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.memory.journal_undo import UndoPlan
from muniment.tui.by_hand.door import asker_of, decide, done, origin_of

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

_EFFECTS = {"create": "comes back", "delete": "goes", "replace": "gets its earlier text"}


async def undo(app: MunimentApp, engine: Engine) -> None:
    """Take back this session's newest write; the writes of one act go together."""
    records = engine.surfaces.records
    plan = await asyncio.to_thread(records.plan_undo, session=engine.id)
    # Taking back what stands there as it was written loses nothing: the journal keeps both texts. Only where
    # somebody changed it since would an undo overwrite what nobody has seen.
    changed = any(part.changed for part in plan.parts)
    if changed and not (await decide(app, _proposal(engine, plan))).allowed:
        return
    await asyncio.to_thread(records.commit_undo, plan, origin_of(engine))
    what = f"Took back: {plan.entry.action}" if not plan.also else "Took back the move of"
    done(app, f"{what} {plan.entry.item}.", "")


def _effect(part: UndoPlan) -> str:
    if part.text_now is None and part.text_then is None:
        return "stays away"
    return _EFFECTS.get(part.action, part.action)


def _proposal(engine: Engine, plan: UndoPlan) -> Proposal:
    entry = plan.entry
    fields = [
        Field("identifier", entry.item),
        Field("surface", entry.surface),
        Field("path", entry.path),
        Field("mode of change", plan.action),
        Field("effect", f"the file {_effect(plan)}"),
    ]
    fields += [Field("and", f"{part.path} {_effect(part)}") for part in plan.also]
    fields += [Field("changed since", part.changed) for part in plan.parts if part.changed]
    # The text that nobody has seen is the one to look at.
    shown = next((part for part in plan.parts if part.changed), plan)
    return Proposal(
        id=f"undo-{entry.id}",
        tool="undo",
        title="Take back a move" if plan.also else "Take back a write",
        fields=tuple(fields),
        plan=plan,
        change=Change("file", shown.text_now, shown.text_then),
        coverage="This approval covers taking back this one act, once.",
        warnings=tuple(ReviewWarning("changed", part.changed, "path") for part in plan.parts if part.changed),
        shown_later="The text that stands now stays in the journal.",
        asker=asker_of(engine),
    )
