"""A proposal: one tool call that wants something, inspected and ready for a decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

FieldKind = Literal["line", "block"]
DecidedBy = Literal["user", "mode", "policy", "headless", "recipe", "closed"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field as it will be stored; sinks show it with `safety.visible` in its exact form, whole."""

    label: str
    value: str
    kind: FieldKind = "line"


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the product's word; nobody here means the built-in
    """One line for the reviewer's eyes: `kind` is a stable word like `hidden-characters`, `place` a label."""

    kind: str
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The text before and after; `before` is None for a new text, `after` is None for a deletion."""

    label: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks."""

    session: str = ""
    recipe: str = ""
    agent: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would happen if it were allowed.

    `plan` is the very object that will be executed: it holds exact arguments, target path and the digest of
    the state that was seen. Nothing else is ever executed on the strength of a decision on this proposal.
    """

    id: str
    tool: str
    title: str
    """What would happen, in words: `Create a record`."""
    fields: tuple[Field, ...]
    """Every field, none left out, in reading order; the long text stands in `change` and not here."""
    plan: object
    change: Change | None = None
    warnings: tuple[Warning, ...] = ()
    coverage: str = "This approval covers this content only, once."
    shown_later: str = ""
    """Where the text will be shown later, one sentence."""
    asker: Asker = field(default_factory=Asker)


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one proposal; never read back from a log, good for one execution."""

    allowed: bool
    by: DecidedBy
    reason: str = ""

    @property
    def word(self) -> str:
        return "allowed" if self.allowed else "denied"


Approver = Callable[[Proposal], Awaitable[Decision]]
"""Awaited by the engine; a cancelled turn cancels the wait, and the screen then closes the dialog."""
