"""Modes on the screen: said in words, loosened only after a question, never carried to another session."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from muniment.approval.policy import Mode
from muniment.session.options import StartOptions
from muniment.tui.app import MunimentApp
from muniment.tui.modals.question import Question
from support.app import boot_for, decide, dialog, opened, project_at, ready, say, screen_text, until

CONTENT = "Compare both notes. The last word stands at the very end: heron."
SAVE = f"Use memory_store to save a project memory:\nid: rule\ntitle: A rule\ncontent: {CONTENT}"


def status_line(app: MunimentApp) -> str:
    """Return the row of the screen on which the mode stands."""
    line = app.session_screen.status
    return screen_text(app).split("\n")[line.region.y]


def everything_in(*directories: Path) -> list[bytes]:
    return [each.read_bytes() for top in directories for each in top.rglob("*") if each.is_file()]


async def asked(pilot: Pilot[int], app: MunimentApp) -> str:
    """Wait for the question and return the screen that shows it."""
    await until(pilot, lambda: isinstance(app.screen, Question))
    await pilot.pause()
    return screen_text(app)


async def in_mode(pilot: Pilot[int], app: MunimentApp, mode: Mode) -> None:
    await until(pilot, lambda: app.engine is not None and app.engine.mode is mode)
    await until(pilot, lambda: not isinstance(app.screen, Question))
    await until(pilot, lambda: mode.value.upper() in status_line(app))


async def in_no_hurry(pilot: Pilot[int], app: MunimentApp, mode: Mode) -> None:
    """See that the question goes on waiting once every key was heard."""
    await pilot.pause()
    assert isinstance(app.screen, Question)
    assert app.engine is not None
    assert app.engine.mode is mode


async def test_every_start_is_manual_and_the_status_line_says_so(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await in_mode(pilot, app, Mode.MANUAL)
        await say(pilot, app, "/mode")
        await until(pilot, lambda: "The mode is manual." in screen_text(app))


@pytest.mark.parametrize("mode", [Mode.ACCEPT_EDITS, Mode.BYPASS])
async def test_a_looser_mode_is_asked_about_with_what_it_means_and_no_keeps_the_old_one(
    tmp_path: Path, mode: Mode
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, f"/mode {mode}")
        text = await asked(pilot, app)
        assert str(mode) in text
        assert "Stay" in text
        await pilot.press("escape")
        await in_mode(pilot, app, Mode.MANUAL)
        await say(pilot, app, f"/mode {mode}")
        await asked(pilot, app)
        await pilot.press("y")
        await in_mode(pilot, app, mode)


async def test_tightening_asks_nothing(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"), options=StartOptions(provider="rehearsal", mode=Mode.BYPASS))
    async with opened(boot) as (app, pilot):
        await in_mode(pilot, app, Mode.BYPASS)
        screens: list[object] = []
        for mode in (Mode.ACCEPT_EDITS, Mode.MANUAL):
            await say(pilot, app, f"/mode {mode}")
            await until(
                pilot,
                lambda mode=mode: screens.append(app.screen) or app.engine.mode is mode,  # type: ignore[func-returns-value,union-attr]
            )
            await in_mode(pilot, app, mode)
        assert not any(isinstance(each, Question) for each in screens)


async def test_f8_goes_round_and_asks_on_the_way_up_only(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for mode in (Mode.ACCEPT_EDITS, Mode.BYPASS):
            await pilot.press("f8")
            await asked(pilot, app)
            await pilot.press("y")
            await in_mode(pilot, app, mode)
        await pilot.press("f8")
        await in_mode(pilot, app, Mode.MANUAL)


async def test_a_key_typed_before_the_question_could_be_seen_does_not_answer_it(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f8")
        await asked(pilot, app)
        assert isinstance(app.screen, Question)
        assert app.screen._heeds_after is not None
        early = events.Key("y", "y")
        early.time = app.screen._heeds_after - 0.001
        app.post_message(early)
        await in_no_hurry(pilot, app, Mode.MANUAL)
        await pilot.press("y")
        await in_mode(pilot, app, Mode.ACCEPT_EDITS)


async def test_a_letter_within_a_word_does_not_answer_the_question(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f8")
        await asked(pilot, app)
        for letter in "my":
            app.post_message(events.Key(letter, letter))
        await in_no_hurry(pilot, app, Mode.MANUAL)
        await pilot.press("escape")
        await in_mode(pilot, app, Mode.MANUAL)


async def test_a_mode_that_there_is_not_is_told_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "/mode yolo")
        await until(pilot, lambda: "There is no mode yolo" in screen_text(app))
        await in_mode(pilot, app, Mode.MANUAL)


async def test_bypass_runs_unasked_and_shows_every_field_and_the_whole_text(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    boot = boot_for(project, options=StartOptions(provider="rehearsal", mode=Mode.BYPASS))
    async with opened(boot, size=(200, 50)) as (app, pilot):
        await in_mode(pilot, app, Mode.BYPASS)
        await say(pilot, app, SAVE)
        await ready(pilot, app)
        assert (project / ".muniment" / "memory" / "rule.yaml").is_file()
        shown = " ".join(screen_text(app).split())
        for text in ("unasked", 'identifier: "rule"', "scope:", "mode of change", 'title: "A rule"', CONTENT):
            assert text in shown, text
        assert "BYPASS" in status_line(app)


async def test_accept_edits_asks_for_memory_all_the_same(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    boot = boot_for(project, options=StartOptions(provider="rehearsal", mode=Mode.ACCEPT_EDITS))
    async with opened(boot) as (app, pilot):
        await in_mode(pilot, app, Mode.ACCEPT_EDITS)
        await say(pilot, app, SAVE)
        await decide(pilot, app, await dialog(pilot, app), "d")
        await ready(pilot, app)
    assert not (project / ".muniment" / "memory" / "rule.yaml").exists()


async def test_a_new_session_and_a_resumed_one_are_manual_again(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    boot = boot_for(project, options=StartOptions(provider="rehearsal", mode=Mode.BYPASS))
    async with opened(boot) as (app, pilot):
        await in_mode(pilot, app, Mode.BYPASS)
        assert app.engine is not None
        first = app.engine.id
        await say(pilot, app, "hello")
        await ready(pilot, app)
        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not None and app.engine.id != first)
        await ready(pilot, app)
        await in_mode(pilot, app, Mode.MANUAL)
        await say(pilot, app, f"/resume {first}")
        await until(pilot, lambda: app.engine is not None and app.engine.id == first)
        await ready(pilot, app)
        await in_mode(pilot, app, Mode.MANUAL)
        await say(pilot, app, SAVE)
        await dialog(pilot, app)
    assert not (project / ".muniment" / "memory" / "rule.yaml").exists()


async def test_no_file_keeps_a_mode_for_later(tmp_path: Path, user: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        await say(pilot, app, "/mode bypass")
        await asked(pilot, app)
        await pilot.press("y")
        await in_mode(pilot, app, Mode.BYPASS)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert not any(b"bypass" in each for each in everything_in(user, project))
    async with opened(boot_for(project)) as (app, pilot):
        await in_mode(pilot, app, Mode.MANUAL)
