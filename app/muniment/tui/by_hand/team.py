"""The team's files by hand: edited whole in the user's editor, put away, held and promoted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.approval.proposal import Change, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team import entry as knowledge_entry
from muniment.memory.team.notefile import Note, decode_note
from muniment.memory.team.pinned import PinnedEntry
from muniment.memory.team.workspace import Team
from muniment.safety.errors import InvalidInput, NotFound
from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import asker_of, decide, done, origin_of

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

MAX_BYTES = 16_777_216


@dataclass(frozen=True, slots=True)
class TextPlan:
    """A file of the team as it was seen and as it is to be."""

    path: Path
    before: bytes
    after: bytes


async def edit(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Edit the file behind an item in the user's editor; what comes back is checked before it is written."""
    from muniment.tui.editor import edit_checked

    team = engine.surfaces.team
    path = path_of(team, item)
    before = await asyncio.to_thread(team.files.read, path, max_bytes=MAX_BYTES)
    if before is None:
        raise NotFound(f"{path} is gone.")
    check = _checker(item, path)

    def planned(data: bytes) -> TextPlan:
        check(data)
        return TextPlan(path, before, data)

    plan = await edit_checked(app, path.name, before, planned)
    if plan is not None:
        await asyncio.to_thread(_write, engine, item, plan)
        done(app, f"Wrote {path}. /undo takes it back.", f"edited {path.name}")


def path_of(team: Team, item: Item) -> Path:
    """Return the file that an item stands in."""
    ref = item.ref
    if isinstance(ref, Note | knowledge_entry.Entry):
        return ref.path
    match item.kind:
        case "pinned":
            return team.pinned.path
        case "notes":
            return team.notes.path
        case "notebook":
            return team.notebooks.path_of(item.id)
        case _:
            raise InvalidInput(f"{item.id} has no file of its own.")


def _checker(item: Item, path: Path) -> Callable[[bytes], object]:
    if item.kind == "inbox":
        return lambda data: decode_note(data, path, mtime=0.0, held=False)
    if item.kind == "knowledge":
        return lambda data: _checked_entry(data, path)
    return _checked_text


def _checked_entry(data: bytes, path: Path) -> knowledge_entry.Entry:
    entry = knowledge_entry.decode(data, path, category=path.parent.name, mtime=0.0)
    if not entry.text.strip():
        raise InvalidInput("The edited text is no entry: it has no content.")
    return entry


def _checked_text(data: bytes) -> None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("The edited text is not UTF-8.") from error
    if "\x00" in text:
        raise InvalidInput("The edited text holds a NUL character.")


def _write(engine: Engine, item: Item, plan: TextPlan) -> None:
    """Write a file if it still is what was seen; the row of a knowledge entry follows its text."""
    from muniment.memory.team.follow import write_rows
    from muniment.memory.team.rows import entry_row

    team = engine.surfaces.team
    # An undo of the file takes its row with it.
    origin = origin_of(engine, one_act=item.kind == "knowledge")
    name = plan.path.stem if item.kind in ("knowledge", "notebook") else plan.path.name
    with team.guard():
        _unchanged(team, plan.path, plan.before)
        team.files.write(plan.path, plan.after, origin, surface=item.kind, item=name, before=plan.before)
    if item.kind == "knowledge":
        entry = _checked_entry(plan.after, plan.path)
        write_rows(team, [entry_row(team, entry, "human")], origin)


def _unchanged(team: Team, path: Path, before: bytes) -> None:
    if team.files.read(path, max_bytes=MAX_BYTES) != before:
        raise ChangedAfterApproval(f"{path} was changed meanwhile, nothing written.")


