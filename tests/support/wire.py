"""Models over real loopback HTTP, and what came of one request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal

from muniment.model.address import Endpoint, endpoint_of
from muniment.model.base import (
    Finished,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    RetryNotice,
    TextPiece,
    UserItem,
)
from muniment.model.openai_chat import OpenAIChatModel
from muniment.model.openai_responses import OpenAIResponsesModel
from muniment.model.openai_wire import OpenAIModel
from muniment.settings import ModelSettings
from support.poll import PATIENCE

Wire = Literal["chat", "responses"]
WIRES: tuple[Wire, ...] = ("chat", "responses")

KEY = "sk-test-Zq81LmPv30XyTr"
SILENCE = 1.5
"""Seconds of a time limit that a silent server is to outlast, and that a slow machine's first word is not."""
HELLO = ModelRequest("Be brief.", (UserItem("Hello?"),))


@dataclass
class Heard:
    """All events of one stream, or the error that ended it."""

    events: list[ModelEvent]
    error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextPiece))

    @property
    def finished(self) -> Finished:
        last = self.events[-1] if self.events else None
        assert isinstance(last, Finished), f"the last event is {last}, the error {self.error}"
        return last

    @property
    def retries(self) -> list[RetryNotice]:
        return [event for event in self.events if isinstance(event, RetryNotice)]

    @property
    def failure(self) -> ModelError:
        assert self.error is not None, f"no error, but {self.events[-1:]}"
        return self.error


async def hear(model: Model, request: ModelRequest = HELLO) -> Heard:
    """Ask once and collect what comes."""
    heard = Heard([])
    try:
        async for event in model.stream(request):
            heard.events.append(event)
    except ModelError as error:
        heard.error = error
    return heard


def endpoint(
    base_url: str, wire: Wire = "chat", *, key: str | None = KEY, timeout: float = PATIENCE
) -> Endpoint:
    settings = ModelSettings(name="local", base_url=base_url, api=wire)
    found = endpoint_of(settings, {} if key is None else {"OPENAI_API_KEY": key})
    return replace(found, timeout_seconds=timeout)


@asynccontextmanager
async def asking(
    base_url: str,
    wire: Wire = "chat",
    *,
    key: str | None = KEY,
    timeout: float = PATIENCE,  # noqa: ASYNC109 - a setting of the model
    strict: bool = False,
) -> AsyncIterator[OpenAIModel]:
    """A model at that address, closed at the end."""
    place = replace(endpoint(base_url, wire, key=key, timeout=timeout), strict_layout=strict)
    model = OpenAIChatModel(place) if wire == "chat" else OpenAIResponsesModel(place)
    try:
        yield model
    finally:
        await model.close()
