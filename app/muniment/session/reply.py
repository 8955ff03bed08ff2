"""One request on the wire: pieces become events as they come, and survive when it breaks off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.model.base import Finished, Model, ModelError, ModelRequest, RetryNotice, TextPiece
from muniment.session.events import Event, Notice, TextDelta, TextDiscarded

if TYPE_CHECKING:
    from muniment.session.trace import Trace


class Reply:
    """The text of the running reply so far."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def clear(self) -> None:
        self._pieces.clear()

    @property
    def text(self) -> str:
        return "".join(self._pieces)


async def receive(
    model: Model,
    request: ModelRequest,
    reply: Reply,
    emit: Callable[[Event], None],
    *,
    trace: Trace | None,
    turn: str,
    number: int,
    show: bool = True,
) -> Finished:
    """Ask the model once and return its whole reply; `reply` holds the text so far if this is cut short.

    A stream without an end counts as broken. With `show` false only retries are told.
    """
    reply.clear()
    if trace is not None:
        trace.request(turn, number, model.provider, model.name, request)
    try:
        finished = await _stream(model, request, reply, emit, show)
    except ModelError as error:
        if trace is not None:
            trace.failure(turn, number, error.sentence, reply.text)
        raise
    except BaseException:
        if trace is not None:
            trace.failure(turn, number, "stopped", reply.text)
        raise
    if trace is not None:
        trace.response(turn, number, finished)
    return finished


async def _stream(
    model: Model, request: ModelRequest, reply: Reply, emit: Callable[[Event], None], show: bool
) -> Finished:
    stream = model.stream(request)
    try:
        async for event in stream:
            match event:
                case TextPiece(text):
                    reply.add(text)
                    if show:
                        emit(TextDelta(text))
                case RetryNotice(attempt, attempts, wait, reason):
                    if show and reply.text:
                        emit(TextDiscarded())
                    reply.clear()
                    emit(
                        Notice(
                            f"{reason.rstrip('.')}; retry {attempt} of {attempts} follows in {wait:.0f} s."
                        )
                    )
                case Finished():
                    return event
    finally:
        # An iterator need not be a generator; one that is must stop its request now, not when collected.
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    return Finished(
        reply.text, (), "broken", note="The reply broke off before its end; what had arrived is kept."
    )
