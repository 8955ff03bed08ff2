"""Who may do what: one pure function, asked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Literal


class Mode(StrEnum):
    """How much runs unasked; every session starts in `MANUAL` and no file ever sets another."""

    MANUAL = "manual"
    ACCEPT_EDITS = "accept-edits"
    BYPASS = "bypass"

    def loosens(self, other: Mode) -> bool:
        """Tell whether going from `other` to this mode lets more run unasked."""
        order = (Mode.MANUAL, Mode.ACCEPT_EDITS, Mode.BYPASS)
        return order.index(self) > order.index(other)


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    QUEUE = "queue"
    """Adds to the inbox: a queue for review, not memory."""
    MEMORY = "memory"
    FILE = "file"


Outcome = Literal["allow", "ask", "deny"]

PROTECTED_PATTERNS = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git",
    ".ssh",
    ".aws",
    ".gnupg",
    ".muniment",
)
"""Names that no tool opens in any mode, matched against every path component without regard to case."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The policy's answer; `shown` means that it runs unasked but its fields are displayed."""

    outcome: Outcome
    reason: str
    shown: bool = False


def protected_component(path: PurePath) -> str | None:
    """Return the first component of `path` that is protected, or None."""
    for part in path.parts:
        name = part.casefold()
        if any(fnmatchcase(name, pattern) for pattern in PROTECTED_PATTERNS):
            return part
    return None


def matches(tool: str, patterns: Iterable[str]) -> bool:
    """Tell whether a tool name is meant by one of a recipe's patterns such as `memory_*`."""
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


def decide(
    tool: str,
    effect: Effect,
    mode: Mode,
    *,
    targets: Iterable[PurePath] = (),
    approve: Iterable[str] = (),
) -> Verdict:
    """Decide one call from its tool, its effect, the mode, its file targets and the recipe's `approve`.

    A denied target is never opened; a recipe can only make a call ask that would have run.
    """
    for target in targets:
        part = protected_component(target)
        if part is not None:
            return Verdict("deny", f"{part} is protected in every mode")
    if effect is not Effect.READ and mode is Mode.BYPASS and not matches(tool, approve):
        return Verdict("allow", "bypass mode", shown=True)
    if matches(tool, approve):
        return Verdict("ask", "the recipe asks for approval")
    match effect:
        case Effect.READ:
            return Verdict("allow", "reading")
        case Effect.QUEUE:
            return Verdict("allow", "the inbox is a queue for review", shown=True)
        case Effect.FILE if mode is Mode.ACCEPT_EDITS:
            return Verdict("allow", "accept-edits mode", shown=True)
        case _:
            return Verdict("ask", f"{mode} mode")
