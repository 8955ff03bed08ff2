"""The session screen: conversation, composer and memory side by side."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from muniment.approval.policy import Mode
from muniment.safety.errors import MunimentError
from muniment.tui.adapter import Adapter, parts_of
from muniment.tui.front_door import FrontDoorApp, made_clock
from muniment.tui.parts import Part
from muniment.tui.place import Place
from muniment.tui.slash import parse
from muniment.tui.widgets.composer import Composer
from muniment.tui.widgets.first_card import TRIES, FirstCard
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.memory_panel import MemoryPanel
from muniment.tui.widgets.slash_list import SlashList
from muniment.tui.widgets.status_line import READY, StatusLine
from muniment.tui.widgets.top_line import TopLine
from muniment.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from textual.widgets import Markdown

    from muniment.session import events as ev
    from muniment.session.engine import Engine
    from muniment.tui.widgets.summary_line import SummaryLine

PANEL_COLUMNS = 100
"""From this width on the memory panel is open by itself and stands beside the conversation."""
PANEL_LEAST = 24
PANEL_OWN = 44
"""A panel of this width was not made wider or narrower, and may grow with the screen."""
TYPING_SECONDS = 0.5
"""Whoever pressed a key so recently is typing."""
LATER_SECONDS = 0.3
"""What is not seen at first waits so long, so that it does not delay what is."""
NEWEST = 120
"""How many of the newest records of a log are read before the screen is painted."""
CONVERSATION_LEAST = 40
MOUNT_SECONDS = 0.005


class SessionScreen(Place[None]):
    """One open session."""

    AUTO_FOCUS: ClassVar[str | None] = "#composer"
    BINDING_GROUP_TITLE = "Session"
    HELP = "Write below and press Enter. Everything the model wants to save waits for your approval."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "toggle_panel", "Memory", tooltip="Show or hide the memory panel", id="session.memory"),
        Binding("f3", "app.search", "Search", tooltip="Search all of memory", id="session.search"),
        Binding("f4", "app.review", "Review", tooltip="Open what waits for a decision", id="session.review"),
        Binding(
            "f5",
            "app.inspect",
            "Context",
            tooltip="What the last and the next request carry",
            id="session.context",
        ),
        Binding("f6", "app.sessions", "Sessions", tooltip="Earlier sessions", id="session.sessions"),
        Binding("f8", "app.cycle_mode", "Mode", tooltip="Change what runs unasked", id="session.mode"),
        Binding(
            "escape",
            "back",
            "Stop",
            show=False,
            tooltip="Stop the turn, or return to the composer",
            id="session.stop",
        ),
        *(
            Binding(
                key,
                f"try({n})",
                name.capitalize(),
                show=False,
                tooltip=f"Insert: {name}",
                id=f"session.try-{key}",
            )
            for n, (key, name, _) in enumerate(TRIES)
        ),
    ]

    @dataclass
    class PanelSized(Message):
        """The user gave the panel another width, in cells."""

        cells: int

    def __init__(self, panel_width: int = PANEL_OWN) -> None:
        super().__init__()
        self._panel_width = panel_width
        self.engine: Engine | None = None
        self._adapter: Adapter | None = None
        self._turns = 0
        """How many turns were begun here and have not ended; the engine hears of one only a moment later."""
        self._panel_wish: bool | None = None

    # Layout

    def compose(self) -> ComposeResult:
        wide = self._is_wide(self.app.size.width)
        yield TopLine(id="top")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Transcript(id="transcript")
                yield Static("", id="waiting", markup=False)
                yield SlashList(id="slash")
                yield Composer(id="composer")
            panel = MemoryPanel(id="panel")
            # Said before it is mounted: afterwards it would be styled once more.
            yield panel.update_classes({"-small": not wide, "-open": wide}, update=False)
        yield StatusLine(id="status")
        yield KeyBar(id="keys")

    @property
    def composer(self) -> Composer:
        return self.query_one("#composer", Composer)

    @property
    def transcript(self) -> Transcript:
        return self.query_one("#transcript", Transcript)

    @property
    def status(self) -> StatusLine:
        return self.query_one("#status", StatusLine)

    @property
    def panel(self) -> MemoryPanel:
        return self.query_one("#panel", MemoryPanel)

    def on_mount(self) -> None:
        self._adapter = Adapter(self.transcript, self.status, self)
        self._draw_events()
        self._lay_out(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width)

    def _lay_out(self, width: int) -> None:
        wide = self._is_wide(width)
        opened = wide if self._panel_wish is None else self._panel_wish
        # A class of the whole screen would have the whole conversation styled anew with each of its turns.
        self.panel.update_classes({"-small": not wide, "-open": opened})
        self.panel.over(not wide)
        self._size_panel(width, wide)
        self.entitle()

    @staticmethod
    def _is_wide(width: int) -> bool:
        return width >= PANEL_COLUMNS

    def _size_panel(self, width: int, wide: bool) -> None:
        """Beside the conversation the panel has its own width; over it, all there is."""
        self.panel.styles.width = self._panel_cells(width) if wide else "100%"

    def _panel_cells(self, width: int) -> int:
        wished = self._panel_width
        if wished == PANEL_OWN:
            wished = max(PANEL_OWN, width * 3 // 10)
        return max(PANEL_LEAST, min(self._panel_most(width), wished))

    @staticmethod
    def _panel_most(width: int) -> int:
        """A column stays free between the two, so that no border stands against another."""
        return width - CONVERSATION_LEAST - 1

    def set_panel_width(self, cells: int) -> None:
        """Give the panel another width."""
        self._panel_width = cells
        self._lay_out(self.size.width)

    def entitle(self) -> None:
        """Show what session this is, in the top line."""
        engine = self.engine
        if engine is not None:
            parts = [engine.recipe.name, *([engine.title] if engine.title else []), engine.id[:8]]
            self.query_one("#top", TopLine).say(" · ".join(parts), str(engine.cwd))

    # The host of the adapter

    @property
    def speaker(self) -> str:
        return "Muniment"

    @property
    def typing(self) -> bool:
        app = self.app
        return isinstance(app, FrontDoorApp) and made_clock() - app.last_key_time < TYPING_SECONDS

    @property
    def save_fault(self) -> str | None:
        return None if self.engine is None else self.engine.save_fault

    def memory_changed(self) -> None:
        self.panel.look()

    # Sessions

    @work(group="session-events", exit_on_error=True)
    async def _draw_events(self) -> None:
        if self._adapter is not None:
            await self._adapter.run()

    async def attach(self, engine: Engine, *, card: bool) -> None:
        """Show a session; an earlier conversation is drawn from its log."""
        from muniment.session.logs.replay import replay_events

        while not (self.is_mounted and self.transcript.is_mounted):  # noqa: ASYNC110 - no event tells of both
            # A busy machine may have the session open before the screen has its widgets.
            await asyncio.sleep(MOUNT_SECONDS)
        self.engine = engine
        adapter = self._adapter
        if adapter is None:
            return
        records = engine.replay(newest=NEWEST)
        if any(record.kind == "context_compaction" for record in records):
            # How many turns a summary covers is counted from the beginning.
            records = engine.replay()
        earlier, last = parts_of(replay_events(records), self.speaker)
        # The transcript goes on with this very list: what is emitted below is no earlier conversation.
        fresh = not earlier
        await self.transcript.tell_again(earlier, last)
        if records and records[0].seq > 1:
            self.set_timer(LATER_SECONDS, lambda: self._tell_older(engine, records[0].seq))
        for event in engine.opening:
            adapter.emit(event)
        name = "rehearsal model" if engine.provider == "rehearsal" else engine.model_name
        self.status.say(
            mode=str(engine.mode),
            model=name,
            digest=engine.digest_items,
            session=engine.id,
            state=READY,
            busy=False,
            used=None,
            last_write="",
            unsaved=False,
        )
        self.entitle()
        self.panel.attach(engine.surfaces)
        for old in self.query(FirstCard):
            await old.remove()
        if card and fresh:
            await self.query_one("#left").mount(FirstCard(), before="#waiting")
        await adapter.drained()
        self.transcript.follow()
        if engine.unknown_calls:
            self.app.call_later(self._ask_unknown)
        elif engine.first_prompt and fresh:
            self.send(engine.first_prompt)

    @work(group="session-older", exclusive=True, exit_on_error=True)
    async def _tell_older(self, engine: Engine, before: int) -> None:
        """Read what was said before the end that is drawn; a long session is painted without it."""
        from muniment.session.logs.replay import replay_events

        def read() -> list[Part]:
            return parts_of(replay_events(engine.replay(before=before)), self.speaker)[0]

        older = await asyncio.to_thread(read)
        if self.engine is engine:
            self.transcript.prepend(older)

    @work(group="session-unknown", exit_on_error=True)
    async def _ask_unknown(self) -> None:
        from muniment.tui.modals.question import Question

        engine = self.engine
        if engine is None:
            return
        names = ", ".join(engine.unknown_calls)
        text = (
            f"This session broke off while {names} ran. Whether it took effect is not known, and it is not "
            "run again. Look at the present state before relying on it. Go on?"
        )
        if await self.app.push_screen_wait(Question(text, yes="Go on", no="Not now")):
            engine.acknowledge()

    # Messages

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        event.stop()
        found, rest = parse(event.text) or (None, "")
        if found is not None:
            self.composer.accepted(event.text)
            self.app.run_slash(found.action, rest)  # type: ignore[attr-defined]  # only MunimentApp has this screen
        elif self._may_send(rest):
            self.composer.accepted(event.text)
            self.send(event.text)
        else:
            self.composer.returned(event.text)

    def _may_send(self, unknown: str) -> bool:
        """Tell whether a message can go out now, else say why not; `unknown` names no command."""
        if unknown:
            self.tell(f"There is no command {unknown}; / shows all. Nothing was sent.", error=True)
        elif self.engine is None:
            self.tell("No session is open yet. Your draft is kept.")
        elif self._turns or self.engine.busy:
            self.tell("A turn is running; Escape stops it. Your draft is kept.")
        elif self.engine.unknown_calls:
            self._ask_unknown()
        else:
            return True
        return False

    def send(self, text: str) -> None:
        """Start a turn."""
        engine, adapter = self.engine, self._adapter
        if engine is None or adapter is None:
            self.composer.returned(text)
            return
        for card in self.query(FirstCard):
            card.remove()
        # What was written before is no news any more; /undo takes it back all the same.
        self.status.say(state="working", busy=True, last_write="")
        self.transcript.follow()
        self._turns += 1
        self._turn(engine, adapter, text)

    @work(group="session-turn", exit_on_error=True)
    async def _turn(self, engine: Engine, adapter: Adapter, text: str) -> None:
        from muniment.session import events as ev

        said = False

        def emit(event: ev.Event) -> None:
            nonlocal said
            said = said or isinstance(event, ev.UserSaid)
            adapter.emit(event)

        try:
            await engine.turn(text, emit)
        except MunimentError as error:
            adapter.emit(ev.ErrorRaised(error.sentence))
            adapter.emit(ev.TurnEnded("failed"))
        finally:
            self._turns -= 1
        if not said:
            # A message that was not taken is given back rather than lost.
            self.composer.returned(text)
        await adapter.drained()

    def tell(self, text: str, *, error: bool = False) -> None:
        """Put a sentence into the transcript."""
        from muniment.session import events as ev

        if self._adapter is not None:
            self._adapter.emit(ev.ErrorRaised(text) if error else ev.Notice(text))

    @on(Composer.Choosing)
    def _choosing(self, event: Composer.Choosing) -> None:
        event.stop()
        self.query_one("#slash", SlashList).show(event.found, event.at)
        # Comes with every key: the conversation is not to be searched for what stands below it.
        for card in self.query_one("#left").query_children(FirstCard):
            card.display = not event.found

    @on(Composer.Edited)
    def _edited(self, event: Composer.Edited) -> None:
        event.stop()
        hidden = self.composer.hidden
        names = ", ".join(hidden[:6]) + (", …" if len(hidden) > 6 else "")
        about = f"hidden characters, sent as they are: {names}" if hidden else ""
        self.composer.border_title = Content(about) if about else None

    @work(group="session-link", exclusive=True, exit_on_error=True)
    async def _ask_link(self, address: str) -> None:
        from muniment.safety.visible import exact_line
        from muniment.tui.modals.question import Question

        shown = exact_line(address).text
        if await self.app.push_screen_wait(Question(f"Open this address in your browser?\n\n{shown}")):
            self.app.open_url(address)

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Open nothing without showing where it leads."""
        event.stop()
        self._ask_link(event.href)

    def on_summary_line_opened(self, event: SummaryLine.Opened) -> None:
        """Show a summary beside what it stands for, which stays in the log."""
        from muniment.session.logs.export import as_markdown
        from muniment.session.logs.replay import covered_by
        from muniment.tui.screens.reader import Reader
        from muniment.tui.text import safe

        event.stop()
        if self.engine is None:
            return
        records = covered_by(self.engine.replay(), event.text)
        sections = [("What the model receives in place of these turns", safe(event.text))]
        if records:
            sections.append(("The turns that it covers, as the log has them", safe(as_markdown(records))))
        self.app.push_screen(Reader("Summary", sections))

    def emit(self, event: ev.Event) -> None:
        """Draw an event of the engine."""
        if self._adapter is not None:
            self._adapter.emit(event)

    def written(self, what: str) -> None:
        """Say what was written by hand, and look at the memory again."""
        # The app may have begun to leave while the write was being settled.
        if not self.query(StatusLine):
            return
        self.status.say(last_write=what)
        self.panel.look()

    def proposals_wait(self, text: str) -> None:
        """Say above the composer what waits, or nothing."""
        line = self.query_one("#waiting", Static)
        line.update(Content(text))
        line.set_class(bool(text), "-waits")

    # Keys

    def action_try(self, number: int) -> None:
        """Put one of the requests of the first minute into the composer."""
        self.composer.put(TRIES[number][2])
        self.composer.focus()

    def action_toggle_panel(self) -> None:
        """Show or hide the memory panel."""
        opened = not self.panel.has_class("-open")
        self._panel_wish = opened
        self.panel.set_class(opened, "-open")
        if opened:
            self.panel.look()
            self.panel.take_focus()
        else:
            self.composer.focus()

    def action_back(self) -> None:
        """Clear the filter, else stop the turn, else return to the composer."""
        if self.panel.clear_filter():
            return
        if self.engine is not None and self.engine.busy:
            self.engine.interrupt()
            return
        if self.panel.has_class("-small") and self.panel.has_class("-open"):
            self.action_toggle_panel()
        elif self.composer.has_focus:
            self.composer.ask_to_clear()
        self.composer.focus()

    @on(MemoryPanel.Resized)
    def _panel_resized(self, event: MemoryPanel.Resized) -> None:
        event.stop()
        now = self._panel_cells(self.size.width)
        most = max(PANEL_LEAST, self._panel_most(self.size.width))
        self._panel_width = max(PANEL_LEAST, min(most, now + event.cells))
        self._lay_out(self.size.width)
        self.post_message(self.PanelSized(self._panel_width))

    @on(MemoryPanel.Troubled)
    def _panel_troubled(self, event: MemoryPanel.Troubled) -> None:
        event.stop()
        self.tell(event.text, error=True)

    def mode_changed(self, mode: Mode) -> None:
        """Say the mode in words."""
        self.status.say(mode=str(mode))

    async def drained(self) -> None:
        """Wait until all events are drawn."""
        if self._adapter is not None:
            async with asyncio.timeout(60):
                await self._adapter.drained()
