"""The desk opens a dialog for resting hands only, one after the other, and loses no draft and no proposal."""

from __future__ import annotations

import asyncio

import pytest

from muniment.approval.proposal import Decision
from muniment.tui.modals.approval import ApprovalScreen
from muniment.tui.modals.question import Question
from support.approvals import (
    LONE_SECONDS,
    DeskApp,
    a_proposal,
    answered,
    armed,
    opened,
    place_of,
    running,
    shown,
    until,
)


def questions(app: DeskApp) -> int:
    return sum(isinstance(each, ApprovalScreen) for each in app.screen_stack)


async def test_it_does_not_open_while_the_composer_holds_a_draft() -> None:
    async with running() as (app, pilot, times):
        await pilot.press(*"half", "space", "a", "space", *"thought")
        times.offset += 60
        task = app.ask(a_proposal())
        await until(pilot, lambda: app.waiting)
        for _ in range(5):
            times.offset += 10
            await pilot.pause(0.05)
        assert not app.dialog_open
        assert app.waiting == "⏸ 1 proposal waits – F4 to review"
        assert "1 proposal waits – F4 to review" in shown(app)
        assert app.draft == "half a thought"
        task.cancel()


async def test_a_draft_that_is_not_focused_holds_it_back_as_well() -> None:
    async with running() as (app, pilot, times):
        await pilot.press("h", "i")
        app.set_focus(None)
        task = app.ask(a_proposal())
        for _ in range(5):
            times.offset += 10
            await pilot.pause(0.05)
        assert not app.dialog_open
        assert app.waiting
        task.cancel()


async def test_it_does_not_open_within_a_second_of_a_key() -> None:
    async with running() as (app, pilot, times):
        await pilot.press("left")
        task = app.ask(a_proposal())
        times.offset += 0.6
        await pilot.pause(0.25)
        assert not app.dialog_open
        assert app.waiting
        times.offset += 1
        await opened(pilot, app)
        assert app.waiting == ""
        task.cancel()


async def test_it_opens_by_itself_once_the_draft_is_gone_and_the_hands_rest() -> None:
    async with running() as (app, pilot, times):
        await pilot.press("h", "i")
        task = app.ask(a_proposal())
        await until(pilot, lambda: app.waiting)
        await pilot.press("backspace", "backspace")
        times.offset += 1.1
        await opened(pilot, app)
        task.cancel()


async def test_keys_typed_across_the_opening_stay_in_the_composer() -> None:
    async with running() as (app, pilot, times):
        await pilot.press("y", "space")
        task = app.ask(a_proposal())
        await pilot.press("a", "1", "space", "y")
        times.offset += 0.5
        await pilot.pause(0.1)
        assert app.draft == "y a1 y"
        assert not app.dialog_open
        task.cancel()


async def test_f4_opens_at_once_and_keeps_the_draft() -> None:
    async with running() as (app, pilot, times):
        await pilot.press("h", "i")
        task = app.ask(a_proposal())
        await until(pilot, lambda: app.waiting)
        await pilot.press("f4")
        await armed(pilot, app, times)
        await pilot.press("y")
        assert (await answered(pilot, task, times)).allowed
        await until(pilot, lambda: not app.dialog_open)
        assert app.draft == "hi"


async def test_several_wait_in_order_each_armed_afresh_and_numbered() -> None:
    async with running() as (app, pilot, times):
        tasks = [app.ask(a_proposal(f"text {n}", id=f"call-{n}")) for n in (1, 2, 3)]
        for n, task in enumerate(tasks, 1):
            await until(pilot, lambda n=n: app.dialog_open and f"text {n}" in shown(app))
            assert f"{n} of 3" in shown(app)
            assert not app.dialog.gate.armed
            await armed(pilot, app, times)
            await pilot.press("a" if n != 2 else "d")
            assert (await answered(pilot, task, times)).allowed is (n != 2)
        await until(pilot, lambda: not app.dialog_open)
        assert app.desk.pending == ()


async def test_a_key_held_over_three_dialogs_allows_none_but_the_first_at_most() -> None:
    async with running() as (app, pilot, times):
        tasks = [app.ask(a_proposal(f"text {n}", id=f"call-{n}")) for n in (1, 2, 3)]
        await armed(pilot, app, times)
        await pilot.press("a")
        times.offset += LONE_SECONDS
        await until(pilot, tasks[0].done)
        for _ in range(30):
            times.offset += 0.033
            await pilot.press("a")
        await until(pilot, lambda: app.dialog_open)
        assert [task.done() for task in tasks] == [True, False, False]
        for task in tasks:
            task.cancel()


async def test_one_that_joins_while_another_is_open_is_counted() -> None:
    async with running() as (app, pilot, _):
        first = app.ask(a_proposal("one"))
        await opened(pilot, app)
        assert " of " not in shown(app).splitlines()[0]
        second = app.ask(a_proposal("two"))
        await until(pilot, lambda: "1 of 2" in shown(app))
        assert [p.change.after for p in app.desk.pending if p.change] == ["one", "two"]
        first.cancel()
        second.cancel()


