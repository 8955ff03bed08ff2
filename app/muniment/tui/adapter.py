"""The one place where the engine's events become changes of the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from muniment.session import events as ev
from muniment.tui.widgets.status_line import StatusLine
from muniment.tui.widgets.transcript import Transcript


class Host(Protocol):
    """What the adapter needs of the screen."""

    @property
    def speaker(self) -> str:
        """The name that replies stand under."""

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
        self._queue: asyncio.Queue[ev.Event | asyncio.Event] = asyncio.Queue()
        self.on_ended: Callable[[ev.TurnEnded], None] = lambda _: None

    def emit(self, event: ev.Event) -> None:
        """Take an event; called by the engine."""
        self._queue.put_nowait(event)

    async def drained(self) -> None:
        """Wait until everything emitted so far is drawn."""
        mark = asyncio.Event()
        self._queue.put_nowait(mark)
        await mark.wait()

    async def run(self) -> None:
        """Draw events for as long as the screen lives."""
        while True:
            item = await self._queue.get()
            if isinstance(item, asyncio.Event):
                item.set()
            else:
                await self.show(item)

    async def show(self, event: ev.Event) -> None:
        """Draw one event."""
        transcript, status, speaker = self._transcript, self._status, self._host.speaker
        match event:
            case ev.UserSaid(text):
                await transcript.user(text)
            case ev.RequestSent(_, estimate, budget):
                used = round(100 * estimate / budget) if budget > 0 else None
                status.say(state="waiting for the model", used=used)
            case ev.TextDelta(delta):
                status.say(state="answering")
                await transcript.delta(delta, speaker)
            case ev.TextDiscarded():
                await transcript.discard()
            case ev.ReplyEnded():
                await transcript.end_reply()
            case ev.ToolCalled(call, tool, arguments):
                status.say(state=f"running {tool}")
                await transcript.tool(call, tool, arguments, speaker)
            case ev.ProposalMade(proposal, shown):
                if shown:
                    await self._ran_unasked(event)
                else:
                    status.say(state=f"waiting for you: {proposal.title}")
            case ev.Decided(call, decision):
                status.say(state="working")
                if (line := transcript.call(call)) is not None:
                    line.decided(decision.word, decision.by, decision.reason)
            case ev.ToolFinished(call, tool, result, _, text, changed):
                if (line := transcript.call(call)) is not None:
                    line.finished(result, text)
                status.say(state="working")
                if changed:
                    status.say(last_write=f"{tool} done")
                    self._host.memory_changed()
            case ev.Notice(text):
                await transcript.notice(text)
            case ev.ErrorRaised(text):
                await transcript.notice(text, error=True)
            case ev.Compacted(text, covered):
                about = f"{covered} earlier turns are" if covered else "Earlier turns are"
                await transcript.notice(f"{about} summarised in what the model receives:\n{text}")
            case ev.TurnEnded(result):
                await transcript.end_reply()
                if result == "cancelled":
                    await transcript.notice("Stopped.")
                status.say(state="ready")
                self.on_ended(event)
            case _:
                pass
        fault = self._host.save_fault
        if status.status.unsaved != (fault is not None):
            status.say(unsaved=fault is not None)

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
