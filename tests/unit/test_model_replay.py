"""Histories made fit to be sent, and event streams read however they are cut."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muniment.model.arguments import judge, object_text
from muniment.model.base import AssistantItem, InputItem, ToolCall, ToolItem, UserItem
from muniment.model.replay import NO_RESULT, valid_items
from muniment.model.sse import MAX_EVENT_CHARS, EventDecoder, EventTooLarge, ServerEvent

texts = st.text(st.characters(), max_size=8) | st.sampled_from(["", " ", "\ud83d", "\udc00x"])
ids = st.sampled_from(["", "c1", "c2", "call_1", "x" * 70]) | texts
arguments = st.sampled_from(["", "{}", "null", "[1]", '{"a": 1}', '{"a"', '{"a": "\\ud83d"}', "{}{}"]) | texts
calls = st.builds(ToolCall, ids, texts | st.just("memory_list"), arguments)
items: st.SearchStrategy[InputItem] = st.one_of(
    st.builds(UserItem, texts),
    st.builds(AssistantItem, texts, st.lists(calls, max_size=3).map(tuple)),
    st.builds(ToolItem, ids, texts, texts),
)


def check(sent: list[InputItem]) -> None:
    """Check what every server demands of a history."""
    seen: set[str] = set()
    waiting: list[str] = []
    for item in sent:
        item.text.encode("utf-8")
        if isinstance(item, ToolItem):
            assert item.call_id == waiting.pop(waiting.index(item.call_id))
            continue
        assert waiting == []
        if isinstance(item, AssistantItem):
            assert item.text or item.calls
            for call in item.calls:
                assert call.id
                assert call.id not in seen
                seen.add(call.id)
                waiting.append(call.id)
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call.name)
                assert re.fullmatch(r"[!-~]{1,64}", call.id)
                assert isinstance(json.loads(call.arguments), dict)
                json.dumps(json.loads(call.arguments), ensure_ascii=False).encode("utf-8")
    assert waiting == []


@given(st.lists(items, max_size=8))
@example([AssistantItem("", (ToolCall("\ud83d", "x", "{}"),)), ToolItem("\ud83d", "x", "done")])
def test_any_history_is_sent_in_a_form_that_every_server_takes(history: list[InputItem]) -> None:
    check(valid_items(history))


@given(st.lists(items, max_size=8))
def test_the_strict_layout_also_starts_with_the_user_and_alternates(history: list[InputItem]) -> None:
    sent = valid_items(history, strict=True)
    check(sent)
    assert not sent or isinstance(sent[0], UserItem)
    for before, after in pairwise(sent):
        assert not (isinstance(before, UserItem) and isinstance(after, UserItem))
        assert not (isinstance(before, AssistantItem) and isinstance(after, AssistantItem))


def test_results_follow_their_calls_when_ids_repeat_over_turns() -> None:
    turn = (
        UserItem("go"),
        AssistantItem("", (ToolCall("c1", "memory_list", "{}"),)),
        ToolItem("c1", "memory_list", "first"),
    )
    again = (*turn[:2], ToolItem("c1", "memory_list", "second"))
    sent = valid_items((*turn, *again))
    results = {item.call_id: item.text for item in sent if isinstance(item, ToolItem)}
    assert list(results.values()) == ["first", "second"]


def test_two_calls_with_one_id_get_their_results_in_order() -> None:
    history = (
        AssistantItem("", (ToolCall("c1", "a", "{}"), ToolCall("c1", "b", "{}"))),
        ToolItem("c1", "a", "one"),
        ToolItem("c1", "b", "two"),
    )
    sent = valid_items(history)
    assert [(item.name, item.text) for item in sent if isinstance(item, ToolItem)] == [
        ("a", "one"),
        ("b", "two"),
    ]


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() -> None:
    history = (
        AssistantItem("", (ToolCall("c1", "memory_list", "{}"),)),
        UserItem("go on"),
        ToolItem("c9", "memory_list", "stray"),
    )
    sent = valid_items(history)
    assert sent[1] == ToolItem("c1", "memory_list", NO_RESULT)
    assert sent[2] == UserItem("go on")
    assert len(sent) == 3


@given(arguments)
def test_judged_arguments_are_one_object_or_carry_the_reason(raw: str) -> None:
    text, fault = judge(raw)
    if fault is None:
        assert isinstance(json.loads(text), dict)
        assert not raw.strip() or text == raw.strip()
    else:
        assert fault.endswith(".")
    assert isinstance(json.loads(object_text(raw)), dict)


def read(chunks: list[bytes]) -> list[ServerEvent]:
    decoder = EventDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*events, *decoder.feed(b"", last=True)]


lines = st.sampled_from(
    [
        'data: {"a": 1}',
        "data:x",
        "data: ",
        "data",
        "data:  two blanks",
        ": ping",
        ":",
        "event: message",
        "event:",
        "id: 7",
        "retry: 10",
        "unknown: y",
        "data: ü😀\u2028\x85",
        "",
    ]
)
breaks = st.sampled_from(["\n", "\r\n", "\r"])


@given(
    st.booleans(), st.lists(st.tuples(lines, breaks), max_size=12), st.lists(st.integers(0, 200), max_size=8)
)
def test_events_do_not_depend_on_where_the_bytes_are_cut(
    marked: bool, framed: list[tuple[str, str]], cuts: list[int]
) -> None:
    raw = (b"\xef\xbb\xbf" if marked else b"") + "".join(line + end for line, end in framed).encode()
    places = sorted({min(cut, len(raw)) for cut in cuts})
    pieces = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
    assert read(pieces) == read([raw])


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20), max_size=6
    )
)
def test_every_text_that_is_sent_arrives(said: list[str]) -> None:
    raw = "".join(f": noise\ndata: {text}\n\n" for text in said).encode()
    assert read([raw]) == [ServerEvent("", (text,)) for text in said if text.strip()]


def test_a_byte_order_mark_does_not_hide_the_first_event() -> None:
    raw = b"\xef\xbb\xbfdata: first\n\n"
    assert read([raw]) == read([raw[:1], raw[1:]]) == [ServerEvent("", ("first",))]


def test_a_line_break_cut_in_two_is_one_line_break() -> None:
    assert read([b"data: a\r", b"\ndata: b\r", b"\n\r\n"]) == [ServerEvent("", ("a", "b"))]


@given(st.binary(max_size=200))
def test_no_bytes_upset_the_decoder(raw: bytes) -> None:
    for event in read([raw]):
        assert event.data


def test_a_long_line_in_many_pieces_costs_no_more_than_its_length() -> None:
    """Looked through from its beginning at every piece, this line takes minutes of the processor."""
    text = "x" * 6_000_000
    raw = f"data: {text}\r\n\r\n".encode()
    began = time.process_time()
    (event,) = read([raw[at : at + 1_000] for at in range(0, len(raw), 1_000)])
    assert event.data == (text,)
    assert time.process_time() - began < 30.0


def test_a_line_without_an_end_is_given_up_at_its_limit() -> None:
    decoder = EventDecoder()
    piece = b"x" * (MAX_EVENT_CHARS // 16)
    for _ in range(16):
        assert list(decoder.feed(piece)) == []
    with pytest.raises(EventTooLarge):
        list(decoder.feed(b"x"))
