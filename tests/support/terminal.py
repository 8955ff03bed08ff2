"""The installed command in a pseudo-terminal, read through a terminal emulator, driven by real keys."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pexpect
import pyte

from support.environment import isolated
from support.poll import PATIENCE

COMMAND = Path(sys.executable).with_name("muniment")

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f8": "\x1b[19~",
    "ctrl+c": "\x03",
    "ctrl+j": "\n",
    "ctrl+p": "\x10",
    "ctrl+q": "\x11",
}


class Terminal:
    """One child process, its screen and its keyboard."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        base: Path,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        command: str | None = None,
    ) -> None:
        self.columns, self.rows = columns, rows
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor", **dict(env or {})}
        self.child = pexpect.spawn(
            # Without arguments the library would split a path at its blanks.
            (command or str(COMMAND)) if arguments else shlex.quote(command or str(COMMAND)),
            list(arguments),
            cwd=str(cwd),
            env=isolated(base, variables),
            dimensions=(rows, columns),
            timeout=PATIENCE,
            encoding=None,
        )
        # The pause that pexpect makes before every write guards password prompts and only slows keys here.
        self.child.delaybeforesend = None

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pump(self, seconds: float = 0.05) -> None:
        """Read what the child wrote within `seconds` and draw it."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            try:
                data = self.child.read_nonblocking(65_536, timeout=left)
            except (pexpect.TIMEOUT, pexpect.EOF):
                return
            self.raw += data
            self.stream.feed(data)

    @property
    def lines(self) -> list[str]:
        """The screen as it is drawn now, one string a row."""
        return list(self.screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait(self, condition: Callable[[str], object], *, seconds: float = PATIENCE, what: str = "") -> str:
        """Draw until `condition(screen text)` holds and return that text."""
        deadline = time.monotonic() + seconds
        while True:
            self.pump()
            if condition(self.text):
                return self.text
            if time.monotonic() > deadline or not self.child.isalive():
                self.pump(0.2)
                if condition(self.text):
                    return self.text
                raise AssertionError(
                    f"waited in vain for {what or 'a screen'}; the screen shows\n{self.text}"
                )

    def wait_for(self, *texts: str, seconds: float = PATIENCE) -> str:
        """Draw until every text is on the screen, line breaks and borders ignored."""
        return self.wait(
            lambda shown: all(text in shown or flat(text) in flat(shown) for text in texts),
            seconds=seconds,
            what=repr(texts),
        )

    def wait_gone(self, text: str, *, seconds: float = PATIENCE) -> str:
        return self.wait(lambda shown: text not in shown, seconds=seconds, what=f"{text!r} to go")

    def wait_painted(self, text: str, *, after: int = 0) -> None:
        """Draw until a text has been painted since `after` bytes, though perhaps not for long."""
        self.wait(lambda _: text.encode() in self.raw[after:], what=f"{text!r} to be painted")

    def settle(self, seconds: float = 0.4) -> str:
        """Draw until the child has been silent for `seconds`; for showing that nothing happens."""
        while True:
            before = len(self.raw)
            self.pump(seconds)
            if len(self.raw) == before:
                return self.text

    def send(self, text: str) -> None:
        """Write bytes to the keyboard as they are."""
        self.child.send(text.encode())

    def press(self, *names: str) -> None:
        """Press named keys; a single character stands for itself."""
        for name in names:
            self.send(KEYS.get(name, name))

    def paste(self, text: str) -> None:
        """Paste in brackets, as terminals do."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def click(self, column: int, row: int) -> None:
        """Click at a 0-based cell."""
        self.send(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")

    def find(self, text: str) -> tuple[int, int]:
        """Return the 0-based column and row where a text begins."""
        for row, line in enumerate(self.lines):
            if text in line:
                return line.index(text), row
        raise AssertionError(f"{text!r} is not on the screen\n{self.text}")

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def exit_code(self, *, seconds: float = PATIENCE) -> int:
        """Wait for the end of the child and return its exit code."""
        deadline = time.monotonic() + seconds
        while self.child.isalive():
            self.pump()
            if time.monotonic() > deadline:
                raise AssertionError(f"the command did not end; the screen shows\n{self.text}")
        # What it wrote last may still lie there; the end of it comes at once.
        self.pump(1.0)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus)

    def close(self) -> None:
        if self.child.isalive():
            self.child.close(force=True)
        else:
            self.child.close()


def flat(text: str) -> str:
    """Drop blanks and box drawing, so that a text matches however a screen broke it into lines."""
    return "".join(c for c in text if not c.isspace() and not 0x2500 <= ord(c) <= 0x259F)
