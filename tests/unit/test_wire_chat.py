"""What comes of a chat stream, in every way that servers send or spoil it; over real loopback HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.model.base import Finished, Usage
from muniment.model.openai_chat import ChatReader
from support.poll import PATIENCE
from support.server import Reply, serve
from support.server_wire import chunk, sse
from support.wire import SILENCE, Heard, asking, hear

STORE = '{"id": "a", "title": "A", "content": "alpha"}'


async def replay(*raw: bytes, ends: Any = "end", timeout: float = PATIENCE) -> Heard:  # noqa: ASYNC109
    with serve([Reply(raw=raw, ends=ends)]) as server:
        async with asking(server.base_url, timeout=timeout) as model:
            return await hear(model)


def shred(index: int | None = 0, **function: Any) -> dict[str, Any]:
    """A piece of a call; `id` stands beside the function, the rest inside it."""
    call: dict[str, Any] = {"type": "function"}
    if index is not None:
        call["index"] = index
    if "id" in function:
        call["id"] = function.pop("id")
    call["function"] = function
    return chunk({"tool_calls": [call]})


def called(*shreds: dict[str, Any], finish: str = "tool_calls") -> bytes:
    return sse(*shreds, chunk({}, finish))


async def test_text_usage_and_calls_arrive_whole() -> None:
    heard = await replay(
        sse(
            chunk({"role": "assistant", "content": "Let me "}),
            chunk({"content": "look."}),
            shred(0, id="c1", name="memory_list", arguments=""),
            shred(0, arguments='{"lim'),
            shred(0, arguments='it": 3}'),
            chunk({}, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 4}},
        )
    )
    assert heard.text == heard.finished.text == "Let me look."
    (call,) = heard.finished.calls
    assert (call.id, call.name, json.loads(call.arguments), call.fault) == (
        "c1",
        "memory_list",
        {"limit": 3},
        None,
    )
    assert (heard.finished.finish, heard.finished.usage) == ("tool_calls", Usage(12, 4))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (STORE + STORE.replace('"a"', '"b"'), "more than one JSON value"),
        ('["a","b"]', "a list"),
        ("null", "null"),
        ("42", "a number"),
        ("true", "true or false"),
        ('"{}"', "a text"),
        ('{"id":"a","title":"A","con', "not valid JSON"),
        ('{"id": NaN}', "NaN"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5_000 + "}", "not valid JSON"),
    ],
)
async def test_arguments_that_are_no_object_are_a_fault_and_keep_text_and_usage(
    arguments: str, problem: str
) -> None:
    heard = await replay(
        sse(
            chunk({"content": "Saving. "}),
            shred(0, id="c1", name="memory_store", arguments=arguments),
            chunk({}, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        )
    )
    (call,) = heard.finished.calls
    assert call.fault is not None
    assert problem in call.fault
    assert heard.text == "Saving. "
    assert heard.finished.usage == Usage(1, 2)


async def test_a_broken_call_leaves_its_sibling_whole() -> None:
    heard = await replay(
        called(
            shred(0, id="c1", name="memory_store", arguments='{"id":'),
            shred(1, id="c2", name="memory_list", arguments="{}"),
        )
    )
    broken, whole = heard.finished.calls
    assert broken.fault is not None
    assert (whole.id, whole.name, whole.arguments, whole.fault) == ("c2", "memory_list", "{}", None)


@pytest.mark.parametrize("function", [{"arguments": ""}, {"arguments": "  \n"}, {}, {"arguments": None}])
async def test_empty_arguments_count_as_an_empty_object(function: dict[str, Any]) -> None:
    heard = await replay(called(shred(0, id="c1", name="memory_stats", **function)))
    (call,) = heard.finished.calls
    assert (call.arguments, call.fault) == ("{}", None)


async def test_arguments_sent_as_an_object_are_taken() -> None:
    heard = await replay(called(shred(0, id="c1", name="memory_list", arguments={"limit": 2})))
    (call,) = heard.finished.calls
    assert json.loads(call.arguments) == {"limit": 2}
    assert call.fault is None


async def test_a_repeated_finish_does_not_repeat_the_call() -> None:
    heard = await replay(
        sse(
            shred(0, id="c1", name="memory_list", arguments="{}"),
            chunk({}, "tool_calls"),
            chunk({}, "tool_calls"),
            shred(0, id="c1", name="memory_list", arguments="{}"),
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
        )
    )
    (call,) = heard.finished.calls
    assert (call.name, call.arguments, call.fault) == ("memory_list", "{}", None)
    assert heard.finished.usage == Usage(1, 1)
    assert sum(isinstance(event, Finished) for event in heard.events) == 1


async def test_what_comes_after_the_end_changes_nothing() -> None:
    heard = await replay(
        sse(
            chunk({"content": "Done."}),
            shred(0, id="c1", name="memory_list", arguments="{}"),
            chunk({}, "tool_calls"),
            chunk({"content": " More."}, "length"),
            shred(0, arguments="{}"),
            shred(1, id="c2", name="memory_stats", arguments="{}"),
        )
    )
    assert heard.text == "Done."
    (call,) = heard.finished.calls
    assert (call.name, call.arguments, call.fault) == ("memory_list", "{}", None)
    assert heard.finished.finish == "tool_calls"


async def test_a_whole_call_sent_once_more_before_the_end_is_one_call() -> None:
    whole = shred(0, id="c1", name="memory_list", arguments='{"limit": 1}')
    heard = await replay(called(whole, whole))
    (call,) = heard.finished.calls
    assert (call.arguments, call.fault) == ('{"limit": 1}', None)


@pytest.mark.parametrize("same_index", [False, True])
async def test_calls_that_share_id_or_index_stay_two(same_index: bool) -> None:
    ids = ("c1", "c2") if same_index else ("c1", "c1")
    heard = await replay(
        called(
            shred(0, id=ids[0], name="memory_store", arguments=STORE),
            shred(
                0 if same_index else 1,
                id=ids[1],
                name="memory_store",
                arguments=STORE.replace("alpha", "beta"),
            ),
        )
    )
    first, second = heard.finished.calls
    assert first.id != second.id
    assert [json.loads(call.arguments)["content"] for call in (first, second)] == ["alpha", "beta"]
    assert first.fault is second.fault is None


async def test_a_call_without_an_id_gets_one() -> None:
    heard = await replay(
        called(
            shred(0, name="memory_list", arguments="{}"),
            shred(1, name="memory_stats", arguments="{}"),
        )
    )
    assert [call.name for call in heard.finished.calls] == ["memory_list", "memory_stats"]
    ids = [call.id for call in heard.finished.calls]
    assert all(ids)
    assert len(set(ids)) == 2


async def test_calls_without_index_are_told_apart_by_id_and_by_name() -> None:
    heard = await replay(
        called(
            shred(None, id="c1", name="memory_store", arguments=STORE[:10]),
            shred(None, arguments=STORE[10:]),
            shred(None, id="c2", name="memory_list", arguments="{}"),
            shred(None, id="c1", arguments=""),
            shred(None, name="memory_stats", arguments="{}"),
        )
    )
    assert [(call.name, call.arguments) for call in heard.finished.calls] == [
        ("memory_store", STORE),
        ("memory_list", "{}"),
        ("memory_stats", "{}"),
    ]
    assert all(call.fault is None for call in heard.finished.calls)


async def test_a_name_that_comes_with_every_shred_stays_one_name() -> None:
    heard = await replay(
        called(
            shred(0, id="c1", name="memory_list", arguments='{"limit"'),
            shred(0, id="c1", name="memory_list", arguments=": 5}"),
        )
    )
    (call,) = heard.finished.calls
    assert (call.name, call.arguments) == ("memory_list", '{"limit": 5}')


async def test_a_call_without_a_name_is_a_fault() -> None:
    heard = await replay(called(shred(0, id="c1", arguments="{}")))
    (call,) = heard.finished.calls
    assert call.fault is not None
    assert "names no tool" in call.fault


async def test_the_old_form_of_one_function_call_is_understood() -> None:
    heard = await replay(
        sse(
            chunk({"function_call": {"name": "memory_list", "arguments": "{"}}),
            chunk({"function_call": {"arguments": "}"}}),
            chunk({}, "function_call"),
        )
    )
    (call,) = heard.finished.calls
    assert (call.name, call.arguments, heard.finished.finish) == ("memory_list", "{}", "tool_calls")


@pytest.mark.parametrize("arguments", [STORE[:30], STORE])
async def test_a_reply_cut_by_length_runs_no_call_and_says_so(arguments: str) -> None:
    heard = await replay(called(shred(0, id="c1", name="memory_store", arguments=arguments), finish="length"))
    assert heard.finished.finish == "length"
    assert heard.finished.note is not None
    assert "cut" in heard.finished.note
    assert all(call.fault for call in heard.finished.calls)


async def test_a_cut_call_under_the_wrong_finish_is_a_fault() -> None:
    heard = await replay(called(shred(0, id="c1", name="memory_store", arguments=STORE[:30])))
    (call,) = heard.finished.calls
    assert call.fault is not None


@pytest.mark.parametrize("finish", ["content_filter", "refusal"])
async def test_a_filtered_reply_is_a_refusal_without_calls(finish: str) -> None:
    heard = await replay(
        called(
            chunk({"content": "No."}), shred(0, id="c1", name="memory_list", arguments="{}"), finish=finish
        )
    )
    assert (heard.finished.finish, heard.finished.calls) == ("refusal", ())
    assert heard.finished.note


async def test_a_refusal_in_its_own_field_is_shown_and_told() -> None:
    heard = await replay(called(chunk({"refusal": "I will not."}), finish="stop"))
    assert (heard.text, heard.finished.finish) == ("I will not.", "refusal")


KEEP_ALIVES = (
    b"\xef\xbb\xbf: ping\n\n"
    + sse(chunk({"content": "Hel"}), done=False)
    + b":\n\nevent: message\n\ndata:\n\ndata: \r\n\r\n: ping - 1\r\n"
    + b"data:"
    + json.dumps(chunk({"content": "lo "})).encode()
    + b"\r\n\r\ndata: ping\n\nid: 7\nretry: 1000\rdata: "
    + json.dumps(chunk({"content": "wor"})).encode()
    + b"\ndata: "
    + json.dumps(chunk({"content": "ld"})).encode()
    + b"\r\r"
    + sse(chunk({}, "stop"))
)


async def test_keep_alives_and_odd_framing_lose_nothing() -> None:
    heard = await replay(KEEP_ALIVES)
    assert heard.text == heard.finished.text == "Hello world"
    assert (heard.finished.finish, heard.finished.note) == ("stop", None)


async def test_framing_does_not_depend_on_how_the_bytes_are_cut() -> None:
    heard = await replay(*(KEEP_ALIVES[at : at + 1] for at in range(len(KEEP_ALIVES))))
    assert heard.finished.text == "Hello world"


async def test_one_json_event_over_two_data_lines_is_read_as_one() -> None:
    event = json.dumps(chunk({"content": "Whole."}), indent=0).replace("\n", "\ndata: ")
    heard = await replay(f"data: {event}\n\n".encode() + sse(chunk({}, "stop")))
    assert heard.finished.text == "Whole."


async def test_a_stream_without_a_done_mark_is_complete_once_it_finished() -> None:
    heard = await replay(sse(chunk({"content": "Complete."}), chunk({}, "stop"), done=False))
    assert (heard.finished.text, heard.finished.finish, heard.finished.note) == ("Complete.", "stop", None)


async def test_a_last_line_without_its_blank_line_counts() -> None:
    raw = sse(chunk({"content": "Last "}), chunk({"content": "word."}, "stop"), done=False).rstrip(b"\n")
    heard = await replay(raw)
    assert (heard.finished.text, heard.finished.finish) == ("Last word.", "stop")


async def test_a_connection_that_stays_open_after_the_end_does_not_hold_the_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("muniment.model.openai_wire.GRACE_SECONDS", 0.05)
    heard = await replay(sse(chunk({"content": "Done."}, "stop"), done=False), ends="stall", timeout=60.0)
    assert (heard.finished.text, heard.finished.finish) == ("Done.", "stop")


@pytest.mark.parametrize("ends", ["end", "reset", "close"])
async def test_a_stream_that_ends_early_keeps_its_text_and_runs_nothing(ends: str) -> None:
    heard = await replay(
        sse(chunk({"content": "Part"}), shred(0, id="c1", name="memory_store", arguments=STORE), done=False),
        ends=ends,
    )
    assert heard.text == heard.finished.text == "Part"
    assert (heard.finished.finish, heard.finished.calls) == ("broken", ())
    assert heard.finished.note is not None


async def test_a_half_line_at_the_end_is_not_taken_for_the_end() -> None:
    raw = sse(chunk({"content": "Part"}), done=False) + b'data: {"choices": [{"delta": {}, "finish_rea'
    heard = await replay(raw)
    assert (heard.finished.text, heard.finished.finish) == ("Part", "broken")


async def test_a_damaged_event_in_the_middle_runs_no_call() -> None:
    raw = (
        sse(shred(0, id="c1", name="memory_store", arguments='{"id": "a", '), done=False)
        + b'data: {"choices": [{"delta": {"tool_calls": [{"index"\n\n'
        + sse(shred(0, arguments='"title": "A", "content": "x"}'), chunk({}, "tool_calls"))
    )
    heard = await replay(raw)
    assert (heard.finished.finish, heard.finished.calls) == ("broken", ())


async def test_a_done_mark_without_any_finish_is_no_proper_end() -> None:
    heard = await replay(sse(shred(0, id="c1", name="memory_store", arguments=STORE)))
    assert (heard.finished.finish, heard.finished.calls) == ("broken", ())


async def test_an_error_in_the_middle_keeps_the_text_and_tells_the_servers_words() -> None:
    heard = await replay(
        sse(
            chunk({"content": "Part"}),
            {"error": {"message": "upstream overloaded", "type": "server_error", "code": None}},
        )
    )
    assert (heard.finished.text, heard.finished.finish) == ("Part", "broken")
    assert "upstream overloaded" in (heard.finished.note or "")


async def test_an_error_before_anything_else_is_an_error() -> None:
    heard = await replay(sse({"error": {"message": "no such model", "code": 404}}))
    assert heard.failure.kind == "bad_request"
    assert "no such model" in heard.failure.sentence


async def test_fields_of_odd_types_do_not_swallow_their_chunk() -> None:
    heard = await replay(
        sse(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": "A", "reasoning": 7, "tool_calls": None},
                        "finish_reason": "",
                    }
                ],
                "usage": "n/a",
            },
            chunk({"content": None}),
            {"id": "c1", "choices": None},
            {"choices": ["x", 7, {"index": 1, "delta": {"content": "other"}}]},
            {"choices": [{"index": 0, "delta": "x", "finish_reason": None}]},
            chunk({"content": [{"type": "text", "text": "B"}], "tool_calls": [None, 3]}, "stop"),
            {"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": True}},
        )
    )
    assert heard.finished == Finished("AB")


async def test_a_silent_stream_ends_by_the_time_limit_with_what_it_had() -> None:
    heard = await replay(sse(chunk({"content": "Part"}), done=False), ends="stall", timeout=SILENCE)
    assert (heard.finished.text, heard.finished.finish) == ("Part", "broken")
    assert f"{SILENCE} s" in (heard.finished.note or "")


async def test_silence_before_the_first_byte_is_a_time_out_that_names_the_setting() -> None:
    heard = await replay(b"", ends="stall", timeout=SILENCE)
    assert heard.failure.kind == "timeout"
    assert "model.timeout_seconds" in heard.failure.sentence


async def test_halves_of_a_character_are_joined_and_a_lone_half_is_replaced() -> None:
    heard = await replay(
        sse(
            '{"choices": [{"index": 0, "delta": {"content": "a \\ud83d"}}]}',
            '{"choices": [{"index": 0, "delta": {"content": "\\ude00 b \\ud83d"}}]}',
            '{"choices": [{"index": 0, "delta": {"content": " c \\udc00 \\ud83d"}}]}',
            chunk({}, "stop"),
        )
    )
    assert heard.text == heard.finished.text == "a 😀 b \ufffd c \ufffd \ufffd"
    heard.finished.text.encode("utf-8")


async def test_bytes_that_are_no_utf8_do_not_end_the_reply() -> None:
    raw = b'data: {"choices": [{"index": 0, "delta": {"content": "a\xff"}, "finish_reason": "stop"}]}\n\n'
    assert (await replay(raw)).finished.text == "a\ufffd"


async def test_the_answer_of_a_server_that_does_not_stream_is_taken_whole() -> None:
    body = {
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hi",
                    "tool_calls": [{"id": "c1", "function": {"name": "memory_list", "arguments": "{}"}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    with serve([Reply(raw=json.dumps(body).encode(), content_type="application/json")]) as server:
        async with asking(server.base_url) as model:
            finished = (await hear(model)).finished
    assert (finished.text, finished.finish, finished.usage) == ("Hi", "tool_calls", Usage(3, 2))
    assert [call.name for call in finished.calls] == ["memory_list"]


async def test_a_page_in_place_of_an_answer_is_named_with_a_clean_excerpt() -> None:
    page = (
        b"<!doctype html><html><head><title>Portal</title><script>x=1</script></head>"
        b"<body>Log in\x1b[2J</body></html>"
    )
    with serve([Reply(raw=page, content_type="text/html")]) as server:
        async with asking(server.base_url) as model:
            failure = (await hear(model)).failure
    assert failure.kind == "protocol"
    assert "Log in" in failure.sentence
    assert server.base_url in failure.sentence
    assert "<" not in failure.sentence
    assert "\x1b" not in failure.sentence


async def test_an_empty_answer_is_an_error_and_not_an_empty_reply() -> None:
    assert (await replay(b"")).failure.kind == "protocol"
    assert (await replay(sse())).failure.kind == "protocol"


async def test_a_finished_reply_without_text_is_an_empty_reply() -> None:
    assert (await replay(called(finish="stop"))).finished == Finished("")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "choices",
                            "delta",
                            "index",
                            "tool_calls",
                            "function",
                            "name",
                            "arguments",
                            "id",
                            "content",
                            "finish_reason",
                            "usage",
                            "message",
                        ]
                    ),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=25,
        ),
        max_size=6,
    )
)
def test_no_event_of_any_shape_upsets_the_reader(values: list[Any]) -> None:
    reader = ChatReader()
    for value in values:
        event = value if isinstance(value, dict) else {"choices": [{"delta": value, "index": 0}]}
        for piece in reader.take(event):
            assert isinstance(piece, str)
    finished = reader.draft.finished()
    ids = [call.id for call in finished.calls]
    assert len(set(ids)) == len(ids)
    for call in finished.calls:
        assert call.fault is not None or isinstance(json.loads(call.arguments), dict)
