"""A small real app around the real desk and dialog, and proposals to put on the desk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from muniment.approval.gate import Standing
from muniment.approval.proposal import Asker, Change, Decision, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.tui.approvals import ApprovalDesk
from muniment.tui.front_door import FrontDoorApp
from muniment.tui.modals.approval import ApprovalScreen

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


class DeskApp(FrontDoorApp):
    """A composer, a waiting line and a desk, as the session screen has them."""

    CSS = "TextArea { height: 5; dock: bottom; } #waiting { dock: bottom; height: 1; }"

    def __init__(self, quiet_seconds: float = 0.5, theme: str = "textual-dark") -> None:
        super().__init__()
        self.theme = theme
        self.interrupted = 0
        self.quit_called = False
        self.desk = ApprovalDesk(
            self,
            self,
            quiet_seconds=quiet_seconds,
            on_change=self._tell,
            interrupt=self._count_interrupt,
        )

    def compose(self) -> ComposeResult:
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

    def _tell(self) -> None:
        if self.is_running:
            self.screen_stack[0].query_one("#waiting", Static).update(self.desk.waiting_text)

    def _count_interrupt(self) -> None:
        self.interrupted += 1

    def on_unmount(self) -> None:
        self.desk.close()


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Let the app work until a condition holds; fail where it does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not hold in time"
        await pilot.pause(0.01)


async def opened(pilot: Pilot[int], app: DeskApp) -> ApprovalScreen:
    await until(pilot, lambda: app.dialog_open)
    await until(pilot, lambda: app.dialog.gate.standing is not Standing.HIDDEN)
    return app.dialog


async def armed(pilot: Pilot[int], app: DeskApp) -> ApprovalScreen:
    await until(pilot, lambda: app.dialog_open and app.dialog.gate.armed)
    return app.dialog


def shown(app: FrontDoorApp) -> str:
    """Return the text of the whole screen as it stands."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    assert len(lines) <= height
    return "\n".join(strip.text[:width] for strip in lines)
