"""Entries of user memory by hand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.approval.proposal import Asker, Change, Field, Proposal
from muniment.memory.user.plans import RemovePlan
from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import asker_of, decide, done, origin_of

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


async def edit(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Edit an entry in the user's editor; what comes back is checked before it is written."""
    from muniment.tui.editor import edit_checked

    user = engine.surfaces.user
    held = await asyncio.to_thread(user.get, item.id)
    plan = await edit_checked(app, f"{item.id}.md", held.data, lambda data: user.plan_edit(held, data))
    if plan is not None:
        await asyncio.to_thread(user.commit, plan, origin_of(engine))
        done(app, f"Wrote {item.id} in user memory. /undo takes it back.", f"edited {item.id}")


async def delete(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Delete an entry, through the dialog."""
    user = engine.surfaces.user
    plan = await asyncio.to_thread(user.plan_delete, item.id)
    decision = await decide(app, remove_proposal(plan, asker_of(engine)))
    if decision.allowed:
        await asyncio.to_thread(user.commit, plan, origin_of(engine))
        done(app, f"Deleted {item.id} from user memory. /undo brings it back.", f"deleted {item.id}")


def remove_proposal(plan: RemovePlan, asker: Asker) -> Proposal:
    """Describe the deletion of an entry: what goes, whole."""
    entry = plan.before
    return Proposal(
        id=f"hand-{entry.name}",
        tool="memory panel",
        title="Delete from user memory",
        fields=(
            Field("name", entry.name),
            Field("directory", str(plan.path.parent)),
            Field("mode of change", "delete"),
            Field("type", entry.type),
            Field("summary", entry.summary),
        ),
        plan=plan,
        change=Change("details", entry.details, None) if entry.details else None,
        coverage="This approval covers the deletion of this one entry, once.",
        shown_later="The deleted text stays in this machine's journal until purged; undo brings it back.",
        asker=asker,
    )
