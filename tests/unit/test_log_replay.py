"""A stored log told again: the same events as a screen was told, and nothing that it was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.approval.proposal import Decision
from muniment.model.base import ToolCall
from muniment.session import events as ev
from muniment.session.logs.log import SessionLog
from muniment.session.logs.replay import replay_events
from support.session import Place, Say, StepModel, Tools, allow, call, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_each_reply_call_and_end_of_a_session_is_told_once_and_in_order(place: Place) -> None:
    keep = call("keep", text="a")
    odd = ToolCall("c2", "keep", "no object")
    steps = (Say("At once.", calls=(keep,)), Say(calls=(odd,)), Say("Done."), Say("Cut", finish="length"))
    engine = place.open(StepModel(*steps), tools=Tools(), approver=allow)
    await run(engine, "save it")
    await run(engine, "go on")
    session = engine.id
    await engine.close()
    log = SessionLog.open(place.paths, session)
    told = list(replay_events(log.replay()))
    log.close()
    finished = [each for each in told if isinstance(each, ev.ToolFinished)]
    assert [(each.id, each.status) for each in finished] == [("c1", "completed"), ("c2", "invalid_arguments")]
    assert [each for each in told if not isinstance(each, ev.ToolFinished)] == [
        ev.UserSaid("save it"),
        ev.ReplyEnded("At once.", 1),
        ev.ToolCalled("c1", "keep", {"text": "a"}),
        ev.Decided("c1", Decision(True, "user", "")),
        ev.ReplyEnded("", 1),
        ev.ToolCalled("c2", "keep", "no object"),
        ev.ReplyEnded("Done.", 0),
        ev.TurnEnded("completed"),
        ev.UserSaid("go on"),
        ev.ReplyEnded(told[-2].text, 0),  # type: ignore[union-attr]
        ev.TurnEnded("completed"),
    ]
    assert isinstance(told[-2], ev.ReplyEnded)
    assert told[-2].text.startswith("Cut\n\n")
