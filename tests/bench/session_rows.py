"""Timings of long sessions on the screen: resuming one, streaming into it, typing meanwhile, growing old."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pexpect

from bench.measure import Row, compare
from support.environment import isolated
from support.server import Recorded, Reply, serve
from support.terminal import Terminal

MESSAGES = 5_000
DELTAS = 2_000
KEYS = 60
TURNS = 1_000
YOUNG = 300
"""After so many turns the caches of the screen are full."""
_WORDS = ("a ", "small ", "step ", "on ", "each ", "day ", "*and* ", "`one` ", "more ", "at ", "night. ")
# Neither letter is in the streamed words, in the line of states, or in the codes that move a cursor.
_ECHOED = "zq"


def write_session(directory: Path, cwd: Path, messages: int) -> str:
    """Write the log of a session with so many messages of both sides; return its id."""
    session = secrets.token_hex(16)
    head: dict[str, object] = {
        "id": session,
        "cwd": str(cwd),
        "recipe": None,
        "provider": "rehearsal",
        "model": "",
    }
    records: list[tuple[str, str, dict[str, object]]] = [("session", "", head)]
    for number in range(messages // 2):
        turn = secrets.token_hex(16)
        text = f"Answer {number}: " + "cite both notes and *show* the denominators. " * 6
        reply: dict[str, object] = {"text": text, "calls": [], "status": "stop", "usage": {}}
        records += [
            ("user_message", turn, {"text": f"Question {number} about the pilot"}),
            ("model_response", turn, reply),
            ("turn_end", turn, {"status": "completed"}),
        ]
    lines = [
        json.dumps(
            {"v": 1, "seq": seq, "turn_id": turn, "kind": kind, "time": "2026-10-25T03:07:29Z", **fields},
            separators=(",", ":"),
        )
        for seq, (kind, turn, fields) in enumerate(records, 1)
    ]
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    (directory / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
    return session


def painted(arguments: list[str], text: str, cwd: Path, base: Path) -> Callable[[], float]:
    """Return a function that starts the command and tells how long a text took to appear."""

    def run() -> float:
        begun = time.perf_counter()
        with Terminal(arguments, cwd=cwd, base=base) as terminal:
            while text.encode() not in terminal.raw:
                terminal.pump(0.002)
                if time.perf_counter() - begun > 60:
                    raise SystemExit(f"{text!r} was never painted:\n{terminal.text}")
            return time.perf_counter() - begun

    return run


def pieces() -> list[str]:
    """Return the deltas of a long reply: words, now and then a new paragraph."""
    return [_WORDS[n % len(_WORDS)] + ("\n\n" if n % 60 == 59 else "") for n in range(DELTAS)]


def streamed(who: str, base: Path) -> Callable[[], float]:
    """Return a function that streams the reply in a process of its own and tells how long that took."""
    here = Path(__file__).resolve().parent
    command = [sys.executable, str(here / "stream_probe.py"), who]

    def run() -> float:
        done = subprocess.run(
            command, env=isolated(base), cwd=base, check=True, capture_output=True, text=True
        )
        return float(done.stdout)

    return run


def echoes(terminal: Terminal, keys: int) -> list[float]:
    """Type and return how long each letter took to come back on the screen, in seconds."""
    times: list[float] = []
    typed = ""
    for number in range(keys):
        terminal.pump(0.02)
        letter = _ECHOED[number % 2]
        typed += letter
        came, begun = b"", time.perf_counter()
        terminal.send(letter)
        # A frame draws the line of the draft whole, also where only the reply above it changed.
        while typed.encode() not in came:
            # Read bare: the emulator would take longer to draw a frame than the frame took to come.
            with suppress(pexpect.TIMEOUT):
                came += terminal.child.read_nonblocking(65_536, timeout=0.5)
            if time.perf_counter() - begun > 20:
                raise SystemExit(f"the letter never came:\n{terminal.text}")
        times.append(time.perf_counter() - begun)
        terminal.stream.feed(came)
    return times


def typing(cwd: Path, base: Path) -> Row:
    """Measure keys typed into an idle screen, and into one where a reply streams."""

    def slow(request: Recorded) -> Reply:
        return Reply(text=tuple(pieces() * 4), pause=0.005)

    with serve(answerer=slow) as server:
        arguments = ["run", "--new", "--provider", "openai", "--model", "m", "--base-url", server.base_url]
        with Terminal(arguments, cwd=cwd, base=base) as terminal:
            terminal.wait_for("ready")
            idle = echoes(terminal, KEYS)
            terminal.press(*["backspace"] * KEYS)
            terminal.settle(0.3)
            terminal.send("go on\r")
            terminal.wait_for("answering")
            busy = echoes(terminal, KEYS)
            terminal.press("escape")
    return Row("key to echo while a reply streams / idle", busy, idle, 3.0, each_differs=True)


def aged(base: Path) -> Row:
    """Compare the memory of a process after many turns with that after few; milliseconds are MiB here."""
    here = Path(__file__).resolve().parent
    command = [sys.executable, str(here / "stream_probe.py"), "turns"]
    done = subprocess.run(command, env=isolated(base), cwd=base, check=True, capture_output=True, text=True)
    young, old = (float(word) for word in done.stdout.split())
    return Row(f"MiB after {TURNS:,} turns / after {YOUNG}", [old / 1000], [young / 1000], 1.1)


def session_rows(root: Path, rounds: int, count: int) -> list[Row]:
    """Measure long sessions; how many records there are makes no difference to them."""
    base, place = root / "user", root / "place"
    place.mkdir(parents=True)
    sessions = Path(isolated(base)["MUNIMENT_STATE_DIR"]) / "sessions"
    long = write_session(sessions, place, MESSAGES)
    resume = ["run", "--resume", long, "--provider", "rehearsal"]
    new = ["run", "--new", "--provider", "rehearsal"]
    few = max(3, rounds // 2)
    return [
        compare(
            f"resume of {MESSAGES:,} messages painted / empty session",
            painted(resume, f"Question {MESSAGES // 2 - 1}", place, base),
            painted(new, "digest 0", place, base),
            target=1.5,
            rounds=few,
        ),
        compare(
            f"streaming {DELTAS:,} deltas / Textual's own stream",
            streamed("ours", base),
            streamed("bare", base),
            target=1.3,
            rounds=few,
        ),
        typing(place, base),
        aged(base),
    ]
