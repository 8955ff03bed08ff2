"""Earlier sessions: found by title and text, looked into, resumed, renamed, rated, deleted by two presses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.memory.origin import utc_now
from muniment.paths import Paths
from muniment.safety.errors import MunimentError, sentence_of
from muniment.session.logs.browsing import WINDOW, Doom, Found, Listed, facts, pieces, spans_of
from muniment.session.logs.log import clean_title
from muniment.session.logs.stored import SessionInfo, delete_session, rename_session
from muniment.settings import Settings
from muniment.tui.looks import Sheet
from muniment.tui.screens.sessions_preview import preview_lines
from muniment.tui.text import marked, safe_line
from muniment.tui.widgets.exact_lines import Line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing, WordsLine
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.reading import Reading
from muniment.tui.widgets.top_line import TopLine

QUIET_SECONDS = 0.12
"""So long the cursor or the filter stands still before logs are read for it."""
Rating = Literal["up", "down"]


class SessionsScreen(Sheet[str | None]):
    """Dismissed with the id of the session to resume."""

    AUTO_FOCUS: ClassVar[str | None] = "#session-list"
    SIDE_FROM: ClassVar[int] = 110
    BINDING_GROUP_TITLE = "Sessions"
    HELP = (
        "Enter resumes. / filters over title, project, recipe and text; p narrows to this project. d twice "
        "deletes with the trace; a session that is open cannot be deleted. + and - rate a finished task: one "
        "note to its agent."
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
        Binding("p", "project", "Project", tooltip="This project only, or all", id="sessions.project"),
        Binding("r", "rename", "Rename", tooltip="Give this session a title", id="sessions.rename"),
        Binding("d", "delete", "Delete", tooltip="Delete: press twice", id="sessions.delete"),
        Binding(
            "plus", "rate('up')", "Good", key_display="+", tooltip="Rate a finished task", id="sessions.good"
        ),
        Binding(
            "minus",
            "rate('down')",
            "Not good",
            key_display="-",
            tooltip="Rate a finished task as not good",
            id="sessions.not-good",
        ),
        Binding("y", "copy", "Copy id", tooltip="Copy the id of this session", id="sessions.copy"),
        Binding(
            "down", "list", "List", show=False, tooltip="From the filter to the list", id="sessions.list"
        ),
    ]
    DEFAULT_CSS = """
    SessionsScreen {
        & OptionList { height: 3fr; }
        & .pane { height: 2fr; }
        &.-side OptionList, &.-side .pane { height: 1fr; }
    }
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        current: str,
        *,
        cwd: str = "",
        rename_current: Callable[[str], None] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__()
        self._paths = paths
        self._settings = settings
        self._current = current
        self._cwd = cwd
        self._rename_current = rename_current
        self._clock = clock
        self._found = Found((), 0, 0)
        self._doom = Doom()
        self._project = False
        self._drawn: list[str] = []

    def compose(self) -> ComposeResult:
        yield TopLine("Sessions", id="sessions-title")
        yield WordsLine("filter over title, project, recipe and text", id="session-filter")
        with Container(classes="body"):
            yield Listing("Resume", id="session-list")
            yield Reading(id="session-preview")
        yield Static("", id="sessions-say", classes="say", markup=False)
        yield KeyBar()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing that is done with a session while there is none."""
        if action in ("rename", "delete", "rate", "copy") and self.is_mounted and self.selected is None:
            return False
        return super().check_action(action, parameters)

    def on_mount(self) -> None:
        self.query_one("#session-filter").display = False
        self.query_one("#sessions-say").display = False
        self._load()

    @property
    def words(self) -> str:
        return self.query_one("#session-filter", Input).value

    # The list

    @work(exclusive=True, group="sessions", exit_on_error=True)
    async def _load(self, at: str = "", said: str = "") -> None:
        """List piece by piece; a newer wish ends this one between two pieces."""
        words = self.words
        if words:
            await asyncio.sleep(QUIET_SECONDS)
        steps = pieces(self._paths, words, cwd=self._cwd if self._project else None)
        first = True
        try:
            while (found := await asyncio.to_thread(next, steps, None)) is not None:
                if first:
                    self._say(said)
                self._show(found, words, at, afresh=first)
                first = False
        except OSError as error:
            self._say(f"The sessions cannot be listed: {sentence_of(error)}")

    def _show(self, found: Found, words: str, at: str, *, afresh: bool) -> None:
        self._found = found
        options = self.query_one("#session-list", OptionList)
        split = words.casefold().split()
        if afresh:
            options.clear_options()
            self._drawn = []
        fresh = found.sessions[len(self._drawn) :]
        options.add_options([Option(self._row(each, split)) for each in fresh])
        self._drawn += [each.info.id for each in fresh]
        if self._drawn and options.highlighted is None:
            options.highlighted = self._drawn.index(at) if at in self._drawn else 0
        self._entitle(words)
        if not found.sessions and found.done:
            self._show_nothing(bool(words))

    def _show_nothing(self, filtered: bool) -> None:
        """Say beside the empty list what to do about it."""
        pane = self.query_one(Reading)
        pane.border_title = None
        about = (
            "No session matches; Escape clears the filter."
            if filtered
            else "No earlier session yet. What you say in one is kept, and it stands here from then on."
        )
        pane.show([Line(about)])

    def _entitle(self, words: str) -> None:
        found = self._found
        shown, total = len(found.sessions), found.total
        text = f"{total:,}" if not words else f"{shown:,} found of {total:,}"
        if self._project:
            text += ", this project only"
        if not found.done and shown >= WINDOW:
            text += f"; the newest {WINDOW} are listed, / finds the others"
        elif not found.done:
            text += f"; looked through {found.looked:,} …"
        self.query_one(TopLine).say(text)

    def _row(self, listed: Listed, words: list[str]) -> Content:
        info = listed.info
        title = info.title or "(no message yet)"
        parts: list[Content | str | tuple[str, str]] = [
            marked(title, spans_of(title, words)).stylize_before("bold"),
            "\n  ",
            # Before the facts: behind a long title it would be cut off.
            (f"{state} · " if (state := self._state(info)) else "", "$warning"),
            (safe_line(facts(info, self._clock())).plain, "$secondary"),
        ]
        if listed.snippet:
            parts += ["\n  ", marked(listed.snippet, listed.spans)]
        return Content.assemble(*parts)

    def _state(self, info: SessionInfo) -> str:
        if info.problem:
            return f"damaged: {safe_line(info.problem).plain}"
        if info.id == self._current:
            return "● open here"
        return "● open in another process" if info.live else ""

    @property
    def selected(self) -> SessionInfo | None:
        """The session under the cursor."""
        at = self.query_one("#session-list", OptionList).highlighted
        return self._found.sessions[at].info if at is not None and at < len(self._found.sessions) else None

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._doom.forget():
            self._say("")
        self._preview()

    @work(exclusive=True, group="session-preview", exit_on_error=True)
    async def _preview(self) -> None:
        """Show the text of the session under the cursor, once the cursor rests."""
        info = self.selected
        if info is None:
            return
        await asyncio.sleep(QUIET_SECONDS)
        try:
            lines = await asyncio.to_thread(preview_lines, self._paths, info)
        except (MunimentError, OSError) as error:
            lines = [Line(safe_line(sentence_of(error)).plain, "warning")]
        pane = self.query_one(Reading)
        pane.border_title = safe_line(info.title or "(no message yet)")
        pane.show(lines)

    # What can be done

    @on(OptionList.OptionSelected)
    def _resume(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        info = self._found.sessions[event.option_index].info
        if info.id == self._current:
            self.dismiss(None)
        elif info.live:
            self._say("That session is open in another process; close it there first.")
        elif info.problem:
            self._say(f"That session cannot be resumed: {info.problem}. muniment doctor says more.")
        else:
            self.dismiss(info.id)

    @on(Input.Changed)
    def _filtered(self, event: Input.Changed) -> None:
        event.stop()
        self._load()

    @on(Input.Submitted)
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_list()

    def action_list(self) -> None:
        """Go from the filter to the list."""
        self.query_one("#session-list").focus()

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#session-filter", Input)
        box.display = True
        box.focus()

    def action_project(self) -> None:
        """List the sessions of this project only, or all."""
        self._project = not self._project
        self._load()

    def action_rename(self) -> None:
        """Ask for a title."""
        if (info := self.selected) is not None:
            self._rename(info)

    @work(exclusive=True, group="session-change", exit_on_error=True)
    async def _rename(self, info: SessionInfo) -> None:
        from muniment.tui.modals.entry import Entry

        if info.live and info.id != self._current:
            self._say("That session is open in another process; rename it there.")
            return

        def fault(text: str) -> str:
            return "" if text.strip() else "A title needs a word."

        title = await self.app.push_screen_wait(
            Entry("Rename a session", "Its title in every list.", info.title, fault)
        )
        if title is None:
            return
        try:
            if info.id == self._current and self._rename_current is not None:
                self._rename_current(title)
            else:
                await asyncio.to_thread(rename_session, self._paths, info.id, title)
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
            return
        self._load(info.id, f"Renamed to {clean_title(title)}.")

    def action_delete(self) -> None:
        """Delete on the second press."""
        info = self.selected
        if info is None:
            return
        if info.id == self._current:
            self._say("The session that is open here cannot be deleted; open another one first.")
        elif info.live:
            self._say("That session is open in another process; it cannot be deleted before it is closed.")
        elif self._doom.press(info.id):
            self._delete(info)
        else:
            self._say("Press d again to delete this session with its trace; anything else keeps it.")

    @work(exclusive=True, group="session-change", exit_on_error=True)
    async def _delete(self, info: SessionInfo) -> None:
        at = self.query_one("#session-list", OptionList).highlighted or 0
        try:
            await asyncio.to_thread(delete_session, self._paths, info.id)
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
            return
        beside = self._drawn[at + 1 : at + 2] or self._drawn[max(at - 1, 0) : at]
        said = f"Deleted {info.title or info.id}. What it saved to memory stays."
        self._load(beside[0] if beside else "", said)

    def action_rate(self, rating: Rating) -> None:
        """Ask for a line and rate a finished task."""
        if (info := self.selected) is not None:
            self._rate(info, rating)

    @work(exclusive=True, group="session-change", exit_on_error=True)
    async def _rate(self, info: SessionInfo, rating: Rating) -> None:
        from muniment.session.team.feedback import check_ratable, rate_session
        from muniment.tui.modals.entry import Entry

        try:
            await asyncio.to_thread(check_ratable, self._paths, self._settings, info.id)
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
            return
        word = "good" if rating == "up" else "not good"
        about = f"One note to the agent of “{info.title or info.id[:8]}”: {word}. Say why, or leave it empty."
        comment = await self.app.push_screen_wait(Entry(f"Rate a task: {word}", about, "", lambda text: ""))
        if comment is None:
            return
        try:
            rated = await asyncio.to_thread(
                rate_session, self._paths, self._settings, info.id, rating, comment, surface="panel"
            )
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
            return
        self._say(f"Rated as {word}: a note waits in the inbox, {rated.note.name}.")

    def action_copy(self) -> None:
        """Copy the id of the session under the cursor."""
        if (info := self.selected) is not None:
            self.app.copy_to_clipboard(info.id)
            self.app.notify(f"Copied {info.id}.", markup=False)

    def action_leave(self) -> None:
        """Take a first press of delete back, else close the filter, then the screen."""
        box = self.query_one("#session-filter", Input)
        if self._doom.forget():
            self._say("")
        elif box.display:
            box.value = ""
            box.display = False
            self.action_list()
        else:
            self.dismiss(None)

    def _say(self, text: str) -> None:
        line = self.query_one("#sessions-say", Static)
        line.display = bool(text)
        line.update(safe_line(text))
