"""The app: wires boot, session, desk and screens together; what each does stands in its own file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import Monochrome, NoColor
from textual.notifications import SeverityLevel
from textual.screen import Screen

from muniment.approval.policy import Mode
from muniment.safety.visible import reading_line
from muniment.tui.approvals import ApprovalDesk
from muniment.tui.begin import begin
from muniment.tui.boot import Boot
from muniment.tui.front_door import FrontDoorApp
from muniment.tui.screens.session import LATER_SECONDS, SessionScreen
from muniment.tui.signals import Signals
from muniment.tui.theme import theme_named, themes_for
from muniment.tui.widgets.composer import Composer
from muniment.tui.widgets.memory_panel import MemoryPanel

if TYPE_CHECKING:
    from textual.command import Provider

    from muniment.approval.proposal import Decision, Proposal
    from muniment.memory.watch import Watch
    from muniment.session.engine import Engine
    from muniment.session.holdings.items import Item
    from muniment.session.options import StartOptions

QUIT_SECONDS = 2.0
_SIGNS: dict[SeverityLevel, str] = {"information": "", "warning": "! ", "error": "✗ "}


def _palette() -> type[Provider]:
    """Load the palette when it is first opened."""
    from muniment.tui.palette import PlaceProvider

    return PlaceProvider


class MunimentApp(FrontDoorApp):
    """Muniment on a full screen."""

    TITLE = "Muniment"
    # The first screen's styles stand here: a screen that brings its own has everything parsed once more.
    CSS_PATH = Path(__file__).with_name("screens") / "session.tcss"
    CSS = """
    /* Narrower than this they would be asked to wrap words at no width at all, which the framework cannot. */
    TextArea, OptionList { min-width: 10; }
    /* What is told stands above the conversation, where it covers neither a draft nor the state of things. */
    ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    Toast { max-width: 96%; margin: 0; padding: 0 1; }
    Toast:ansi { background: ansi_default; }
    /* Without colour these are told by nothing else. */
    Input:ansi > .input--cursor, Input:ansi > .input--selection {
        color: ansi_default; background: ansi_default; text-style: reverse;
    }
    ApprovalScreen ToastHolder { display: none; }
    /* The terminal's own colours have no shade for a row, and reverse does not reach the screen from here. */
    OptionList:ansi > .option-list--option-highlighted,
    OptionList:ansi:focus > .option-list--option-highlighted,
    Tree:ansi > .tree--cursor, Tree:ansi:focus > .tree--cursor {
        color: $foreground; background: $panel; text-style: bold underline;
    }
    """
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[Any]] = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+q", "quit", "Quit", priority=True, tooltip="Leave; what waits is denied", id="app.quit"
        ),
        Binding(
            "ctrl+c",
            "stop_or_quit",
            "Stop",
            show=False,
            tooltip="Copy a selection, stop a turn, or quit",
            id="app.stop",
        ),
        Binding("f1", "show_help", "Help", tooltip="Keys of this place, and how memory works", id="app.help"),
        Binding(
            "ctrl+p", "command_palette", "Commands", tooltip="Find and run any command", id="app.commands"
        ),
    ]

    def __init__(self, boot: Boot, *, suits_terminal: bool = False) -> None:
        super().__init__()
        self.boot = boot
        self.engine: Engine | None = None
        self._session = SessionScreen(boot.settings.tui.panel_width)
        self.desk = ApprovalDesk(
            self,
            self,
            quiet_seconds=boot.settings.approval.quiet_seconds,
            on_change=self._desk_changed,
            interrupt=self._interrupt,
        )
        self._watch: Watch | None = None
        self._options = boot.options
        self._signals = Signals(self)
        self._quit_asked = float("-inf")
        self._opening = asyncio.Lock()
        for theme in themes_for(self.console.color_system if suits_terminal else None):
            self.register_theme(theme)
        if self.no_color:
            from muniment.tui.colourless import Colourless

            kept = [each for each in self._filters if not isinstance(each, Monochrome | NoColor)]
            self._filters = [*kept, Colourless(lambda: self.native_ansi_color)]
        screen = boot.settings.tui
        self.theme = theme_named(screen.theme)
        self.stylesheet.set_variables(self.get_css_variables())
        if not screen.animations:
            self.animation_level = "none"

    def get_system_commands(self, screen: Screen[object]) -> Iterator[SystemCommand]:
        """Offer none of Textual's own: the palette has ours."""
        yield from ()

    def refresh_css(self, animate: bool = True) -> None:
        """Do nothing before there is a screen: it is read with the colours of the theme from the start."""
        if self.screen_stack:
            super().refresh_css(animate)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a message for a while, with a sign of how grave it is, since its bar is but a colour."""
        told = f"{_SIGNS[severity]}{message}"
        super().notify(told, title=title, severity=severity, timeout=timeout, markup=markup)

    # Start

    def get_default_screen(self) -> SessionScreen:
        """Begin with the session itself: a screen below it would be laid out and never seen."""
        return self._session

    def on_mount(self) -> None:
        super().on_mount()
        # The frame is painted first; recipe, settings and log are read after it.
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if self.boot.settings.tui.keymap:
            from muniment.tui.beside import use_keymap

            use_keymap(self)
        if self.boot.pick:
            from muniment.tui.opening import pick

            pick(self)
        else:
            self.open(self._options)

    @work(group="open-session", exit_on_error=True)
    async def open(self, options: StartOptions) -> None:
        """Open a session in place of the present one; asks what has to be asked first."""
        # One after the other, and none broken off: what is half open would keep its session locked.
        async with self._opening:
            await self._open(options)

    async def _open(self, options: StartOptions) -> None:
        from muniment.tui.opening import look_around, opened

        found = await opened(self, options)
        if found is None:
            return
        engine, options = found
        previous, self.engine = self.engine, engine
        if previous is not None:
            await previous.close()
        self._options = replace(options, mode=Mode.MANUAL, resume_id=None)
        await self._session.attach(engine, card=engine.provider == "rehearsal")
        self._follow(engine)
        self._signals.named(f"{engine.recipe.name} · {engine.cwd.name}")
        if previous is None:
            self.set_timer(LATER_SECONDS, partial(look_around, self))

    def _follow(self, engine: Engine | None) -> None:
        """Watch the memory of a session for changes from outside, and no other any more."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()
        if engine is not None:
            from muniment.tui.live import follow_memory

            self._watch = follow_memory(self, engine)

    def on_unmount(self) -> None:
        self._follow(None)

    # The hands, for the desk

    def draft_present(self) -> bool:
        return self._session.is_mounted and bool(self._session.composer.text)

    def keep_paste(self, text: str) -> None:
        self._session.composer.keep_paste(text)

    def _desk_changed(self) -> None:
        if self._session.is_mounted:
            self._session.proposals_wait(self.desk.waiting_text)
        self._signals.waits(len(self.desk.pending))

    async def ask(self, proposal: Proposal) -> Decision:
        """Put a proposal of the user's own on the same desk as the model's."""
        return await self.desk.ask(proposal)

    def _interrupt(self) -> None:
        if self.engine is not None:
            self.engine.interrupt()

    @on(Composer.EditorAsked)
    def _editor_asked(self) -> None:
        from muniment.tui.draft import edit_draft

        edit_draft(self)

    @on(Composer.PastAsked)
    def _past_asked(self) -> None:
        from muniment.tui.draft import find_past

        begin(self, partial(find_past, self), group="past", exclusive=True)

    # Leaving

    async def action_quit(self) -> None:
        """Deny what waits, end the session, leave."""
        self.desk.close()
        if self.engine is not None:
            await self.engine.close()
        self.exit(0)

    def action_stop_or_quit(self) -> None:
        """Copy a selection, else stop the turn, else quit on the second press."""
        selected = self.screen.get_selected_text()
        composer = self._session.composer if self._session.is_mounted else None
        if not selected and composer is not None and composer.has_focus:
            selected = composer.selected_text
        if selected:
            self.copy_to_clipboard(selected)
            self.notify("Copied.", markup=False)
            return
        if self.engine is not None and self.engine.busy:
            self._interrupt()
            return
        now = time.monotonic()
        if now - self._quit_asked <= QUIT_SECONDS:
            begin(self, self.action_quit, group="quit")
            return
        self._quit_asked = now
        self.notify("Press Ctrl+C again to leave; your draft stays until then.", markup=False)

    # Places

    def action_show_help(self) -> None:
        """Show the keys of this place first, and the guide."""
        self.action_go("guide")

    def action_go(self, place: str) -> None:
        """Go to guide, tour, map, settings or review."""
        from muniment.tui.beside import go

        go(self, place)

    def action_review(self) -> None:
        """Open a proposal that waits; where none does, everything else that waits."""
        if not self.desk.open_now():
            self.action_go("review")

    def action_inspect(self) -> None:
        """Show what the last request carried and what the next would."""
        if self.engine is not None:
            from muniment.tui.open_place import inspect

            inspect(self, self.engine, self._session.composer.text)

    def action_sessions(self) -> None:
        """Show earlier sessions."""
        from muniment.tui.open_place import sessions

        sessions(self, self._resume)

    def _resume(self, session: str | None) -> None:
        if session is not None:
            from muniment.tui.beside import home

            home(self)
            self.open(replace(self._options, resume_id=session, mode=Mode.MANUAL))

    def action_search(self, words: str = "") -> None:
        """Search everything that is remembered."""
        if self.engine is not None:
            from muniment.tui.open_place import search

            search(self, self.engine, words)

    def action_cycle_mode(self) -> None:
        """Go to the next mode; a looser one is asked about."""
        if self.engine is not None:
            order = list(Mode)
            self.set_mode(order[(order.index(self.engine.mode) + 1) % len(order)])

    @work(exclusive=True, group="mode", exit_on_error=True)
    async def set_mode(self, mode: Mode) -> None:
        """Set the mode of this session."""
        from muniment.tui.questions import loosening_question

        engine = self.engine
        if engine is None:
            return
        if mode.loosens(engine.mode) and not await self.push_screen_wait(loosening_question(mode)):
            return
        engine.set_mode(mode)
        self._session.mode_changed(mode)

    # Memory by hand

    @on(SessionScreen.PanelSized)
    def _panel_sized(self, event: SessionScreen.PanelSized) -> None:
        self._keep_panel_width(event.cells)

    @work(exclusive=True, group="panel-width", exit_on_error=True)
    async def _keep_panel_width(self, cells: int) -> None:
        from muniment.tui.open_place import keep_panel_width

        await keep_panel_width(self, cells)

    @on(MemoryPanel.Wanted)
    def _wanted(self, event: MemoryPanel.Wanted) -> None:
        self.by_hand(event.verb, event.item)

    def by_hand(self, verb: str, item: Item | None = None) -> None:
        """Do something to memory by hand."""
        if self.engine is not None:
            from muniment.tui.by_hand.door import do

            do(self, self.engine, verb, item)

    def undo(self) -> None:
        """Take back this session's newest write."""
        self.by_hand("undo")

    # Slash commands

    def action_slash(self, name: str) -> None:
        """Run a slash command without an argument."""
        self.run_slash(name, "")

    def run_slash(self, name: str, rest: str) -> None:
        """Run a slash command."""
        from muniment.tui.commands import run_slash

        run_slash(self, name, rest)

    def tell(self, text: str, *, error: bool = False) -> None:
        """Put a sentence into the transcript, and over whatever lies above it but a question of approval."""
        self._session.tell(text, error=error)
        if self.screen is not self._session and self.guard is None:
            shown = reading_line(text)
            self.notify(shown, severity="error" if error else "information", markup=False)

    @property
    def session_screen(self) -> SessionScreen:
        return self._session

    @property
    def options(self) -> StartOptions:
        """How the present session was started, for a new one like it."""
        return self._options
