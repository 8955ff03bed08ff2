"""How much memory the screen takes with many records and its panel open."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.record_rows import write_records
from support.environment import isolated
from support.terminal import COMMAND, Terminal

MOST_MEGABYTES = 300
OPEN_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Footprint:
    """The most memory that one process held, in megabytes."""

    name: str
    megabytes: float

    def __str__(self) -> str:
        verdict = "ok" if self.megabytes <= MOST_MEGABYTES else "ABOVE"
        return f"{self.name:<50} {self.megabytes:>6.0f} MB {'target':>34} {MOST_MEGABYTES} MB  {verdict}"


def footprint_rows(root: Path, rounds: int, count: int) -> list[Footprint]:
    """Open the screen and its panel over so many records and read the peak of its memory once."""
    base, study = root / "user", root / "study"
    write_records(study / ".muniment" / "memory", count)
    subprocess.run(
        [str(COMMAND), "memory", "reindex"], cwd=study, env=isolated(base), check=True, capture_output=True
    )
    session = ["run", "--new", "--provider", "rehearsal"]
    with Terminal(session, cwd=study, base=base, columns=120, rows=40) as terminal:
        terminal.wait(lambda text: f"{count:,} records" in text, seconds=OPEN_SECONDS, what="the panel")
        terminal.pump(2.0)
        status = Path(f"/proc/{terminal.child.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    peak = int(found[1]) / 1024 if found else 0.0
    return [Footprint(f"peak memory, panel open over {count:,} records", peak)]
