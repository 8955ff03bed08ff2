"""A small real app around the real desk and dialog, and proposals to put on the desk."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ClassVar
from unittest.mock import patch

from textual import events, message
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from muniment.approval.gate import LONE_SECONDS, Standing
from muniment.approval.proposal import Asker, Change, Decision, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.tui import front_door
from muniment.tui.approvals import ApprovalDesk
from muniment.tui.front_door import FrontDoorApp
from muniment.tui.modals.approval import ApprovalScreen
from support.poll import PATIENCE

START = 1_000.0
LOOK_SECONDS = 1e-6
MOMENT = 0.01
RULE = "Keep the pilot small: two coders, forty answers, one rule at a time.\nWrite down every disagreement."


def a_proposal(
    after: str | None = RULE,
    before: str | None = None,
    *,
    id: str = "call-1",  # noqa: A002
    title: str = "Create a record",
    fields: tuple[Field, ...] | None = None,
    warnings: tuple[ReviewWarning, ...] = (),
) -> Proposal:
    return Proposal(
        id=id,
        tool="memory_store",
        title=title,
        fields=fields
        or (
            Field("tool", "memory_store"),
            Field("identifier", "pilot-review-rule"),
            Field("scope", "project"),
            Field("directory", "/home/ada/study/.muniment"),
            Field("change", "create"),
            Field("category", "decision"),
            Field("tags", "review, pilot"),
            Field("title", "Rule for the pilot review"),
            Field("expires", "never"),
        ),
        plan=object(),
        change=Change("content", before, after),
        warnings=warnings,
        shown_later="Listed by title in the digest of later sessions here; read in full by memory_retrieve.",
        asker=Asker("9f2c4e1a", "review-work", "assistant", "rehearsal"),
    )


class Time:
    """The clocks of an app under test: time that goes on, and a heart that stops, only on order.

    Inputs are stamped and judged by this time. Timers run by that of the machine.
    """

    def __init__(self) -> None:
        self.offset = 0.0
        self.heart = 0.0
        self._looks = itertools.count(1)

    def now(self) -> float:
        """Return the time; no two looks at it show the same."""
        return START + self.offset + next(self._looks) * LOOK_SECONDS

    get_time = now

    def pulse(self) -> float:
        return self.heart


class DeskApp(FrontDoorApp):
    """A composer, a waiting line and a desk, as the session screen has them."""

    CSS = "#session { height: 1fr; } #waiting { height: 1; } #composer { height: 5; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f4", "review", "Review", id="app.review")]

    def __init__(
        self, quiet_seconds: float = 0.5, theme: str = "textual-dark", times: Time | None = None
    ) -> None:
        if times is not None:
            self.heart_clocks = (times.pulse,)
        super().__init__()
        self.theme = theme
        self.interrupted = 0
        self.desk = ApprovalDesk(
            self,
            self,
            quiet_seconds=quiet_seconds,
            on_change=self._tell,
            interrupt=self._count_interrupt,
        )

    def compose(self) -> ComposeResult:
        yield Static("Muniment\n  Saved.", id="session", markup=False)
        yield Static("", id="waiting", markup=False)
        yield TextArea(id="composer")

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def draft_present(self) -> bool:
        return bool(self.draft)

    @property
    def draft(self) -> str:
        return self.screen_stack[0].query_one(TextArea).text

    def keep_paste(self, text: str) -> None:
        self.screen_stack[0].query_one(TextArea).insert(text)

    @property
    def waiting(self) -> str:
        return str(self.screen_stack[0].query_one("#waiting", Static).content)

    @property
    def dialog(self) -> ApprovalScreen:
        assert isinstance(self.screen, ApprovalScreen)
        return self.screen

    @property
    def dialog_open(self) -> bool:
        return isinstance(self.screen, ApprovalScreen)

    def ask(self, proposal: Proposal) -> asyncio.Task[Decision]:
        return asyncio.ensure_future(self.desk.ask(proposal))

    def action_review(self) -> None:
        self.desk.open_now()

    def _tell(self) -> None:
        if self.is_running:
            self.screen_stack[0].query_one("#waiting", Static).update(self.desk.waiting_text)

    def _count_interrupt(self) -> None:
        self.interrupted += 1


@asynccontextmanager
async def running(
    *, size: tuple[int, int] = (80, 24), quiet_seconds: float = 3.0, theme: str = "textual-dark"
) -> AsyncIterator[tuple[DeskApp, Pilot[int], Time]]:
    """Run the app with its clocks in the test's hand."""
    times = Time()
    app = DeskApp(quiet_seconds, theme, times)
    with patch.object(message, "_time", times), patch.object(front_door, "_time", times):
        async with app.run_test(size=size, notifications=True) as pilot:
            yield app, pilot, times


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Let the app work until a condition holds; fail where it does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"the condition did not hold in time on\n{shown(pilot.app)}"
        await pilot.pause(0.01)


