"""The rehearsal model: an offline stand-in that follows plain requests, so that nobody needs a key to try.

It is deterministic, knows nothing, and says what it is wherever it speaks.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

from muniment.model.base import AssistantItem, Finished, ModelEvent, ModelRequest, TextPiece, ToolCall, Usage
from muniment.model.rehearsal_answers import answer, explain, quote_memory, summarise
from muniment.model.rehearsal_requests import Batch, plan
from muniment.model.rehearsal_turn import Turn, read_turn

OPENING = "Rehearsal model: "
_PIECE = re.compile(r"\S+\s*|\s+")
_MOST_PIECES = 80


class RehearsalModel:
    """Answers at once; `pace` is the pause between two pieces of text in seconds."""

    def __init__(self, *, pace: float = 0.003) -> None:
        self._pace = pace

    @property
    def provider(self) -> str:
        return "rehearsal"

    @property
    def name(self) -> str:
        return "rehearsal"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        text, asks = respond(request)
        for piece in pieces(text):
            yield TextPiece(piece)
            await asyncio.sleep(self._pace)
        first = sum(len(item.calls) for item in request.items if isinstance(item, AssistantItem)) + 1
        calls = tuple(
            ToolCall(f"rehearsal_{number}", ask.tool, json.dumps(ask.arguments, ensure_ascii=False))
            for number, ask in enumerate(asks, first)
        )
        yield Finished(text, calls, "tool_calls" if calls else "stop", Usage())

    async def close(self) -> None:
        """Hold nothing open."""


def respond(request: ModelRequest) -> tuple[str, Batch]:
    """Return what to say to a request and the calls to make with it, if any."""
    if request.max_output is not None:
        return summarise(request), ()
    text, asks = _decide(read_turn(request))
    return OPENING + text, asks


def _decide(turn: Turn) -> tuple[str, Batch]:
    steps = plan(turn)
    if steps is None:
        return (answer(turn) if turn.done else quote_memory(turn) or explain(turn)), ()
    made = 0
    for step in steps:
        if any(done.refused for done in turn.done):
            break
        asks = step if isinstance(step, tuple) else step(turn.done[:made])
        if isinstance(asks, str):
            return f"{asks}\n\n{answer(turn)}".strip(), ()
        if made + len(asks) <= len(turn.done):
            made += len(asks)
            continue
        missing = sorted({ask.tool for ask in asks} - turn.offered)
        if missing:
            said = f"{answer(turn)}\n\n" if turn.done else ""
            names = ", ".join(missing)
            return f"{said}I would call {names} now, but this session does not offer it.", ()
        return asks[0].why, asks
    return answer(turn), ()


def pieces(text: str) -> list[str]:
    """Cut a text into the pieces it is streamed in: words, or more of them where it is long."""
    words = _PIECE.findall(text)
    each = max(1, -(-len(words) // _MOST_PIECES))
    return ["".join(words[at : at + each]) for at in range(0, len(words), each)]
