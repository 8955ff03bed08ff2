"""The team's files and the ledger as groups of items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.team.files import Problem
from muniment.session.holdings.items import Group, Item, Passed, numbered, size_text

if TYPE_CHECKING:
    from muniment.memory.ledger.row import Row
    from muniment.memory.surfaces import Surfaces

MOST_ROWS = 20_000
"""So many ledger rows are read where the ledger is opened or filtered; a search reaches all."""

Part = tuple[tuple[Group, ...], tuple[Passed, ...]]


def inbox_part(surfaces: Surfaces) -> Part:
    """The notes that wait, and how many a consolidation needs."""
    notes, problems = surfaces.team.inbox.scan()
    needed = surfaces.settings.notes.threshold
    ready = sum(not each.held for each in notes)
    held = len(notes) - ready
    items = tuple(
        Item(
            "inbox",
            each.name,
            each.title,
            str(each.path.parent),
            "held" if each.held else "",
            f"{each.source} {each.body[:400]}",
            f"{each.agent} {each.date}",
            each,
        )
        for each in notes
    )
    group = Group(
        "inbox",
        "Inbox",
        f"{ready} of {needed}" + (f" · {held} held" if held else ""),
        items,
        len(items),
        hint=f"Press n for a note; at {needed} a consolidation is offered",
    )
    return (group,), _passed(problems)


def pinned_part(surfaces: Surfaces) -> Part:
    """The pinned text whole, then its entries."""
    from muniment.memory.team.pinned import MAX_UNITS, parse

    pinned = surfaces.team.pinned
    text = pinned.read()
    place = str(pinned.path)
    items: list[Item] = []
    if text.units:
        size = f"{text.units:,} of {MAX_UNITS:,} units" + (", cut in requests" if text.cut else "")
        items.append(Item("pinned", pinned.path.name, f"the whole text, {size}", place))
        items += [
            Item(
                "pinned", each.title, " ".join(each.content.split())[:400], place, words=each.level, ref=each
            )
            for each in parse(text.text)
        ]
    group = Group(
        "pinned",
        "Pinned",
        size_text(len(text.text.encode("utf-8"))) if text.units else "empty",
        tuple(items),
        len(items),
        warning="cut: longer than a request carries" if text.cut else "",
        hint="Only you write here: press + or run muniment pin add",
        open=False,
    )
    return (group,), _passed([text.problem] if text.problem is not None else [])


def notes_part(surfaces: Surfaces) -> Part:
    """The team notes, as one text of sections."""
    notes = surfaces.team.notes
    text = notes.read()
    sections = notes.sections()
    items: tuple[Item, ...] = ()
    if text.strip():
        newest = " ".join(sections[-1].split())[:400] if sections else ""
        count = numbered(len(sections), "section")
        items = (Item("notes", notes.path.name, f"{count}; newest: {newest}", str(notes.path)),)
    group = Group(
        "notes",
        "Team notes",
        size_text(len(text.encode("utf-8"))) if items else "empty",
        items,
        len(items),
        hint="Written when a consolidation is approved",
        open=False,
    )
    return (group,), _passed([notes.problem] if notes.problem is not None else [])


def notebook_part(surfaces: Surfaces) -> Part:
    """The notebooks, one for each agent."""
    books = surfaces.team.notebooks
    items: list[Item] = []
    for agent in books.agents():
        path = books.path_of(agent)
        entries = books.entries(agent)
        newest = " ".join(entries[-1].split())[:400] if entries else ""
        about = f"{numbered(len(entries), 'entry', 'entries')}; newest: {newest}"
        items.append(Item("notebook", agent, about, str(path)))
    group = Group(
        "notebook",
        "Notebooks",
        f"{len(items)}",
        tuple(items),
        len(items),
        hint="What each lasting agent found; written at a consolidation",
        open=False,
    )
    return (group,), ()


def knowledge_part(surfaces: Surfaces) -> Part:
    """The knowledge base, its category before each title."""
    now = surfaces.clock()
    entries, problems = surfaces.team.knowledge.scan()
    items = tuple(
        Item(
            "knowledge",
            each.name,
            each.title,
            each.category,
            "expired" if each.is_expired(now) else "held" if each.held else "",
            f"{each.type} {each.agent} {each.source} {each.text[:400]}",
            each.category,
            each,
        )
        for each in entries
    )
    group = Group(
        "knowledge",
        "Knowledge",
        f"{len(items):,}",
        items,
        len(items),
        hint="Press p on an inbox note to promote it, or + to write an entry",
        open=False,
    )
    return (group,), _passed(problems)


def ledger_part(surfaces: Surfaces, *, whole: bool) -> Part:
    """The ledger's rows of this project; only counted until somebody wants to see them."""
    from muniment.memory.ledger.row import Places

    places = Places(surfaces.team.scope_key, any_agent=True)
    ledger = surfaces.ledger
    counts = ledger.counts(places)
    total = sum(counts.values())
    items: tuple[Item, ...] = ()
    if whole and total:
        found = ledger.search("", scopes=places, limit=MOST_ROWS, all=True)
        items = tuple(row_item(each.row) for each in found.hits)
    others = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count and word != "active")
    group = Group(
        "ledger",
        "Ledger",
        f"{counts['active']:,} active" + (f" of {total:,}" if others else ""),
        items,
        total,
        hint=f"Besides: {others}" if others else "Rows come with knowledge and consolidations",
        open=False,
    )
    return (group,), ()


def row_item(row: Row) -> Item:
    """Return a ledger row as an item."""
    where = row.scope_kind if row.scope_kind != "agent" else f"agent {row.scope_key}"
    state = "" if row.status == "active" else row.status
    words = f"{where} {' '.join(row.tags)} {row.body[:400]}"
    return Item("ledger", row.id, row.title, where, state, words, f"{row.type} {row.trust}", row)


def team_directories(directory: Path) -> dict[str, tuple[Path, ...]]:
    """Name for each part of the team's memory what it is read from."""
    return {
        "inbox": (directory / "notes" / "inbox", directory / "held.yaml"),
        "pinned": (directory / "pinned.md",),
        "notes": (directory / "notes.md",),
        "notebook": (directory / "knowledge" / "agents",),
        "knowledge": (directory / "knowledge", directory / "held.yaml"),
    }


def _passed(problems: Sequence[Problem]) -> tuple[Passed, ...]:
    return tuple(Passed(str(each.path), each.reason) for each in problems)
