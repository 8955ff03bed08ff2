"""Interrupting: at every state the turn ends within a moment and leaves a history that can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.approval.proposal import Decision, Proposal
from muniment.model.base import AssistantItem, ModelRequest, RetryNotice, ToolItem
from muniment.session import events as ev
from muniment.session.engine import Engine
from muniment.session.logs.history import STOPPED_MARK
from muniment.tools.registry import Registry
from support.session import Look, Place, Say, StepModel, Tools, allow, call, only, run, until

MOMENT = 5.0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def stopped(
    engine: Engine, ready: Callable[[], bool], *, times: int = 1
) -> tuple[ev.TurnEnded, list[ev.Event]]:
    """Run a turn, interrupt it once it is ready, and insist that it ends within a moment."""
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.turn("start", events.append))
    await until(ready)
    for _ in range(times):
        engine.interrupt()
    ended = await asyncio.wait_for(task, MOMENT)
    assert ended.status == "cancelled"
    assert events[-1] == ended
    assert not engine.busy
    called = [each.id for each in only(events, ev.ToolCalled)]
    assert called == [each.id for each in only(events, ev.ToolFinished)]
    return ended, events


async def goes_on(place: Place, engine: Engine, model: StepModel) -> ModelRequest:
    """The next turn works, now and after a resume; the model of these tests refuses invalid histories."""
    model.steps = (Say("went on"),)
    ended, _ = await run(engine, "go on")
    assert ended.status == "completed"
    request = model.requests[-1]
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    ended, _ = await run(again, "and on")
    assert ended.status == "completed"
    assert model.requests[-1].items[: len(request.items)] == request.items
    await again.close()
    return request


async def test_while_connecting(place: Place) -> None:
    model = StepModel(Say(hang=True))
    engine = place.open(model)
    await stopped(engine, model.waiting.is_set)
    assert place.kinds(engine.id) == ["session", "user_message", "turn_end"]
    request = await goes_on(place, engine, model)
    assert not any(isinstance(item, AssistantItem) for item in request.items)


async def test_while_streaming_keeps_the_shown_text_marked_once(place: Place) -> None:
    words = tuple(f"word{n} " for n in range(20))
    model = StepModel(Say(pieces=words, hang=True))
    engine = place.open(model)
    _, events = await stopped(engine, model.waiting.is_set, times=2)
    assert only(events, ev.ReplyEnded)[0].text == "".join(words)
    request = await goes_on(place, engine, model)
    kept = request.items[1]
    assert isinstance(kept, AssistantItem)
    assert kept.text == f"{''.join(words)}\n\n{STOPPED_MARK}"
    assert kept.calls == ()


async def test_blank_text_is_not_kept(place: Place) -> None:
    model = StepModel(Say(pieces=("\n", " "), hang=True))
    engine = place.open(model)
    _, events = await stopped(engine, model.waiting.is_set)
    assert not only(events, ev.ReplyEnded)
    assert "model_response" not in place.kinds(engine.id)


async def test_in_the_question(place: Place) -> None:
    asked = asyncio.Event()
    closed = asyncio.Event()

    async def wait(proposal: Proposal) -> Decision:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError

    tools = Tools()
    model = StepModel(Say(calls=(call("keep", "a"), call("look", "b"), call("keep", "c"))))
    engine = place.open(model, tools=tools, approver=wait)
    _, events = await stopped(engine, asked.is_set)
    assert closed.is_set()
    assert [(event.id, event.status) for event in only(events, ev.ToolFinished)] == [
        ("a", "cancelled"),
        ("b", "cancelled"),
        ("c", "cancelled"),
    ]
    assert tools.keep.ran == []
    assert tools.look.ran == []
    await goes_on(place, engine, model)


async def test_while_a_tool_runs_that_does_not_come_back(place: Place) -> None:
    tools = Tools()
    model = StepModel(Say(calls=(call("stuck", "a"), call("look", "b"))))
    engine = place.open(model, tools=tools, approver=allow)
    try:
        _, events = await stopped(engine, tools.stuck.entered.is_set)
        finished = only(events, ev.ToolFinished)
        assert [(event.id, event.status) for event in finished] == [("a", "cancelled"), ("b", "cancelled")]
        assert "not known" in finished[0].text
        assert "not executed" in finished[1].text
        request = await goes_on(place, engine, model)
        assert sum(isinstance(item, ToolItem) for item in request.items) == 2
    finally:
        tools.stuck.let_go.set()


async def test_a_tool_that_ends_in_time_tells_what_it_did(place: Place) -> None:
    tools = Tools()
    model = StepModel(Say(calls=(call("stuck", "a", text="done it"),)))
    engine = place.open(model, tools=tools, approver=allow)
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.turn("start", events.append))
    await until(tools.stuck.entered.is_set)
    engine.interrupt()
    tools.stuck.let_go.set()
    assert (await task).status == "cancelled"
    assert [event.status for event in only(events, ev.ToolFinished)] == ["completed"]
    await goes_on(place, engine, model)


async def test_after_one_of_three_results(place: Place) -> None:
    class Interrupting(Look):
        def execute(self, proposal, context):  # type: ignore[no-untyped-def]
            loop.call_soon_threadsafe(engine.interrupt)
            return super().execute(proposal, context)

    loop = asyncio.get_running_loop()
    model = StepModel(Say(calls=tuple(call("look", each) for each in "abc")))
    engine = place.open(model, tools=Registry([Interrupting()]))
    ended, events = await run(engine)
    assert ended.status == "cancelled"
    statuses = [event.status for event in only(events, ev.ToolFinished)]
    assert len(statuses) == 3
    assert statuses[1:] == ["cancelled", "cancelled"]
    await goes_on(place, engine, model)


async def test_while_waiting_to_try_again(place: Place) -> None:
    class Waiting(StepModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            if self.waiting.is_set():
                async for event in super().stream(request):
                    yield event
                return
            yield RetryNotice(1, 3, 60.0, "The server is busy")
            self.waiting.set()
            await asyncio.sleep(60)

    model = Waiting(Say("unused"))
    engine = place.open(model)
    await stopped(engine, model.waiting.is_set)
    await goes_on(place, engine, model)


async def test_during_a_summary(place: Place) -> None:
    model = StepModel(Say("reply"))
    engine = place.open(model)
    for number in range(4):
        await run(engine, f"message {number}")
    model.steps = (Say(pieces=("sum",), hang=True),)
    before = place.log_lines(engine.id)
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.compact(events.append))
    await until(model.waiting.is_set)
    engine.interrupt()
    assert await asyncio.wait_for(task, MOMENT) is False
    assert place.log_lines(engine.id) == before
    assert only(events, ev.Notice)
    await goes_on(place, engine, model)


async def test_between_the_reply_and_the_first_call(place: Place) -> None:
    tools = Tools()
    model = StepModel(Say("text", calls=(call("keep", "a"),)))
    engine = place.open(model, tools=tools, approver=allow)
    events: list[ev.Event] = []

    def emit(event: ev.Event) -> None:
        events.append(event)
        if isinstance(event, ev.ReplyEnded):
            engine.interrupt()

    ended = await engine.turn("start", emit)
    assert ended.status == "cancelled"
    assert tools.keep.ran == []
    assert [event.status for event in only(events, ev.ToolFinished)] == ["cancelled"]
    await goes_on(place, engine, model)


@pytest.mark.parametrize(
    "kind",
    [
        ev.UserSaid,
        ev.RequestSent,
        ev.TextDelta,
        ev.ReplyEnded,
        ev.ToolCalled,
        ev.ProposalMade,
        ev.Decided,
        ev.ToolFinished,
    ],
)
async def test_at_any_event(place: Place, kind: type[ev.Event]) -> None:
    model = StepModel(Say("text", calls=(call("keep", "a"), call("look", "b"))), Say("end"))
    engine = place.open(model, approver=allow)
    events: list[ev.Event] = []

    def emit(event: ev.Event) -> None:
        events.append(event)
        if isinstance(event, kind):
            engine.interrupt()

    ended = await asyncio.wait_for(engine.turn("start", emit), 5)
    assert ended.status == "cancelled"
    results = [line["call_id"] for line in place.log_lines(engine.id) if line["kind"] == "tool_result"]
    called = [
        each["id"]
        for line in place.log_lines(engine.id)
        if line["kind"] == "model_response"
        for each in line["calls"]
    ]
    assert sorted(results) == sorted(called)
    assert sorted(event.id for event in only(events, ev.ToolFinished)) == sorted(called)
    await goes_on(place, engine, model)


async def test_a_caller_that_is_cancelled_takes_the_turn_with_it(place: Place) -> None:
    model = StepModel(Say(pieces=("so far",), hang=True))
    engine = place.open(model)
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.turn("start", events.append))
    await until(model.waiting.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert only(events, ev.TurnEnded)[0].status == "cancelled"
    assert place.kinds(engine.id)[-1] == "turn_end"
    await goes_on(place, engine, model)


async def test_interrupting_when_nothing_runs_does_nothing(place: Place) -> None:
    model = StepModel(Say("ok"))
    engine = place.open(model)
    engine.interrupt()
    ended, _ = await run(engine)
    assert ended.status == "completed"
    engine.interrupt()
    ended, _ = await run(engine)
    assert ended.status == "completed"


STEPS = (0, 1, 2, 3, 5, 8, 13, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.008, 0.012, 0.02)
"""Moments: rounds of the loop where whole, seconds where not."""


async def pass_by(moment: float) -> None:
    if isinstance(moment, int):
        for _ in range(moment):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(moment)


def paired(place: Place, session_id: str) -> bool:
    """Whether every call that the log holds has exactly one result, and every turn an end."""
    lines = place.log_lines(session_id)
    calls = [each["id"] for line in lines if line["kind"] == "model_response" for each in line["calls"]]
    results = [line["call_id"] for line in lines if line["kind"] == "tool_result"]
    kinds = [line["kind"] for line in lines]
    return sorted(calls) == sorted(results) and kinds.count("user_message") == kinds.count("turn_end")


@pytest.mark.parametrize("moment", STEPS)
@pytest.mark.parametrize("again", [None, 0, 2, 0.001])
async def test_at_any_moment_once_or_twice(place: Place, moment: float, again: float | None) -> None:
    async def slow(proposal: Proposal) -> Decision:
        await asyncio.sleep(0.001)
        return Decision(True, "user")

    model = StepModel(
        Say("text", pieces=("te", "xt"), calls=(call("keep", "a"), call("look", "b"), call("keep", "c"))),
        Say("end"),
    )
    engine = place.open(model, approver=slow)
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.turn("start", events.append))
    await pass_by(moment)
    engine.interrupt()
    if again is not None:
        await pass_by(again)
        engine.interrupt()
    ended = await asyncio.wait_for(task, MOMENT)
    assert ended.status in ("cancelled", "completed")
    assert only(events, ev.TurnEnded) == [ended]
    assert not engine.busy
    # A message that was not yet taken is not in the log, and may be given back.
    said = bool(only(events, ev.UserSaid))
    assert said == place_has(place, engine.id)
    assert not said or paired(place, engine.id)
    await goes_on(place, engine, model)
    assert paired(place, engine.id)


async def test_a_stop_that_comes_while_the_turn_is_closed_is_too_late_to_change_its_end(place: Place) -> None:
    model = StepModel(Say("end"))
    engine = place.open(model)
    events: list[ev.Event] = []

    def emit(event: ev.Event) -> None:
        events.append(event)
        if isinstance(event, ev.ReplyEnded):
            engine.interrupt()

    ended = await asyncio.wait_for(engine.turn("start", emit), MOMENT)
    assert ended.status == "completed"
    assert only(events, ev.TurnEnded) == [ended]
    assert paired(place, engine.id)
    await goes_on(place, engine, model)


def place_has(place: Place, session_id: str) -> bool:
    path = place.paths.sessions / f"{session_id}.jsonl"
    return path.exists() and "user_message" in place.kinds(session_id)


@pytest.mark.parametrize("moment", [0, 2, 0.001, 0.004])
async def test_during_a_summary_that_a_turn_needs(place: Place, moment: float) -> None:
    place.configure("model: {context_window: 6000}\n")
    place.paths.soul_file.write_text("Be brief.\n")
    hang = True

    def step(request: ModelRequest) -> Say:
        return Say(pieces=("sum", "mary"), hang=hang) if request.max_output is not None else Say("y" * 250)

    model = StepModel(step)
    engine = place.open(model)
    for number in range(4):
        await run(engine, f"{number} ".ljust(250, "x"))
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.turn("z" * 500, events.append))
    await until(lambda: model.requests[-1].max_output is not None)
    await pass_by(moment)
    engine.interrupt()
    engine.interrupt()
    assert (await asyncio.wait_for(task, MOMENT)).status == "cancelled"
    assert not only(events, ev.Compacted)
    assert "context_compaction" not in place.kinds(engine.id)
    assert paired(place, engine.id)
    hang = False
    ended, events = await run(engine, "again")
    assert ended.status == "completed"
    assert [each.text for each in only(events, ev.Compacted)] == ["summary"]
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    assert (await run(again, "and on"))[0].status == "completed"
    assert paired(place, engine.id)
    await again.close()


async def test_turn_after_turn_is_interrupted_and_each_leaves_its_end(place: Place) -> None:
    model = StepModel(Say(pieces=("so ", "far"), hang=True))
    engine = place.open(model)
    for _ in range(3):
        model.waiting.clear()
        await stopped(engine, model.waiting.is_set, times=2)
        engine.interrupt()
    assert place.kinds(engine.id).count("turn_end") == 3
    assert paired(place, engine.id)
    await goes_on(place, engine, model)


async def test_a_summary_asked_for_is_stopped_before_it_begins(place: Place) -> None:
    model = StepModel(Say("reply"))
    engine = place.open(model)
    for number in range(4):
        await run(engine, f"message {number}")
    events: list[ev.Event] = []
    task = asyncio.ensure_future(engine.compact(events.append))
    await asyncio.sleep(0)
    engine.interrupt()
    assert await asyncio.wait_for(task, MOMENT) is False
    assert not engine.busy
    await goes_on(place, engine, model)
