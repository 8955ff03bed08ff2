"""Which parts of a conversation are drawn: always an unbroken end of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muniment.approval.proposal import Decision
from muniment.session import events as ev
from muniment.tui.adapter import parts_of
from muniment.tui.parts import BATCH, MOST, TAIL, Window


def test_a_long_conversation_opens_with_its_end() -> None:
    window = Window()
    window.open(500)
    assert (window.first, window.drawn) == (500 - TAIL, TAIL)
    window.open(3)
    assert (window.first, window.drawn) == (0, 3)


def test_reaching_the_top_draws_a_batch_and_ends_at_the_beginning() -> None:
    window = Window()
    window.open(TAIL + BATCH + 5)
    assert list(window.older()) == list(range(5, 5 + BATCH))
    assert list(window.older()) == [0, 1, 2, 3, 4]
    assert list(window.older()) == []


@given(st.lists(st.sampled_from(["add", "older", "prune"]), max_size=400), st.integers(0, 600))
def test_the_window_is_an_unbroken_end_and_bounded_after_pruning(steps: list[str], total: int) -> None:
    window = Window()
    window.open(total)
    drawn = list(range(window.first, window.total))
    for step in steps:
        if step == "add":
            drawn.append(window.total)
            window.add()
        elif step == "older":
            drawn = [*window.older(), *drawn]
        else:
            drawn = drawn[window.prune() :]
            assert len(drawn) <= MOST
        assert drawn == list(range(window.first, window.total))


def test_an_earlier_conversation_becomes_parts_with_each_speaker_once() -> None:
    events: list[ev.Event] = [
        ev.UserSaid("one"),
        ev.ToolCalled("c1", "memory_store", {"id": "a"}),
        ev.Decided("c1", Decision(False, "user", "not now")),
        ev.ToolFinished("c1", "memory_store", "denied", {}, "denied"),
        ev.ReplyEnded("kept", 0),
        ev.ReplyEnded("", 1),
        ev.TurnEnded("cancelled"),
    ]
    parts, last = parts_of(events, "Muniment")
    assert [part.kind for part in parts] == ["who", "user", "who", "tool", "reply", "notice"]
    assert last == "Muniment"
    tool = parts[3]
    assert (tool.status, tool.decision, tool.result) == ("denied", "denied: not now", "denied")
    assert parts[-1].text == "Stopped."


def test_each_thing_that_the_user_said_stands_under_their_name_even_where_nobody_answered() -> None:
    events: list[ev.Event] = [ev.UserSaid("one"), ev.ErrorRaised("no server"), ev.UserSaid("two")]
    parts, _ = parts_of(events, "Muniment")
    assert [part.kind for part in parts] == ["who", "user", "error", "who", "user"]
