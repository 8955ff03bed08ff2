"""Search over the records, best first, as you type."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from muniment.memory.records.listing import Listed
from muniment.memory.surfaces import Surfaces
from muniment.safety.errors import MunimentError
from muniment.safety.visible import reading_line
from muniment.session.holdings import Item
from muniment.session.holdings_read import record_item
from muniment.tui.widgets.key_bar import KeyBar

LIMIT = 50


class SearchScreen(Screen[Item | None]):
    """Dismissed with the record that is to be opened."""

    AUTO_FOCUS: ClassVar[str | None] = "#search-words"
    BINDING_GROUP_TITLE = "Search"
    HELP = "Type words; Enter or Down reaches the hits, Enter there opens one."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the session", id="search.back"),
        Binding(
            "ctrl+o",
            "toggle_all",
            "Overridden too",
            tooltip="Show overridden and expired copies",
            id="search.all",
        ),
        Binding("down", "hits", "Hits", show=False, tooltip="Go to the hits", id="search.hits"),
    ]
    DEFAULT_CSS = """
    SearchScreen { background: $background; }
    SearchScreen Input, SearchScreen Input:focus { border: round $primary; background: $background; }
    SearchScreen OptionList, SearchScreen OptionList:focus {
        height: 1fr; border: none; background: $background;
    }
    SearchScreen #search-say { padding: 0 1; color: $secondary; height: auto; }
    """

    def __init__(self, surfaces: Surfaces, words: str = "") -> None:
        super().__init__()
        self._surfaces = surfaces
        self._words = words
        self._all = False
        self._hits: list[Item] = []

    def compose(self) -> ComposeResult:
        yield Input(value=self._words, placeholder="search the records", id="search-words")
        yield OptionList(id="search-hits", markup=False)
        yield Static("Type to search ids, titles, tags and texts.", id="search-say", markup=False)
        yield KeyBar()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._search(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_hits()

    @work(exclusive=True, group="search", exit_on_error=True)
    async def _search(self, words: str) -> None:
        options = self.query_one("#search-hits", OptionList)
        if not words.strip():
            options.clear_options()
            self._hits = []
            return
        try:
            result = await asyncio.to_thread(
                self._surfaces.records.search, words, limit=LIMIT, include_overridden=self._all
            )
        except (MunimentError, OSError) as error:
            self._say(str(error))
            return
        options.clear_options()
        self._hits = [
            record_item(Listed(hit.meta, hit.effective, hit.expired, hit.overridden_by))
            for hit in result.hits
        ]
        for hit in result.hits:
            state = "" if hit.effective else "  not in effect"
            options.add_option(
                Option(
                    Content.assemble(
                        (hit.meta.id, "bold"),
                        (f"  {reading_line(hit.meta.scope.label)}", "$secondary"),
                        (state, "$warning"),
                        f"  {reading_line(hit.meta.title)}\n  ",
                        (reading_line(hit.snippet), "$secondary"),
                    )
                )
            )
        more = "; there are more" if result.truncated else ""
        self._say(f"{len(result.hits)} of {result.searched} records{more}. {result.notice or ''}")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._hits[event.option_index])

    def action_hits(self) -> None:
        """Go to the hits."""
        options = self.query_one("#search-hits", OptionList)
        if self._hits:
            options.focus()
            if options.highlighted is None:
                options.highlighted = 0

    def action_toggle_all(self) -> None:
        """Search overridden and expired copies too, or not."""
        self._all = not self._all
        self._search(self.query_one("#search-words", Input).value)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

    def _say(self, text: str) -> None:
        self.query_one("#search-say", Static).update(Content(reading_line(text)))
