"""Retries are ours: told, bounded, as the server asks, cancellable, never after calls were delivered."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.model.base import Finished, ModelError, RetryNotice, TextPiece
from muniment.model.faults import parse_retry_after
from muniment.model.retry import LONGEST_WAIT_SECONDS, RETRIES, RetryingModel
from muniment.model.scripted import ScriptedModel, Step, call
from support.server import Reply, serve
from support.server_wire import Call, chunk, sse
from support.wire import HELLO, WIRES, Wire, asking, hear


class Waits:
    """A clock that only notes how long it was asked to wait."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


def limited(after: str | None = None, status: int = 429) -> Reply:
    headers = {} if after is None else {"Retry-After": after}
    return Reply(status=status, headers=headers, body='{"error": {"message": "slow down"}}')


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_passing_failure_is_told_and_tried_again(wire: Wire, status: int) -> None:
    waits = Waits()
    with serve([limited(status=status), Reply(text="fine")]) as server:
        async with asking(server.base_url, wire) as inner:
            heard = await hear(RetryingModel(inner, sleep=waits))
    (notice,) = heard.retries
    assert (notice.attempt, notice.attempts, notice.wait_seconds) == (1, RETRIES, 1.0)
    assert "slow down" in notice.reason
    assert waits.asked == [1.0]
    assert heard.finished.text == "fine"


@pytest.mark.parametrize(
    ("after", "wait"),
    [("2", 2.0), ("0", 0.0), ("1.5", 1.5), ("garbage", 1.0), ("-3", 1.0), ("inf", 1.0), (None, 1.0)],
)
async def test_the_wait_is_the_servers_where_it_names_one(after: str | None, wait: float) -> None:
    waits = Waits()
    with serve([limited(after), Reply(text="fine")]) as server:
        async with asking(server.base_url) as inner:
            await hear(RetryingModel(inner, sleep=waits))
    assert waits.asked == [wait]


async def test_a_date_is_a_wait_until_then() -> None:
    waits = Waits()
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serve([limited(moment), Reply(text="fine")]) as server:
        async with asking(server.base_url) as inner:
            await hear(RetryingModel(inner, sleep=waits))
    assert 20 < waits.asked[0] <= 30


async def test_a_wait_beyond_the_limit_ends_with_the_reason_and_without_waiting() -> None:
    waits = Waits()
    with serve([limited("1152")]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=waits))
    assert waits.asked == []
    assert "1152 s" in heard.failure.sentence
    assert "slow down" in heard.failure.sentence
    assert heard.events == []


async def test_tries_are_bounded_and_grow_apart() -> None:
    waits = Waits()
    with serve([limited(status=503)] * (RETRIES + 1)) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=waits))
        assert len(server.requests) == RETRIES + 1
    assert waits.asked == [1.0, 2.0, 4.0]
    assert "Tried 4 times" in heard.failure.sentence
    assert [notice.attempt for notice in heard.retries] == [1, 2, 3]


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 418, 422])
async def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    waits = Waits()
    with serve([Reply(status=status, body="no")]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=waits))
        assert len(server.requests) == 1
    assert waits.asked == []
    assert heard.failure.status == status


async def test_a_broken_connection_is_tried_again() -> None:
    with serve([Reply(raw=b"", ends="reset"), Reply(text="fine")]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=Waits()))
    assert heard.finished.text == "fine"
    assert len(heard.retries) == 1


async def test_a_rate_limit_in_the_middle_discards_the_text_and_is_tried_again() -> None:
    event = {"error": {"message": "slow down", "code": 429}}
    with serve([Reply(raw=sse(chunk({"content": "Part"}), event)), Reply(text="Whole")]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=Waits()))
    kinds = [type(each) for each in heard.events]
    assert kinds == [TextPiece, RetryNotice, TextPiece, Finished]
    assert heard.finished.text == "Whole"


async def test_a_reply_that_broke_off_after_text_is_kept_and_not_asked_for_again() -> None:
    with serve([Reply(raw=sse(chunk({"content": "Part"}), done=False), ends="reset")]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=Waits()))
        assert len(server.requests) == 1
    assert (heard.finished.finish, heard.finished.text) == ("broken", "Part")


async def test_delivered_calls_are_never_asked_for_again() -> None:
    with serve([Reply(calls=(Call("memory_list", {}, id="c1"),))]) as server:
        async with asking(server.base_url) as inner:
            heard = await hear(RetryingModel(inner, sleep=Waits()))
        assert len(server.requests) == 1
    assert [each.name for each in heard.finished.calls] == ["memory_list"]


async def test_a_cancellation_ends_the_wait_at_once() -> None:
    with serve([limited("50")]) as server:
        async with asking(server.base_url) as inner:
            told = asyncio.Event()
            model = RetryingModel(inner)

            async def listen() -> None:
                async for event in model.stream(HELLO):
                    if isinstance(event, RetryNotice):
                        told.set()

            task = asyncio.create_task(listen())
            async with asyncio.timeout(10):
                await told.wait()
            task.cancel()
            async with asyncio.timeout(1):
                with pytest.raises(asyncio.CancelledError):
                    await task
        assert len(server.requests) == 1


async def test_a_cancellation_while_the_server_thinks_is_immediate() -> None:
    gate = threading.Event()
    with serve([Reply(text="late", gate=gate)]) as server:
        async with asking(server.base_url, timeout=60) as inner:
            task = asyncio.create_task(hear(RetryingModel(inner)))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            async with asyncio.timeout(1):
                with pytest.raises(asyncio.CancelledError):
                    await task


@pytest.mark.parametrize("kind", ["settings", "auth", "not_found", "bad_request", "protocol", "timeout"])
async def test_only_passing_kinds_of_failure_are_tried_again(kind: str) -> None:
    inner = ScriptedModel([Step(error=ModelError("It failed.", kind=kind))])
    heard = await hear(RetryingModel(inner, sleep=Waits()))
    assert heard.failure.sentence == "It failed."
    assert len(inner.requests) == 1


async def test_the_inner_model_is_closed_and_named() -> None:
    inner = ScriptedModel([Step(calls=(call("memory_list"),))], name="inner")
    model = RetryingModel(inner)
    assert (model.provider, model.name) == ("scripted", "inner")
    await model.close()
    assert inner.closed


def test_waits_are_read_from_seconds_and_dates() -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert parse_retry_after("Mon, 30 Nov 2026 12:01:00 GMT", now) == 60
    assert parse_retry_after("Mon, 30 Nov 2026 11:00:00 GMT", now) == 0
    assert parse_retry_after("Monday, 30-Nov-26 12:01:00 GMT", now) == 60
    assert parse_retry_after(f"{LONGEST_WAIT_SECONDS:.0f}") == LONGEST_WAIT_SECONDS
    assert parse_retry_after("nan") is None


@given(
    st.text(max_size=40) | st.from_regex(r"\A[A-Z][a-z]{2}, \d{1,4} [A-Z][a-z]{2} \d{1,6} \d+:\d+:\d+ \w+\Z")
)
def test_no_value_of_the_header_is_more_than_a_wait_or_nothing(value: str) -> None:
    wait = parse_retry_after(value)
    assert wait is None or wait >= 0
