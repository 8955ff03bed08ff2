"""Writing something new by hand: the user's own words, checked in a form and then written at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import done, origin_of
from muniment.tui.modals.form import Ask, Checked, Form

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

Values = Mapping[str, str]
KINDS = ("record", "user memory", "inbox note", "knowledge", "pinned")
_FIRST = {"user": "user memory", "inbox": "inbox note", "knowledge": "knowledge", "pinned": "pinned"}


@dataclass(frozen=True, slots=True)
class Ready:
    """A write that is ready: `write` does it, and what is said and noted afterwards."""

    write: Callable[[], object]
    said: str
    noted: str


async def create(app: MunimentApp, engine: Engine, item: Item | None) -> None:
    """Ask what is to be written, then for its fields."""
    from muniment.tui.modals.choose import Choose

    first = "record" if item is None else _FIRST.get(item.kind, "record")
    about = "A record belongs to a scope; user memory goes everywhere; pinned text is in every request."
    kind = await app.push_screen_wait(Choose("Write by hand", about, KINDS, first))
    if kind is not None:
        title, asks, check = _FORMS[kind](engine)
        await _fill(app, title, asks, check)


async def note(app: MunimentApp, engine: Engine) -> None:
    """Put a note of the user's into the inbox."""
    await _fill(app, *_note(engine))


async def _fill(
    app: MunimentApp, title: str, asks: list[Ask], check: Callable[[Values], Checked[object]]
) -> None:
    ready = await app.push_screen_wait(Form(title, asks, check))
    if isinstance(ready, Ready):
        await asyncio.to_thread(ready.write)
        done(app, ready.said, ready.noted)


Filled = tuple[str, list[Ask], Callable[[Values], Checked[object]]]


def _record(engine: Engine) -> Filled:
    from muniment.memory.records.plans import StoreRequest
    from muniment.memory.records.record import DEFAULT_CATEGORY
    from muniment.memory.records.times import parse_time

    records = engine.surfaces.records
    origin = origin_of(engine)
    asks = [
        Ask("title", "Title"),
        Ask("content", "Content", long=True),
        Ask("scope", "Scope", "project: at work below this directory", choices=("project", "global")),
        Ask("id", "Identifier", "empty: made from the title"),
        Ask("category", "Category", f"empty: {DEFAULT_CATEGORY}"),
        Ask("tags", "Tags", "with commas between"),
        Ask("expires", "Expires", "such as 2027-06-30; empty: never"),
    ]

    def check(values: Values) -> Checked[object]:
        tags = tuple(each.strip() for each in values["tags"].split(",") if each.strip())
        expires = values["expires"].strip()
        request = StoreRequest(
            title=values["title"].strip(),
            content=values["content"],
            id=values["id"].strip() or None,
            category=values["category"].strip() or None,
            tags=tags or None,
            scope="global" if values["scope"] == "global" else "project",
            expires_at=parse_time(expires, day_ends=True) if expires else None,
        )
        plan = records.plan_store(request, origin=origin)
        warnings = [each.text for each in plan.warnings]
        if plan.before is not None:
            warnings.insert(0, f"A record {plan.after.id} is there already; this would replace it.")
        said = f"Wrote {plan.after.id} in {plan.scope.directory}. /undo takes it back."
        return Checked(
            Ready(lambda: records.commit(plan, origin), said, f"wrote {plan.after.id}"), tuple(warnings)
        )

    return "New record", asks, check


def _user(engine: Engine) -> Filled:
    from muniment.memory.user.entry import TYPES
    from muniment.memory.user.plans import SaveRequest

    user = engine.surfaces.user
    origin = origin_of(engine)
    asks = [
        Ask("name", "Name", "lower-case letters, digits and single hyphens"),
        Ask("type", "Type", choices=tuple(TYPES)),
        Ask("summary", "Summary", "one line; every request carries it"),
        Ask("details", "Details", "read when the model asks for them", long=True),
    ]

    def check(values: Values) -> Checked[object]:
        kind = next(each for each in TYPES if each == values["type"])
        request = SaveRequest(
            "create", values["name"].strip(), kind, values["summary"].strip(), values["details"]
        )
        plan = user.plan_save(request)
        said = f"Wrote {plan.after.name} in user memory. /undo takes it back."
        ready = Ready(lambda: user.commit(plan, origin), said, f"wrote {plan.after.name}")
        return Checked(ready, tuple(text for _, text, _ in plan.warnings))

    return "New entry of user memory", asks, check


