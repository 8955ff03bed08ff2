"""Approval on a plain terminal: the whole proposal in its exact form, then a question, default no."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator

from muniment.approval.proposal import Approver, Decision, Proposal
from muniment.cli.shell import Shell, forget_typed_ahead
from muniment.safety.visible import exact_block, exact_line


def proposal_lines(proposal: Proposal) -> Iterator[str]:
    """Yield the proposal line by line: every field, the difference, every warning, nothing cut."""
    yield f"── {proposal.title} ──"
    yield f"tool: {exact_line(proposal.tool).text}"
    for field in proposal.fields:
        if field.kind == "line":
            yield f"{field.label}: {exact_line(field.value).text}"
        else:
            yield f"{field.label}:"
            yield from _block(field.value)
    change = proposal.change
    if change is not None and change.before is not None and change.after is not None:
        yield f"{change.label}, as a difference (- old, + new):"
        yield from _difference(change.before, change.after)
    elif change is not None:
        word = "to be deleted" if change.after is None else "new"
        yield f"{change.label} ({word}):"
        yield from _block(change.before if change.after is None else change.after)
    for warning in proposal.warnings:
        place = f" [{exact_line(warning.place).text[1:-1]}]" if warning.place else ""
        yield f"! {exact_line(warning.text).text[1:-1]}{place}"
    asker = proposal.asker
    who = ", ".join(
        f"{label} {exact_line(value).text[1:-1]}"
        for label, value in (
            ("session", asker.session),
            ("recipe", asker.recipe),
            ("agent", asker.agent),
            ("model", asker.model),
        )
        if value
    )
    if who:
        yield f"asked by: {who}"
    yield " ".join(each for each in (proposal.coverage, proposal.shown_later) if each)


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


def _block(text: str | None) -> Iterator[str]:
    shown = exact_block(text or "").text
    for line in shown.split("\n"):
        yield f"  | {line}"


def _difference(before: str, after: str) -> Iterator[str]:
    from difflib import ndiff

    old, new = exact_block(before).text.split("\n"), exact_block(after).text.split("\n")
    if len(old) + len(new) > 2_000:
        yield from (f"  - {line}" for line in old)
        yield from (f"  + {line}" for line in new)
        return
    yield from (f"  {line}" for line in ndiff(old, new) if not line.startswith("?"))
