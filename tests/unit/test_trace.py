"""Traces and events as JSON: whole, and without the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muniment.approval.proposal import Change, Decision, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.model.base import ModelError, Usage
from muniment.session import events as ev
from muniment.session.logs.replay import replay_events
from muniment.session.trace import key_scrubber
from muniment.session.wire import event_as_dict
from support.session import Place, Say, StepModel, allow, call, run

KEY = "sk-0123456789abcdefghij"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def trace_of(place: Place, session: str) -> list[dict[str, object]]:
    data = (place.paths.traces / f"{session}.jsonl").read_bytes()
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


async def test_a_trace_holds_every_request_and_response(place: Place) -> None:
    model = StepModel(Say(calls=(call("look", text="x"),)), Say("end"))
    engine = place.open(model)
    await run(engine, "hello")
    lines = trace_of(place, engine.id)
    assert [line["kind"] for line in lines] == ["request", "response", "request", "response"]
    assert lines[0]["input"] == [{"role": "user", "content": "hello"}]
    assert lines[0]["instructions"] == model.requests[0].instructions
    assert lines[1]["calls"] == [{"id": "c1", "name": "look", "arguments": '{"text": "x"}'}]
    assert lines[3]["text"] == "end"
    assert lines[3]["usage"] == {"input_tokens": 10, "output_tokens": 5}


async def test_a_failure_is_traced_with_what_had_come(place: Place) -> None:
    error = ModelError("The server said no.", kind="server")
    engine = place.open(StepModel(Say(pieces=("so", " far"), fail=error)))
    await run(engine)
    failure = trace_of(place, engine.id)[1]
    assert failure["error"] == "The server said no."
    assert failure["text"] == "so far"


async def test_no_trace_writes_none(place: Place) -> None:
    engine = place.open(StepModel(Say("ok")), trace=False)
    await run(engine)
    assert not place.paths.traces.exists()


async def test_the_key_is_in_no_file_of_a_run(place: Place) -> None:
    place.environ["OPENAI_API_KEY"] = KEY
    model = StepModel(
        Say(f"You said {KEY}", calls=(call("keep", text=f"key {KEY}"),)),
        Say(pieces=(KEY,), fail=ModelError(f"refused {KEY}", kind="auth")),
    )
    engine = place.open(model, approver=allow)
    await run(engine, f"my key is {KEY}")
    await engine.close()
    files = [each for each in place.root.rglob("*") if each.is_file()]
    assert len(files) >= 2
    assert [each for each in files if KEY.encode() in each.read_bytes()] == []


async def test_a_trace_that_cannot_be_written_costs_the_turn_nothing(place: Place) -> None:
    place.paths.state.mkdir()
    place.paths.traces.write_text("in the way")
    ended, events = await run(place.open(StepModel(Say("ok"))))
    assert ended.status == "completed"
    assert len([event for event in events if "trace" in repr(event)]) == 1


def test_a_short_word_is_not_taken_for_a_key() -> None:
    assert key_scrubber("abc")("abc abc") == "abc abc"
    assert key_scrubber(None)("abc") == "abc"
    assert key_scrubber("12345678")("x12345678y") == "x[key]y"


PROPOSAL = Proposal(
    "c1",
    "memory_store",
    "Create a record",
    (Field("title", "T"),),
    None,
    Change("content", None, "new text"),
    (ReviewWarning("hidden-characters", "one hidden", "content"),),
)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            ev.SessionOpened("s", "assistant", "rehearsal", "m", "manual"),
            {
                "event": "session",
                "id": "s",
                "recipe": "assistant",
                "provider": "rehearsal",
                "model": "m",
                "mode": "manual",
            },
        ),
        (ev.TextDelta("a"), {"event": "text", "delta": "a"}),
        (
            ev.ToolCalled("c1", "look", {"a": 1}),
            {"event": "tool_call", "id": "c1", "tool": "look", "arguments": {"a": 1}},
        ),
        (
            ev.Decided("c1", Decision(False, "user", "no")),
            {"event": "decision", "id": "c1", "decision": "denied", "by": "user", "reason": "no"},
        ),
        (
            ev.ToolFinished("c1", "look", "completed", {"a": 1}, "text", False),
            {
                "event": "tool_result",
                "id": "c1",
                "tool": "look",
                "status": "completed",
                "result": {"a": 1},
                "text": "text",
            },
        ),
        (ev.Notice("n"), {"event": "notice", "text": "n"}),
        (ev.ErrorRaised("e"), {"event": "error", "text": "e"}),
        (
            ev.TurnEnded("completed", Usage(1, 2)),
            {"event": "turn_end", "status": "completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
        ),
    ],
)
def test_events_as_promised(event: ev.Event, expected: dict[str, object]) -> None:
    assert event_as_dict(event, "s") == {"session": "s", **expected}


def test_a_proposal_shows_every_field_and_the_whole_text() -> None:
    value = event_as_dict(ev.ProposalMade(PROPOSAL), "s")
    assert value is not None
    assert value["fields"] == [{"label": "title", "value": "T"}, {"label": "content", "value": "new text"}]
    assert value["warnings"] == [{"kind": "hidden-characters", "text": "one hidden", "place": "content"}]
    assert (value["id"], value["tool"], value["title"]) == ("c1", "memory_store", "Create a record")


def test_events_for_a_screen_only_are_left_out() -> None:
    assert event_as_dict(ev.RequestSent(1, 2, 3), "s") is None
    assert event_as_dict(ev.UserSaid("x"), "s") is None


async def test_a_log_is_told_again_as_it_was_told(place: Place) -> None:
    model = StepModel(Say("text", calls=(call("keep", text="a"), call("nothing", "c2"))), Say("end"))
    engine = place.open(model, approver=allow)
    _, events = await run(engine, "hello")
    kinds = (ev.UserSaid, ev.ReplyEnded, ev.ToolCalled, ev.Decided, ev.ToolFinished)
    told = [event for event in events if isinstance(event, kinds)]
    again = list(replay_events(engine.replay()))
    assert [event for event in again if isinstance(event, kinds)][:4] == told[:4]
    assert {event for event in map(repr, again) if "ToolFinished" in event} == {
        event for event in map(repr, told) if "ToolFinished" in event
    }
    assert again[-1] == ev.TurnEnded("completed")
