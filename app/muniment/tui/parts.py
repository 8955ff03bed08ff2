"""The parts of a conversation as plain data, and which of them stand on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["who", "user", "reply", "tool", "notice", "error", "summary"]

TAIL = 40
"""How many parts are drawn when a conversation is opened, at most."""
BATCH = 20
"""How many older parts are drawn when the top is reached."""
MOST = 80
"""Above so many drawn parts the oldest are taken away again while the end is in view."""


@dataclass(eq=False)
class Part:
    """One part; `text` is what was said, `call` to `result` belong to a tool call, `turns` to a summary."""

    kind: Kind
    text: str = ""
    call: str = ""
    arguments: dict[str, Any] | str = ""
    status: str = ""
    decision: str = ""
    result: str = ""
    turns: int = 0

    def decided(self, word: str, by: str, reason: str) -> None:
        """Note who decided this call, and why where the user said so."""
        self.decision = word if by == "user" else f"{word} by {by}"
        if reason and by == "user":
            self.decision += f": {reason}"


@dataclass(slots=True)
class Window:
    """Which parts are drawn: those from `first` on. Nothing in the middle is ever missing."""

    total: int = 0
    first: int = 0

    @property
    def drawn(self) -> int:
        return self.total - self.first

    def open(self, total: int, tail: int = TAIL) -> None:
        """Begin with the end of a conversation."""
        self.total = total
        self.first = max(0, total - tail)

    def prepend(self, count: int) -> None:
        """Note that so many older parts became known, none of them drawn."""
        self.total += count
        self.first += count

    def add(self) -> None:
        """Note that a part was drawn at the end."""
        self.total += 1

    def older(self) -> range:
        """Draw a batch of older parts and return their places; empty where all are drawn."""
        start = max(0, self.first - BATCH)
        batch = range(start, self.first)
        self.first = start
        return batch

    def prune(self) -> int:
        """Return how many of the oldest drawn parts go, and note that they went."""
        excess = self.drawn - MOST
        if excess <= 0:
            return 0
        gone = excess + BATCH
        self.first += gone
        return gone
