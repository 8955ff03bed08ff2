"""What a person does in a session on a real terminal: write, read a dialog to its end, allow, deny, leave."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.terminal import Terminal

AGAIN_SECONDS = 10.0
FRAME_SECONDS = 0.2
SESSION = re.compile(r" · ([0-9a-f]{8})\b")
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


def renew(terminal: Terminal) -> None:
    """Begin a new session and wait until it is another one than before."""
    old = SESSION.findall(terminal.text)
    say(terminal, "/new")
    terminal.wait(
        lambda shown: "ready" in shown and SESSION.findall(shown) not in ([], old), what="a new session"
    )


def armed(terminal: Terminal) -> str:
    """Wait until the dialog can be decided and return what it shows."""
    return terminal.wait_for("ARMED")


def allow(terminal: Terminal) -> None:
    """Read the dialog to its end and allow it."""
    if "read to the end" in armed(terminal):
        terminal.press("end")
        terminal.wait_gone("read to the end")
    decide(terminal, "a")


def deny(terminal: Terminal) -> None:
    decide(terminal, "d")


def decide(terminal: Terminal, key: str) -> None:
    """Press a key in the armed dialog, and once more where a machine that stood still voided it."""
    while _asks(terminal.text):
        terminal.wait(lambda shown: "ARMED" in shown or not _asks(shown), what="an armed dialog")
        if _asks(terminal.text):
            terminal.press(key)
            pressed = time.monotonic()
            # Pressed too early, it may leave no trace; pressed again too soon, it would be one key too many.
            terminal.wait(
                lambda shown, at=pressed: "ARMED" not in shown or time.monotonic() > at + AGAIN_SECONDS,
                what="a decision",
            )
        # Half a frame may have been drawn.
        terminal.pump(FRAME_SECONDS)


def _asks(shown: str) -> bool:
    return "ARMED" in shown or "ignored" in shown


def leave(terminal: Terminal) -> None:
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
