"""Speed as ratios: each thing Muniment does beside the same work done barely, in turns, in one run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench.index_rows import IndexBench  # noqa: E402 - the path has to be there first
from support.environment import isolated  # noqa: E402 - the path has to be there first
from support.terminal import COMMAND, Terminal  # noqa: E402

RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; times in seconds."""

    name: str
    ours: list[float]
    bare: list[float]
    target: float
    each_differs: bool = False
    """Every round asks something else, so that only the median says anything."""

    def __str__(self) -> str:
        ours, bare = min(self.ours), min(self.bare)
        middle = statistics.median(self.ours) / statistics.median(self.bare)
        judged = middle if self.each_differs else ours / bare
        verdict = "ok" if judged <= self.target else "ABOVE"
        return (
            f"{self.name:<44} {ours * 1000:>9.1f} {bare * 1000:>9.1f} {ours / bare:>7.2f} {middle:>7.2f} "
            f"{self.target:>7.1f}  {verdict}"
        )


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


def write_records(directory: Path, count: int) -> None:
    """Write records of about 700 bytes."""
    directory.mkdir(parents=True, mode=0o700)
    words = "cite both notes and show the denominators before anybody infers what nobody has asked "
    for n in range(count):
        body = (words * 6)[: 480 + n % 60]
        (directory / f"rule-{n:06}.yaml").write_text(
            f"id: rule-{n:06}\ncategory: decision\ntitle: Rule number {n} of the pilot\n"
            f"content: {body}{n}\ntags:\n- pilot\n- review\nsource: agent\n"
            "created_at: 2026-10-25T03:07:29Z\nupdated_at: 2026-10-25T03:07:29Z\n"
        )


def index_rows(root: Path, rounds: int) -> list[Row]:
    """Measure the search index in this process."""
    bench = IndexBench(root, RECORDS)
    few, many = max(3, rounds // 3), rounds * 6
    return [
        compare("first index build / bare build", *bench.build(), target=1.3, rounds=few),
        compare(
            "search, files looked at / bare",
            *bench.search(trust=False),
            target=1.3,
            rounds=many,
            each_differs=True,
        ),
        compare(
            "search in a running session / bare",
            *bench.search(trust=True),
            target=1.5,
            rounds=many,
            each_differs=True,
        ),
        compare("one file changed, then search / bare", *bench.one_changed(), target=1.5, rounds=rounds),
    ]


def main() -> int:
    """Print the table; the exit code says nothing about speed, which depends on the machine."""
    # Users have compiled modules; a machine that forbids writing them would measure the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    rounds = int(os.environ.get("ROUNDS", "9"))
    python = sys.executable
    with tempfile.TemporaryDirectory(prefix="muniment-bench-") as place:
        root = Path(place)
        base = root / "user"
        empty = root / "empty"
        empty.mkdir()
        study = root / "study"
        write_records(study / ".muniment" / "memory", RECORDS)
        script = f"from support.reading import main; main({str(study)!r})"
        rows = [
            compare(
                "muniment --version / python -c pass",
                process([str(COMMAND), "--version"], empty, base),
                process([python, "-c", "pass"], empty, base),
                target=3.0,
                rounds=rounds * 2,
            ),
            compare(
                "first paint / smallest Textual app",
                first_paint(
                    str(COMMAND),
                    ["run", "--new", "--provider", "rehearsal"],
                    "Write a message"[1:],
                    empty,
                    base,
                ),
                first_paint(python, [str(HERE / "baseline_app.py")], "READY-TO-PAINT", empty, base),
                target=1.5,
                rounds=rounds,
            ),
            compare(
                f"reading {RECORDS:,} records cold / bare events",
                process([python, "-c", script], HERE.parent, base),
                process(
                    [python, str(HERE / "baseline_read.py"), str(study / ".muniment/memory")], empty, base
                ),
                target=1.5,
                rounds=max(3, rounds // 2),
            ),
            *index_rows(root / "index", rounds),
        ]
    print(f"{'what':<44} {'ours ms':>9} {'bare ms':>9} {'min':>7} {'median':>7} {'target':>7}")
    for row in rows:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
