"""Reading one thing that is remembered, whole, with where it comes from and what became of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from muniment.memory.records.listing import Listed
from muniment.memory.team.pinned import PinnedEntry
from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import verbs_of
from muniment.tui.screens.reader import Reader, lines_of
from muniment.tui.views import (
    ABOUT,
    Sections,
    entry_sections,
    file_sections,
    history_section,
    knowledge_sections,
    note_sections,
    record_sections,
    row_sections,
)

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp
    from muniment.tui.widgets.exact_lines import Line


async def open_item(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Show an item, and do with it what is chosen there."""
    title, sections = await asyncio.to_thread(_read, engine, item)

    def chosen(word: str | None) -> None:
        if word is not None:
            app.by_hand(word, item)

    app.push_screen(Reader(title, sections, beside=ABOUT, offers=verbs_of(item)), chosen)


def item_lines(engine: Engine, item: Item) -> tuple[str, list[Line]]:
    """Return title and lines of an item as they are read; reads files, so not on the screen's loop."""
    title, sections = _read(engine, item)
    return title, lines_of(sections)


def _read(engine: Engine, item: Item) -> tuple[str, Sections]:
    surfaces = engine.surfaces
    match item.kind:
        case "record":
            if not isinstance(item.ref, Listed):
                raise TypeError("an item of kind record stands for a record")
            meta = item.ref.meta
            found = surfaces.records.get_at(meta.id, meta.scope.directory)
            lines = surfaces.records.history(meta.id)
            return f"Record {meta.id} · {meta.scope.label}", record_sections(found, lines)
        case "user":
            held = surfaces.user.get(item.id)
            lines = surfaces.journal.history("user", item.id)
            return f"User memory · {item.id}", entry_sections(held, lines)
        case "ledger":
            row = surfaces.ledger.get(item.id)
            lines = surfaces.journal.history("ledger", row.id)
            return f"Ledger row {row.id}", row_sections(row, lines)
        case _:
            return _read_team(surfaces, item)


def _read_team(surfaces: Surfaces, item: Item) -> tuple[str, Sections]:
    team = surfaces.team
    directory = str(team.directory)

    def history(surface: str, *names: str) -> tuple[str, Content]:
        found = [line for name in names for line in surfaces.journal.history(surface, name)]
        return history_section([line for line in found if line.entry.directory == directory])

    match item.kind:
        case "inbox":
            note = team.inbox.read(item.id)
            return f"Inbox note · {note.name}", note_sections(note, history("inbox", note.name))
        case "knowledge":
            entry = team.knowledge.read(f"{item.place}/{item.id}")
            past = history("knowledge", entry.name, f"{entry.name}.md")
            return f"Knowledge · {entry.key}", knowledge_sections(entry, past)
        case "pinned":
            text = team.pinned.read()
            whole = item.ref.content if isinstance(item.ref, PinnedEntry) else text.text
            past = history("pinned", item.id, text.path.name)
            about = "You only write it; every request in this place carries it first."
            return f"Pinned · {item.id}", file_sections(whole, text.path, about, past)
        case "notebook":
            path = team.notebooks.path_of(item.id)
            about = "What this agent found, oldest first; only its own requests carry it."
            past = history("notebook", item.id)
            return f"Notebook · {item.id}", file_sections(team.notebooks.read(item.id), path, about, past)
        case _:
            about = "What the team learned, oldest first; requests carry the newest sections."
            past = history("notes", team.notes.path.name)
            return "Team notes", file_sections(team.notes.read(), team.notes.path, about, past)
