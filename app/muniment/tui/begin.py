"""Work beside the screen: begun as a function, and not broken off where it would leave things in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual.dom import DOMNode

if TYPE_CHECKING:
    from textual.worker import WorkType


def begin(node: DOMNode, work: WorkType[None], *, group: str, exclusive: bool = False) -> None:
    """Run a function as a worker of a node; one that is stopped before it begins leaves nothing unawaited."""
    node.run_worker(work, group=group, exclusive=exclusive)


async def whole(work: Awaitable[object]) -> None:
    """Wait for work that goes on to its end even where the one who waits is stopped.

    Widgets that are taken away by halves stay in the tree and hear nothing any more.
    """
    task = asyncio.ensure_future(_awaited(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_forget)
        raise


async def _awaited(work: Awaitable[object]) -> None:
    await work


def _forget(task: asyncio.Task[None]) -> None:
    # Whoever waited has left; asking for the exception keeps the loop from reporting it.
    if not task.cancelled():
        task.exception()
