"""The rehearsal model: an offline stand-in that follows plain requests, so that everything can be tried without a key.

It is deterministic, knows nothing, and says what it is wherever it speaks.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

from muniment.model.base import Finished, ModelEvent, ModelRequest, TextPiece, ToolCall, Usage
from muniment.model.rehearsal_answers import answer, explain, quote_memory, summarise
from muniment.model.rehearsal_requests import Ask, plan
from muniment.model.rehearsal_turn import Turn, read_turn

OPENING = "Rehearsal model: "
_PIECE = re.compile(r"\S+\s*|\s+")
_MOST_PIECES = 80
_MAX_CALLS = 6


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
        text, ask = respond(request)
        for piece in pieces(text):
            yield TextPiece(piece)
            await asyncio.sleep(self._pace)
        calls: tuple[ToolCall, ...] = ()
        if ask is not None:
            number = sum(len(getattr(item, "calls", ())) for item in request.items) + 1
            calls = (
                ToolCall(f"rehearsal_{number}", ask.tool, json.dumps(ask.arguments, ensure_ascii=False)),
            )
        yield Finished(text, calls, "tool_calls" if calls else "stop", Usage())

    async def close(self) -> None:
        """Hold nothing open."""


def respond(request: ModelRequest) -> tuple[str, Ask | None]:
    """Return what to say to a request and the one call to make, if any."""
    if request.max_output is not None:
        return summarise(request), None
    turn = read_turn(request)
    text, ask = _decide(turn)
    return OPENING + text, ask


def _decide(turn: Turn) -> tuple[str, Ask | None]:
    steps = plan(turn)
    if steps is None:
        return (answer(turn) if turn.done else quote_memory(turn) or explain(turn)), None
    if any(done.refused for done in turn.done) or len(turn.done) >= min(len(steps), _MAX_CALLS):
        return answer(turn), None
    step = steps[len(turn.done)]
    ask = step if isinstance(step, Ask) else step(turn.done)
    if ask is None:
        return answer(turn), None
    if isinstance(ask, str):
        return f"{ask}\n\n{answer(turn)}", None
    if ask.tool not in turn.offered:
        said = f"{answer(turn)}\n\n" if turn.done else ""
        return f"{said}I would call {ask.tool} now, but this session does not offer it.", None
    return ask.why, ask


def pieces(text: str) -> list[str]:
    """Cut a text into the pieces it is streamed in: words, or more of them where it is long."""
    words = _PIECE.findall(text)
    each = max(1, -(-len(words) // _MOST_PIECES))
    return ["".join(words[at : at + each]) for at in range(0, len(words), each)]
