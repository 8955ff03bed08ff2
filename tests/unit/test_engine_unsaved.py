"""A log that cannot be written: the chat goes on, changes wait, and it heals by itself."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from muniment.approval.proposal import Decision, Proposal
from muniment.session import events as ev
from support.session import Place, Say, StepModel, Tools, allow, call, full_disk, only, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def both() -> tuple[StepModel, Tools]:
    model = StepModel(
        lambda request: (
            Say(
                calls=(
                    call("look", f"look{len(model.requests)}", text="read"),
                    call("keep", f"keep{len(model.requests)}", text="write"),
                    call("queue", f"queue{len(model.requests)}", text="note"),
                )
            )
            if len(model.requests) % 2
            else Say("the end")
        )
    )
    return model, Tools()


async def test_reads_run_changes_do_not_and_the_user_is_told_once(place: Place) -> None:
    model, tools = both()
    engine = place.open(model, tools=tools, approver=allow)
    await run(engine, "first")
    size = (place.paths.sessions / f"{engine.id}.jsonl").stat().st_size
    with full_disk(size + 10):
        ended, events = await run(engine, "second")
        assert ended.status == "completed"
        assert engine.save_fault is not None
        told = [event.text for event in only(events, ev.Notice)]
        assert len([text for text in told if "not being saved" in text]) == 1
        results = {event.tool: event for event in only(events, ev.ToolFinished)}
        assert results["look"].status == "completed"
        assert results["keep"].status == "not_executed"
        assert results["queue"].status == "not_executed"
        assert "could not be logged" in results["keep"].text
        assert not [event for event in only(events, ev.ProposalMade) if not event.shown]
        _, events = await run(engine, "third")
        assert not [event for event in only(events, ev.Notice) if "not being saved" in event.text]
    assert tools.keep.ran == ["write"]
    ended, events = await run(engine, "fourth")
    assert any("being saved again" in event.text for event in only(events, ev.Notice))
    assert tools.keep.ran == ["write", "write"]
    assert engine.save_fault is None
    said = [line["text"] for line in place.log_lines(engine.id) if line["kind"] == "user_message"]
    assert said == ["first", "second", "third", "fourth"]
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    assert again.assemble_preview().request == engine.assemble_preview().request


async def test_room_made_between_message_and_call_heals_the_same_turn(place: Place) -> None:
    model, tools = both()
    engine = place.open(model, tools=tools, approver=allow)
    limit = full_disk(10)
    limit.__enter__()

    def emit(event: ev.Event) -> None:
        if isinstance(event, ev.ReplyEnded) and engine.save_fault:
            limit.__exit__(None, None, None)

    ended = await engine.turn("go", emit)
    assert ended.status == "completed"
    assert tools.keep.ran == ["write"]
    assert place.kinds(engine.id)[0] == "session"


async def test_a_disk_that_fills_while_the_question_stands(place: Place) -> None:
    with ExitStack() as stack:

        async def fill(proposal: Proposal) -> Decision:
            stack.enter_context(full_disk(10))
            return Decision(True, "user")

        model, tools = both()
        engine = place.open(model, tools=tools, approver=fill)
        _, events = await run(engine)
        assert engine.save_fault is not None
    assert tools.keep.ran == []
    results = {event.tool: event for event in only(events, ev.ToolFinished)}
    assert results["keep"].status == "not_executed"
    assert engine.save_fault in results["keep"].text


async def test_a_sessions_directory_that_cannot_be_made(place: Place) -> None:
    place.paths.state.write_text("a file in its place")
    model, tools = both()
    engine = place.open(model, tools=tools, approver=allow)
    ended, events = await run(engine)
    assert ended.status == "completed"
    assert tools.look.ran == ["read"]
    assert tools.keep.ran == []
    assert any("not being saved" in event.text for event in only(events, ev.Notice))
    place.paths.state.unlink()
    await run(engine)
    assert tools.keep.ran == ["write"]
    assert place.kinds(engine.id).count("user_message") == 2


async def test_a_log_removed_under_a_running_session(place: Place) -> None:
    model, tools = both()
    engine = place.open(model, tools=tools, approver=allow)
    await run(engine)
    shutil.rmtree(place.paths.sessions)
    ended, events = await run(engine)
    assert ended.status == "completed"
    assert tools.keep.ran == ["write"]
    assert any("removed" in event.text for event in only(events, ev.Notice))
    engine.clear()
    await run(engine)
    assert tools.keep.ran == ["write", "write"]
