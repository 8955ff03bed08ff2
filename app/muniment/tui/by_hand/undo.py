"""Taking back what this session wrote last: at once, or after a look where the file was changed since."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
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
    """Take back this session's newest write; the writes of one act go together.

    Work of many writes, a consolidation, is asked about: all of it goes, and that is more than one expects.
    """
    records = engine.surfaces.records
    plan = await asyncio.to_thread(records.plan_undo, session=engine.id)
    # Taking back what stands there as it was written loses nothing: the journal keeps both texts. Only where
    # somebody changed it since would an undo overwrite what nobody has seen.
    changed = any(part.changed for part in plan.parts)
    if (changed or plan.work or plan.passed_over) and not (
        await decide(app, _proposal(engine, plan))
    ).allowed:
        return
    await asyncio.to_thread(records.commit_undo, plan, origin_of(engine))
    done(app, _said(plan), "")


def _said(plan: UndoPlan) -> str:
    if plan.work:
        return f"Took back the whole {plan.work}, {len(plan.parts)} writes in one step."
    if plan.also:
        return f"Took back {plan.entry.item} and what was done with it, {len(plan.parts)} writes in one step."
    return f"Took back: {plan.entry.action} {plan.entry.item}."


def _title(plan: UndoPlan) -> str:
    if plan.work:
        return f"Take back a {plan.work}"
    return "Take back one act of several writes" if plan.also else "Take back a write"


def _effect(part: UndoPlan) -> str:
    if part.text_now is None and part.text_then is None:
        return "stays away"
    return _EFFECTS.get(part.action, part.action)


def change_of(plan: UndoPlan) -> Change:
    """Return all texts that go and come back; those of several files stand below their paths."""
    if not plan.also:
        return Change("file", plan.text_now, plan.text_then)
    # The texts that nobody has seen come first.
    parts = sorted(plan.parts, key=lambda part: not part.changed)
    return Change(
        "files",
        _together((part.path, part.text_now) for part in parts),
        _together((part.path, part.text_then) for part in parts),
    )


def _together(texts: Iterable[tuple[Path, str | None]]) -> str | None:
    found = [f"── {path}\n{text}" for path, text in texts if text is not None]
    return "\n".join(found) if found else None


def _proposal(engine: Engine, plan: UndoPlan) -> Proposal:
    entry = plan.entry
    fields = [
        Field("identifier", entry.item),
        Field("surface", entry.surface),
        Field("path", entry.path),
        Field("mode of change", plan.action),
        Field("effect", f"the file {_effect(plan)}"),
    ]
    if plan.also:
        fields.append(Field("all of it", f"{len(plan.parts)} writes in one step; a half is never taken back"))
    fields += [Field("and", f"{part.path} {_effect(part)}") for part in plan.also]
    fields += [Field("passed over", plan.passed_over)] if plan.passed_over else []
    fields += [Field("changed since", part.changed) for part in plan.parts if part.changed]
    return Proposal(
        id=f"undo-{entry.id}",
        tool="undo",
        title=_title(plan),
        fields=tuple(fields),
        plan=plan,
        change=change_of(plan),
        coverage="This approval covers taking back this one act, once.",
        warnings=tuple(ReviewWarning("changed", part.changed, "path") for part in plan.parts if part.changed),
        shown_later="The text that stands now stays in the journal.",
        asker=asker_of(engine),
    )
