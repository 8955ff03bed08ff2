"""Timing two ways of doing the same work in turns, so that a busy moment of the machine hits both alike."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.environment import isolated

HEADER = f"{'what':<50} {'ours ms':>9} {'bare ms':>9} {'min':>6} {'median':>6} {'p95':>6} {'target':>6}"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; times in seconds."""

    name: str
    ours: list[float]
    bare: list[float]
    target: float
    each_differs: bool = False
    """Every round asks something else, so that the least says nothing: median and p95 are judged."""

    @property
    def judged(self) -> float:
        """The ratio that the target is about."""
        if self.each_differs:
            return max(self._ratio(0.5), self._ratio(0.95))
        return min(self.ours) / min(self.bare)

    def _ratio(self, share: float) -> float:
        return quantile(self.ours, share) / quantile(self.bare, share)

    def __str__(self) -> str:
        ours, bare = min(self.ours), min(self.bare)
        if self.each_differs:
            ours, bare = statistics.median(self.ours), statistics.median(self.bare)
        least, verdict = min(self.ours) / min(self.bare), "ok" if self.judged <= self.target else "ABOVE"
        return (
            f"{self.name:<50} {ours * 1000:>9.1f} {bare * 1000:>9.1f} {least:>6.2f} "
            f"{self._ratio(0.5):>6.2f} {self._ratio(0.95):>6.2f} {self.target:>6.1f}  {verdict}"
        )


def quantile(times: list[float], share: float) -> float:
    """Return the time that a share of all stays below or at."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def compare(
    name: str,
    ours: Callable[[], float],
    bare: Callable[[], float],
    *,
    target: float,
    rounds: int,
    each_differs: bool = False,
) -> Row:
    """Measure both in turns, so that a busy moment of the machine hits both alike."""
    mine: list[float] = []
    other: list[float] = []
    for _ in range(rounds):
        mine.append(ours())
        other.append(bare())
    return Row(name, mine, other, target, each_differs)


def process(arguments: list[str], cwd: Path, base: Path) -> Callable[[], float]:
    """Return a function that runs a process to its end and tells how long that took."""
    env = isolated(base)

    def run() -> float:
        begun = time.perf_counter()
        subprocess.run(arguments, cwd=cwd, env=env, check=True, capture_output=True)
        return time.perf_counter() - begun

    return run
