"""What a person does in a session on a real terminal: write, read a dialog to its end, allow, deny, leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from support.terminal import Terminal

REHEARSAL = ("run", "--new", "--provider", "rehearsal")


def begun(
    cwd: Path,
    base: Path,
    arguments: Sequence[str] = REHEARSAL,
    *,
    columns: int = 120,
    rows: int = 40,
    env: Mapping[str, str] | None = None,
) -> Terminal:
    """Start a session and wait until it can be written to."""
    terminal = Terminal(arguments, cwd=cwd, base=base, columns=columns, rows=rows, env=env)
    terminal.wait_for("Write a message", "ready", "digest")
    return terminal


def say(terminal: Terminal, text: str) -> None:
    """Paste a message and send it once all of it has arrived."""
    terminal.paste(text)
    # One word, which no wrap can part.
    last = text.split()[-1]
    terminal.wait(lambda shown: last in shown, what="the pasted draft")
    terminal.press("enter")


def armed(terminal: Terminal) -> str:
    """Wait until the dialog can be decided and return what it shows."""
    return terminal.wait_for("ARMED")


def allow(terminal: Terminal) -> None:
    """Read the dialog to its end and allow it."""
    if "read to the end" in armed(terminal):
        terminal.press("end")
        terminal.wait_gone("read to the end")
        armed(terminal)
    terminal.press("a")
    terminal.wait_gone("ARMED")


def deny(terminal: Terminal) -> None:
    armed(terminal)
    terminal.press("d")
    terminal.wait_gone("ARMED")


def leave(terminal: Terminal) -> None:
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
