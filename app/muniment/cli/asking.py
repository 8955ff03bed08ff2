"""Approval on a plain terminal: the whole proposal in its exact form, then a question, default no."""

from __future__ import annotations

import asyncio
import os
import sys

from muniment.approval.proposal import Approver, Decision, Proposal
from muniment.approval.written import difference_lines, proposal_lines
from muniment.cli.shell import Shell, forget_typed_ahead

__all__ = ["ask_now", "difference_lines", "proposal_lines", "terminal_approver"]


def terminal_approver(shell: Shell) -> Approver | None:
    """Return an approver that asks on the terminal, or None where there is none."""
    if not shell.has_terminal:
        return None

    async def ask(proposal: Proposal) -> Decision:
        _show(proposal)
        return _decision(await _line())

    return ask


def ask_now(proposal: Proposal) -> Decision:
    """Show a proposal on the terminal and read the answer; only `y` and `yes` allow."""
    _show(proposal)
    return _decision(sys.stdin.readline())


def _show(proposal: Proposal) -> None:
    sys.stdout.flush()
    for line in proposal_lines(proposal):
        sys.stderr.write(line + "\n")
    forget_typed_ahead()
    sys.stderr.write("Allow this once? [y/N, or N and a reason] ")
    sys.stderr.flush()


def _decision(line: str) -> Decision:
    answer = line.strip()
    if answer.casefold() in ("y", "yes"):
        return Decision(True, "user")
    word, _, reason = answer.partition(" ")
    said = reason.strip() if word.casefold() in ("n", "no") else ""
    return Decision(False, "user", said)


async def _line() -> str:
    """Read a line without a thread, so that an interrupt ends the question at once."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str] = loop.create_future()
    number = sys.stdin.fileno()

    def read() -> None:
        if not answered.done():
            answered.set_result(os.read(number, 65_536).decode("utf-8", "replace"))

    loop.add_reader(number, read)
    try:
        line = await answered
    except asyncio.CancelledError:
        sys.stderr.write("\n")
        raise
    finally:
        loop.remove_reader(number)
    if not line:
        sys.stderr.write("\n")
    return line
