"""Help and guide in one place: the keys of where you were first, then every topic, tour and map."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.guide import Page, page_of, pages, search
from muniment.safety.visible import reading_line
from muniment.tui.alive import stands
from muniment.tui.begin import whole
from muniment.tui.looks import Sheet
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing, WordsLine
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.prose import Prose
from muniment.tui.widgets.top_line import TopLine

READ_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Topic:
    """A row of the list: a page, or a place to go to."""

    title: str
    page: Page | None = None
    place: str = ""
    """`tour`, `map` or `settings`: what is opened instead of a page."""
    line: str = ""
    """The line that a search found."""


class GuideScreen(Sheet[None]):
    """Stays below the places that it leads to, so that the way back is the way that was taken."""

    AUTO_FOCUS: ClassVar[str | None] = "#guide-topics"
    SIDE_FROM: ClassVar[int] = 76
    BINDING_GROUP_TITLE = "Guide"
    HELP = "Arrows choose a topic, Enter reads it, / searches all of them, t takes the tour, m opens the map."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "leave", "Back", tooltip="Back to where you were", id="guide.back"),
        Binding("slash", "search", "Search", key_display="/", tooltip="Search the guide", id="guide.search"),
        Binding("t", "go('tour')", "Tour", tooltip="Follow one finding through the system", id="guide.tour"),
        Binding("m", "go('map')", "Map", tooltip="Every surface with its counts now", id="guide.map"),
        Binding("s", "go('settings')", "Settings", tooltip="What can be changed", id="guide.settings"),
        Binding("n", "topic(1)", "Next topic", show=False, tooltip="Read the next topic", id="guide.next"),
        Binding(
            "p",
            "topic(-1)",
            "Previous topic",
            show=False,
            tooltip="Read the topic before",
            id="guide.previous",
        ),
    ]
    DEFAULT_CSS = """
    GuideScreen {
        & OptionList { height: 8; }
        &.-side OptionList { width: 30%; min-width: 28; max-width: 44; height: 1fr; }
        & #guide-here { height: auto; max-width: 100; }
        & Prose { max-width: 100; }
    }
    """

    def __init__(
        self, here: str, keys: Callable[[], str], go: Callable[[str], None], topic: str = ""
    ) -> None:
        super().__init__()
        self._go = go
        self._here = page_of("here", here)
        self._keys = keys
        self._first = topic
        self._pages: tuple[Page, ...] = ()
        self._topics: list[Topic | None] = []

    def compose(self) -> ComposeResult:
        yield TopLine("Guide")
        yield WordsLine("search the guide", id="guide-words")
        with Container(id="guide-body", classes="body"):
            yield Listing("Read", id="guide-topics")
            with VerticalScroll(id="guide-text", classes="pane"):
                yield Static("", id="guide-here", markup=False)
                yield Prose("", id="guide-page", open_links=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#guide-words").display = False
        self._list(self._all())
        self._load()

    @work(exclusive=True, group="guide-load", exit_on_error=True)
    async def _load(self) -> None:
        def read() -> tuple[Page, ...]:
            return (*pages(), page_of("keys", self._keys()))

        self._pages = await asyncio.to_thread(read)
        if not stands(self):
            return
        self._list(self._all())
        if self._first:
            self._choose(self._first)

    # Topics

    def _all(self) -> list[Topic | None]:
        found: list[Topic | None] = [Topic(self._here.title, self._here), None]
        found += [Topic(page.title, page) for page in self._pages]
        found += [
            None,
            Topic("The tour", place="tour"),
            Topic("The map", place="map"),
            Topic("Settings", place="settings"),
        ]
        return found

    def _list(self, topics: list[Topic | None]) -> None:
        options = self.query_one("#guide-topics", OptionList)
        at = options.highlighted or 0
        options.clear_options()
        self._topics = []
        for topic in topics:
            self._topics.append(topic)
            if topic is None:
                options.add_option(Option(Content(" "), disabled=True))
                continue
            title = Content(topic.title)
            if topic.place:
                title = Content.assemble(title, ("  →", "$accent"))
            if topic.line:
                title = Content.assemble(
                    (topic.title, "bold"), "\n", (f"  {reading_line(_plain(topic.line))}", "$secondary")
                )
            options.add_option(Option(title))
        if any(topics):
            options.highlighted = min(at, len(topics) - 1)
        else:
            self._read(_NOTHING)

    def _choose(self, name: str) -> None:
        for at, topic in enumerate(self._topics):
            if topic is not None and topic.page is not None and topic.page.topic == name:
                self.query_one("#guide-topics", OptionList).highlighted = at

    @on(OptionList.OptionHighlighted, "#guide-topics")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        topic = self._topics[event.option_index] if event.option_index < len(self._topics) else None
        if topic is not None:
            self._read(topic)

    @work(exclusive=True, group="guide-read", exit_on_error=True)
    async def _read(self, topic: Topic) -> None:
        # A held arrow passes over topics; only the one where it rests is laid out.
        await asyncio.sleep(READ_SECONDS)
        if stands(self):
            await self._show(topic)

    async def _show(self, topic: Topic) -> None:
        self.query_one(TopLine).say(topic.title)
        self.query_one("#guide-text").scroll_home(animate=False)
        here, page = self.query_one("#guide-here", Static), self.query_one("#guide-page", Prose)
        here.display, page.display = topic.page is None, topic.page is not None
        if topic.page is not None:
            await whole(page.update(topic.page.text))
        else:
            here.update(_PLACES[topic.place])

    @on(OptionList.OptionSelected, "#guide-topics")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        topic = self._topics[event.option_index]
        if topic is not None and topic.place:
            self.action_go(topic.place)
        elif topic is not None:
            self.query_one("#guide-text").focus()

    def action_topic(self, by: int) -> None:
        """Read the next topic, or the one before."""
        options = self.query_one("#guide-topics", OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_go(self, place: str) -> None:
        """Go to a place that the guide names; a second key that waited opens nothing more."""
        if self.app.screen is self:
            self._go(place)

    def show_topic(self, name: str) -> None:
        """Read a topic, out of a search as well."""
        self.query_one("#guide-words").display = False
        self._list(self._all())
        self._choose(name)

    # Searching

    def action_search(self) -> None:
        """Open the search."""
        box = self.query_one("#guide-words", Input)
        box.display = True
        box.focus()

    @on(Input.Changed, "#guide-words")
    def _changed(self, event: Input.Changed) -> None:
        if not event.value.strip():
            self._list(self._all())
            return
        self.query_one("#guide-topics", OptionList).highlighted = None
        self._list(
            [Topic(each.page.title, each.page, line=each.line) for each in search(self._pages, event.value)]
        )

    @on(Input.Submitted, "#guide-words")
    def _submitted(self) -> None:
        if self._topics:
            self.query_one("#guide-topics").focus()

    def action_leave(self) -> None:
        """Leave the text, then the search, then the guide."""
        box = self.query_one("#guide-words", Input)
        topics = self.query_one("#guide-topics", OptionList)
        if self.query_one("#guide-text").has_focus:
            topics.focus()
        elif box.display:
            box.value = ""
            box.display = False
            topics.highlighted = 0
            topics.focus()
        else:
            self.dismiss(None)


_NOTHING = Topic("nothing found", place="nowhere")
_PLACES = {
    "nowhere": Content("No page holds all of these words. Escape shows the topics again."),
    "tour": Content(
        "Enter follows one finding through the system, step by step. Sample data; nothing is written."
    ),
    "map": Content("Enter shows every surface: what it owns, its limits, and how much is in it now."),
    "settings": Content("Enter opens what can be changed: theme, pauses, recall, inbox, keys."),
}


def _plain(line: str) -> str:
    return line.replace("**", "").replace("`", "").strip("#|- ")
