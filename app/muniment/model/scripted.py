"""A model that follows a script: for tests and evals, which must know beforehand what it will say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment.model.base import (
    AssistantItem,
    Finished,
    FinishReason,
    ModelError,
    ModelEvent,
    ModelRequest,
    RetryNotice,
    TextPiece,
    ToolCall,
    ToolItem,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One reply of the script.

    `expect` and `forbid` are texts that must, and must not, stand in a request. `hold_first` is awaited
    before the first piece of text, `hold` after the last. `error` is raised in place of an ending.
    """

    text: str | tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    note: str | None = None
    error: ModelError | None = None
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    hold_first: asyncio.Event | None = None
    hold: asyncio.Event | None = None
    retries: tuple[RetryNotice, ...] = ()
    """Told after the text, which they discard; the text then comes a second time."""


def call(name: str, arguments: Mapping[str, Any] | str | None = None, *, id: str = "") -> ToolCall:  # noqa: A002 - the word of `ToolCall`
    """Make a call; text is sent as it is, an empty id is filled in by the model in the order of calls."""
    raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}), ensure_ascii=False)
    return ToolCall(id, name, raw)


class ScriptedModel:
    """Streams its steps in order, one a request, and keeps every request.

    A request beyond the script, or one that is not as expected, raises `ModelError` and is noted in `faults`.
    """

    def __init__(self, steps: Sequence[Step | str], *, name: str = "scripted") -> None:
        self._steps = [Step(step) if isinstance(step, str) else step for step in steps]
        self._name = name
        self._calls_made = 0
        self.requests: list[ModelRequest] = []
        self.faults: list[str] = []
        self.closed = False

    @property
    def provider(self) -> str:
        return "scripted"

    @property
    def name(self) -> str:
        return self._name

    @property
    def remaining(self) -> int:
        """How many steps have not been asked for."""
        return max(0, len(self._steps) - len(self.requests))

    def extend(self, steps: Sequence[Step]) -> None:
        """Add steps at the end, such as those that need to know the session they are for."""
        self._steps.extend(steps)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._steps):
            raise self._fault(
                f"request {number + 1} is not in the script, which has {len(self._steps)} steps"
            )
        step = self._steps[number]
        self._check(step, number + 1, request)
        if step.hold_first is not None:
            await step.hold_first.wait()
        pieces = (step.text,) if isinstance(step.text, str) else step.text
        for notice in (*step.retries, None):
            for piece in pieces:
                if piece:
                    yield TextPiece(piece)
                    await asyncio.sleep(0)
            if notice is not None:
                yield notice
        if step.hold is not None:
            await step.hold.wait()
        if step.error is not None:
            raise step.error
        calls = tuple(self._numbered(each) for each in step.calls)
        finish = step.finish or ("tool_calls" if calls else "stop")
        yield Finished("".join(pieces), calls, finish, step.usage, step.note)

    async def close(self) -> None:
        self.closed = True

    def _numbered(self, each: ToolCall) -> ToolCall:
        self._calls_made += 1
        return (
            each if each.id else ToolCall(f"call_{self._calls_made}", each.name, each.arguments, each.fault)
        )

    def _check(self, step: Step, number: int, request: ModelRequest) -> None:
        if not step.expect and not step.forbid:
            return
        said = request_text(request)
        for wanted in step.expect:
            if wanted not in said:
                raise self._fault(f"request {number} lacks the expected text {wanted!r}")
        for unwanted in step.forbid:
            if unwanted in said:
                raise self._fault(f"request {number} holds the forbidden text {unwanted!r}")

    def _fault(self, text: str) -> ModelError:
        self.faults.append(text)
        return ModelError(f"The script does not fit: {text}.", kind="protocol")


def request_text(request: ModelRequest) -> str:
    """Return all that a request says to the model, one part a line: instructions, items, names of tools."""
    parts = [request.instructions]
    for item in request.items:
        parts.append(item.text)
        if isinstance(item, AssistantItem):
            parts += [f"{each.name} {each.arguments}" for each in item.calls]
        elif isinstance(item, ToolItem):
            parts.append(item.name)
    parts += [spec.name for spec in request.tools]
    return "\n".join(parts)
