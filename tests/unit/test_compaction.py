"""Compaction: the numbers, which turns are summarised, and which summaries are turned down."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.model.base import AssistantItem, ModelError, ModelRequest, ToolItem, UserItem
from muniment.session import events as ev
from muniment.session.engine import Engine
from muniment.session.logs.replay import replay_events
from muniment.session.request.blocks import SUMMARY_LABEL
from muniment.session.request.estimate import Limits, estimate
from muniment.tools.registry import Registry
from support.session import Place, Say, StepModel, Tools, call, only, run

SUMMARY = "They talked about plums."


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def small(place: Place, window: int = 6_000) -> None:
    """A small window, and instructions and tools that leave room in it."""
    place.configure(f"model: {{context_window: {window}}}\n")
    place.paths.soul_file.write_text("Be brief.\n")


def is_summary(request: ModelRequest) -> bool:
    return request.max_output is not None


def answering(summary: Say, reply: Say | Callable[[ModelRequest], Say]) -> StepModel:
    def step(request: ModelRequest) -> Say:
        if is_summary(request):
            return summary
        return reply if isinstance(reply, Say) else reply(request)

    return StepModel(step)


def summaries(model: StepModel) -> list[ModelRequest]:
    return [request for request in model.requests if is_summary(request)]


async def seeded(engine: Engine, turns: int, size: int) -> None:
    for number in range(turns):
        ended, _ = await run(engine, f"{number} ".ljust(size, "x"))
        assert ended.status == "completed"


@pytest.mark.parametrize(
    ("window", "reserve", "budget", "trigger"),
    [
        (128_000, 8_192, 119_808, 95_847),
        (6_000, 750, 5_250, 4_200),
        (1, 1, 0, 0),
        (7, 1, 6, 5),
        (1_000_000, 8_192, 991_808, 793_447),
    ],
)
def test_the_sizes_of_a_window(window: int, reserve: int, budget: int, trigger: int) -> None:
    limits = Limits(window)
    assert (limits.reserve, limits.budget, limits.trigger) == (reserve, budget, trigger)


def test_the_estimate_counts_bytes_of_the_json_and_items() -> None:
    request = ModelRequest(
        "é", (UserItem("a"), AssistantItem("b", (call("t", "c"),)), ToolItem("c", "t", "d"))
    )
    items = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "d"},
    ]
    text = json.dumps(
        {"instructions": "é", "input": items, "tools": []}, ensure_ascii=False, separators=(",", ":")
    )
    assert estimate(request) == len(text.encode()) + 128 + 16 * 4


async def test_four_old_turns_in_a_small_window_become_one_summary(place: Place) -> None:
    small(place)
    model = answering(Say(SUMMARY), Say("y" * 250))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 250)
    assert not summaries(model)
    sent = len(model.requests)
    ended, events = await run(engine, "z" * 500)
    assert ended.status == "completed"
    first, second = model.requests[sent:]
    assert is_summary(first)
    assert len(second.items) == 6
    memory = second.items[0]
    assert isinstance(memory, AssistantItem)
    assert memory.text == f"{SUMMARY_LABEL}\n{SUMMARY}"
    assert only(events, ev.Compacted) == [ev.Compacted(SUMMARY, 2)]
    assert only(events, ev.RequestSent)[0].number == 2


async def test_the_same_turns_in_the_usual_window_are_not_summarised(place: Place) -> None:
    model = answering(Say(SUMMARY), Say("y" * 450))
    engine = place.open(model)
    await seeded(engine, 5, 450)
    assert not summaries(model)


async def test_the_trigger_is_exclusive(place: Place) -> None:
    small(place)
    model = answering(Say(SUMMARY), Say("y" * 100))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 3, 100)
    room = Limits(6_000).trigger - engine.assemble_preview("x").estimate
    await run(engine, "x" * (room + 1))
    assert engine.last_assembly is not None
    assert engine.last_assembly.estimate == 4_200
    assert not summaries(model)


async def test_one_past_the_trigger_summarises(place: Place) -> None:
    small(place)
    model = answering(Say(SUMMARY), Say("y" * 100))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 3, 100)
    room = Limits(6_000).trigger - engine.assemble_preview("x").estimate
    await run(engine, "x" * (room + 2))
    assert len(summaries(model)) == 1


async def test_endless_calls_end_at_eight_requests_of_which_one_is_a_summary(place: Place) -> None:
    small(place)
    tools = Tools()

    def reply(request: ModelRequest) -> Say:
        if engine_asks[0]:
            return Say(calls=(call("look", f"c{len(model.requests)}"),))
        return Say("y" * 250)

    engine_asks = [False]
    model = answering(Say(SUMMARY), reply)
    engine = place.open(model, tools=tools)
    await seeded(engine, 4, 250)
    engine_asks[0] = True
    sent = len(model.requests)
    ended, events = await run(engine, "z" * 500)
    assert ended.status == "failed"
    assert len(model.requests) - sent == 8
    assert len(summaries(model)) == 1
    assert len(tools.look.ran) == 6
    assert "8 requests" in only(events, ev.ErrorRaised)[0].text


@pytest.mark.parametrize(("asked", "summarised"), [(6, 1), (7, 0)])
async def test_a_summary_is_made_only_where_a_request_is_left_for_the_answer(
    place: Place, asked: int, summarised: int
) -> None:
    """After so many requests of the turn its history grows over the trigger."""
    small(place)
    began: list[int] = []

    def reply(request: ModelRequest) -> Say:
        if not began:
            return Say("y" * 100)
        number = len(model.requests) - began[0]
        if number > asked:
            return Say("the end")
        long = "z" * (Limits(6_000).trigger - estimate(request) + 100) if number == asked else ""
        return Say(long, calls=(call("look", f"c{number}"),))

    model = answering(Say(SUMMARY), reply)
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 100)
    began.append(len(model.requests))
    ended, _ = await run(engine, "go")
    assert ended.status == "completed"
    assert len(summaries(model)) == summarised
    assert len(model.requests) - began[0] == asked + summarised + 1


REJECTED = {
    "an error of the server": Say(fail=ModelError("secret body", kind="server", status=500)),
    "empty": Say(" \n"),
    "a refusal": Say("I cannot", finish="refusal"),
    "incomplete": Say("They talked", finish="length"),
    "broken off": Say("They talked", silent_end=True),
    "a tool call": Say("text", calls=(call("look"),)),
    "too many bytes": Say("s" * 8_193),
    "not smaller": Say("s" * 3_000),
}


@pytest.mark.parametrize("summary", REJECTED.values(), ids=REJECTED.keys())
async def test_a_summary_that_is_none_changes_nothing(place: Place, summary: Say) -> None:
    small(place, 20_000)
    model = answering(summary, Say("y" * 300))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 300)
    before, carried = place.log_lines(engine.id), engine.assemble_preview().request
    events: list[ev.Event] = []
    assert await engine.compact(events.append) is False
    assert len(summaries(model)) == 1
    assert place.log_lines(engine.id) == before
    assert engine.assemble_preview().request == carried
    notice = only(events, ev.Notice)[-1].text
    assert "kept as it was" in notice
    assert "secret body" not in notice
    # A later try may do better.
    model.steps = (Say(SUMMARY),)
    assert await engine.compact(events.append) is True


async def test_the_largest_summary_is_taken(place: Place) -> None:
    small(place, 60_000)
    model = answering(Say("s" * 8_192), Say("y" * 6_000))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 300)
    assert await engine.compact(lambda event: None) is True


@pytest.mark.parametrize("text", ["s" * 8_193, "é" * 4_097])
async def test_one_byte_more_is_too_much_even_where_it_would_save_room(place: Place, text: str) -> None:
    small(place, 60_000)
    model = answering(Say(text), Say("y" * 6_000))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 300)
    assert await engine.compact(lambda event: None) is False


async def test_no_summary_is_tried_that_would_leave_no_request(place: Place) -> None:
    small(place)
    tools = Tools()
    asked = 0

    def reply(request: ModelRequest) -> Say:
        nonlocal asked
        if request.items[-1] == UserItem("now") or isinstance(request.items[-1], ToolItem):
            asked += 1
            if asked < 7:
                return Say(calls=(call("look", f"c{asked}"),))
            return Say(calls=(call("large", "big", text="1200"),)) if asked == 7 else Say("the end")
        return Say("y" * 40)

    model = answering(Say(SUMMARY), reply)
    engine = place.open(model, tools=Registry([tools.look, tools.large]))
    await seeded(engine, 4, 40)
    ended, _ = await run(engine, "now")
    assert ended.status == "completed"
    assert engine.last_assembly is not None
    assert Limits(6_000).trigger < engine.last_assembly.estimate <= Limits(6_000).budget
    assert not summaries(model)


async def test_a_failed_summary_does_not_stop_a_turn_that_fits(place: Place) -> None:
    small(place)
    model = answering(Say(finish="refusal", text="no"), Say("y" * 250))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 4, 250)
    ended, events = await run(engine, "z" * 500)
    assert ended.status == "completed"
    assert len(summaries(model)) == 1
    assert any("kept as it was" in event.text for event in only(events, ev.Notice))


async def test_a_message_larger_than_the_window_is_not_written(place: Place) -> None:
    small(place)
    model = answering(Say(SUMMARY), Say("ok"))
    engine = place.open(model, tools=Tools())
    await seeded(engine, 3, 100)
    before, sent = place.log_lines(engine.id), len(model.requests)
    ended, events = await run(engine, "x" * 6_000)
    assert ended.status == "failed"
    assert not only(events, ev.UserSaid)
    assert "/compact" in only(events, ev.ErrorRaised)[0].text
    assert place.log_lines(engine.id) == before
    assert len(model.requests) == sent
    ended, _ = await run(engine, "small again")
    assert ended.status == "completed"


async def with_result(place: Place, size: int) -> tuple[StepModel, Tools, ev.TurnEnded, list[ev.Event], int]:
    small(place)
    tools = Tools()

    def reply(request: ModelRequest) -> Say:
        said = request.items[-1]
        if isinstance(said, UserItem) and said.text == "now":
            return Say(calls=(call("large", "big", text=str(size)),))
        return Say("y" * 125)

    model = answering(Say(SUMMARY), reply)
    engine = place.open(model, tools=Registry([tools.large]))
    await seeded(engine, 4, 125)
    sent = len(model.requests)
    ended, events = await run(engine, "now")
    return model, tools, ended, events, sent


async def test_a_result_can_make_a_summary_due(place: Place) -> None:
    model, tools, ended, _, sent = await with_result(place, 2_200)
    assert ended.status == "completed"
    assert len(model.requests) - sent == 3
    assert len(summaries(model)) == 1
    assert tools.large.ran == ["2200"]
    *_, said, result = model.requests[-1].items
    assert isinstance(said, AssistantItem)
    assert said.calls[0].id == "big"
    assert isinstance(result, ToolItem)
    assert result.call_id == "big"


async def test_a_result_that_never_fits_ends_the_turn(place: Place) -> None:
    model, tools, ended, events, sent = await with_result(place, 10_000)
    assert ended.status == "failed"
    assert len(model.requests) - sent == 1
    assert not summaries(model)
    assert tools.large.ran == ["10000"]
    assert "too large" in only(events, ev.ErrorRaised)[0].text


async def test_a_second_summary_builds_on_the_first_and_covers_nothing_twice(place: Place) -> None:
    model = answering(Say("first summary"), Say("y" * 300))
    engine = place.open(model)
    await seeded(engine, 4, 300)
    assert await engine.compact(lambda event: None) is True
    model.steps = (Say("y" * 300),)
    for number in range(2):
        await run(engine, f"later {number}".ljust(300))
    model.steps = (Say("second summary"),)
    assert await engine.compact(lambda event: None) is True
    request = summaries(model)[-1]
    first = request.items[0]
    assert isinstance(first, AssistantItem)
    assert first.text.endswith("first summary")
    said = [item.text[:2] for item in request.items[1:-1] if isinstance(item, UserItem)]
    assert said == ["2 ", "3 "]
    told = only(replay_events(engine.replay()), ev.Compacted)
    assert told == [ev.Compacted("first summary", 2), ev.Compacted("second summary", 2)]
    preview = engine.assemble_preview().request
    assert len(preview.items) == 5
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    assert again.assemble_preview().request == preview
    fresh = place.open(model)
    assert fresh.assemble_preview().request.items == ()
    again.clear()
    assert again.assemble_preview().request.items == ()


async def test_there_is_nothing_to_summarise_in_two_turns(place: Place) -> None:
    model = answering(Say(SUMMARY), Say("ok"))
    engine = place.open(model)
    await seeded(engine, 2, 100)
    events: list[ev.Event] = []
    assert await engine.compact(events.append) is False
    assert len(model.requests) == 2
    assert only(events, ev.Notice)


async def test_a_summary_request_carries_no_tools_and_no_memory(place: Place) -> None:
    (place.project / ".muniment" / "memory").mkdir(parents=True)
    (place.project / ".muniment" / "memory" / "rule.yaml").write_text(
        "id: rule\ntitle: Plum rule\ncontent: Plums are blue.\n"
    )
    model = answering(Say(SUMMARY), Say("y" * 300))
    engine = place.open(model)
    await seeded(engine, 4, 300)
    before = engine.assemble_preview()
    assert [block.name for block in before.blocks] == ["digest"]
    assert await engine.compact(lambda event: None) is True
    request = summaries(model)[0]
    assert request.tools == ()
    assert request.max_output == 8_192
    assert "Plum rule" not in repr(request)
    after = engine.assemble_preview()
    assert [block.name for block in after.blocks] == ["digest", "summary"]
    assert after.blocks[0] == before.blocks[0]
    first = after.request.items[0]
    assert isinstance(first, AssistantItem)
    assert first.text.index("Plum rule") < first.text.index(SUMMARY)
    assert sum("Plum rule" in repr(item) for item in after.request.items) == 1
    # The summary is no record: the project holds the one record it had.
    assert [each.name for each in (place.project / ".muniment" / "memory").iterdir()] == ["rule.yaml"]


async def test_history_too_large_for_one_summary_is_said(place: Place) -> None:
    model = answering(Say(SUMMARY), Say("y" * 3_000))
    engine = place.open(model)
    await seeded(engine, 4, 3_000)
    await engine.close()
    small(place, 6_000)
    again = place.open(model, resume_id=engine.id)
    events: list[ev.Event] = []
    assert await again.compact(events.append) is False
    assert "too large for one summary" in only(events, ev.Notice)[-1].text
    assert not summaries(model)
