"""Ways to wait, in a task that may be cancelled, for what must not be cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def uncut(work: Callable[[], T]) -> T:
    """Run short work in a thread and wait for its end even when cancelled: nothing runs beside the caller."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is not None:
            raise asyncio.CancelledError from task.exception()
        raise


async def to_its_end(work: Coroutine[Any, Any, None]) -> bool:
    """Run the closing part of something whole; return whether a cancellation came, too late for it."""
    task = asyncio.ensure_future(work)
    stopped = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            stopped = True
    task.result()
    return stopped


async def graceful(work: Callable[[], T], grace: float) -> tuple[T | None, bool]:
    """Run work in a thread; return its value and whether the wait was cancelled.

    After a cancellation the work has `grace` seconds to end by itself; it is then left to itself, value None.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task), False
    except asyncio.CancelledError:
        if task.cancelled():
            raise
        done, _ = await asyncio.wait({task}, timeout=grace)
        if done:
            return task.result(), True
        task.add_done_callback(_forget)
        return None, True


def _forget(task: asyncio.Future[T]) -> None:
    # Its outcome was already told as unknown; asking for the exception keeps the loop from reporting it.
    if not task.cancelled():
        task.exception()
