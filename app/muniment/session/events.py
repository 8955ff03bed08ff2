"""What the engine says while a turn runs. Screen, headless run and evals consume the same events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from muniment.approval.proposal import Decision, Proposal
from muniment.model.base import Usage

TurnStatus = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A session is ready; first event of every run."""

    id: str
    recipe: str
    provider: str
    model: str
    mode: str


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The user's message is in the log."""

    text: str


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request goes out; `number` counts from 1 within the turn."""

    number: int
    estimate: int
    budget: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the reply's text."""

    delta: str


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """The text streamed since the request went out does not count: the request is tried again."""


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """One reply is complete and logged; `text` is all of it."""

    text: str
    calls: int


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asks for a tool; `arguments` is the validated object, or the raw text where there is none."""

    id: str
    tool: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class ProposalMade:
    """A call was inspected: it waits for a decision, or `shown` says that it runs unasked."""

    proposal: Proposal
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """A proposal was allowed or denied."""

    id: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call has its result; `changed` tells that memory or a file was written."""

    id: str
    tool: str
    status: str
    result: dict[str, Any]
    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence that the user should read; nothing failed."""

    text: str


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """One sentence about something that failed."""

    text: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """Older turns were replaced by a summary in what the model receives."""

    text: str
    covered_turns: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over, whatever happened in it; last event of every turn."""

    status: TurnStatus
    usage: Usage = field(default_factory=Usage)


Event = (
    SessionOpened
    | UserSaid
    | RequestSent
    | TextDelta
    | TextDiscarded
    | ReplyEnded
    | ToolCalled
    | ProposalMade
    | Decided
    | ToolFinished
    | Notice
    | ErrorRaised
    | Compacted
    | TurnEnded
)
