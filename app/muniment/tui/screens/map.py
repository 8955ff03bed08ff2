"""The map of the surfaces: what each owns and holds now; Enter opens it in its place."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from muniment.memory.surfaces import Surfaces
from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.session.holdings.atlas import Surface, amount_in, journal_amount, surfaces
from muniment.tui.alive import stands
from muniment.tui.looks import Sheet
from muniment.tui.widgets.facts import Facts
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.top_line import TopLine

_NAME = 17


_FLOW = """\
How it reaches a model

you ───┬──▶ records ─────────────▶ digest ──┐
       ├──▶ user memory ─────────▶ index ───┤
       ├──▶ pinned context ─────────────────┼─▶ request
       └┬─▶ inbox ══▶ team notes ───────────┤
agents ─┘         ══▶ knowledge, notebooks ─┤
                  ══▶ ledger ────▶ pack ────┘

══▶  only after a consolidation that you approve"""


class MapScreen(Sheet[Surface | None]):
    """Dismissed with the surface that is to be opened."""

    AUTO_FOCUS: ClassVar[str | None] = "#map-list"
    BINDING_GROUP_TITLE = "Map"
    HELP = "Every surface that remembers, with what is in it now. Enter opens one in its place."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to where you were", id="map.back"),
        Binding("r", "look", "Look again", tooltip="Count again", id="map.look"),
    ]
    DEFAULT_CSS = """
    MapScreen {
        & .pane { height: auto; max-height: 50%; }
        & #map-flow { display: none; margin-top: 1; color: $secondary; }
        &.-side OptionList { width: 2fr; max-width: 52; }
        &.-side .pane { width: 3fr; height: 1fr; max-height: 100%; }
        &.-side #map-flow { display: block; }
    }
    """

    def __init__(self, memory: Surfaces) -> None:
        super().__init__()
        self._memory = memory
        self._surfaces = surfaces(memory.settings, memory.paths)
        self._looking = True

    def compose(self) -> ComposeResult:
        yield TopLine("Map")
        with Container(classes="body"):
            yield Listing("Open", id="map-list")
            with VerticalScroll(id="map-pane", classes="pane"):
                yield Facts(id="map-facts")
                yield Static(_FLOW, id="map-flow", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self._draw()
        self.action_look()

    def action_look(self) -> None:
        """Count again, off the event loop."""
        self._look()

    @work(exclusive=True, group="map", exit_on_error=True)
    async def _look(self) -> None:
        from muniment.session.holdings.reading import Holder

        self._looking = True
        self._entitle()
        try:
            holdings = await asyncio.to_thread(Holder(self._memory).look)
            counted = await asyncio.to_thread(self._count_others)
            trouble = ""
        except (MunimentError, OSError) as error:
            trouble = f"cannot be counted: {sentence_of(error)}"
        if not stands(self):
            return
        if trouble:
            self.query_one(TopLine).say(trouble)
            return
        self._looking = False
        self._surfaces = tuple(
            replace(each, amount=counted.get(each.key) or amount_in(each, holdings))
            for each in self._surfaces
        )
        self._entitle()
        self._draw()

    def _count_others(self) -> dict[str, str]:
        """Count what the memory panel does not hold."""
        from muniment.session.logs.stored import session_paths

        paths = self._memory.paths
        try:
            sessions = f"{len(session_paths(paths)):,}"
        except OSError:
            sessions = "unreadable"
        return {"sessions": sessions, "journal": journal_amount(paths)}

    def _entitle(self) -> None:
        self.query_one(TopLine).say("counting …" if self._looking else "what remembers, and how much")

    def _draw(self) -> None:
        options = self.query_one("#map-list", OptionList)
        at = options.highlighted or 0
        options.clear_options()
        options.add_options([Option(self._line(each)) for each in self._surfaces])
        options.highlighted = at

    def _line(self, surface: Surface) -> Content:
        amount = surface.amount or ("…" if self._looking else "")
        return Content.assemble((surface.name.ljust(_NAME), "bold"), reading_line(amount))

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        each = self._surfaces[event.option_index]
        facts = (
            ("owns", each.owns),
            ("written by", each.writes),
            ("read by", each.reads),
            ("limits", each.limits),
            ("files", each.files),
        )
        self.query_one(Facts).tell(each.name, facts)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._surfaces[event.option_index])

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
