"""The client library, set up so that this process alone decides what leaves it and where it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muniment.model.address import Endpoint
from muniment.model.base import ModelError
from muniment.model.faults import excerpt

if TYPE_CHECKING:
    import openai

CONNECT_SECONDS = 15.0
_REFUSAL_MAX_BYTES = 65_536
_SENT_HEADERS = frozenset(
    {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "user-agent",
        # Without its own mark on the request the library parses the stream itself.
        "x-stainless-raw-response",
    }
)


class Refused(Exception):  # noqa: N818 - an answer, and no fault of ours
    """The server answered with a status that is no success; `body` is the beginning of what it said."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


def make_client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    """Make a client that sends to this endpoint only and whose every header is decided here."""
    import logging

    import httpx2
    import openai

    # A variable can set these loggers to print whole requests into the terminal.
    for name in ("openai", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)

    async def only_ours(request: httpx2.Request) -> None:
        # The library adds headers from its own variables and about this machine.
        for name in list(request.headers):
            if name.lower() not in _SENT_HEADERS:
                del request.headers[name]
        if endpoint.key is not None:
            request.headers["Authorization"] = f"Bearer {endpoint.key}"

    async def bounded_refusal(response: httpx2.Response) -> None:
        # The library would read a refusal to its end, however far that is.
        if response.status_code < 300:
            return
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) >= _REFUSAL_MAX_BYTES:
                break
        await response.aclose()
        raise Refused(response.status_code, body[:_REFUSAL_MAX_BYTES], response.headers)

    limit = endpoint.timeout_seconds
    timeout = httpx2.Timeout(limit, connect=min(limit, CONNECT_SECONDS))
    try:
        http = httpx2.AsyncClient(
            timeout=timeout,
            follow_redirects=False,
            trust_env=not endpoint.loopback,
            event_hooks={"request": [only_ours], "response": [bounded_refusal]},
        )
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        said = excerpt(str(error), endpoint.key)
        raise ModelError(
            f"A proxy variable of the environment cannot be used: {said.rstrip('.')}.", kind="settings"
        ) from None
    client = openai.AsyncOpenAI(
        api_key=endpoint.key or "none",
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=timeout,
        http_client=http,
        organization="",
        project="",
    )
    # Loaded here, in the thread, and not at the first request.
    _ = client.responses if endpoint.wire == "responses" else client.chat.completions
    return client
