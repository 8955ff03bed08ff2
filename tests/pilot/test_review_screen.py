"""The review on the screen: one key goes through all that waits, and only the dialog decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import OptionList, TextArea

from muniment.memory.team.classify import CATEGORIES
from muniment.memory.team.notefile import NewNote
from muniment.model.base import Finished, ModelEvent, ModelRequest, TextPiece
from muniment.tui.app import MunimentApp
from muniment.tui.modals.approval import ApprovalScreen
from muniment.tui.modals.choose import Choose
from muniment.tui.modals.edit_text import EditText
from muniment.tui.screens.review import ReviewScreen
from support.app import (
    allow,
    boot_for,
    decide,
    opened,
    opened_dialog,
    project_at,
    say,
    say_and_go_on,
    screen_text,
    until,
)
from support.consolidation import FACTS
from support.team import USER

SAVE = """\
Use memory_store to save a project memory:
id: pilot-rule
title: A rule
content: Both coders read every sheet."""


def add_notes(app: MunimentApp, count: int) -> None:
    assert app.engine is not None
    inbox = app.engine.surfaces.team.inbox
    for number in range(count):
        inbox.add(NewNote(f"Finding {number}", FACTS[number], "reviewer", "agent"), USER)


def team(app: MunimentApp) -> Any:
    assert app.engine is not None
    return app.engine.surfaces.team


def review_of(app: MunimentApp) -> ReviewScreen:
    assert isinstance(app.screen, ReviewScreen)
    return app.screen


def listed(app: MunimentApp) -> list[str]:
    lists = review_of(app).query(OptionList)
    return [str(each.prompt).split("\n")[0] for found in lists for each in found.options]


def shows(app: MunimentApp, text: str) -> Callable[[], bool]:
    return lambda: text in screen_text(app)


async def open_review(app: MunimentApp, pilot: Pilot[int]) -> None:
    await pilot.press("f4")
    await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and review_of(app)._review is not None)
    await pilot.pause()


async def test_an_empty_review_says_what_will_appear_here(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_review(app, pilot)
        text = screen_text(app)
        assert "Nothing waits for you." in text
        assert "a consolidation, once enough notes wait there" in text
        # Each text stands in a column of its own, so that its mark stays alone where it is broken.
        ends = [each.region.right for each in app.screen.query("#review-facts .label")]
        starts = [each.region.x for each in app.screen.query("#review-facts .text")]
        assert len(ends) == len(starts) == 5
        assert max(ends) <= min(starts)
        await pilot.press("escape")
        assert app.screen is app.session_screen


async def test_the_status_line_says_what_waits_and_stops_saying_it(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await until(pilot, lambda: app.session_screen.status.status.waits == "1 thing waits")
        team(app).inbox.hold(team(app).inbox.list()[0].name, USER)
        await until(pilot, lambda: app.session_screen.status.status.waits == "")


async def test_a_consolidation_goes_through_the_dialog_and_is_done_whole(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await until(pilot, lambda: listed(app) == ["● Consolidate 5 notes"])
        await pilot.press("a", "y", "d")
        assert isinstance(app.screen, ReviewScreen)
        assert len(team(app).inbox.list()) == 5
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        assert isinstance(app.screen, ApprovalScreen)
        assert app.screen.proposal.change is not None
        expected = app.screen.proposal.change.after
        await opened_dialog(pilot, app)
        await allow(pilot, app)
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await until(pilot, shows(app, "Consolidated 5 notes"))
        await until(pilot, shows(app, "Nothing waits for you."))
        assert team(app).notes.read() == expected
        assert team(app).inbox.list() == []


async def test_a_denied_consolidation_goes_on_waiting(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await pilot.press("enter")
        await decide(pilot, app, await opened_dialog(pilot, app), "d")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await until(pilot, shows(app, "Nothing was changed; it goes on waiting."))
        assert listed(app) == ["● Consolidate 5 notes"]
        assert len(team(app).inbox.list()) == 5


async def test_the_digest_can_be_changed_before_and_is_what_is_written(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditText))
        editor = app.screen.query_one(TextArea)
        editor.text = "no heading"
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, EditText)
        await until(pilot, shows(app, "A digest begins with a heading of three marks"))
        editor.text = "### 2026-11-30 In my own words\n\n- All five, in one line."
        await pilot.press("ctrl+s")
        await until(pilot, shows(app, "In my own words"))
        await until(pilot, shows(app, "by you"))
        await pilot.press("enter")
        await opened_dialog(pilot, app)
        await allow(pilot, app)
        await until(pilot, lambda: "In my own words" in team(app).notes.read())


async def test_a_note_can_be_filed_elsewhere_before_and_stands_there_then(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        before = team(app).consolidation.preview().notes[1]
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, shows(app, "─ Category ─"))
        await until(pilot, lambda: isinstance(app.screen.focused, OptionList))
        await pilot.press(*["up"] * CATEGORIES.index(before.category), "enter")
        await until(pilot, shows(app, "will be filed under architecture"))
        await until(pilot, shows(app, "architecture · notebook of reviewer"))
        assert not (team(app).directory / "knowledge").exists()
        await pilot.press("enter")
        await opened_dialog(pilot, app)
        await allow(pilot, app)
        await until(pilot, lambda: team(app).inbox.list() == [])
        assert len(list((team(app).directory / "knowledge" / "architecture").glob("*.md"))) == 1


async def test_an_edited_digest_is_dropped_where_the_notes_change(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditText))
        app.screen.query_one(TextArea).text = "### 2026-11-30 Mine\n\n- One line."
        await pilot.press("ctrl+s")
        await until(pilot, shows(app, "by you"))
        team(app).inbox.add(NewNote("Finding 9", FACTS[7], "reviewer", "agent"), USER)
        await until(pilot, shows(app, "The notes changed meanwhile; the digest was made anew."))
        assert listed(app) == ["● Consolidate 6 notes"]
        await until(pilot, shows(app, "by rules"))


async def test_a_changed_text_is_left_only_on_the_second_press(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditText))
        await pilot.press("x", "escape")
        assert isinstance(app.screen, EditText)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert "by you" not in screen_text(app)


async def test_f4_opens_a_waiting_proposal_and_the_command_opens_the_review(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say_and_go_on(pilot, app, SAVE, "a draft that holds the dialog back")
        app.action_go("review")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await until(pilot, lambda: listed(app) == ["⏸ Create a record: pilot-rule"])
        assert "Both coders read every sheet." in screen_text(app)
        await pilot.press("escape", "f4")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await allow(pilot, app)
        await until(pilot, lambda: not app.desk.pending)
        assert app.session_screen.composer.text == "a draft that holds the dialog back"


async def test_one_key_goes_through_all_that_waits(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        await say_and_go_on(pilot, app, SAVE, "a draft")
        add_notes(app, 5)
        memory = project / ".muniment" / "memory"
        memory.mkdir(exist_ok=True)
        (memory / "broken.yaml").write_text("id: [\n")
        app.action_go("review")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await until(pilot, lambda: len(listed(app)) == 3)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await allow(pilot, app)
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and len(listed(app)) == 2)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        assert isinstance(app.screen, ApprovalScreen)
        assert app.screen.proposal.tool == "consolidation"
        await decide(pilot, app, app.screen, "d")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await pilot.press("n")
        await until(pilot, shows(app, "y copies the path"))
        await pilot.press("y")
        assert app.clipboard == str(memory / "broken.yaml")
        await pilot.press("enter")
        assert "left as it is" in screen_text(app)
        await pilot.press("p")
        assert "Consolidate" in str(review_of(app).selected)
        assert (memory / "broken.yaml").read_text() == "id: [\n"


class Writer:
    """A model that writes one digest, when it is let go."""

    provider = "openai"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> Any:
        self.requests.append(request)
        events: tuple[ModelEvent, ...] = (
            TextPiece(self.answer),
            Finished(text=self.answer, calls=(), finish="stop"),
        )
        for event in events:
            yield event

    async def close(self) -> None:
        return None


async def test_a_real_model_writes_the_digest_only_when_asked(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        model = Writer(
            "### 2026-11-30: locks and clocks\n\n#### Build and test\n\n- **Locks**: taken first.\n"
        )
        assert app.engine is not None
        app.engine._parts = replace(app.engine._parts, model=model)  # type: ignore[arg-type]
        add_notes(app, 5)
        await open_review(app, pilot)
        await until(pilot, shows(app, "Enter lets the model write the digest"))
        assert model.requests == []
        await pilot.press("enter")
        await until(pilot, shows(app, "by the model"))
        assert "locks and clocks" in screen_text(app)
        (request,) = model.requests
        assert "UNTRUSTED-INPUT" in str(request.items if hasattr(request, "items") else request)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))


async def test_the_digest_is_read_from_the_list_and_enter_opens_it_from_its_text(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(100, 24)) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await until(pilot, lambda: listed(app) == ["● Consolidate 5 notes"])
        pane = app.screen.query_one("#review-pane")
        assert "PgDn Read on" in screen_text(app)
        await until(pilot, lambda: pane.max_scroll_y > 0)
        await pilot.press("pagedown")
        await until(pilot, lambda: pane.scroll_y > 0)
        await pilot.press("pageup")
        await until(pilot, lambda: pane.scroll_y == 0)
        await pilot.press("tab")
        await until(pilot, lambda: app.screen.focused is pane)
        assert "Enter Open" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))


async def test_after_a_consolidation_the_status_line_names_it_as_what_undo_takes_back(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "/note The scale drifts.")
        await until(pilot, lambda: app.session_screen.status.status.last_write == "noted The scale drifts.")
        await until(pilot, shows(app, "The scale drifts. No"))
        add_notes(app, 4)
        await open_review(app, pilot)
        await until(pilot, lambda: listed(app) == ["● Consolidate 5 notes"])
        await pilot.press("enter")
        await opened_dialog(pilot, app)
        await allow(pilot, app)
        await until(pilot, shows(app, "Consolidated 5 notes"))
        assert app.session_screen.status.status.last_write == "consolidated 5 notes"


async def test_the_review_works_on_the_smallest_screen(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(40, 20)) as (app, pilot):
        add_notes(app, 5)
        await open_review(app, pilot)
        await until(pilot, lambda: listed(app) == ["● Consolidate 5 notes"])
        text = screen_text(app)
        assert "Consolidate 5 notes" in text
        assert "Esc Back" in text
