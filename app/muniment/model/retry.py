"""Trying again, where that can help: told, bounded, and ended at once by a cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from muniment.model.base import Finished, Model, ModelError, ModelEvent, ModelRequest, RetryNotice

RETRIES = 3
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
"""A server that asks for a longer wait is not waited for; the user is told instead."""
_KINDS = frozenset({"connection", "rate_limit", "server"})


class RetryingModel:
    """Asks a model up to `RETRIES` times more, after 1, 2 and 4 seconds or when the server says."""

    def __init__(self, inner: Model, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self.inner = inner
        self._sleep = sleep

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        for attempt in range(RETRIES + 1):
            attempt_stream = self.inner.stream(request)
            try:
                async for event in attempt_stream:
                    yield event
                    if isinstance(event, Finished):
                        # Calls may be running by now: nothing that comes later may ask again.
                        return
                return
            except ModelError as error:
                wait = _wait(error, attempt)
                fault = error
            finally:
                close = getattr(attempt_stream, "aclose", None)
                if close is not None:
                    await close()
            yield RetryNotice(attempt + 1, RETRIES, wait, fault.sentence)
            await self._sleep(wait)

    async def close(self) -> None:
        await self.inner.close()


def _wait(error: ModelError, attempt: int) -> float:
    """Return how long to wait before the next try; raise the error where there is none."""
    if error.kind not in _KINDS:
        raise error
    asked = error.retry_after
    if asked is not None and asked > LONGEST_WAIT_SECONDS:
        raise _again(
            error,
            f"The server asks for a wait of {asked:.0f} s, longer than the {LONGEST_WAIT_SECONDS:.0f} s "
            "that are waited for; try again later.",
        ) from error
    if attempt >= RETRIES:
        raise _again(error, f"Tried {RETRIES + 1} times.") from error
    own = FIRST_WAIT_SECONDS * 2**attempt
    return own if asked is None else max(asked, 0.0)


def _again(error: ModelError, more: str) -> ModelError:
    return ModelError(
        f"{error.sentence} {more}", kind=error.kind, status=error.status, retry_after=error.retry_after
    )