async def delete(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Put a note into the archive, or take out an entry, through the dialog."""
    team = engine.surfaces.team
    ref = item.ref
    act: Callable[[Origin], object]
    if isinstance(ref, Note):
        note = await asyncio.to_thread(team.inbox.read, ref.name)
        proposal = _gone(engine, item, "Put a note into the archive", note.path, note.text)
        act, said = (lambda origin: team.inbox.archive(note, origin)), f"Archived {note.name}."
    elif isinstance(ref, PinnedEntry):
        plan = await asyncio.to_thread(team.pinned.plan_remove, ref.title)
        proposal = _gone(engine, item, "Take out a pinned entry", plan.path, plan.entry.content)
        act, said = (lambda origin: team.pinned.commit(plan, origin)), f"Unpinned {plan.entry.title}."
    elif isinstance(ref, knowledge_entry.Entry):
        entry = await asyncio.to_thread(team.knowledge.read, ref.key)
        proposal = _gone(engine, item, "Delete a knowledge entry", entry.path, entry.text)
        act, said = (lambda origin: team.knowledge.remove(entry, origin)), f"Deleted {entry.key}."
    else:
        raise InvalidInput(f"{item.id} is a whole file; press e and empty what you no longer want.")
    decision = await decide(app, proposal)
    if decision.allowed:
        # Letting go of a held note on its way is a write of its own; one undo takes both back.
        moved = item.kind == "inbox"
        reason = f"move: {item.id} to the archive" if moved else ""
        await asyncio.to_thread(act, origin_of(engine, reason, one_act=moved))
        done(app, f"{said} /undo brings it back.", said)


def _gone(engine: Engine, item: Item, title: str, path: Path, text: str) -> Proposal:
    fields = [Field("identifier", item.id), Field("path", str(path)), Field("title", item.title)]
    effects = {
        "inbox": "moved to notes/archive; no consolidation takes it any more",
        "knowledge": "the file goes, and its row in the ledger is retracted",
        "pinned": "no request carries it any more",
    }
    return Proposal(
        id=f"hand-{item.kind}-{item.id}"[:120],
        tool="memory panel",
        title=title,
        fields=(*fields, Field("mode of change", "delete"), Field("effect", effects[item.kind])),
        plan=item,
        change=Change("text", text, None) if text else None,
        coverage="This approval covers this one thing, once.",
        shown_later="The text stays in this machine's journal until purged; undo brings it back.",
        asker=asker_of(engine),
    )


async def hold(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Hold a note or an entry back, or let it go again."""
    team = engine.surfaces.team
    ref = item.ref
    origin = origin_of(engine)
    if isinstance(ref, Note):
        change = team.inbox.release if ref.held else team.inbox.hold
        await asyncio.to_thread(change, ref.name, origin)
        kept = "takes part in the next consolidation" if ref.held else "is held back from consolidations"
        done(app, f"{ref.name} {kept}.", f"{'released' if ref.held else 'held'} {ref.name}")
    elif isinstance(ref, knowledge_entry.Entry):
        turn = team.knowledge.release if ref.held else team.knowledge.hold
        await asyncio.to_thread(turn, ref.key, origin)
        kept = "takes part in sweeps again" if ref.held else "is held back from sweeps"
        done(app, f"{ref.key} {kept}.", f"{'released' if ref.held else 'held'} {ref.name}")


async def promote(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Make a knowledge entry of an inbox note: the user's own from then on."""
    from muniment.memory.team.classify import CATEGORIES, classify
    from muniment.tui.modals.choose import Choose

    team = engine.surfaces.team
    note = await asyncio.to_thread(team.inbox.read, item.id)
    fits = classify(note.name, note.text)
    category = await app.push_screen_wait(
        Choose(f"Promote {note.title}"[:60], "Into which category of knowledge?", CATEGORIES, fits)
    )
    if category is None:
        return
    plan = await asyncio.to_thread(team.knowledge.plan_promote, note, category=category)
    proposal = Proposal(
        id=f"promote-{note.id}",
        tool="memory panel",
        title="Promote a note to knowledge",
        fields=(
            Field("note", note.name),
            Field("agent", note.agent),
            Field("path", str(plan.path)),
            Field("category", plan.new.category),
            Field("type", plan.new.type),
            Field("title", plan.new.title),
            Field("trust", "human: you take it over as your own"),
            Field("effect", "written as an entry, put into the ledger, and the note is archived"),
        ),
        plan=plan,
        change=Change("content", None, plan.new.content),
        warnings=tuple(ReviewWarning(each.kind, each.text, each.place) for each in plan.warnings),
        coverage="This approval covers promoting this one note, once.",
        shown_later="Later it may be recalled into requests at work in this project.",
        asker=asker_of(engine),
    )
    decision = await decide(app, proposal)
    if decision.allowed:
        added = await asyncio.to_thread(team.knowledge.commit, plan, origin_of(engine))
        done(app, f"Promoted {note.name} to {added.entry.key}.", f"promoted {note.title}"[:60])
