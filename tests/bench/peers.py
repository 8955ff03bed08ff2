"""Muniment beside its neighbours, in one run on the same texts: ingest, one change, warm and cold search.

Each neighbour is installed from the package index into an environment of its own below `.venv-peers`; one
that cannot be had is named. Sizes are 1,000 and 10,000 texts of about 700 bytes; `--small` leaves 10,000 out.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from support.environment import isolated  # noqa: E402 - the path has to be there first
from support.terminal import COMMAND  # noqa: E402

ENVIRONMENTS = HERE.parents[1] / ".venv-peers"
WORKERS = HERE / "peers"
SIZES = (1_000, 10_000)
QUESTIONS = 100
INSTALL_SECONDS = 600
RUN_SECONDS = 900
COLD_ROUNDS = 9
SECONDS_SAY_ENOUGH = 2.0
"""A search that takes longer is not repeated: no busy moment is as long."""
COLUMNS = {"ingest": "ingest", "resync": "1 changed", "p50": "warm p50", "p95": "warm p95", "cold": "cold"}
"""What is measured, and what it is called in the table."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One system: how to install it, which worker measures it, and how to search it in a fresh process."""

    name: str
    authority: str
    requirement: str = ""
    worker: str = ""
    cold: tuple[str, ...] = ()
    """The words of one search; `{python}`, `{bin}` and `{place}` are filled in."""
    least_python: tuple[int, int] = (3, 11)
    home: tuple[str, ...] = field(default=())
    """Variables that have to name the directory worked in."""
    options: tuple[str, ...] = ()
    """What the worker is told besides the texts and the place."""


QUESTION = "wombat orchard"
OURS = ("Muniment", "Muniment in a session")
"""A command looks at every file before it answers; in a session a watcher says when nothing changed."""
GREP = "grep -r"
PEERS = (
    Peer(OURS[0], "files", worker="muniment_worker.py", cold=(str(COMMAND), "memory", "search", QUESTION)),
    Peer(OURS[1], "files", worker="muniment_worker.py", options=("--watched",)),
    Peer(
        "engram-agent-memory",
        "files",
        "engram-agent-memory==0.4.1",
        "engram_worker.py",
        ("{python}", str(WORKERS / "engram_cold.py"), "{place}", QUESTION),
    ),
    Peer(
        "basic-memory",
        "files",
        "basic-memory==0.24.1",
        "basic_memory_worker.py",
        ("{bin}/basic-memory", "tool", "search-notes", QUESTION),
        least_python=(3, 12),
        home=("HOME",),
    ),
    Peer(
        "commonplace-agent-memory",
        "database",
        "commonplace-agent-memory==0.1.0",
        "commonplace_worker.py",
        ("{bin}/commonplace", "recall", QUESTION),
        least_python=(3, 12),
    ),
    Peer(
        "sqlite-utils",
        "database",
        "sqlite-utils==4.2.1",
        "sqlite_utils_worker.py",
        ("{bin}/sqlite-utils", "search", "{place}/memories.db", "memories", QUESTION),
    ),
)


def texts(count: int) -> dict[str, list[object]]:
    """Make up memories whose words are as frequent as words are, and questions about them."""
    pick = random.Random(7)
    words = [
        "".join(pick.choice("bdfgklmnprst") + pick.choice("aeiou") for _ in range(size))
        for size in pick.choices((2, 3, 4), k=8_000)
    ]
    frequent = [1 / (rank + 1) for rank in range(len(words))]
    bodies = [pick.choices(words, frequent, k=100) for _ in range(count)]
    memories: list[object] = [
        {"id": f"note-{n:06}", "title": " ".join(body[:6]), "body": " ".join(body[6:])}
        for n, body in enumerate(bodies)
    ]
    questions: list[object] = [
        " ".join(pick.sample(pick.choice(bodies), 1 + n % 6)) for n in range(QUESTIONS)
    ]
    return {"memories": memories, "questions": questions}


def interpreter(least: tuple[int, int]) -> str | None:
    """Return a Python that is new enough, or None."""
    if sys.version_info[:2] >= least:
        return sys.executable
    script = f"import sys; sys.exit(sys.version_info < {least})"
    names = [f"python3.{minor}" for minor in range(least[1], 16)]
    shims = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    for name in [*filter(None, map(shutil.which, names)), *map(str, shims)]:
        if subprocess.run([name, "-c", script], check=False, capture_output=True).returncode == 0:
            return name
    return None


