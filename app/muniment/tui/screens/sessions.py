"""Earlier sessions: filter over title and text, resume, delete with a second press."""

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

from muniment.paths import Paths
from muniment.safety.errors import MunimentError
from muniment.safety.visible import reading_line
from muniment.session.listing import SessionInfo, delete_session, list_sessions, search_sessions
from muniment.tui.widgets.key_bar import KeyBar


class SessionsScreen(Screen[str | None]):
    """Dismissed with the id of the session to resume."""

    AUTO_FOCUS: ClassVar[str | None] = "#session-list"
    BINDING_GROUP_TITLE = "Sessions"
    HELP = (
        "Enter resumes. / filters over titles and texts. d twice deletes; the open session cannot be deleted."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the session", id="sessions.back"),
        Binding(
            "slash",
            "filter",
            "Filter",
            key_display="/",
            tooltip="Filter over title and text",
            id="sessions.filter",
        ),
        Binding("d", "delete", "Delete", tooltip="Delete: press twice", id="sessions.delete"),
    ]
    DEFAULT_CSS = """
    SessionsScreen { background: $background; }
    SessionsScreen #sessions-title { padding: 0 1; background: $panel; text-style: bold; color: $primary; }
    SessionsScreen OptionList, SessionsScreen OptionList:focus {
        height: 1fr; border: none; background: $background;
    }
    SessionsScreen Input { border: none; background: $panel; }
    SessionsScreen #sessions-say { padding: 0 1; color: $warning; height: auto; }
    """

    def __init__(self, paths: Paths, current: str) -> None:
        super().__init__()
        self._paths = paths
        self._current = current
        self._shown: list[tuple[SessionInfo, str]] = []
        self._doomed: str | None = None

    def compose(self) -> ComposeResult:
        yield Static("Sessions", id="sessions-title", markup=False)
        yield Input(placeholder="filter over title and text", id="session-filter", compact=True)
        yield OptionList(id="session-list", markup=False)
        yield Static("", id="sessions-say", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#session-filter").display = False
        self._load("")

    @work(exclusive=True, group="sessions", exit_on_error=True)
    async def _load(self, words: str) -> None:
        def look() -> list[tuple[SessionInfo, str]]:
            if words.strip():
                return list(search_sessions(self._paths, words))
            return [(each, "") for each in list_sessions(self._paths)]

        self._shown = await asyncio.to_thread(look)
        options = self.query_one("#session-list", OptionList)
        options.clear_options()
        for info, snippet in self._shown:
            options.add_option(Option(self._row(info, snippet)))
        if self._shown:
            options.highlighted = 0
        self._say("" if self._shown else "No session matches." if words else "No earlier session yet.")

    def _row(self, info: SessionInfo, snippet: str) -> Content:
        state = "open here" if info.id == self._current else "open elsewhere" if info.live else ""
        if info.problem:
            state = f"damaged: {info.problem}"
        facts = f"{info.updated:%Y-%m-%d %H:%M} UTC  {info.turns} turns  {info.recipe}  {info.cwd}"
        row = Content.assemble(
            (reading_line(info.title or "(no message yet)"), "bold"),
            (f"  {state}" if state else "", "$accent"),
            (f"\n  {reading_line(facts)}", "$secondary"),
        )
        return Content.assemble(row, f"\n  {reading_line(snippet)}") if snippet else row

    def _selected(self) -> SessionInfo | None:
        at = self.query_one("#session-list", OptionList).highlighted
        return self._shown[at][0] if at is not None and at < len(self._shown) else None

    @on(OptionList.OptionSelected)
    def _resume(self, event: OptionList.OptionSelected) -> None:
        info = self._shown[event.option_index][0]
        if info.id == self._current:
            self.dismiss(None)
        elif info.live:
            self._say("That session is open in another process.")
        else:
            self.dismiss(info.id)

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._doomed = None
        self._say("")

    @on(Input.Changed)
    def _filtered(self, event: Input.Changed) -> None:
        self._load(event.value)

    @on(Input.Submitted)
    def _filter_done(self) -> None:
        self.query_one("#session-list").focus()

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#session-filter", Input)
        box.display = True
        box.focus()

    def action_delete(self) -> None:
        """Delete on the second press."""
        info = self._selected()
        if info is None:
            return
        if info.id == self._current or info.live:
            self._say("An open session cannot be deleted.")
        elif self._doomed != info.id:
            self._doomed = info.id
            self._say("Press d again to delete this session with its trace; anything else keeps it.")
        else:
            self._doomed = None
            try:
                delete_session(self._paths, info.id)
            except MunimentError as error:
                self._say(error.sentence)
                return
            self._load(self.query_one("#session-filter", Input).value)

    def action_leave(self) -> None:
        """Close the filter, then the screen."""
        box = self.query_one("#session-filter", Input)
        if box.display:
            box.value = ""
            box.display = False
            self.query_one("#session-list").focus()
        else:
            self.dismiss(None)

    def _say(self, text: str) -> None:
        self.query_one("#sessions-say", Static).update(Content(reading_line(text)))
