"""Reading one thing that is remembered, whole, with where it comes from and what became of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.memory.records.listing import Listed
from muniment.session.holdings import Item
from muniment.tui.by_hand import verbs_of
from muniment.tui.screens.reader import Reader
from muniment.tui.views import Sections, entry_sections, history_section, record_sections

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


async def open_item(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Show an item, and do with it what is chosen there."""
    title, sections = await asyncio.to_thread(_read, engine, item)

    def chosen(word: str | None) -> None:
        if word is not None:
            app.by_hand(word, item)

    app.push_screen(Reader(title, sections, offers=verbs_of(item)), chosen)


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
        case _:
            return item.id, [("", history_section([])[1])]
