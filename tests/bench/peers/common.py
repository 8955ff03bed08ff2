"""What every worker of the comparison does: read the texts, time each step, print the times as JSON.

Runs in an environment that holds one system and nothing of Muniment, so it needs the standard library only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGED = "a wombat was seen in the orchard"
CHANGED_AT = 7


def arguments() -> tuple[Path, Path]:
    """Return the file of texts and the directory to work in."""
    return Path(sys.argv[1]), Path(sys.argv[2])


def texts(source: Path) -> tuple[list[dict[str, str]], list[str]]:
    """Return the memories, each with id, title and body, and the questions to ask."""
    data = json.loads(source.read_text("utf-8"))
    return data["memories"], data["questions"]


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work took."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def rest() -> None:
    """Let files grow older than a tick of the clock, as all but those just written are."""
    time.sleep(0.1)


def quantiles(times: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    ordered = sorted(times)
    return {"p50": ordered[len(ordered) // 2], "p95": ordered[round(0.95 * (len(ordered) - 1))]}


def report(**values: Any) -> None:
    """Print what was measured; anything printed before belongs to the system that was measured."""
    print("\n" + json.dumps(values))
