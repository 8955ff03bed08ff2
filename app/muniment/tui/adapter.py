"""The one place where the engine's events become changes of the screen."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from muniment.tui.parts import Part
from muniment.tui.widgets.status_line import READY, StatusLine
from muniment.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    # The screen is painted before there is any event.
    from muniment.session import events as ev

PACE_SECONDS = 0.05
"""Streamed text is drawn at most so often; a layout takes longer than a key may wait."""
TYPING_PACE_SECONDS = 0.2
"""The same while the user types."""
MOST_REST_SECONDS = 1.0
"""However long a piece of text takes to draw, the next one is drawn after this."""
_WRITES = {"memory_store": "saved", "memory_save": "saved", "memory_delete": "deleted"}


def rest_after(worked: float, rested: float) -> float:
    """Return for how long to rest yet after so much work, in seconds: as long as the work took, in reason."""
    return max(0.0, min(worked, MOST_REST_SECONDS) - rested)


class Host(Protocol):
    """What the adapter needs of the screen."""

    @property
    def speaker(self) -> str:
        """The name that replies stand under."""

    @property
    def typing(self) -> bool:
        """Whether the user typed a moment ago."""

    @property
    def save_fault(self) -> str | None:
        """Why the session is not saved now."""

    def memory_changed(self) -> None:
        """Memory or a file was written."""


class Adapter:
    """Takes events in order; drawing happens in one task, so that nothing overtakes anything."""

    def __init__(self, transcript: Transcript, status: StatusLine, host: Host) -> None:
        self._transcript = transcript
        self._status = status
        self._host = host
        self._items: deque[ev.Event | asyncio.Event] = deque()
        self._there = asyncio.Event()
        self._urgent = asyncio.Event()
        self.on_ended: Callable[[ev.TurnEnded], None] = lambda _: None

    def emit(self, event: ev.Event) -> None:
        """Take an event; called by the engine."""
        from muniment.session import events as ev

        self._items.append(event)
        self._there.set()
        if not isinstance(event, ev.TextDelta):
            self._urgent.set()

    async def drained(self) -> None:
        """Wait until everything emitted so far is drawn."""
        mark = asyncio.Event()
        self._items.append(mark)
        self._there.set()
        self._urgent.set()
        await mark.wait()

    async def run(self) -> None:
        """Draw events for as long as the screen lives."""
        await self._there.wait()
        from muniment.session import events as ev

        while True:
            while self._items:
                item = self._items.popleft()
                if isinstance(item, asyncio.Event):
                    item.set()
                elif isinstance(item, ev.TextDelta):
                    begun = time.thread_time()
                    await self.show(self._gathered(item))
                    await self._breathe(begun)
                else:
                    await self.show(item)
            self._there.clear()
            await self._there.wait()

    async def _breathe(self, begun: float) -> None:
        """Leave the screen to the keys for a moment after text was drawn, unless more than text follows.

        `begun` is the working time of this thread when the drawing began. What took long is drawn the more
        seldom: the end of a long block is laid out with all of the block.
        """
        pace = TYPING_PACE_SECONDS if self._host.typing else PACE_SECONDS
        if await self._rested(pace):
            await self._rested(rest_after(time.thread_time() - begun, pace))

    async def _rested(self, seconds: float) -> bool:
        """Rest as long as nothing but text waits; tell whether nothing else came."""
        from muniment.session import events as ev

        if any(not isinstance(each, ev.TextDelta) for each in self._items):
            return False
        self._urgent.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._urgent.wait()
        return not self._urgent.is_set()

    def _gathered(self, first: ev.TextDelta) -> ev.TextDelta:
        """Take the deltas that came meanwhile as one: a fast model need not be drawn word by word."""
        from muniment.session import events as ev

        texts = [first.delta]
        while self._items and isinstance(following := self._items[0], ev.TextDelta):
            texts.append(following.delta)
            self._items.popleft()
        return first if len(texts) == 1 else ev.TextDelta("".join(texts))

    def doing(self, state: str) -> None:
        """Say what happens now; Escape stops it."""
        self._status.say(state=state, busy=True)

    async def show(self, event: ev.Event) -> None:
        """Draw one event."""
        from muniment.session import events as ev

        transcript, speaker = self._transcript, self._host.speaker
        match event:
            case ev.UserSaid(text):
                await transcript.user(text)
            case ev.RequestSent(_, estimate, budget):
                self._status.say(used=round(100 * estimate / budget) if budget > 0 else None)
                self.doing("waiting for the model")
            case ev.TextDelta(delta):
                self.doing("answering")
                await transcript.delta(delta, speaker)
            case ev.TextDiscarded():
                await transcript.discard()
            case ev.ReplyEnded():
                await transcript.end_reply()
            case ev.ToolCalled(call, tool, arguments):
                self.doing(f"running {tool}")
                await transcript.tool(call, tool, arguments, speaker)
            case ev.ProposalMade(proposal, shown):
                if shown:
                    await self._ran_unasked(event)
                else:
                    self.doing(f"waiting for you: {proposal.title}")
            case ev.Decided(call, decision):
                self.doing("working")
                transcript.decided(call, decision.word, decision.by, decision.reason)
            case ev.ToolFinished(call, tool, status, result, text, changed):
                transcript.finished(call, status, text)
                self.doing("working")
                if changed:
                    self._written(tool, str(result.get("id") or result.get("name") or ""))
            case ev.Notice(text):
                await transcript.notice(text)
            case ev.ErrorRaised(text):
                await transcript.notice(text, error=True)
            case ev.Compacted(text, covered):
                await transcript.summary(text, covered)
            case ev.TurnEnded(status):
                await transcript.end_reply()
                if status == "cancelled":
                    await transcript.notice("Stopped.")
                self._status.say(state=READY, busy=False)
                self.on_ended(event)
            case _:
                pass
        fault = self._host.save_fault
        if self._status.status.unsaved != (fault is not None):
            self._status.say(unsaved=fault is not None)

    def _written(self, tool: str, item: str) -> None:
        if tool in _WRITES:
            self._status.say(last_write=f"{_WRITES[tool]} {item}".strip())
        self._host.memory_changed()

    async def _ran_unasked(self, event: ev.ProposalMade) -> None:
        """Show the fields of what runs without a question, whole."""
        from muniment.safety.visible import exact_block, exact_line

        proposal = event.proposal
        lines = [f"{proposal.title}, unasked:"]
        lines += [f"  {field.label}: {exact_line(field.value).text}" for field in proposal.fields]
        change = proposal.change
        if change is not None:
            text = change.after if change.after is not None else change.before
            lines += [
                f"  {change.label}:",
                *(f"    {each}" for each in exact_block(text or "").text.split("\n")),
            ]
        lines += [f"  ! {warning.text}" for warning in proposal.warnings]
        await self._transcript.notice("\n".join(lines))


def parts_of(events: Iterable[ev.Event], speaker: str) -> tuple[list[Part], str]:
    """Return an earlier conversation as parts, and who spoke last."""
    from muniment.session import events as ev

    parts: list[Part] = []
    calls: dict[str, Part] = {}
    last = ""

    def say(who: str) -> None:
        nonlocal last
        if who != last:
            last = who
            parts.append(Part("who", who))

    for event in events:
        match event:
            case ev.UserSaid(text):
                last = ""
                say("You")
                parts.append(Part("user", text))
            case ev.ReplyEnded(text) if text:
                say(speaker)
                parts.append(Part("reply", text))
            case ev.ToolCalled(call, tool, arguments):
                say(speaker)
                calls[call] = Part("tool", tool, call, arguments)
                parts.append(calls[call])
            case ev.Decided(call, decision) if call in calls:
                calls[call].decided(decision.word, decision.by, decision.reason)
            case ev.ToolFinished(call, _, status, _, text) if call in calls:
                calls[call].status, calls[call].result = status, text
            case ev.Notice(text):
                parts.append(Part("notice", text))
            case ev.ErrorRaised(text):
                parts.append(Part("error", text))
            case ev.Compacted(text, covered):
                parts.append(Part("summary", text, turns=covered))
            case ev.TurnEnded("cancelled"):
                parts.append(Part("notice", "Stopped."))
            case _:
                continue
    return parts, last
