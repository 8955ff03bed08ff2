"""The desk: proposals wait here in order, each until a person could look at it undisturbed.

The engine awaits `ask`. A dialog opens by itself only while nobody is typing; until then a line above the
composer says what waits. Nothing here decides: decisions come from the dialog, or from the end of the app.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from textual.timer import Timer
from textual.widgets import Input, TextArea

from muniment.tui.front_door import FrontDoorApp, made_clock

if TYPE_CHECKING:
    # Loaded with the first proposal: the screen is painted without it.
    from muniment.approval.proposal import Decision, Proposal
    from muniment.tui.modals.approval import ApprovalScreen

IDLE_SECONDS = 1.0
"""A dialog does not open by itself before so much time has passed since the last key."""
_LOOK_SECONDS = 0.1


class Hands(Protocol):
    """What the desk must know about the person's hands, told by the screen with the composer."""

    def draft_present(self) -> bool:
        """Tell whether the composer holds text that was not sent."""

    @property
    def last_key_time(self) -> float:
        """When the last key was made, on `front_door.made_clock`; minus infinity where none was."""

    def keep_paste(self, text: str) -> None:
        """Put a text into the draft that was pasted while a dialog was open."""


@dataclass(eq=False)
class _Entry:
    proposal: Proposal
    future: asyncio.Future[Decision] = field(repr=False)


def _denied_by_closing() -> Decision:
    from muniment.approval.proposal import Decision

    return Decision(allowed=False, by="closed", reason="the app was closed")


class ApprovalDesk:
    """Queues proposals and shows them one after the other; `ask` is the engine's approver."""

    def __init__(
        self,
        app: FrontDoorApp,
        hands: Hands,
        *,
        quiet_seconds: float,
        on_change: Callable[[], None] | None = None,
        interrupt: Callable[[], None] | None = None,
    ) -> None:
        self._app = app
        self._hands = hands
        self.quiet_seconds = quiet_seconds
        """Quiet time in seconds of the dialogs that open from now on."""
        self._on_change = on_change
        self._interrupt = interrupt
        self._entries: list[_Entry] = []
        self._shown: tuple[_Entry, ApprovalScreen] | None = None
        self._answered = 0
        self._reviewing = False
        self._closed = False
        self._timer: Timer | None = None
        app.before_leaving(self.close)

    @property
    def pending(self) -> tuple[Proposal, ...]:
        """All proposals without a decision, the oldest first, the open one included."""
        return tuple(entry.proposal for entry in self._entries)

    @property
    def is_open(self) -> bool:
        """Whether a dialog is open."""
        return self._shown is not None

    @property
    def waiting_text(self) -> str:
        """The line for above the composer; empty where nothing waits unseen."""
        count = 0 if self._shown is not None else len(self._entries)
        if not count:
            return ""
        return f"⏸ {count} {'proposal waits' if count == 1 else 'proposals wait'} – F4 to review"

    async def ask(self, proposal: Proposal) -> Decision:
        """Wait for the decision on a proposal; a cancelled wait closes its dialog."""
        if self._closed:
            return _denied_by_closing()
        entry = _Entry(proposal, asyncio.get_running_loop().create_future())
        self._entries.append(entry)
        self._changed()
        try:
            return await entry.future
        finally:
            self._remove(entry)

    def open_now(self) -> bool:
        """Open what waits at once, and what follows as well; return whether anything waits."""
        if self._entries:
            self._reviewing = True
            self._open_next()
        return bool(self._entries)

    def close(self) -> None:
        """Deny all that waits and all that comes, because the app or the session ends."""
        self._closed = True
        for entry in tuple(self._entries):
            if not entry.future.done():
                entry.future.set_result(_denied_by_closing())
        if self._timer is not None:
            self._timer.stop()

    def _changed(self) -> None:
        if self._shown is not None:
            self._shown[1].place_in_queue(self._place())
        if self._entries and self._timer is None and not self._closed:
            self._timer = self._app.set_interval(_LOOK_SECONDS, self._look)
            self._app.call_later(self._look)
        if self._on_change is not None and not self._closed:
            self._on_change()

    def _place(self) -> tuple[int, int]:
        return self._answered + 1, self._answered + len(self._entries)

    def _look(self) -> None:
        """Open the next dialog where the hands rest."""
        if not self._entries:
            if self._timer is not None:
                self._timer.stop()
                self._timer = None
            self._answered = 0
            self._reviewing = False
        elif self._reviewing or not self._hands_busy():
            self._open_next()

    def _hands_busy(self) -> bool:
        if self._hands.draft_present():
            return True
        last_key = max(self._hands.last_key_time, self._app.last_key_time)
        if made_clock() - last_key < IDLE_SECONDS:
            return True
        # A half-written search or name is a draft as well.
        focused = self._app.focused
        if isinstance(focused, Input):
            return bool(focused.value)
        return isinstance(focused, TextArea) and bool(focused.text)

    def _open_next(self) -> None:
        if self._shown is not None or not self._entries or self._closed or not self._app.is_running:
            return
        entry = self._entries[0]
        from muniment.tui.modals.approval import ApprovalScreen

        screen = ApprovalScreen(
            entry.proposal,
            quiet_seconds=self.quiet_seconds,
            place=self._place(),
            interrupt=self._interrupt,
            keep_paste=self._hands.keep_paste,
        )
        self._shown = (entry, screen)
        self._app.push_screen(screen, lambda decision: self._dismissed(entry, decision))
        self._changed()

    def _dismissed(self, entry: _Entry, decision: Decision | None) -> None:
        if self._shown is not None and self._shown[0] is entry:
            self._shown = None
        if decision is None:
            # Withdrawn; or left unanswered together with all that stands above the session: then it waits on.
            self._changed()
        else:
            if not entry.future.done():
                entry.future.set_result(decision)
            self._remove(entry, answered=True)
        # The decision was the last input and was meant for the dialog, so the next may open without delay.
        self._app.call_later(self._look)

    def _remove(self, entry: _Entry, *, answered: bool = False) -> None:
        if entry not in self._entries:
            return
        self._entries.remove(entry)
        self._answered += answered
        if self._shown is not None and self._shown[0] is entry:
            # It counts as shown until it has left: the next one opens in its place and never above it.
            self._app.call_later(self._shown[1].withdraw)
        self._changed()
