"""The scripted model does what its script says and tells where a request did not fit."""

from __future__ import annotations

import asyncio

import pytest

from muniment.model.base import (
    Finished,
    ModelError,
    ModelRequest,
    RetryNotice,
    TextPiece,
    ToolItem,
    Usage,
    UserItem,
)
from muniment.model.scripted import ScriptedModel, Step, call
from support.wire import HELLO, hear


async def test_steps_are_streamed_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel(
        ["Hi", Step(("a", "b"), (call("memory_list", {"limit": 1}), call("memory_stats")), usage=Usage(1, 2))]
    )
    first, second = await hear(model), await hear(model)
    assert first.finished == Finished("Hi")
    assert [type(each) for each in second.events] == [TextPiece, TextPiece, Finished]
    assert [(each.id, each.arguments) for each in second.finished.calls] == [
        ("call_1", '{"limit": 1}'),
        ("call_2", "{}"),
    ]
    assert (second.finished.text, second.finished.finish, second.finished.usage) == (
        "ab",
        "tool_calls",
        Usage(1, 2),
    )
    assert model.requests == [HELLO, HELLO]
    assert model.remaining == 0


async def test_expected_and_forbidden_texts_are_looked_for_in_the_whole_request() -> None:
    model = ScriptedModel([Step("ok", expect=("Be brief.", "Hello?"), forbid=("secret",))] * 3)
    assert (await hear(model)).finished.text == "ok"
    lacking = await hear(model, ModelRequest("Be brief.", ()))
    assert "lacks the expected text 'Hello?'" in lacking.failure.sentence
    held = await hear(model, ModelRequest("Be brief.", (UserItem("Hello?"), ToolItem("c", "t", "a secret"))))
    assert "forbidden" in held.failure.sentence
    assert len(model.faults) == 2


async def test_a_request_beyond_the_script_is_a_fault() -> None:
    model = ScriptedModel([])
    assert (await hear(model)).failure.kind == "protocol"
    assert model.faults


async def test_errors_retries_and_finishes_are_as_scripted() -> None:
    notice = RetryNotice(1, 3, 0.0, "busy")
    model = ScriptedModel(
        [
            Step("Part", error=ModelError("It broke.", kind="server")),
            Step("Whole", retries=(notice,)),
            Step("Cut", finish="length", note="It was cut."),
        ]
    )
    broken = await hear(model)
    assert (broken.text, broken.failure.sentence) == ("Part", "It broke.")
    assert [type(each) for each in (await hear(model)).events] == [
        TextPiece,
        RetryNotice,
        TextPiece,
        Finished,
    ]
    cut = (await hear(model)).finished
    assert (cut.finish, cut.note) == ("length", "It was cut.")


@pytest.mark.parametrize("first", [True, False])
async def test_a_held_step_waits_for_its_event(first: bool) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([Step("x", hold_first=gate) if first else Step("x", hold=gate)])
    stream = model.stream(HELLO)
    if not first:
        assert await anext(stream) == TextPiece("x")
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert await waiting == (TextPiece("x") if first else Finished("x"))
