"""Speed as ratios: each thing Muniment does beside the same work done barely, in turns, in one run.

Arguments choose groups of rows by name; `--full` adds 100,000 records.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench.footprint_rows import Footprint, footprint_rows  # noqa: E402 - the path has to be there first
from bench.index_rows import index_rows  # noqa: E402
from bench.ledger_rows import ledger_rows  # noqa: E402
from bench.measure import HEADER, Row, compare, process  # noqa: E402
from bench.record_rows import record_rows  # noqa: E402
from bench.session_rows import session_rows  # noqa: E402
from support.terminal import COMMAND, Terminal  # noqa: E402

RECORDS = 10_000
MANY_RECORDS = 100_000


def first_paint(command: str, arguments: list[str], text: str, cwd: Path, base: Path) -> Callable[[], float]:
    """Return a function that starts a program in a terminal and tells how long a text took to appear."""

    def run() -> float:
        begun = time.perf_counter()
        with Terminal(arguments, cwd=cwd, base=base, columns=80, rows=24, command=command) as terminal:
            while text.encode() not in terminal.raw:
                terminal.pump(0.002)
                if time.perf_counter() - begun > 30:
                    raise SystemExit(f"{command} never painted {text!r}:\n{terminal.text}")
            return time.perf_counter() - begun

    return run


def start_rows(root: Path, rounds: int, count: int) -> list[Row]:
    """Measure how soon the command answers and the screen is painted."""
    base, empty = root / "user", root / "empty"
    empty.mkdir(parents=True)
    python = sys.executable
    smallest = first_paint(python, [str(HERE / "baseline_app.py")], "READY-TO-PAINT", empty, base)
    session = ["run", "--new", "--provider", "rehearsal"]
    return [
        compare(
            "muniment --version / python -c pass",
            process([str(COMMAND), "--version"], empty, base),
            process([python, "-c", "pass"], empty, base),
            target=3.0,
            rounds=rounds * 2,
        ),
        compare(
            "first paint / smallest Textual app",
            first_paint(str(COMMAND), session, "rite a message", empty, base),
            smallest,
            target=1.5,
            rounds=rounds,
        ),
    ]


GROUPS: dict[str, Callable[[Path, int, int], Sequence[Row | Footprint]]] = {
    "start": start_rows,
    "records": record_rows,
    "index": index_rows,
    "ledger": ledger_rows,
    "sessions": session_rows,
    "footprint": footprint_rows,
}
"""Each group of rows by name: it is given a directory, how many rounds, and how many records."""


def main(arguments: list[str]) -> int:
    """Print the table; the exit code says nothing about speed, which depends on the machine."""
    # Users have compiled modules; a machine that forbids writing them would measure the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    rounds = int(os.environ.get("ROUNDS", "9"))
    full = "--full" in arguments
    wanted = [name for name in arguments if name != "--full"] or list(GROUPS)
    if not GROUPS.keys() >= set(wanted):
        print(f"There are these groups: {', '.join(GROUPS)}.", file=sys.stderr)
        return 2
    print(HEADER)
    for count in (RECORDS, MANY_RECORDS) if full else (RECORDS,):
        for name in wanted:
            with tempfile.TemporaryDirectory(prefix="muniment-bench-") as place:
                for row in GROUPS[name](Path(place), rounds, count):
                    print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
