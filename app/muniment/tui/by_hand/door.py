"""What a person does to memory by hand, from panel, search or a reading screen: one door for every kind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from muniment.approval.proposal import Asker, Decision, Proposal
from muniment.memory.origin import Origin
from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.session.holdings.items import KIND_WORDS, Item
from muniment.tui.begin import begin

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

Act = Callable[["MunimentApp", "Engine", Item], Awaitable[None]]


def do(app: MunimentApp, engine: Engine, verb: str, item: Item | None) -> None:
    """Do what was asked, with the item it was asked for; says so where that cannot be done."""
    if verb == "undo":
        from muniment.tui.by_hand.undo import undo

        _run(app, partial(undo, app, engine))
    elif verb in ("note", "create"):
        from muniment.tui.by_hand import new

        note, create = partial(new.note, app, engine), partial(new.create, app, engine, item)
        _run(app, note if verb == "note" else create)
    elif item is not None:
        _run(app, partial(_act, app, engine, verb, item))


async def _act(app: MunimentApp, engine: Engine, verb: str, item: Item) -> None:
    from muniment.tui.by_hand import ledger, records, team, user
    from muniment.tui.open_item import open_item

    acts: dict[tuple[str, str], Act] = {
        ("edit", "record"): records.edit,
        ("delete", "record"): records.delete,
        ("move", "record"): records.move,
        ("edit", "user"): user.edit,
        ("delete", "user"): user.delete,
        ("delete", "ledger"): ledger.retract,
        ("hold", "ledger"): ledger.restore,
        ("promote", "ledger"): ledger.pin,
        ("promote", "inbox"): team.promote,
    }
    for kind in ("inbox", "pinned", "notes", "notebook", "knowledge"):
        acts["edit", kind] = team.edit
    for kind in ("inbox", "pinned", "knowledge"):
        acts["delete", kind] = team.delete
    for kind in ("inbox", "knowledge"):
        acts["hold", kind] = team.hold
    if verb == "open":
        await open_item(app, engine, item)
    elif verb == "copy":
        app.copy_to_clipboard(item.id)
        app.notify(f"Copied {reading_line(item.id)}.", markup=False)
    elif (act := acts.get((verb, item.kind))) is not None:
        await act(app, engine, item)
    else:
        app.notify(cannot(verb, item), markup=False)


def cannot(verb: str, item: Item) -> str:
    """Say why this is not done with an item of this kind, and what is."""
    kind = KIND_WORDS[item.kind]
    if verb == "move":
        return f"Only a record has a scope to be moved to, not a thing of kind {kind}."
    if verb == "edit" and item.kind == "ledger":
        return "A ledger row is never edited: edit what it comes from, or retract it with d."
    offered = ", ".join(f"{key} {word}" for key, _, word in verbs_of(item))
    return f"That is not done with a thing of kind {kind}. What is: {offered}."


_EDIT = ("e", "edit", "Edit")
_COPY = ("y", "copy", "Copy id")


def verbs_of(item: Item) -> tuple[tuple[str, str, str], ...]:
    """Return what can be done with an item: key, verb and word."""
    held = item.state == "held"
    hold = ("h", "hold", "Release" if held else "Hold")
    match item.kind:
        case "record":
            return (("d", "delete", "Delete"), _EDIT, ("m", "move", "Move scope"), _COPY)
        case "user":
            return (("d", "delete", "Delete"), _EDIT, _COPY)
        case "inbox":
            return (("d", "delete", "Archive"), _EDIT, hold, ("p", "promote", "Promote"), _COPY)
        case "knowledge":
            return (("d", "delete", "Delete"), _EDIT, hold, _COPY)
        case "pinned":
            return (("d", "delete", "Unpin"), _EDIT, _COPY) if item.ref is not None else (_EDIT, _COPY)
        case "ledger":
            turn = ("d", "delete", "Retract") if not item.state else ("h", "hold", "Restore")
            purge = (("d", "delete", "Purge"),) if item.state == "retracted" else ()
            return (turn, *purge, ("p", "promote", "Pin"), _COPY)
        case "notes" | "notebook":
            return (_EDIT, _COPY)


def _run(app: MunimentApp, work: Callable[[], Awaitable[None]]) -> None:
    begin(app, partial(_told, app, work), group="by-hand")


async def _told(app: MunimentApp, work: Callable[[], Awaitable[None]]) -> None:
    """Say a failure in one sentence, where the person is looking."""
    try:
        await work()
    except (MunimentError, OSError) as error:
        fault(app, sentence_of(error))


def fault(app: MunimentApp, sentence: str) -> None:
    """Say what went wrong."""
    app.tell(sentence, error=True)


def done(app: MunimentApp, sentence: str, written: str) -> None:
    """Say what was written, and let everything that shows memory look again."""
    app.tell(sentence)
    app.session_screen.written(written)


def origin_of(engine: Engine, reason: str = "", *, one_act: bool = False) -> Origin:
    """Return who writes: the user, from the screen; with `one_act` an undo takes back all writes of it."""
    recipe, mode = engine.recipe, str(engine.mode)
    group = secrets.token_hex(8) if one_act else ""
    return Origin("user", "panel", engine.id, recipe.name, recipe.agent, "", mode, "user", reason, group)


def asker_of(engine: Engine) -> Asker:
    """Return who asks: the user."""
    return Asker(session=engine.id, recipe=engine.recipe.name, agent="you, by hand")


async def decide(app: MunimentApp, proposal: Proposal) -> Decision:
    """Put a proposal of the user's own on the desk and open it at once: nobody else's key is in the way."""
    waiting = asyncio.ensure_future(app.ask(proposal))
    try:
        await asyncio.sleep(0)  # until it lies on the desk
        app.desk.open_now()
        return await waiting
    finally:
        waiting.cancel()