def _note(engine: Engine) -> Filled:
    from muniment.memory.team.notefile import NewNote, check_new
    from muniment.safety.findings import warnings_for

    inbox = engine.surfaces.team.inbox
    origin = origin_of(engine)
    asks = [Ask("title", "Title"), Ask("body", "Note", "it waits for your review", long=True)]

    def check(values: Values) -> Checked[object]:
        new = check_new(NewNote(values["title"], values["body"], "user", "user", engine.id))
        found = warnings_for([("title", new.title), ("body", new.body)])
        said = f"Put into the inbox: {new.title.rstrip('.')}. It reaches no model before you approve it."
        ready = Ready(lambda: inbox.add(new, origin), said, f"noted {new.title}"[:60])
        return Checked(ready, tuple(text for _, text, _ in found))

    return "Note for the inbox", asks, check


def _knowledge(engine: Engine) -> Filled:
    from muniment.memory.records.times import parse_time
    from muniment.memory.team.classify import CATEGORIES
    from muniment.memory.team.entry import TYPES, NewEntry

    knowledge = engine.surfaces.team.knowledge
    origin = origin_of(engine)
    asks = [
        Ask("title", "Title"),
        Ask("content", "Content", long=True),
        Ask("category", "Category", choices=tuple(CATEGORIES), value="project-notes"),
        Ask("type", "Type", "procedural: how to do something", choices=tuple(TYPES)),
        Ask("expires", "Expires", "such as 2027-06-30; empty: never"),
    ]

    def check(values: Values) -> Checked[object]:
        expires = values["expires"].strip()
        plan = knowledge.plan_add(
            NewEntry(
                title=values["title"],
                content=values["content"],
                category=values["category"],
                type=next(each for each in TYPES if each == values["type"]),
                expires_at=parse_time(expires, day_ends=True) if expires else None,
            )
        )
        said = f"Wrote {plan.path}, with its row in the ledger."
        ready = Ready(lambda: knowledge.commit(plan, origin), said, f"wrote {plan.new.title}"[:60])
        return Checked(ready, tuple(each.text for each in plan.warnings))

    return "New knowledge entry", asks, check


def _pinned(engine: Engine) -> Filled:
    from muniment.memory.team.pinned import LEVELS, MAX_UNITS
    from muniment.safety.findings import warnings_for

    pinned = engine.surfaces.team.pinned
    origin = origin_of(engine)
    asks = [
        Ask("title", "Title"),
        Ask("content", "Text", "every request in this place carries it first", long=True),
        Ask("level", "Level", choices=tuple(LEVELS)),
    ]

    def check(values: Values) -> Checked[object]:
        level = next(each for each in LEVELS if each == values["level"])
        plan = pinned.plan_add(values["title"], values["content"], level)
        found = [
            text for _, text, _ in warnings_for([("title", plan.entry.title), ("text", plan.entry.content)])
        ]
        if plan.units > MAX_UNITS:
            found.append(f"The pinned text would have {plan.units:,} units; requests carry {MAX_UNITS:,}.")
        said = f"Pinned {plan.entry.title} in {plan.path}. /undo takes it back."
        ready = Ready(lambda: pinned.commit(plan, origin), said, f"pinned {plan.entry.title}"[:60])
        return Checked(ready, tuple(found))

    return "Pin a text", asks, check


_FORMS: Mapping[str, Callable[[Engine], Filled]] = {
    "record": _record,
    "user memory": _user,
    "inbox note": _note,
    "knowledge": _knowledge,
    "pinned": _pinned,
}
