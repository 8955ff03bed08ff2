"""Attacks on the dialog in a real terminal: whatever comes at it, only a person who could read allows."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from support.environment import REPOSITORY
from support.poll import PATIENCE
from support.terminal import Terminal

Size: TypeAlias = tuple[int, int]
SIZES = [(80, 24), (40, 20)]
both_sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "40x20"])
LONG = "\n".join(["a benign beginning", *(f"line {n}" for n in range(2, 143)), "and a different end"])
ARMED = "ARMED"
IGNORED = "ignored"
AGAIN_SECONDS = 10.0
ROOM = 5.0
"""Seconds of a quiet time that leaves a slow machine room for what comes while the keys are still ignored."""


class Desk(Terminal):
    """A terminal with the desk program in it."""

    answers_file: Path

    @property
    def answers(self) -> list[list[object]]:
        if not self.answers_file.exists():
            return []
        return [json.loads(line) for line in self.answers_file.read_text(encoding="utf-8").splitlines()]

    def armed(self) -> None:
        self.wait_for(ARMED)

    def calm(self) -> None:
        """Let a decision come that was on its way, and see that there is none."""
        self.pump(0.5)
        assert self.answers == []
        assert "Create a record" in self.text

    def read_to_the_end(self) -> None:
        """Scroll to the end of what does not fit; scrolling disarms nothing that was armed."""
        self.armed()
        self.press("end")

    def decide(self, act: str | Callable[[], None], count: int = 1) -> list[list[object]]:
        """Press a key, or click, as a person does: when the dialog is armed, again where it had to disarm."""
        deadline = time.monotonic() + PATIENCE
        while len(self.answers) < count:
            assert time.monotonic() < deadline, self.text
            self.wait(lambda shown: ARMED in shown or len(self.answers) >= count, what="an armed dialog")
            if isinstance(act, str):
                self.press(act)
            else:
                act()
            again = time.monotonic() + AGAIN_SECONDS
            self.wait(
                lambda shown, at=again: (
                    ARMED not in shown or len(self.answers) >= count or time.monotonic() > at
                ),
                what="a decision",
            )
            self.pump(0.3)
        return self.answers


OpenDesk: TypeAlias = Callable[..., AbstractContextManager[Desk]]


@pytest.fixture
def desk(tmp_path: Path) -> OpenDesk:
    @contextmanager
    def start(
        text: str = "text #",
        *,
        count: int = 1,
        size: tuple[int, int] = (80, 24),
        ready: str = "Create a record",
        quiet: float = 0.8,
    ) -> Iterator[Desk]:
        source = tmp_path / "text"
        source.write_text(text, encoding="utf-8")
        answers = tmp_path / "answers"
        terminal = Desk(
            [
                str(REPOSITORY / "tests/support/desk_program.py"),
                str(answers),
                str(count),
                str(source),
                str(quiet),
            ],
            cwd=tmp_path,
            base=tmp_path,
            columns=size[0],
            rows=size[1],
            env={"PYTHONPATH": str(REPOSITORY / "tests"), "COLUMNS": "", "LINES": ""},
            command=sys.executable,
        )
        terminal.answers_file = answers
        with terminal:
            terminal.wait_for(ready)
            yield terminal

    return start


@both_sizes
def test_a_person_who_waits_and_reads_can_allow(desk: OpenDesk, size: Size) -> None:
    with desk(size=size) as terminal:
        terminal.wait_painted(IGNORED)
        terminal.read_to_the_end()
        assert terminal.decide("a") == [["call-1", True, "user", ""]]


@both_sizes
def test_keys_at_once_decide_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size, quiet=ROOM) as terminal:
        for key in ("y", "a", "d", "n", "enter", "space", "escape", "1"):
            terminal.press(key)
            terminal.pump(0.15)
            assert ARMED not in terminal.text
        terminal.calm()


@both_sizes
def test_keys_typed_ahead_of_the_opening_stay_in_the_composer(desk: OpenDesk, size: Size) -> None:
    with desk(count=0, size=size, ready="Saved.") as terminal:
        # F9, which asks, and all that is typed behind it in one piece.
        terminal.send("\x1b[20~yes allow a\ry")
        terminal.wait_for("1 proposal waits – F4 to review", "yes allow a")
        terminal.pump(2.5)
        assert terminal.answers == []
        assert "Create a record" not in terminal.text


@both_sizes
def test_typing_on_through_the_opening_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size, quiet=3) as terminal:
        for _ in range(50):
            terminal.press("y")
            terminal.pump(0.1)
        assert terminal.answers == []
        assert ARMED not in terminal.text


@both_sizes
def test_a_key_held_for_five_seconds_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size, quiet=3) as terminal:
        for _ in range(150):
            terminal.press("y")
            terminal.pump(0.033)
        assert terminal.answers == []
        assert ARMED not in terminal.text


@both_sizes
@pytest.mark.parametrize("when", ["at once", "armed"])
def test_pastes_decide_nothing_with_and_without_brackets(desk: OpenDesk, size: Size, when: str) -> None:
    with desk(size=size) as terminal:
        for text in ("y\ny\na\n1\n\x1b[201~y\nallow\n", "y\n", "allow"):
            for paste in (terminal.paste, terminal.send):
                if when == "armed":
                    terminal.armed()
                paste(text)
                terminal.calm()


@both_sizes
def test_a_click_at_the_opening_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size, quiet=ROOM) as terminal:
        terminal.wait_for("Allow", IGNORED)
        terminal.click(*terminal.find("Allow"))
        terminal.calm()


def test_a_click_on_the_armed_button_allows(desk: OpenDesk) -> None:
    with desk() as terminal:

        def click() -> None:
            terminal.wait_for("Allow once ]")
            terminal.click(*terminal.find("Allow once ]"))

        assert terminal.decide(click) == [["call-1", True, "user", ""]]


@both_sizes
def test_no_palette_and_no_help_opens_over_it(desk: OpenDesk, size: Size) -> None:
    with desk(size=size) as terminal:
        for key in ("ctrl+p", "f1"):
            terminal.press(key)
            terminal.calm()
            terminal.armed()
            terminal.press(key)
            terminal.calm()
            assert "Search for" not in terminal.text


@both_sizes
@pytest.mark.parametrize("key", ["ctrl+p", "f3", "enter", "backspace"])
def test_what_is_typed_behind_a_key_for_something_else_decides_nothing(
    desk: OpenDesk, size: Size, key: str
) -> None:
    with desk(size=size, quiet=2) as terminal:
        terminal.armed()
        before = len(terminal.raw)
        terminal.press(key)
        terminal.wait_painted(IGNORED, after=before)
        terminal.press("a")
        terminal.calm()


@both_sizes
def test_a_key_typed_while_the_process_was_stopped_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size) as terminal:
        terminal.armed()
        os.kill(terminal.child.pid, signal.SIGSTOP)
        terminal.press("y")
        terminal.pump(0.5)
        before = len(terminal.raw)
        os.kill(terminal.child.pid, signal.SIGCONT)
        terminal.wait_painted(IGNORED, after=before)
        terminal.calm()


@both_sizes
def test_a_key_typed_before_arming_and_read_after_a_stop_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size) as terminal:
        terminal.wait_painted(IGNORED)
        os.kill(terminal.child.pid, signal.SIGSTOP)
        terminal.press("y")
        terminal.pump(1.5)
        os.kill(terminal.child.pid, signal.SIGCONT)
        terminal.calm()


@both_sizes
def test_a_key_behind_a_stall_that_locks_the_interpreter_decides_nothing(desk: OpenDesk, size: Size) -> None:
    with desk(size=size) as terminal:
        terminal.armed()
        before = len(terminal.raw)
        os.kill(terminal.child.pid, signal.SIGUSR1)
        terminal.pump(0.1)
        terminal.press("y")
        terminal.wait_painted(IGNORED, after=before)
        terminal.calm()


@both_sizes
def test_the_second_dialog_right_behind_the_first_needs_its_own_arming(desk: OpenDesk, size: Size) -> None:
    with desk(count=2, size=size) as terminal:
        terminal.wait_for("1 of 2")
        terminal.read_to_the_end()
        before = len(terminal.raw)
        terminal.decide("a")
        for _ in range(20):
            terminal.press("a")
            terminal.pump(0.03)
        terminal.wait(lambda shown: "2 of 2" in shown or "F4 to review" in shown, what="the second one")
        if "F4 to review" in terminal.text:
            # A key that came between the two went into the draft, which holds the second one back.
            terminal.press("f4")
            terminal.wait_for("2 of 2")
        terminal.wait_painted(IGNORED, after=before)
        assert [answer[0] for answer in terminal.answers] == ["call-1"]
        assert terminal.decide("d", 2)[1] == ["call-2", False, "user", ""]


@both_sizes
def test_a_text_longer_than_the_screen_cannot_be_allowed_before_its_end(desk: OpenDesk, size: Size) -> None:
    with desk(LONG, size=size) as terminal:
        terminal.armed()
        assert "a different end" not in terminal.text
        for key in ("a", "y"):
            terminal.press(key)
            terminal.calm()
        terminal.armed()
        for _ in range(40):
            terminal.press("pagedown")
            terminal.pump(0.1)
            if "a different end" in terminal.text:
                break
        terminal.wait_for("and a different end")
        assert terminal.decide("a") == [["call-1", True, "user", ""]]


def test_resizing_an_open_dialog_decides_nothing_and_keeps_it(desk: OpenDesk) -> None:
    with desk(size=(120, 40)) as terminal:
        terminal.armed()
        for columns, rows in ((80, 24), (40, 20), (20, 8), (120, 40)):
            terminal.resize(columns, rows)
            terminal.pump(0.3)
            assert terminal.answers == []
        terminal.wait_for("Create a record", "text 1")
        assert terminal.decide("d") == [["call-1", False, "user", ""]]


def test_a_tiny_terminal_says_so_and_can_only_deny(desk: OpenDesk) -> None:
    with desk(size=(24, 6), ready="small") as terminal:
        terminal.armed()
        terminal.press("a")
        terminal.pump(0.5)
        assert terminal.answers == []
        assert terminal.decide("d") == [["call-1", False, "user", ""]]


def test_hostile_text_sends_no_control_to_the_terminal(desk: OpenDesk) -> None:
    hostile = "\x1b]0;PWNED\x07 \x1b[2J \x9b31m \u202etxet\u202c [@click=app.quit]x[/] [/]"
    with desk(hostile) as terminal:
        terminal.armed()
        assert b"PWNED\x07" not in terminal.raw
        assert b"\x1b]0;PWNED" not in terminal.raw
        assert "\\x1b]0;PWNED\\x07 \\x1b[2J \\x9b31m \\u202etxet\\u202c" in " ".join(terminal.text.split())
        assert "[@click=app.quit]x[/] [/]" in terminal.text


def test_a_reason_reaches_the_answer_and_its_keys_decide_nothing(desk: OpenDesk) -> None:
    with desk() as terminal:
        while "WRITING" not in terminal.text:
            terminal.wait(lambda shown: ARMED in shown or "WRITING" in shown, what="an armed dialog")
            if ARMED in terminal.text:
                terminal.press("r")
                terminal.wait_gone(ARMED)
                terminal.pump(0.2)
        terminal.press(*"any day now")
        terminal.calm()
        terminal.press("enter")
        terminal.wait_for("▶ d · Deny with this reason ◀")
        assert terminal.decide("enter") == [["call-1", False, "user", "any day now"]]


def test_leaving_the_program_denies(desk: OpenDesk) -> None:
    with desk() as terminal:
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0
        assert terminal.answers in ([], [["call-1", False, "closed", "the app was closed"]])
