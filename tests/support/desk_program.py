"""A program for a pseudo-terminal: the real desk and dialog, asked at once, answers written to a file.

    desk_program.py ANSWERS COUNT TEXT QUIET-SECONDS

F9 asks once more. SIGUSR1 makes the process stand still for 0.7 seconds with the interpreter locked.
"""

from __future__ import annotations

import ctypes
import json
import signal
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from muniment.approval.proposal import Decision
from support.approvals import DeskApp, a_proposal


class Program(DeskApp):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f9", "ask_again", "Ask", id="app.ask")]

    def __init__(self, answers: Path, count: int, text: str, quiet: float) -> None:
        super().__init__(quiet_seconds=quiet)
        self.answers = answers
        self.text = text
        self.asked = 0
        self.first = count

    def on_mount(self) -> None:
        super().on_mount()
        for _ in range(self.first):
            self.action_ask_again()

    def action_ask_again(self) -> None:
        self.asked += 1
        proposal = a_proposal(self.text.replace("#", str(self.asked)), id=f"call-{self.asked}")
        self.run_worker(self.wait_for(proposal.id, self.desk.ask(proposal)))

    async def wait_for(self, name: str, asking: Awaitable[Decision]) -> None:
        decision = await asking
        with self.answers.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, decision.allowed, decision.by, decision.reason]) + "\n")


def stand_still(*_: object) -> None:
    # A foreign call that keeps the interpreter locked, so that not even the input thread gets a turn.
    ctypes.PyDLL(None).usleep(700_000)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, stand_still)
    answers, count, text, quiet = sys.argv[1:]
    Program(Path(answers), int(count), Path(text).read_text(encoding="utf-8"), float(quiet)).run()
