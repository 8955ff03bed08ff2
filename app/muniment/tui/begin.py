"""Beginning work beside the screen: as a function, never as a coroutine that may be left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.dom import DOMNode

if TYPE_CHECKING:
    from textual.worker import WorkType


def begin(node: DOMNode, work: WorkType[None], *, group: str, exclusive: bool = False) -> None:
    """Run a function as a worker of a node; one that is stopped before it begins leaves nothing unawaited."""
    node.run_worker(work, group=group, exclusive=exclusive)
