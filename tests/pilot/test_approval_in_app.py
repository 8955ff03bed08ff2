"""The dialog through the whole app: composer, engine, tool, file on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.settings.values import QUIET_MOST
from muniment.tui.modals.approval import ApprovalScreen
from muniment.tui.widgets.tool_line import ToolLine
from support.app import (
    allow,
    boot_for,
    decide,
    dialog,
    opened,
    project_at,
    say,
    say_and_go_on,
    screen_text,
    until,
    write_record,
)
from support.approvals import counts_from

QUIET = 0.5
SAVE = (
    "Use memory_store to save a project memory:\nid: pilot-rule\ntitle: Pilot rule\n"
    "content: Cite Notes A and B; show both denominators."
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return project_at(tmp_path / "study")


def saved(project: Path) -> Path:
    return project / ".muniment" / "memory" / "pilot-rule.yaml"


async def test_allowing_writes_what_was_shown(project: Path) -> None:
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say(pilot, app, SAVE)
        await dialog(pilot, app)
        await until(pilot, lambda: "show both denominators" in screen_text(app))
        for text in (
            '"pilot-rule"',
            '"Pilot rule"',
            str(project),
            '"create"',
            "covers this content only, once",
        ):
            assert text in screen_text(app)
        assert not saved(project).exists()
        await allow(pilot, app)
        await until(pilot, saved(project).exists)
        assert "show both denominators" in saved(project).read_text(encoding="utf-8")


async def test_keys_pressed_as_it_opens_write_nothing(project: Path) -> None:
    # So long a quiet time leaves a slow machine room for so many keys.
    async with opened(boot_for(project, quiet=QUIET_MOST)) as (app, pilot):
        await say(pilot, app, SAVE)
        screen = await dialog(pilot, app)
        await pilot.press("y", "a", "enter", "space", "1", "f1", "f2", "f3", "f5", "ctrl+p")
        assert app.screen is screen
        assert not screen.gate.armed
        assert not saved(project).exists()


async def test_no_place_and_no_palette_opens_over_the_armed_dialog(project: Path) -> None:
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say(pilot, app, SAVE)
        screen = await dialog(pilot, app)
        await until(pilot, lambda: screen.gate.armed)
        for key in ("f1", "f2", "f3", "f4", "f5", "f6", "f8", "ctrl+p"):
            await pilot.press(key)
            await pilot.pause()
            assert app.screen is screen
        assert not saved(project).exists()


async def test_a_denial_with_a_reason_reaches_the_model(project: Path) -> None:
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say(pilot, app, SAVE)
        screen = await dialog(pilot, app)
        await until(pilot, lambda: screen.gate.armed)
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in screen_text(app))
        await pilot.press(*"too", "space", *"early", "enter")
        await until(pilot, lambda: "Deny with this reason ◀" in screen_text(app))
        await decide(pilot, app, screen, "d")
        assert app.engine is not None
        await until(pilot, lambda: app.engine is not None and not app.engine.busy)
        log = next(app.boot.paths.sessions.glob("*.jsonl")).read_text(encoding="utf-8")
        assert "too early" in log
        assert not saved(project).exists()


async def test_a_draft_holds_the_dialog_back_and_says_so(project: Path) -> None:
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say_and_go_on(pilot, app, SAVE, "note")
        await until(pilot, lambda: "1 proposal waits – F4 to review" in screen_text(app))
        assert app.session_screen.composer.text == "note"
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await allow(pilot, app)
        await until(pilot, saved(project).exists)
        assert app.session_screen.composer.text == "note"


async def test_interrupting_the_turn_closes_the_dialog_and_writes_nothing(project: Path) -> None:
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say(pilot, app, SAVE)
        await decide(pilot, app, await dialog(pilot, app), "ctrl+c")
        await until(pilot, lambda: app.engine is not None and not app.engine.busy)
        assert not saved(project).exists()
        assert app.desk.pending == ()


async def test_interrupting_the_turn_leaves_the_users_own_question_and_answers_neither(project: Path) -> None:
    path = write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        # The model's proposal waits behind a draft, and the user asks to delete a record meanwhile.
        await say_and_go_on(pilot, app, SAVE, "note")
        app.session_screen.panel.records_tree.focus()
        await pilot.press("home", "down", "d")
        await until(pilot, lambda: "1 of 2" in screen_text(app))
        first = await dialog(pilot, app)
        await until(pilot, lambda: counts_from(first) is not None)
        await pilot.press("ctrl+c", "a")
        await until(pilot, lambda: app.screen is not first)
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        second = await dialog(pilot, app)
        assert [type(each).__name__ for each in app.screen_stack].count("ApprovalScreen") == 1
        assert second.proposal.title == "Delete a record"
        await until(pilot, lambda: app.engine is not None and not app.engine.busy)
        assert path.exists()
        await decide(pilot, app, second, "d")
        await until(pilot, lambda: app.desk.pending == ())
        assert app.screen is app.session_screen
        assert path.exists()
        assert not saved(project).exists()


async def test_a_hand_edit_made_while_it_was_open_wins(project: Path) -> None:
    path = write_record(project / ".muniment", "pilot-rule", "Pilot rule", "Old text.")
    async with opened(boot_for(project, quiet=QUIET)) as (app, pilot):
        await say(pilot, app, SAVE)
        await dialog(pilot, app)
        await until(pilot, lambda: "Old text." in screen_text(app))
        assert "difference" in screen_text(app)
        edited = path.read_text(encoding="utf-8").replace("Old text.", "By hand.")
        path.write_text(edited, encoding="utf-8")
        await allow(pilot, app)
        await until(pilot, lambda: "changed after approval" in screen_text(app))
        assert path.read_text(encoding="utf-8") == edited
        [line] = app.session_screen.query(ToolLine)
        # Whoever allowed it need not open the line to learn why nothing was written.
        await until(pilot, lambda: "changed after approval" in str(line.content))
        assert not line.opened