async def opened(pilot: Pilot[int], app: DeskApp) -> ApprovalScreen:
    """Wait until a dialog has been painted disarmed, with all that it shows at first."""
    await until(pilot, lambda: app.dialog_open and app.dialog.gate.standing is not Standing.HIDDEN)
    await until(pilot, lambda: app.dialog.too_small or app.dialog._panel.text.laid_out)
    await pilot.pause()
    return app.dialog


async def armed(pilot: Pilot[int], app: DeskApp, times: Time | None = None) -> ApprovalScreen:
    """Wait until a dialog has been painted armed, or move time on until then; keys made from now on count.

    A dialog that shows its end in a later frame than its word is painted once more, and counts from there on.
    """
    await opened(pilot, app)
    if times is not None and not app.dialog.gate.armed:
        times.offset += app.dialog.gate.quiet_seconds
    await until(pilot, lambda: app.dialog_open and counts_from(app.dialog) is not None)
    await pilot.pause()
    await until(pilot, lambda: app.dialog_open and counts_from(app.dialog) is not None)
    if times is not None:
        times.offset += MOMENT
    return app.dialog


def counts_from(dialog: ApprovalScreen) -> float | None:
    """Return the time after which a key counts: of the frame that shows what it would do; None before."""
    gate, panel = dialog.gate, dialog._panel
    if not gate.armed or gate._look_at is None:
        return None
    if not dialog.too_small and not (panel.text.laid_out and (gate.unlocked or not panel.end_drawn)):
        return None
    return max(gate._armed_at, gate._look_at, gate._unlocked_at or 0.0)


async def answered(pilot: Pilot[int], task: asyncio.Task[Decision], times: Time) -> Decision:
    """Move time on until a decision has stood alone, and return it."""
    times.offset += LONE_SECONDS
    await until(pilot, task.done)
    return task.result()


async def stays_open(pilot: Pilot[int], app: DeskApp, task: asyncio.Task[Decision], times: Time) -> None:
    """Move time on as far as a decision would need, and see that there is none."""
    for _ in range(3):
        times.offset += LONE_SECONDS
        await pilot.pause(0.05)
    assert not task.done()
    assert app.dialog_open


async def type_at(pilot: Pilot[int], app: DeskApp, key: str, made_at: float) -> None:
    """Let a key arrive that was made at another time than now."""
    event = events.Key(key, key if len(key) == 1 else None)
    event.time = made_at
    app.post_message(event)
    await pilot.pause()


async def mouse_at(
    pilot: Pilot[int],
    app: DeskApp,
    kind: type[events.MouseEvent],
    x: int,
    y: int,
    made_at: float | None = None,
) -> None:
    """Let a mouse event come in at the front door, as the terminal driver does."""
    event = kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y)
    if made_at is not None:
        event.time = made_at
    app.post_message(event)
    await pilot.pause()


def shown(app: App[int]) -> str:
    """Return the text of the whole screen as it stands."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text[: app.size.width] for strip in strips[: app.size.height])


def place_of(app: FrontDoorApp, words: str) -> tuple[int, int]:
    """Return where words stand on the screen; they must stand there once."""
    found = [(line.index(words), y) for y, line in enumerate(shown(app).splitlines()) if words in line]
    assert len(found) == 1, f"{words!r} stands {len(found)} times on\n{shown(app)}"
    return found[0]
