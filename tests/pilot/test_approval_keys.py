"""Keys decide only where they were made after the armed dialog had been painted, and only the right ones."""

from __future__ import annotations

import pytest
from textual import events
from textual.command import CommandPalette

from muniment.approval.gate import Standing
from muniment.approval.proposal import Decision
from support.approvals import (
    a_proposal,
    answered,
    armed,
    counts_from,
    opened,
    place_of,
    running,
    shown,
    stays_open,
    type_at,
    until,
)

DECIDING = ["a", "y", "d", "n", "escape"]
ALL_KEYS = [*DECIDING, "enter", "space", "r", "v", "tab", "left", "right", "1", "Y", "x", "f1", "f4"]


async def test_it_opens_disarmed_and_says_so() -> None:
    async with running(quiet_seconds=5) as (app, pilot, _):
        task = app.ask(a_proposal())
        dialog = await opened(pilot, app)
        assert "keys are ignored — read first" in shown(app)
        assert "( a · Allow once ) ( d or Esc · Deny )" in shown(app)
        assert app.focused is None
        assert shown(app).startswith("╭─ Create a record")
        assert not dialog.gate.armed
        task.cancel()


async def test_armed_is_told_by_word_and_by_shape() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        assert "ARMED" in shown(app)
        assert "[ a · Allow once ] [ d or Esc · Deny ]" in shown(app)
        assert shown(app).startswith("┏━ Create a record")
        assert "ignored" not in shown(app)
        assert app.focused is None
        task.cancel()


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (40, 20)])
async def test_both_keys_that_deny_are_named_at_every_size_and_no_help_opens(size: tuple[int, int]) -> None:
    async with running(size=size) as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        assert shown(app).count("d or Esc") == 2
        assert "d or Esc deny" in shown(app)
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is dialog
        task.cancel()


async def test_the_dialog_names_the_keys_that_the_keymap_gives_it() -> None:
    async with running() as (app, pilot, times):
        app.set_keymap({"approval.allow": "d", "approval.deny": "a,q", "approval.reason": "w"})
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        assert "[ d · Allow once ] [ a or Esc · Deny ] [ w · Deny with a reason ]" in shown(app)
        assert "ARMED — d allow once · a or Esc deny · w deny with a reason" in shown(app)
        await pilot.press("a")
        assert not (await answered(pilot, task, times)).allowed


@pytest.mark.parametrize(
    ("keymap", "named"),
    [
        ({}, "PgDn, End"),
        ({"approval.page_down": "f", "approval.end": "ctrl+g"}, "f, ^G"),
        ({"approval.page_down": "space", "approval.end": "j"}, "j, ↓"),
        (
            {"approval.page_down": "space", "approval.end": "enter", "approval.down": "escape"},
            "the mouse wheel",
        ),
    ],
)
async def test_the_way_to_the_end_is_named_with_the_keys_that_lead_there(
    keymap: dict[str, str], named: str
) -> None:
    async with running() as (app, pilot, times):
        app.set_keymap(keymap)
        task = app.ask(a_proposal("A line to read.\n" * 200))
        await armed(pilot, app, times)
        assert f"ARMED — read to the end to unlock Allow ({named})" in shown(app)
        task.cancel()


async def test_escape_denies_whatever_the_keymap_says_and_is_never_named_for_allowing() -> None:
    async with running() as (app, pilot, times):
        app.set_keymap({"approval.allow": "escape,j", "approval.deny": "q"})
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        assert "[ j · Allow once ] [ q or Esc · Deny ]" in shown(app)
        times.offset += 0.2
        await pilot.press("escape")
        assert not (await answered(pilot, task, times)).allowed


@pytest.mark.parametrize("key", ALL_KEYS)
async def test_no_key_counts_before_arming(key: str) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await opened(pilot, app)
        await pilot.press(key)
        await stays_open(pilot, app, task, times)
        assert dialog.gate.standing is not Standing.ARMED
        assert app.draft == ""
        task.cancel()


