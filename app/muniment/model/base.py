"""The one small protocol between the engine and any model: a request goes in, typed events stream out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from muniment.safety.errors import MunimentError

FinishReason = Literal["stop", "tool_calls", "length", "refusal", "broken"]
"""Why a reply ended. `length` was cut by a limit, `broken` is a stream that ended early: no call may run.

`length` still carries its calls, each with a fault, so that the history can say that they were not executed.
"""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One complete call; `arguments` is the JSON text as sent, not yet validated.

    `fault` says in one sentence why the call can never run (cut, not an object, two objects in one).
    """

    id: str
    name: str
    arguments: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class UserItem:
    """What the user said."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantItem:
    """What the model said and which tools it called; also carries the memory message and the summary."""

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolItem:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str


InputItem = UserItem | AssistantItem | ToolItem


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one request carries. `max_output` (tokens) is set for summaries only."""

    instructions: str
    items: tuple[InputItem, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as reported by the server; absent where it reports none."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the reply's text, in order; lone surrogates are already U+FFFD."""

    text: str


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """A try failed and another follows after `wait_seconds`; text already streamed is to be discarded."""

    attempt: int
    attempts: int
    wait_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every stream: the whole text, the complete calls and why it ended."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    note: str | None = None
    """One sentence for the user where the reply was cut, refused or broken off."""


ModelEvent = TextPiece | RetryNotice | Finished


class ModelError(MunimentError):
    """The model could not be asked; the sentence names setting and URL and never holds the key.

    `kind` is one of: `settings`, `connection`, `timeout`, `auth`, `not_found`, `bad_request`, `rate_limit`,
    `server`, `protocol`.
    """

    def __init__(
        self, sentence: str, *, kind: str, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after


class Model(Protocol):
    """A model that streams. Closing the iterator or cancelling its task stops the request at once."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield events, `Finished` last; raise `ModelError` where no usable reply can be had."""
        ...

    async def close(self) -> None:
        """Release connections; safe to call twice."""
        ...