def installed(peer: Peer) -> Path | str:
    """Return the directory of the commands of a peer's environment, or why there is none."""
    if not peer.requirement:
        return Path(sys.executable).parent
    place = ENVIRONMENTS / peer.name
    commands = place / "bin"
    if (place / "ready").exists():
        return commands
    python = interpreter(peer.least_python)
    if python is None:
        return f"needs Python {peer.least_python[0]}.{peer.least_python[1]}, which is not here"
    shutil.rmtree(place, ignore_errors=True)
    print(f"installing {peer.requirement} …", file=sys.stderr)
    try:
        subprocess.run([python, "-m", "venv", str(place)], check=True, capture_output=True)
        subprocess.run(
            [str(commands / "python"), "-m", "pip", "install", "--quiet", peer.requirement],
            check=True,
            capture_output=True,
            timeout=INSTALL_SECONDS,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return f"{peer.requirement} could not be installed from the package index"
    (place / "ready").touch()
    return commands


@dataclass(slots=True)
class Measured:
    """What one system took, in seconds, and how a search of it is started once more."""

    name: str
    authority: str
    taken: dict[str, float]
    words: list[str]
    place: Path
    env: dict[str, str]

    def search(self) -> None:
        """Search in a fresh process, where that can be; the least time of all searches is kept."""
        if not self.words:
            return
        begun = time.perf_counter()
        subprocess.run(self.words, env=self.env, cwd=self.place, check=True, capture_output=True)
        taken = time.perf_counter() - begun
        self.taken["cold"] = min(taken, self.taken.get("cold", taken))

    def __str__(self) -> str:
        cells = [self.taken.get(key) for key in COLUMNS]
        shown = "".join(f"{'-':>11}" if each is None else f"{each * 1000:>11.1f}" for each in cells)
        return f"{self.name:<26} {self.authority:<9}{shown}"


def measure(peer: Peer, commands: Path, source: Path, place: Path) -> Measured | str:
    """Return what one peer took, or why there is nothing to tell; it keeps its things in `place`."""
    place.mkdir()
    env = isolated(place)
    env.update({name: str(place) for name in peer.home})
    env["COMMONPLACE_DB"] = str(place / "commonplace.db")
    filled = {"python": str(commands / "python"), "bin": str(commands), "place": str(place)}
    words = [word.format(**filled) for word in peer.cold]
    try:
        done = subprocess.run(
            [filled["python"], str(WORKERS / peer.worker), str(source), str(place), *peer.options],
            cwd=place,
            env=env,
            check=True,
            capture_output=True,
            timeout=RUN_SECONDS,
        )
        taken: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        measured = Measured(peer.name, peer.authority, taken, words, place, env)
        measured.search()
    except subprocess.TimeoutExpired:
        return f"took longer than {RUN_SECONDS} s"
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"failed: {' '.join(last)[:100]}"
    return measured


def grep(source: Path, place: Path) -> Measured:
    """Return what `grep -r` takes over the same texts as files; it has no index and nothing to keep."""
    place.mkdir()
    for each in json.loads(source.read_text("utf-8"))["memories"]:
        (place / f"{each['id']}.md").write_text(f"{each['title']}\n{each['body']}\n")
    (place / "wombat.md").write_text("a wombat was seen in the orchard\n")
    words = ["grep", "-rliE", QUESTION.replace(" ", "|"), "."]
    measured = Measured(GREP, "files", {}, words, place, dict(os.environ))
    measured.search()
    return measured


def judged(ours: Measured, others: list[Measured]) -> Iterator[str]:
    """Say where another system was faster, and why that may be."""
    behind = False
    for other in others:
        faster = [
            shown
            for key, shown in COLUMNS.items()
            if key in other.taken and key in ours.taken and other.taken[key] < ours.taken[key]
        ]
        behind = behind or (bool(faster) and other.authority == "files" and other.name != GREP)
        if faster:
            yield f"faster than {ours.name}: {other.name} in {', '.join(faster)}{_why(other)}"
    if not behind:
        yield f"{ours.name} is ahead of every neighbour that keeps files as the authority, in every column."


def _why(other: Measured) -> str:
    if other.name == GREP:
        return ": it starts no interpreter, and ranks, scopes and explains nothing"
    if other.authority == "database":
        return ": the database is its own authority, so there are no files to look at before an answer"
    return ""


def table(places: list[tuple[Peer, Path | str]], count: int, root: Path, slowest: dict[str, float]) -> None:
    """Print what so many texts took; `slowest` keeps the seconds a text of those who may take too long."""
    head = "".join(f"{shown:>11}" for shown in COLUMNS.values())
    print(f"\n{count:,} texts, milliseconds\n{'system':<26} {'authority':<9}{head}", flush=True)
    source = root / "texts.json"
    source.write_text(json.dumps(texts(count)))
    found: list[Measured] = []
    for peer, commands in places:
        expected = slowest.get(peer.name, 0.0) * count
        if isinstance(commands, str):
            print(f"{peer.name:<26} {commands}")
        elif expected > RUN_SECONDS:
            told = f"not asked: as fast as before it would take {expected:,.0f} s, and has {RUN_SECONDS}"
            print(f"{peer.name:<26} {peer.authority:<9} {told}")
        else:
            outcome = measure(peer, commands, source, root / peer.name)
            if isinstance(outcome, str):
                print(f"{peer.name:<26} {outcome}", flush=True)
            else:
                found.append(outcome)
                slowest[peer.name] = outcome.taken["ingest"] / count
    found.append(grep(source, root / "grep"))
    for _ in range(COLD_ROUNDS):  # in turns, so that a busy moment of the machine hits all alike
        for each in found:
            if each.taken.get("cold", 0.0) < SECONDS_SAY_ENOUGH:
                each.search()
    print(*found, sep="\n")
    others = [each for each in found if each.name not in OURS]
    for each in found:
        if each.name in OURS:
            print(*judged(each, others), sep="\n", flush=True)


def main(arguments: list[str]) -> int:
    """Print a table for each size; the exit code says nothing about speed."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    places = [(peer, installed(peer)) for peer in PEERS]
    slowest: dict[str, float] = {}
    for count in SIZES[:1] if "--small" in arguments else SIZES:
        with tempfile.TemporaryDirectory(prefix="muniment-peers-") as directory:
            table(places, count, Path(directory), slowest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
