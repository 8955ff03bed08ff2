"""Taking back what this session wrote last: at once, or after a look where the file was changed since."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.approval.proposal import Change, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.memory.journal import Entry
from muniment.memory.journal_undo import UndoPlan
from muniment.safety.errors import MunimentError
from muniment.tui.by_hand import asker_of, decide, done, origin_of
from muniment.tui.by_hand_records import MOVED

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


async def undo(app: MunimentApp, engine: Engine) -> None:
    """Take back this session's newest write; the two writes of a move go together."""
    records = engine.surfaces.records
    plan, other = await asyncio.to_thread(_look, engine)
    # Taking back what stands there as it was written loses nothing: the journal keeps both texts. Only where
    # somebody changed it since would an undo overwrite what nobody has seen.
    if plan.changed and not (await decide(app, _proposal(engine, plan, other))).allowed:
        return
    await asyncio.to_thread(records.commit_undo, plan, origin_of(engine))
    if other is not None:
        await asyncio.to_thread(_second, engine, other)
        done(app, f"Took back the move of {plan.entry.item}.", "")
        return
    done(app, f"Took back: {plan.entry.action} {plan.entry.item}.", "")


def _look(engine: Engine) -> tuple[UndoPlan, Entry | None]:
    """Plan, and find the other write where two were one act."""
    records = engine.surfaces.records
    plan = records.plan_undo(session=engine.id)
    reason = plan.entry.origin.reason
    if not reason.startswith(MOVED):
        return plan, None
    for line in records.journal.lines():
        entry = line.entry
        same = entry.origin.reason == reason and entry.undoes is None and entry.id != plan.entry.id
        if same and not line.failed and line.undone_by is None:
            return plan, entry
    return plan, None


def _second(engine: Engine, other: Entry) -> None:
    """Take back the other write of a move, if it is still what was shown."""
    records = engine.surfaces.records
    plan = records.plan_undo(session=engine.id)
    if plan.entry.id != other.id or plan.changed:
        raise MunimentError(
            f"Half of the move was taken back: {other.path} was written again meanwhile and is left alone."
        )
    records.commit_undo(plan, origin_of(engine))


def _proposal(engine: Engine, plan: UndoPlan, other: Entry | None) -> Proposal:
    entry = plan.entry
    words = {"create": "comes back", "delete": "goes", "replace": "gets its earlier text"}
    fields = [
        Field("identifier", entry.item),
        Field("surface", entry.surface),
        Field("path", entry.path),
        Field("mode of change", plan.action),
        Field("effect", f"the file {words.get(plan.action, plan.action)}"),
    ]
    if plan.changed:
        fields.append(Field("changed since", plan.changed))
    if other is not None:
        fields.append(Field("and", f"the copy that the move wrote goes: {other.path}"))
    return Proposal(
        id=f"undo-{entry.id}",
        tool="undo",
        title="Take back a write" if other is None else "Take back a move",
        fields=tuple(fields),
        plan=plan,
        change=Change("file", plan.text_now, plan.text_then),
        coverage="This approval covers taking back this one act, once.",
        warnings=(ReviewWarning("changed", plan.changed, "path"),) if plan.changed else (),
        shown_later="The text that stands now stays in the journal.",
        asker=asker_of(engine),
    )
