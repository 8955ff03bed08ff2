"""Whatever makes it doubtful that the armed dialog was seen disarms it."""

from __future__ import annotations

import threading

import pytest
from textual import events
from textual.screen import Screen

from muniment.approval.gate import Standing
from support.approvals import (
    DeskApp,
    a_proposal,
    answered,
    armed,
    opened,
    running,
    shown,
    stays_open,
    type_at,
    until,
)


async def test_a_stall_disarms_before_the_key_behind_it_is_judged() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        times.heart += 0.25
        await type_at(pilot, app, "a", times.now())
        await stays_open(pilot, app, task, times)
        assert not dialog.gate.armed
        await armed(pilot, app, times)
        await pilot.press("a")
        assert (await answered(pilot, task, times)).allowed


async def test_a_stall_between_the_key_and_its_decision_voids_it() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await pilot.press("a")
        times.heart += 0.25
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_short_delay_is_no_stall() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        times.heart += 0.19
        await pilot.press("a")
        assert (await answered(pilot, task, times)).allowed


async def test_a_loop_that_really_stood_still_disarms() -> None:
    app = DeskApp(0.5)
    async with app.run_test() as pilot:
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app)
        epoch = dialog.gate._epoch
        threading.Event().wait(0.4)
        await until(pilot, lambda: dialog.gate._epoch > epoch)
        task.cancel()


@pytest.mark.parametrize("event", [events.AppBlur, events.AppFocus])
async def test_losing_or_regaining_the_focus_disarms(event: type[events.Event]) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        app.post_message(event())
        await until(pilot, lambda: not dialog.gate.armed)
        await pilot.press("a")
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_key_that_proves_a_regained_focus_does_not_count_itself() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        app.post_message(events.AppBlur())
        await pilot.pause()
        await armed(pilot, app, times)
        await pilot.press("a")
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_suspending_for_an_editor_or_the_shell_disarms() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        app.app_suspend_signal.publish(app)
        assert not dialog.gate.armed
        await armed(pilot, app, times)
        app.app_resume_signal.publish(app)
        assert not dialog.gate.armed
        task.cancel()


async def test_another_screen_on_top_disarms_until_the_dialog_was_painted_again() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        app.push_screen(Screen())
        await until(pilot, lambda: not dialog.gate.armed)
        times.offset += 60
        await pilot.pause(0.2)
        assert dialog.gate.standing is Standing.HIDDEN
        app.pop_screen()
        await armed(pilot, app, times)
        await pilot.press("a")
        assert (await answered(pilot, task, times)).allowed


async def resized(app: DeskApp, pilot: object, size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)  # type: ignore[attr-defined]
    await until(pilot, lambda: app.size == size)  # type: ignore[arg-type]


async def test_resizing_keeps_the_proposal_the_place_and_decides_nothing() -> None:
    async with running(size=(120, 40)) as (app, pilot, times):
        task = app.ask(a_proposal("\n".join(f"line {n} of the text" for n in range(200))))
        dialog = await armed(pilot, app, times)
        for _ in range(3):
            await pilot.press("pagedown")
        await pilot.pause()
        top = dialog._panel.text.top_line()
        assert top > 50
        for size in ((80, 24), (40, 20), (20, 8), (1, 1), (120, 40)):
            await resized(app, pilot, size)
            assert app.screen is dialog
        await pilot.pause()
        assert abs(dialog._panel.text.top_line() - top) <= 2
        await stays_open(pilot, app, task, times)
        task.cancel()


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (29, 9), (1, 1)])
async def test_a_tiny_screen_says_so_and_can_deny_but_not_allow(size: tuple[int, int]) -> None:
    async with running(size=size) as (app, pilot, times):
        task = app.ask(a_proposal("short"))
        await armed(pilot, app, times)
        await pilot.press("a")
        await stays_open(pilot, app, task, times)
        if size[0] >= 10:
            assert "d denies" in shown(app) or "small" in shown(app)
        await armed(pilot, app, times)
        await pilot.press("d")
        assert not (await answered(pilot, task, times)).allowed


async def test_a_screen_made_large_again_shows_all_and_arms_afresh() -> None:
    async with running(size=(10, 3)) as (app, pilot, times):
        task = app.ask(a_proposal("short"))
        dialog = await armed(pilot, app, times)
        await resized(app, pilot, (80, 24))
        assert not dialog.gate.armed
        await armed(pilot, app, times)
        await until(pilot, lambda: "short" in shown(app))
        await until(pilot, lambda: dialog.gate.unlocked)
        await pilot.pause(0.05)
        await pilot.press("a")
        assert (await answered(pilot, task, times)).allowed


async def test_switching_the_theme_decides_nothing_and_keeps_the_dialog_armed() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        app.theme = "textual-light"
        await stays_open(pilot, app, task, times)
        assert app.screen is dialog
        task.cancel()


async def test_a_bare_app_without_a_front_door_can_never_allow() -> None:
    from textual.app import App

    from muniment.tui.modals.approval import ApprovalScreen

    app: App[int] = App()
    async with app.run_test() as pilot:
        screen = ApprovalScreen(a_proposal(), quiet_seconds=0.5)
        app.push_screen(screen)
        await until(pilot, lambda: app.screen is screen)
        await pilot.pause(0.8)
        await pilot.press("a", "y")
        await pilot.pause(0.3)
        assert app.screen is screen
        assert not screen.gate.armed


async def test_a_frame_that_did_not_draw_the_word_arms_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await opened(pilot, app)
        times.offset += dialog.gate.quiet_seconds
        assert dialog.gate.tick()
        # Some other part of the screen was drawn in between; the bar still shows its old word.
        dialog.frame_displayed()
        assert dialog.gate.standing is Standing.DUE
        await armed(pilot, app, times)
        task.cancel()
