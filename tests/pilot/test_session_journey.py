"""The first journey through the real app: keep a rule, find it, change it, delete it, take that back."""

from __future__ import annotations

from pathlib import Path

from muniment.approval.policy import Mode
from muniment.tui.app import MunimentApp
from muniment.tui.by_hand.door import origin_of
from muniment.tui.modals.question import Question
from muniment.tui.widgets.first_card import TRIES, FirstCard
from muniment.tui.widgets.tool_line import ToolLine
from support.app import (
    allow,
    boot_for,
    decide,
    dialog,
    opened,
    project_at,
    ready,
    say,
    screen_text,
    until,
    write_record,
)
from support.consolidation import add_notes

RULE = "pilot-review-rule"
UPDATE = f"""\
Use memory_store to update a project memory:
id: {RULE}
title: Pilot comparison review rule
content: Say what is missing first.
Then show the saved identifier."""


def record_file(project: Path) -> Path:
    return project / ".muniment" / "memory" / f"{RULE}.yaml"


def listed(app: MunimentApp) -> list[str]:
    tree = app.session_screen.panel.records_tree
    return [str(leaf.label) for group in tree.root.children for leaf in group.children]


async def test_a_rule_is_kept_found_in_a_new_session_changed_deleted_and_brought_back(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project, quiet=0.5), size=(120, 40)) as (app, pilot):
        assert app.engine is not None
        first = app.engine.id
        await say(pilot, app, TRIES[0][2])
        shown = await dialog(pilot, app)
        await pilot.press("a")
        assert app.screen is shown
        assert not record_file(project).exists()
        await allow(pilot, app)
        await ready(pilot, app)
        assert "do not infer satisfaction" in record_file(project).read_text(encoding="utf-8")
        assert record_file(project).stat().st_mode & 0o777 == 0o600
        await until(pilot, lambda: any(RULE in row for row in listed(app)))

        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not None and app.engine.id != first)
        await ready(pilot, app)
        await say(pilot, app, f"Use memory_retrieve to fetch {RULE}. Show its complete content and scope.")
        await until(pilot, lambda: "do not infer" in screen_text(app))
        await ready(pilot, app)

        await say(pilot, app, UPDATE)
        await dialog(pilot, app)
        assert "Say what is missing first." in screen_text(app)
        assert "do not infer satisfaction" in screen_text(app)
        await allow(pilot, app)
        await ready(pilot, app)
        assert "Say what is missing first." in record_file(project).read_text(encoding="utf-8")

        await say(pilot, app, f"Use memory_delete to delete the project memory {RULE}.")
        await allow(pilot, app)
        await ready(pilot, app)
        assert not record_file(project).exists()
        await say(pilot, app, "/undo")
        await until(pilot, lambda: record_file(project).exists())
        await until(pilot, lambda: f"Took back: delete {RULE}" in screen_text(app))


