"""What comes of a stream on the Responses wire; over real loopback HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.model.base import Usage
from muniment.model.openai_responses import ResponsesReader
from support.poll import PATIENCE
from support.server import Reply, serve
from support.server_wire import Call, sse
from support.wire import Heard, asking, hear

STORE = '{"id": "a", "title": "A", "content": "alpha"}'


async def replay(*events: object, ends: Any = "end", timeout: float = PATIENCE) -> Heard:  # noqa: ASYNC109
    raw = sse(*events, done=False, named=True)
    with serve([Reply(raw=raw, ends=ends)]) as server:
        async with asking(server.base_url, "responses", timeout=timeout) as model:
            return await hear(model)


def said(text: str, place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": place, "item_id": "msg_1", "delta": text}


def item(
    place: int | None,
    name: str = "memory_store",
    arguments: str = "",
    call_id: str = "c1",
    *,
    done: bool = False,
) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }
    event: dict[str, Any] = {"type": f"response.output_item.{'done' if done else 'added'}", "item": call}
    return event if place is None else {**event, "output_index": place}


def shred(text: str, place: int | None = 0, item_id: str = "fc_c1") -> dict[str, Any]:
    event: dict[str, Any] = {
        "type": "response.function_call_arguments.delta",
        "item_id": item_id,
        "delta": text,
    }
    return event if place is None else {**event, "output_index": place}


def end(kind: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"status": kind, **response}}


async def test_text_calls_and_usage_arrive_whole_and_reasoning_is_left_out() -> None:
    reply = Reply(text=("Hel", "lo"), calls=(Call("memory_list", {"limit": 3}, id="c1", shreds=4),))
    with serve([reply]) as server:
        async with asking(server.base_url, "responses") as model:
            heard = await hear(model)
    assert heard.text == heard.finished.text == "Hello"
    (call,) = heard.finished.calls
    assert (call.id, call.name, json.loads(call.arguments), call.fault) == (
        "c1",
        "memory_list",
        {"limit": 3},
        None,
    )
    assert (heard.finished.finish, heard.finished.usage) == ("tool_calls", Usage(11, 7))


async def test_shreds_without_any_repeat_at_the_end_are_enough() -> None:
    heard = await replay(item(0), shred(STORE[:9]), shred(STORE[9:]), end())
    (call,) = heard.finished.calls
    assert (call.arguments, call.fault) == (STORE, None)


async def test_items_without_a_place_are_known_by_their_id() -> None:
    heard = await replay(
        item(None, call_id="c1"),
        item(None, "memory_list", call_id="c2"),
        shred(STORE, None, "fc_c1"),
        shred("{}", None, "fc_c2"),
        end(),
    )
    assert [(call.name, call.arguments) for call in heard.finished.calls] == [
        ("memory_store", STORE),
        ("memory_list", "{}"),
    ]


async def test_calls_that_stand_in_the_last_event_only_are_taken() -> None:
    call = item(0, arguments=STORE)["item"]
    message = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Now."}]}
    heard = await replay(end(output=[message, call]))
    assert heard.text == "Now."
    assert [each.arguments for each in heard.finished.calls] == [STORE]


async def test_the_last_event_repeats_nothing_that_was_there() -> None:
    call = item(1, arguments=STORE, done=True)
    message = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Now."}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": message}
    heard = await replay(said("Now."), done, item(1), call, end(output=[message, call["item"]]))
    assert heard.text == "Now."
    assert len(heard.finished.calls) == 1


@pytest.mark.parametrize("arguments", ["[]", "null", "7", STORE + STORE, STORE[:20]])
async def test_arguments_that_are_no_object_are_a_fault(arguments: str) -> None:
    heard = await replay(item(0), shred(arguments), item(0, arguments=arguments, done=True), end())
    (call,) = heard.finished.calls
    assert call.fault is not None


async def test_no_arguments_count_as_an_empty_object() -> None:
    heard = await replay(item(0, "memory_stats"), item(0, "memory_stats", done=True), end())
    (call,) = heard.finished.calls
    assert (call.arguments, call.fault) == ("{}", None)


async def test_equal_call_ids_are_made_different() -> None:
    heard = await replay(item(0, arguments=STORE, done=True), item(1, "memory_list", "{}", done=True), end())
    ids = [call.id for call in heard.finished.calls]
    assert len(set(ids)) == 2


async def test_a_reply_cut_by_the_output_limit_runs_no_call() -> None:
    heard = await replay(
        item(0, arguments=STORE, done=True),
        end("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )
    assert heard.finished.finish == "length"
    assert all(call.fault for call in heard.finished.calls)
    assert heard.finished.note


async def test_an_unfinished_item_of_a_complete_reply_is_a_fault() -> None:
    event = item(0, arguments=STORE, done=True)
    event["item"]["status"] = "incomplete"
    (call,) = (await replay(event, end())).finished.calls
    assert call.fault is not None


async def test_a_filtered_reply_is_a_refusal() -> None:
    heard = await replay(said("No"), end("incomplete", incomplete_details={"reason": "content_filter"}))
    assert (heard.finished.finish, heard.finished.calls) == ("refusal", ())


async def test_a_refusal_is_shown_and_told() -> None:
    heard = await replay({"type": "response.refusal.delta", "output_index": 0, "delta": "I will not."}, end())
    assert (heard.text, heard.finished.finish) == ("I will not.", "refusal")


@pytest.mark.parametrize(
    "event",
    [
        end("failed", error={"code": "server_error", "message": "the model fell over"}),
        {"type": "error", "code": "server_error", "message": "the model fell over"},
        {"type": "error", "error": {"message": "the model fell over"}},
    ],
)
async def test_a_failure_in_the_middle_keeps_the_text_and_tells_the_servers_words(event: Any) -> None:
    heard = await replay(said("Part"), event)
    assert (heard.finished.text, heard.finished.finish) == ("Part", "broken")
    assert "the model fell over" in (heard.finished.note or "")


async def test_a_rate_limit_in_the_middle_can_be_tried_again() -> None:
    heard = await replay(
        said("Part"), {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}
    )
    assert heard.failure.kind == "rate_limit"


@pytest.mark.parametrize("ends", ["end", "close", "reset"])
async def test_a_stream_that_ends_early_keeps_its_text_and_runs_nothing(ends: str) -> None:
    heard = await replay(said("Part"), item(1, arguments=STORE, done=True), ends=ends)
    assert (heard.finished.text, heard.finished.finish, heard.finished.calls) == ("Part", "broken", ())


async def test_events_may_be_named_by_their_framing_only() -> None:
    raw = b""
    for event in (said("Hi"), end(usage={"input_tokens": 2, "output_tokens": 1})):
        name = event.pop("type")
        raw += f"event: {name}\ndata: {json.dumps(event)}\n\n".encode()
    with serve([Reply(raw=raw)]) as server:
        async with asking(server.base_url, "responses") as model:
            finished = (await hear(model)).finished
    assert (finished.text, finished.finish, finished.usage) == ("Hi", "stop", Usage(2, 1))


async def test_the_answer_of_a_server_that_does_not_stream_is_taken_whole() -> None:
    body = {
        "status": "completed",
        "error": None,
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            item(None, "memory_list", "{}")["item"],
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    with serve([Reply(raw=json.dumps(body).encode(), content_type="application/json")]) as server:
        async with asking(server.base_url, "responses") as model:
            finished = (await hear(model)).finished
    assert (finished.text, finished.finish, finished.usage) == ("Hi", "tool_calls", Usage(3, 2))


async def test_halves_of_a_character_are_joined() -> None:
    first, second = said("x"), said("y")
    raw = [
        json.dumps(first).replace('"x"', '"\\ud83d"'),
        json.dumps(second).replace('"y"', '"\\ude00\\udc00"'),
    ]
    heard = await replay(*raw, end())
    assert heard.finished.text == "😀\ufffd"


KINDS = [
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.incomplete",
    "error",
]
KEYS = ["output_index", "item_id", "item", "delta", "arguments", "response", "type", "id", "name", "call_id"]


@settings(max_examples=60)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(KINDS) | st.none()},
            optional=dict.fromkeys(
                [*KEYS[:6], "output", "usage"],
                st.recursive(
                    st.none()
                    | st.integers(-1, 3)
                    | st.text(max_size=6)
                    | st.sampled_from(["function_call", "message"]),
                    lambda inner: (
                        st.lists(inner, max_size=3)
                        | st.dictionaries(
                            st.sampled_from([*KEYS, "content", "text", "output"]), inner, max_size=5
                        )
                    ),
                    max_leaves=12,
                ),
            ),
        ),
        max_size=8,
    )
)
def test_no_event_of_any_shape_upsets_the_reader(events: list[dict[str, Any]]) -> None:
    reader = ResponsesReader()
    for event in events:
        for piece in reader.take(event):
            assert isinstance(piece, str)
    finished = reader.draft.finished()
    for call in finished.calls:
        assert call.fault is not None or isinstance(json.loads(call.arguments), dict)
