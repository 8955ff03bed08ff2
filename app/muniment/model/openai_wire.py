"""What both wires of an OpenAI-compatible server share: the client, the stream of JSON events, its faults.

The client library gives connection, address and credentials. The stream itself is decoded here, because the
library's own decoder ends a whole answer over a keep-alive without data or a byte-order mark.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from muniment.model.address import Endpoint
from muniment.model.base import ModelError, ModelEvent, ModelRequest, TextPiece
from muniment.model.draft import Draft, ReplyTooLarge
from muniment.model.faults import connection_fault, event_fault, excerpt, status_fault, timeout_fault
from muniment.model.openai_client import Refused, make_client
from muniment.model.sse import EventDecoder, EventTooLarge, ServerEvent

if TYPE_CHECKING:
    import openai

GRACE_SECONDS = 2.0
"""How long to wait for token counts once a reply is complete, where the server does not end the stream."""
DONE = "[DONE]"
_JSON_MAX_BYTES = 16 * 1024 * 1024


class OpenAIModel(ABC):
    """A model behind an OpenAI-compatible server; connections are kept between requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._client: openai.AsyncOpenAI | None = None

    @property
    def provider(self) -> str:
        return "openai"

    @property
    def name(self) -> str:
        return self.endpoint.model

    @abstractmethod
    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Return the JSON body of a request."""

    @abstractmethod
    def _open(self, client: openai.AsyncOpenAI, body: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
        """Open the streaming response for a body."""

    @abstractmethod
    def _reply(self) -> ReplyReader:
        """Return a reader for one reply."""

    def _without_refused(self, body: dict[str, Any], said: str) -> dict[str, Any] | None:
        """Return a body without the optional field that the server just refused, or None."""
        return None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        reader = self._reply()
        draft = reader.draft
        try:
            async for event in self._events(self.body(request), reader):
                for piece in reader.take(event):
                    yield TextPiece(piece)
                if reader.over:
                    break
        except ModelError as error:
            # What the user has read is kept, unless the same request may soon be answered whole.
            if not draft.begun or error.kind == "rate_limit":
                raise
            if tail := draft.close_text():
                yield TextPiece(tail)
            yield draft.broken(error.sentence)
            return
        except (ReplyTooLarge, EventTooLarge):
            yield draft.broken("it grew beyond what one reply may hold")
            return
        if not draft.begun and draft.finish is None:
            raise ModelError(
                f"{self.endpoint.url} ended its answer before it said anything; is model.base_url right?",
                kind="protocol",
            )
        if tail := draft.close_text():
            yield TextPiece(tail)
        yield draft.finished()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _events(self, body: dict[str, Any], reader: ReplyReader) -> AsyncIterator[dict[str, Any]]:
        """Yield the JSON objects of the answer; raise `ModelError` for every failure on the way."""
        client = await self._ready()
        import openai

        while True:
            try:
                async with self._open(client, body) as response:
                    async for event in self._decoded(response, reader):
                        yield event
                return
            except Refused as refused:
                fault = status_fault(refused.status, refused.body, refused.headers, self.endpoint)
                retry = self._without_refused(body, fault.sentence) if fault.kind == "bad_request" else None
                if retry is None:
                    raise fault from None
                body = retry
            except openai.APIConnectionError as error:
                raise connection_fault(error, self.endpoint) from None
            except openai.OpenAIError as error:
                said = excerpt(str(error), self.endpoint.key)
                raise ModelError(
                    f"{self.endpoint.url} could not be asked: {said}.", kind="protocol"
                ) from None

    async def _decoded(self, response: Any, reader: ReplyReader) -> AsyncIterator[dict[str, Any]]:
        decoder = EventDecoder()
        start = b""
        streamed = False
        async for chunk, last in self._chunks(response, reader):
            if not streamed:
                start += chunk
                head = start.removeprefix(b"\xef\xbb\xbf").lstrip()
                if not head and not last:
                    continue
                if head[:1] in (b"{", b"<", b"["):
                    # No event stream begins like this: it is a whole JSON answer, or a page.
                    if last:
                        yield self._whole(start)
                        return
                    if len(start) > _JSON_MAX_BYTES:
                        raise EventTooLarge
                    continue
                streamed, chunk = True, start
            for event in decoder.feed(chunk, last=last):
                if DONE in (each.strip() for each in event.data):
                    reader.done = True
                    return
                for value in self._objects(event, reader):
                    yield value

    async def _chunks(self, response: Any, reader: ReplyReader) -> AsyncIterator[tuple[bytes, bool]]:
        """Yield the bytes as they come, then an empty last chunk; a long silence is an error."""
        import httpx2

        chunks = response.iter_bytes().__aiter__()
        while True:
            complete = reader.draft.finish is not None
            try:
                async with asyncio.timeout(GRACE_SECONDS if complete else self.endpoint.timeout_seconds):
                    chunk = await anext(chunks, None)
            except (TimeoutError, httpx2.TimeoutException):
                if complete:
                    break
                raise timeout_fault(self.endpoint) from None
            except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
                if complete:
                    break
                raise connection_fault(error, self.endpoint) from None
            if chunk is None:
                break
            yield chunk, False
        yield b"", True

    def _objects(self, event: ServerEvent, reader: ReplyReader) -> Iterator[dict[str, Any]]:
        whole = _parse("\n".join(event.data))
        # Two events that a proxy ran together have one JSON text in each of their lines.
        values = [whole] if whole is not None else [_parse(line) for line in event.data]
        for line, value in zip(event.data, values, strict=False):
            if isinstance(value, dict):
                if event.name and "type" not in value:
                    value["type"] = event.name
                error = _error_in(value)
                if error is not None and reader.draft.finish is None:
                    raise event_fault(error, self.endpoint)
                yield value
            elif line.lstrip()[:1] in ("{", "[", '"') and reader.draft.finish is None:
                reader.draft.damaged = True

    def _whole(self, data: bytes) -> dict[str, Any]:
        """Return the answer of a server that does not stream; raise for a page or any other text."""
        value = _parse(data.decode("utf-8-sig", "replace"))
        if isinstance(value, dict) and value.get("error"):
            raise event_fault(value["error"], self.endpoint)
        if isinstance(value, dict):
            return value
        said = excerpt(data, self.endpoint.key)
        raise ModelError(
            f"{self.endpoint.url} answered with something that is no model's answer: {said}; "
            "check model.base_url.",
            kind="protocol",
        )

    async def _ready(self) -> openai.AsyncOpenAI:
        if self._client is None:
            # Loading the library takes most of a second, in which the screen must go on moving.
            self._client = await asyncio.to_thread(make_client, self.endpoint)
        return self._client


class ReplyReader(ABC):
    """Reads the events of one reply into a draft."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.done = False
        """The server marked the end of the stream."""

    @property
    def over(self) -> bool:
        """Whether nothing that counts can follow."""
        return False

    @abstractmethod
    def take(self, event: dict[str, Any]) -> Iterator[str]:
        """Take one event in and yield the text it brought."""


def _error_in(event: dict[str, Any]) -> Any:
    """Return the error that an event reports, in whichever of its places a server puts it, or None."""
    kind, error, response = event.get("type"), event.get("error"), event.get("response")
    if kind == "response.failed" or (kind == "error" and not error):
        inner = response.get("error") if isinstance(response, dict) else None
        return inner or (event if kind == "error" else "the answer failed")
    return error or None


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
