"""A pilot that waits until the app has really done what a key asked for, on a machine of any speed.

Textual's own pilot takes a process that uses no processor time for one that has nothing left to do. A process
that has to wait for the processor looks the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from textual._queue import Queue
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot

CALM_LOOKS = 2
"""So many looks in a row must find nothing left to do."""
MOST_LOOKS = 1_000
"""After so many looks something waits for the world outside, which only the test itself can wait for."""
LOOK_SECONDS = 0.001


class PatientPilot(Pilot[int]):
    """Comes back from a key, and from a pause, when every message was handled and every frame is drawn."""

    async def press(self, *keys: str) -> None:
        for key in keys:
            await super().press(key)

    async def _wait_for_screen(self, timeout: float = 30.0) -> bool:  # noqa: ASYNC109 - its name there
        # Textual waits here for a word from every widget; one that leaves meanwhile never gives it.
        await calm(self.app)
        return self.app._exception is None


async def calm(app: App[int]) -> None:
    """Wait until no widget has a message left and the screen has nothing left to draw."""
    found = 0
    # Looks are counted and not seconds, because a machine that stands still uses those up without a look.
    for _ in range(MOST_LOOKS):
        found = found + 1 if _is_calm(app) else 0
        if found == CALM_LOOKS or app._exit or app._exception is not None:
            return
        await asyncio.sleep(LOOK_SECONDS)


def _is_calm(app: App[int]) -> bool:
    stack = app._screen_stacks.get(app._current_mode)
    if not stack:
        return True
    top = stack[-1]
    drawn = not (top._layout_required or top._repaint_required or top._dirty_widgets or top._callbacks)
    return drawn and all(
        _waits(pump)
        for pump in (app, *(each for screen in stack for each in screen.walk_children(with_self=True)))
    )


def _waits(pump: MessagePump) -> bool:
    """Tell whether a pump waits for its next message; one that handles a message does not."""
    if pump._task is None or pump._task.done():
        return True
    queue: Queue[Message | None] = pump._message_queue
    # An event of this library and of the interpreter's: neither tells who waits for it in another way.
    waiters: Iterable[asyncio.Future[bool]] = queue.ready_event._waiters
    return queue.empty() and pump._pending_message is None and any(not each.done() for each in waiters)
