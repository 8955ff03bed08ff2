"""Waiting for a condition with a deadline, so that no test sleeps for a guessed time."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds that a test waits for what must come: machines are slow, and only a failing test waits so long."""


def until(condition: Callable[[], object], *, seconds: float = PATIENCE, what: str = "the condition") -> None:
    """Return as soon as `condition` holds; fail, naming `what`, when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {seconds} s")
        time.sleep(0.01)