async def test_a_cancelled_turn_closes_its_dialog_and_the_next_one_opens() -> None:
    async with running() as (app, pilot, times):
        first = app.ask(a_proposal("one"))
        await armed(pilot, app, times)
        second = app.ask(a_proposal("two"))
        await pilot.pause()
        first.cancel()
        await until(pilot, lambda: app.dialog_open and "│ two" in shown(app))
        assert not app.dialog.gate.armed
        second.cancel()
        await until(pilot, lambda: not app.dialog_open)
        assert app.desk.pending == ()


@pytest.mark.parametrize("gone", [(0,), (1,), (0, 1), (1, 0), (0, 1, 2), (2, 0)])
async def test_whichever_are_cancelled_one_question_at_most_stands_and_no_answer_is_anothers(
    gone: tuple[int, ...],
) -> None:
    async with running() as (app, pilot, times):
        tasks = [app.ask(a_proposal(f"text {n}", id=f"call-{n}")) for n in range(3)]
        await armed(pilot, app, times)
        await pilot.press("a")
        for n in gone:
            tasks[n].cancel()
        left = [n for n in range(3) if n not in gone and n != 0]
        for _ in range(100):
            # Looked at between any two steps of the app: the next never opens above one that is leaving.
            await asyncio.sleep(0)
            assert questions(app) <= 1
        if 0 not in gone:
            assert (await answered(pilot, tasks[0], times)).allowed
        for n in left:
            await until(pilot, lambda n=n: app.dialog_open and f"│ text {n}" in shown(app))
            assert not app.dialog.gate.armed
            times.offset += 2 * LONE_SECONDS
            await pilot.pause(0.05)
            assert not tasks[n].done()
            await armed(pilot, app, times)
            await pilot.press("d")
            assert not (await answered(pilot, tasks[n], times)).allowed
        await until(pilot, lambda: questions(app) == 0)
        assert [task.cancelled() for task in tasks] == [n in gone for n in range(3)]
        assert app.desk.pending == ()
        assert not app.desk.is_open


async def test_a_cancelled_question_below_another_screen_leaves_before_the_next_one_opens() -> None:
    async with running() as (app, pilot, times):
        first, second = (app.ask(a_proposal(f"text {n}", id=f"call-{n}")) for n in (1, 2))
        await armed(pilot, app, times)
        above = Question("Go on?")
        await app.push_screen(above)
        first.cancel()
        times.offset += 5
        await pilot.pause(0.3)
        assert app.screen is above
        above.dismiss(False)
        await until(pilot, lambda: app.dialog_open and "│ text 2" in shown(app))
        assert questions(app) == 1
        second.cancel()
        await until(pilot, lambda: not app.dialog_open)


async def test_a_question_that_is_left_without_an_answer_waits_on() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        left = await armed(pilot, app, times)
        left.dismiss(None)
        await until(pilot, lambda: app.dialog_open and app.dialog is not left)
        await armed(pilot, app, times)
        await pilot.press("a")
        assert (await answered(pilot, task, times)).allowed


async def test_a_cancelled_one_that_was_never_open_just_leaves() -> None:
    async with running() as (app, pilot, _):
        await pilot.press("x")
        task = app.ask(a_proposal())
        await until(pilot, lambda: app.waiting)
        task.cancel()
        await until(pilot, lambda: not app.waiting)
        assert not app.dialog_open


async def test_a_decision_held_for_its_moment_is_void_when_the_turn_is_cancelled() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await pilot.press("a")
        task.cancel()
        times.offset += 1
        await until(pilot, lambda: not app.dialog_open)
        assert task.cancelled()


async def test_closing_the_app_denies_all_that_waits() -> None:
    async with running() as (app, pilot, _):
        tasks = [app.ask(a_proposal(f"text {n}")) for n in (1, 2)]
        await opened(pilot, app)
        app.exit()
        await until(pilot, lambda: all(task.done() for task in tasks))
    closed = Decision(False, "closed", "the app was closed")
    assert [task.result() for task in tasks] == [closed, closed]
    assert await app.desk.ask(a_proposal()) == closed


async def test_a_half_written_search_counts_as_a_draft() -> None:
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widgets import Input

    class Search(Screen[None]):
        def compose(self) -> ComposeResult:
            yield Input("found so f")

    async with running() as (app, pilot, times):
        await app.push_screen(Search())
        await pilot.pause()
        task = app.ask(a_proposal())
        times.offset += 60
        await pilot.pause(0.3)
        assert not app.dialog_open
        task.cancel()


async def test_the_same_call_asked_again_is_asked_again() -> None:
    async with running() as (app, pilot, times):
        proposal = a_proposal()
        for _ in range(2):
            task = app.ask(proposal)
            await armed(pilot, app, times)
            place_of(app, "[ a · Allow once ]")
            await pilot.press("a")
            assert (await answered(pilot, task, times)).allowed
            times.offset += 2
