"""The same attacks on the installed command: no record appears before a person who could read allowed it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.environment import REPOSITORY
from support.journey import decide, deny
from support.terminal import Terminal, flat

SAVE = (
    "Use memory_store to save a project memory:\nid: pilot-rule\ntitle: Pilot rule\n"
    "content: Cite Notes A and B; show both denominators."
)
RECIPE = REPOSITORY / "recipes" / "review-work.yaml"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "study" / ".muniment" / "memory" / "pilot-rule.yaml"


@pytest.fixture(params=[(80, 24), (40, 20)], ids=["80x24", "40x20"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path, record: Path) -> Iterator[Terminal]:
    record.parent.parent.mkdir(parents=True, mode=0o700)
    (tmp_path / "user" / "config").mkdir(parents=True)
    # So long a quiet time leaves a slow machine room for what is typed too early.
    (tmp_path / "user" / "config" / "config.yaml").write_text("approval: {quiet_seconds: 4}\n")
    columns, rows = request.param
    with Terminal(
        ["run", "--new", "--file", str(RECIPE), "--provider", "rehearsal", "--no-trace"],
        cwd=tmp_path / "study",
        base=tmp_path / "user",
        columns=columns,
        rows=rows,
        env={"COLUMNS": "", "LINES": ""},
    ) as started:
        started.wait_for("ready")
        started.paste(SAVE)
        started.wait(lambda shown: "denominators" in flat(shown), what="the draft")
        yield started


def dialog(terminal: Terminal) -> None:
    terminal.wait(lambda shown: "─ Create a record" in shown or "━ Create a record" in shown, what="a dialog")


def test_type_ahead_keys_pastes_and_the_palette_write_nothing(terminal: Terminal, record: Path) -> None:
    # In one piece, so that the draft stands there before anything comes of the message.
    terminal.send("\ryes a y\r")
    terminal.wait_for("1 proposal waits – F4 to review")
    assert "Create a record ─" not in terminal.text
    terminal.press("f4")
    terminal.press("y", "a", "enter", "space")
    dialog(terminal)
    for attack in ("y", "\x10", "y\ny\na\n", "\x1b[200~y\nallow\n\x1b[201~"):
        terminal.send(attack)
        terminal.pump(0.3)
    assert not record.exists()
    dialog(terminal)
    assert "Search for" not in terminal.text
    # The pasted text went into the draft behind the dialog and nowhere else.
    deny(terminal)
    terminal.wait_for("denied")
    assert not record.exists()


def test_a_stop_between_the_armed_frame_and_the_key_writes_nothing(terminal: Terminal, record: Path) -> None:
    terminal.press("enter")
    dialog(terminal)
    terminal.wait_for("ARMED")
    terminal.press("end")
    terminal.pump(0.3)
    os.kill(terminal.child.pid, signal.SIGSTOP)
    terminal.press("y")
    terminal.pump(0.5)
    before = len(terminal.raw)
    os.kill(terminal.child.pid, signal.SIGCONT)
    terminal.wait_painted("ignored", after=before)
    terminal.pump(0.5)
    assert not record.exists()
    dialog(terminal)


def test_a_person_who_reads_allows_and_the_file_is_what_was_shown(terminal: Terminal, record: Path) -> None:
    terminal.press("enter")
    dialog(terminal)
    terminal.wait_for("ARMED")
    terminal.press("end")
    terminal.wait(lambda shown: "denominators." in flat(shown), what="the end")
    decide(terminal, "a")
    terminal.wait(lambda _: record.exists(), what="the record")
    assert "show both denominators." in record.read_text(encoding="utf-8")