@pytest.mark.parametrize(
    ("key", "allowed"), [("a", True), ("y", True), ("d", False), ("n", False), ("escape", False)]
)
async def test_each_deciding_key_decides_once_armed(key: str, allowed: bool) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        times.offset += 0.2  # the terminal parser's wait for what may follow an Escape
        await pilot.press(key)
        assert await answered(pilot, task, times) == Decision(allowed, "user")
        await until(pilot, lambda: not app.dialog_open)


@pytest.mark.parametrize("key", DECIDING)
async def test_a_key_made_before_the_armed_frame_but_handled_after_it_does_not_count(key: str) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        await type_at(pilot, app, key, dialog.gate._armed_at - 0.001)
        await stays_open(pilot, app, task, times)
        assert not dialog.gate.armed
        task.cancel()


async def test_a_key_made_just_after_the_armed_frame_counts() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        counts = counts_from(dialog)
        assert counts is not None
        await type_at(pilot, app, "a", counts + 0.001)
        assert (await answered(pilot, task, times)).allowed


async def test_an_escape_that_the_parser_held_back_is_judged_by_when_it_was_pressed() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        times.offset += 0.2
        await type_at(pilot, app, "escape", dialog.gate._armed_at + 0.05)
        await stays_open(pilot, app, task, times)
        task.cancel()


@pytest.mark.parametrize("key", ["enter", "space"])
async def test_enter_and_space_decide_nothing_before_a_choice_was_moved_to(key: str) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        await pilot.press(key)
        await stays_open(pilot, app, task, times)
        # It was meant for something else, and so may be what is typed behind it.
        assert not dialog.gate.armed
        task.cancel()


@pytest.mark.parametrize("key", ["enter", "space"])
@pytest.mark.parametrize(("moves", "allowed"), [(["tab"], False), (["right", "left"], True)])
async def test_a_choice_that_was_moved_to_is_taken(key: str, moves: list[str], allowed: bool) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        for move in moves:
            await pilot.press(move)
            await pilot.pause(0.05)
        assert ("▶ a · Allow once ◀" if allowed else "▶ d or Esc · Deny ◀") in shown(app)
        await pilot.press(key)
        assert (await answered(pilot, task, times)).allowed is allowed


async def test_writing_to_something_else_disarms() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        for key in "hey":
            await pilot.press(key)
        await stays_open(pilot, app, task, times)
        assert "keys are ignored" in shown(app)
        task.cancel()


async def test_a_held_key_never_arms_it() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        for _ in range(150):
            times.offset += 0.033
            await type_at(pilot, app, "y", times.now())
        assert not task.done()
        assert not app.dialog.gate.armed
        task.cancel()


async def test_a_key_held_down_in_an_armed_dialog_decides_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        for _ in range(30):
            await type_at(pilot, app, "y", times.now())
        await stays_open(pilot, app, task, times)
        task.cancel()


@pytest.mark.parametrize("text", ["y\n", "allow", "yes please\n", "a1\x1b[201~y\nallow"])
async def test_a_paste_without_brackets_decides_nothing(text: str) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        for character in text:
            key = {"\n": "enter", "\x1b": "escape"}.get(character, character)
            app.post_message(events.Key(key, character))
        await pilot.pause()
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_a_bracketed_paste_decides_nothing_and_is_kept_in_the_draft() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        app.post_message(events.Paste("y\ny\na\n"))
        await pilot.pause()
        await stays_open(pilot, app, task, times)
        assert app.draft == "y\ny\na\n"
        assert not app.dialog.gate.armed
        task.cancel()


async def test_scroll_keys_work_while_disarmed_and_start_the_quiet_time_again() -> None:
    async with running(quiet_seconds=5) as (app, pilot, times):
        task = app.ask(a_proposal("\n".join(f"line {n}" for n in range(100))))
        dialog = await opened(pilot, app)
        times.offset += 3.5
        await pilot.press("pagedown")
        await until(pilot, lambda: "line 20" in shown(app))
        times.offset += 3.5
        await pilot.pause(0.1)
        assert dialog.gate.standing is Standing.QUIET
        task.cancel()


