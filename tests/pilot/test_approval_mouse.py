"""A click counts only where it went down and up on an enabled button after arming."""

from __future__ import annotations

from textual.events import MouseDown, MouseScrollDown, MouseUp

from muniment.approval.gate import Standing
from muniment.approval.proposal import Decision
from support.approvals import (
    a_proposal,
    answered,
    armed,
    mouse_at,
    opened,
    place_of,
    running,
    shown,
    stays_open,
    until,
)

ALLOW = "a · Allow once"
DENY = "d or Esc · Deny ]"


async def test_a_click_at_the_instant_of_opening_decides_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        x, y = place_of(app, ALLOW)
        for kind in (MouseDown, MouseUp):
            await mouse_at(pilot, app, kind, x, y)
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_click_on_an_armed_button_decides() -> None:
    for words, allowed in ((ALLOW, True), (DENY, False)):
        async with running() as (app, pilot, times):
            task = app.ask(a_proposal())
            await armed(pilot, app, times)
            x, y = place_of(app, words)
            await mouse_at(pilot, app, MouseDown, x, y)
            await mouse_at(pilot, app, MouseUp, x, y)
            assert await answered(pilot, task, times) == Decision(allowed, "user")


async def test_a_button_held_down_since_before_arming_decides_nothing_when_let_go() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        x, y = place_of(app, ALLOW)
        await mouse_at(pilot, app, MouseDown, x, y)
        await armed(pilot, app, times)
        await mouse_at(pilot, app, MouseUp, x, y)
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_press_made_before_the_armed_frame_but_handled_after_it_does_not_count() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        x, y = place_of(app, ALLOW)
        early = dialog.gate._armed_at - 0.001
        await mouse_at(pilot, app, MouseDown, x, y, early)
        await mouse_at(pilot, app, MouseUp, x, y)
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_going_down_on_one_button_and_up_on_another_decides_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await mouse_at(pilot, app, MouseDown, *place_of(app, DENY))
        await mouse_at(pilot, app, MouseUp, *place_of(app, ALLOW))
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_locked_allow_button_ignores_clicks() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal("\n".join(f"line {n}" for n in range(100))))
        await armed(pilot, app, times)
        x, y = place_of(app, f"( {ALLOW} )")
        await mouse_at(pilot, app, MouseDown, x + 3, y)
        await mouse_at(pilot, app, MouseUp, x + 3, y)
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_clicks_that_bypass_the_front_door_are_judged_as_well() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        x, y = place_of(app, ALLOW)
        await pilot.click(offset=(x, y))
        await stays_open(pilot, app, task, times)
        await armed(pilot, app, times)
        await pilot.click(offset=(x, y))
        assert (await answered(pilot, task, times)).allowed


async def test_clicking_every_cell_of_the_text_does_nothing() -> None:
    async with running(size=(60, 16)) as (app, pilot, times):
        task = app.ask(a_proposal("[@click=screen.dialog('allow')]details[/] [@click=app.quit]more[/]"))
        dialog = await armed(pilot, app, times)
        await pilot.press("end")
        await pilot.pause()
        _, row = place_of(app, "[@click=screen")
        for y in (row, row + 1):
            for x in range(0, 60, 3):
                await mouse_at(pilot, app, MouseDown, x, y)
                await mouse_at(pilot, app, MouseUp, x, y)
        await stays_open(pilot, app, task, times)
        assert dialog.gate.armed
        assert app._exit is False
        task.cancel()


async def test_the_wheel_scrolls_and_counts_against_the_quiet_time() -> None:
    async with running(quiet_seconds=5) as (app, pilot, times):
        task = app.ask(a_proposal("\n".join(f"line {n}" for n in range(100))))
        dialog = await opened(pilot, app)
        times.offset += 4.9
        for _ in range(8):
            await mouse_at(pilot, app, MouseScrollDown, 10, 8)
        await until(pilot, lambda: "line 10" in shown(app))
        times.offset += 4.5
        await pilot.pause(0.1)
        assert dialog.gate.standing is Standing.QUIET
        task.cancel()


async def test_a_reason_can_be_given_with_the_mouse_alone() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        for words in ("r · Deny with a reason", "d · Deny with this reason", "d · Deny with this reason"):
            await until(pilot, lambda words=words: words in shown(app))
            await pilot.pause(0.05)
            x, y = place_of(app, words)
            await mouse_at(pilot, app, MouseDown, x, y)
            await mouse_at(pilot, app, MouseUp, x, y)
            await pilot.pause(0.05)
        assert await answered(pilot, task, times) == Decision(False, "user")


async def test_a_press_outside_a_terminal_that_became_smaller_decides_nothing_and_ends_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        width, height = app.size
        for kind in (MouseDown, MouseUp):
            event = kind(dialog, width + 9, height + 9, 0, 0, 1, False, False, False, width + 9, height + 9)
            await app.on_event(event)
        await stays_open(pilot, app, task, times)
        assert app._exception is None
        task.cancel()