async def test_the_panel_deletes_through_the_dialog_and_takes_it_back(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    path = write_record(project / ".muniment", RULE, "A rule")
    before = path.read_bytes()
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await until(pilot, lambda: any(RULE in row for row in listed(app)))
        app.session_screen.panel.records_tree.focus()
        await pilot.press("home", "down", "d")
        await allow(pilot, app)
        await until(pilot, lambda: not path.exists() and not listed(app))
        app.session_screen.panel.records_tree.focus()
        await pilot.press("u")
        await until(pilot, lambda: path.exists() and path.read_bytes() == before)
        await until(pilot, lambda: any(RULE in row for row in listed(app)))


async def test_an_undo_asks_only_where_the_file_was_changed_since(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await say(pilot, app, TRIES[0][2])
        await allow(pilot, app)
        await ready(pilot, app)
        path = record_file(project)
        by_hand = path.read_text(encoding="utf-8").replace("Pilot comparison", "My own")
        path.write_text(by_hand, encoding="utf-8")
        await say(pilot, app, "/undo")
        shown = await dialog(pilot, app)
        await until(pilot, lambda: "changed since" in screen_text(app))
        await decide(pilot, app, shown, "n")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert path.read_text(encoding="utf-8") == by_hand
        await say(pilot, app, "/undo")
        await allow(pilot, app)
        await until(pilot, lambda: not path.exists())


async def test_an_undo_of_a_consolidation_says_first_that_all_of_it_goes_in_one_step(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        engine = app.engine
        assert engine is not None
        add_notes(engine.surfaces, 5)
        work = engine.surfaces.team.consolidation
        work.apply(work.preview(), origin_of(engine))
        notes = project / ".muniment" / "notes.md"
        assert notes.exists()
        await say(pilot, app, "/undo")
        shown = await dialog(pilot, app)
        assert "Take back a consolidation" in screen_text(app)
        assert "writes in one step; a half is never taken back" in screen_text(app)
        await pilot.press("end")
        await until(pilot, lambda: shown.gate.unlocked)
        # The last of the files that go, to be read like the first.
        await until(pilot, lambda: "#### Learnings (5)" in screen_text(app))
        await allow(pilot, app)
        await until(pilot, lambda: "Took back the whole consolidation" in screen_text(app))
        assert not notes.exists()
        assert len(engine.surfaces.team.inbox.eligible()) == 5


async def test_a_change_from_outside_is_in_the_panel_within_a_second_or_so(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        write_record(project / ".muniment", "from-outside", "Written by an editor")
        await until(pilot, lambda: any("from-outside" in row for row in listed(app)))


async def test_the_filter_narrows_as_you_type_and_escape_clears_it(tmp_path: Path) -> None:
    project = project_at(tmp_path / "study")
    for name in ("apples", "pears"):
        write_record(project / ".muniment", name, f"About {name}")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await until(pilot, lambda: len(listed(app)) == 2)
        app.session_screen.panel.records_tree.focus()
        await pilot.press("slash", *"pear")
        await until(pilot, lambda: len(listed(app)) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: len(listed(app)) == 2)


async def test_the_card_of_the_first_minute_puts_a_request_into_the_composer(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        assert app.session_screen.query(FirstCard)
        await pilot.press(TRIES[0][0])
        assert app.session_screen.composer.text == TRIES[0][2]


async def test_an_unknown_command_is_not_sent_and_stays_in_the_composer(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "/nonsense now")
        await until(pilot, lambda: "There is no command /nonsense" in screen_text(app))
        assert app.session_screen.composer.text == "/nonsense now"
        assert app.engine is not None
        assert not any("nonsense" in str(item) for item in app.engine.replay())


async def test_history_lies_above_the_first_line_and_below_it_the_draft_again(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "one thing")
        await ready(pilot, app)
        composer = app.session_screen.composer
        await pilot.press(*"draft", "up")
        assert composer.text == "one thing"
        await pilot.press("down")
        assert composer.text == "draft"
        await pilot.press("ctrl+j", "x")
        assert composer.text == "draft\nx"


async def test_ctrl_c_hints_once_keeps_the_draft_and_leaves_on_the_second_press(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.session_screen.composer.put("a draft")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Press Ctrl+C again" in screen_text(app))
        assert app.session_screen.composer.text == "a draft"
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running or app.return_code is not None)
        assert app.return_code == 0


async def test_ctrl_q_denies_what_waits(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        await say(pilot, app, TRIES[0][2])
        await dialog(pilot, app)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert not record_file(project).exists()


async def test_a_looser_mode_is_asked_about_and_no_is_the_answer_at_hand(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        assert app.engine is not None
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Question))
        assert app.engine.mode is Mode.MANUAL
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("y")
        await until(pilot, lambda: app.engine is not None and app.engine.mode is Mode.ACCEPT_EDITS)
        await until(pilot, lambda: "ACCEPT-EDITS" in screen_text(app))


async def test_a_tool_line_opens_and_shows_what_was_asked_and_what_came_back(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples", "Red or green.")
    async with opened(boot_for(project), size=(100, 40)) as (app, pilot):
        await say(pilot, app, "Use memory_retrieve to fetch apples.")
        await ready(pilot, app)
        line = app.session_screen.query_one(ToolLine)
        line.focus()
        assert "id: apples" not in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "id: apples" in screen_text(app))


async def test_an_earlier_session_is_listed_and_goes_on_where_it_was(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        assert app.engine is not None
        first = app.engine.id
        await say(pilot, app, "remember the heron")
        await ready(pilot, app)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    async with opened(boot_for(project)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: "remember the heron" in screen_text(app))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.engine is not None and app.engine.id == first)
        await ready(pilot, app)
        assert "remember the heron" in screen_text(app)