async def test_scroll_keys_do_not_disarm() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal("\n".join(f"line {n}" for n in range(100))))
        dialog = await armed(pilot, app, times)
        for key in ("down", "up", "pagedown", "pageup", "end", "home"):
            await pilot.press(key)
        assert dialog.gate.armed
        task.cancel()


@pytest.mark.parametrize("is_armed", [True, False])
@pytest.mark.parametrize("key", ["ctrl+p", "f1", "f4", "ctrl+backslash", "question_mark"])
async def test_nothing_opens_over_the_dialog(key: str, is_armed: bool) -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await (armed(pilot, app, times) if is_armed else opened(pilot, app))
        await pilot.press(key)
        app.action_command_palette()
        await pilot.pause(0.05)
        assert app.screen is dialog
        assert not task.done()
        task.cancel()


async def test_the_palette_opens_where_no_dialog_is() -> None:
    async with running() as (app, pilot, _):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))


async def test_an_action_without_an_input_decides_nothing() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        for name in ("allow", "deny", "choose"):
            await app.run_action(f"screen.dialog('{name}')")
            await dialog.run_action(f"dialog('{name}')")
        await stays_open(pilot, app, task, times)
        assert dialog.gate.armed
        task.cancel()


async def test_a_deny_reason_is_written_in_a_field_whose_keys_never_decide() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in shown(app))
        await pilot.press(*"no any day", "left", "backspace", "delete", "home", "end", "x")
        app.post_message(events.Paste("first\nsecond"))
        await pilot.pause()
        assert "no any dx first second" in " ".join(shown(app).split()) or "dxfirst second" in shown(app)
        await stays_open(pilot, app, task, times)
        await pilot.press("enter")
        await until(pilot, lambda: "▶ d · Deny with this reason ◀" in shown(app))
        await stays_open(pilot, app, task, times)
        await pilot.press("enter")
        decision = await answered(pilot, task, times)
        assert not decision.allowed
        assert decision.reason.startswith("no any d")
        assert "first second" in decision.reason


async def test_enter_on_an_empty_reason_decides_nothing_by_itself() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in shown(app))
        await pilot.press("enter")
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_escape_in_the_field_returns_to_choices_that_must_be_armed_afresh() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        dialog = await armed(pilot, app, times)
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in shown(app))
        await pilot.press("o", "h", "escape")
        await until(pilot, lambda: app.focused is None)
        await pilot.press("a", "y")
        await stays_open(pilot, app, task, times)
        assert not dialog.gate.armed
        place_of(app, "( a · Allow once )")
        await armed(pilot, app, times)
        await pilot.press("a")
        assert await answered(pilot, task, times) == Decision(True, "user")


async def test_nothing_can_be_allowed_while_a_reason_is_written() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await armed(pilot, app, times)
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in shown(app))
        await pilot.press("n", "enter")
        await until(pilot, lambda: "Deny with this reason ◀" in shown(app))
        for key in ("a", "y"):
            await pilot.press(key)
            await stays_open(pilot, app, task, times)
        await pilot.press("d")
        assert await answered(pilot, task, times) == Decision(False, "user", "n")


async def test_ctrl_c_interrupts_the_turn_once_armed() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        await pilot.press("ctrl+c")
        assert app.interrupted == 0
        await armed(pilot, app, times)
        await pilot.press("ctrl+c")
        assert app.interrupted == 1
        task.cancel()


async def test_quitting_is_never_held_back_and_denies() -> None:
    async with running() as (app, pilot, _):
        task = app.ask(a_proposal())
        await opened(pilot, app)
        await pilot.press("ctrl+q")
        await until(pilot, task.done)
        assert task.result() == Decision(False, "closed", "the app was closed")
