"""Ledger rows by hand: taken out of recall, brought back, made one's own, and purged."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from muniment.approval.proposal import Change, Field, Proposal
from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import asker_of, decide, done, origin_of

if TYPE_CHECKING:
    from muniment.memory.ledger.row import Row
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


async def retract(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Take a row out of recall, through the dialog."""
    ledger = engine.surfaces.ledger
    row = await asyncio.to_thread(ledger.get, item.id)
    if row.status == "retracted":
        await _purge(app, engine, row)
        return
    proposal = Proposal(
        id=f"retract-{row.id}",
        tool="memory panel",
        title="Retract a ledger row",
        fields=(
            *_facts(row),
            Field("status", row.status),
            Field("effect", "no pack carries it any more; h restores it, d once more purges its text"),
        ),
        plan=row,
        change=Change("body", row.body, None),
        coverage="This approval covers retracting this one row, once.",
        shown_later="The row stays readable here and can be restored.",
        asker=asker_of(engine),
    )
    decision = await decide(app, proposal)
    if decision.allowed:
        await asyncio.to_thread(partial(ledger.retract, row.id, origin_of(engine), seen=row))
        done(app, f"Retracted {row.id}; h on it restores it.", f"retracted {row.id}")


def _facts(row: Row) -> tuple[Field, ...]:
    scope = row.scope_kind if not row.scope_key else f"{row.scope_kind} — {row.scope_key}"
    return (
        Field("identifier", row.id),
        Field("scope", scope),
        Field("type", row.type),
        Field("trust", row.trust),
        Field("title", row.title),
        Field("source", row.source),
    )


async def _purge(app: MunimentApp, engine: Engine, row: Row) -> None:
    """Remove what a retracted row says for good, through the dialog."""
    if row.purged_at is not None:
        app.notify(f"{row.id} was purged already; nothing of its text is left.", markup=False)
        return
    proposal = Proposal(
        id=f"purge-{row.id}",
        tool="memory panel",
        title="Purge a ledger row",
        fields=(
            *_facts(row),
            Field("effect", "its text leaves the ledger, its log and the journal for good; no undo"),
        ),
        plan=row,
        change=Change("body", row.body, None),
        coverage="This approval covers purging this one row, once.",
        shown_later="A mark stays: its id, its times and that it was purged. Files and sessions keep theirs.",
        asker=asker_of(engine),
    )
    decision = await decide(app, proposal)
    if decision.allowed:
        purge = partial(engine.surfaces.ledger.purge, row.id, origin_of(engine), seen=row)
        gone = await asyncio.to_thread(purge)
        done(app, " ".join((f"Purged {row.id}.", *gone.left)), f"purged {row.id}")


async def restore(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Make a row active again that was retracted, superseded or expired."""
    changed = await asyncio.to_thread(engine.surfaces.ledger.restore, item.id, origin_of(engine))
    if changed.before == changed.after:
        app.notify(f"{item.id} is active already.", markup=False)
        return
    done(app, f"{item.id} is active again.", f"restored {item.id}")


async def pin(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Make a row the user's own: trusted as human, of full weight."""
    await asyncio.to_thread(engine.surfaces.ledger.pin, item.id, origin_of(engine))
    done(app, f"{item.id} counts as your own now: trust human, full weight.", f"pinned {item.id}")
