"""What comes behind the key that left a screen, that opened one, or that came too late, harms nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from rich.style import Style
from textual import events
from textual.command import CommandList
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Input

from muniment.tui.app import MunimentApp
from muniment.tui.modals.choose import Choose
from muniment.tui.modals.entry import Entry
from muniment.tui.modals.question import Question
from muniment.tui.screens.guide import GuideScreen
from muniment.tui.screens.map import MapScreen
from muniment.tui.screens.past import PastScreen
from muniment.tui.widgets.options import OptionList
from support.app import boot_for, opened, project_at, screen_text, until

PLACES = ["settings", "guide", "tour", "map", "review"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return project_at(tmp_path / "p")


@pytest.mark.parametrize("place", PLACES)
async def test_leaving_a_place_twice_in_one_moment_leaves_the_session_below_it_standing(
    project: Path, place: str
) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        app.action_go(place)
        await until(pilot, lambda: app.screen is not app.session_screen and app.screen.is_mounted)
        left = app.screen
        for _ in range(3):
            left.dismiss(None)
        await pilot.pause()
        assert app.screen is app.session_screen


async def test_a_row_of_the_map_taken_twice_leaves_the_map_only(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen) and app.screen.query(OptionList))
        rows = app.screen.query_one(OptionList)
        await until(pilot, lambda: rows.option_count and rows.highlighted is not None)
        rows.action_select()
        rows.action_select()
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_yes_pressed_twice_answers_one_question(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        answers: list[bool | None] = []
        lower, upper = Question("First?"), Question("Second?")
        app.push_screen(lower, answers.append)
        app.push_screen(upper, answers.append)
        await until(pilot, lambda: upper.is_mounted)
        upper.action_answer(True)
        upper.action_answer(True)
        await until(pilot, lambda: app.screen is lower and answers == [True])
        await pilot.press("n")
        await until(pilot, lambda: answers == [True, False])


async def test_an_answer_that_nobody_waits_for_any_more_closes_its_question(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):

        async def ask() -> None:
            await app.push_screen_wait(Question("Still there?"))

        worker = app.run_worker(ask())
        await until(pilot, lambda: isinstance(app.screen, Question) and app.screen.is_mounted)
        worker.cancel()
        await pilot.press("y")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_the_palette_left_twice_leaves_the_session_standing(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.session_screen and app.screen.is_mounted)
        palette = app.screen
        palette.dismiss(None)
        palette.dismiss(None)
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_keys_behind_the_one_that_opened_a_screen_reach_it_whole(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        said = ["tea is brewed at four", "coffee"]
        for screen, key in (
            (PastScreen(said), "down"),
            (Entry("Name", "A name", "", lambda _: ""), "escape"),
        ):
            app.push_screen(screen)
            assert not screen.is_mounted
            await app.on_event(events.Key(key, None))
            assert screen.is_mounted
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.session_screen)


async def test_typing_ahead_into_a_screen_that_opens_loses_no_letter(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        screen = PastScreen(["tea is brewed at four"])
        app.push_screen(screen)
        for letter in "brewed":
            await app.on_event(events.Key(letter, letter))
        await until(pilot, lambda: screen.query_one(Input).value == "brewed")


@pytest.mark.parametrize("size", [(10, 5), (1, 1), (20, 8)])
@pytest.mark.parametrize("place", ["settings", "guide", "map", "palette", "choose"])
async def test_page_keys_are_borne_where_a_list_has_no_room(
    project: Path, place: str, size: tuple[int, int]
) -> None:
    async with opened(boot_for(project), size=size) as (app, pilot):
        if place == "palette":
            await pilot.press("ctrl+p")
        elif place == "choose":
            app.push_screen(Choose("Theme", "", ("dark", "light"), "dark"))
        else:
            app.action_go(place)
        await until(pilot, lambda: app.screen is not app.session_screen and app.screen.is_mounted)
        await pilot.press("tab", "pagedown", "pageup", "shift+tab", "pagedown", "pageup", "end", "pageup")
        await pilot.resize_terminal(80, 24)
        await pilot.press("pagedown")
        assert app.is_running
        assert app.return_code in (None, 0)


async def test_a_row_that_the_list_has_lost_meanwhile_is_not_taken_for_another(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        app.action_go("guide")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen) and app.screen.query(OptionList))
        rows = app.screen.query_one(OptionList)
        await until(pilot, lambda: rows.option_count > 2)
        last = rows.option_count - 1
        gone = OptionList.OptionSelected(rows, rows.get_option_at_index(last), last)
        moved = OptionList.OptionSelected(rows, rows.get_option_at_index(last), 0)
        rows.remove_option_at_index(last)
        place = app.screen
        await place._on_message(gone)
        await place._on_message(moved)
        await asyncio.sleep(0)
        assert app.screen is place


async def test_a_press_on_what_is_still_drawn_and_already_gone_is_dropped(project: Path) -> None:
    async with opened(boot_for(project)) as (app, _):
        status = app.session_screen.status
        x, y = status.region.offset
        parent, status._parent = status._parent, None
        app.screen._forward_event(events.MouseDown(status, x, y, 0, 0, 1, False, False, False, x, y))
        status._parent = parent
        assert app.is_running


async def test_what_comes_back_to_a_screen_that_has_left_ends_nothing(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        screen = Entry("Name", "A name", "", lambda _: "")
        begun = asyncio.Event()

        async def late() -> None:
            begun.set()
            # What a thread found may arrive in the very moment in which the screen is taken apart.
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            screen.query_one("#was-here-once")

        app.push_screen(screen)
        await until(pilot, lambda: screen.is_mounted)
        worker = screen.run_worker(late())
        await until(pilot, begun.is_set)
        screen.dismiss(None)
        await until(pilot, lambda: app.screen is app.session_screen and worker.is_finished)
        await pilot.press("x")
        assert app.session_screen.composer.text == "x"


async def test_what_comes_back_to_the_session_while_the_app_is_taken_apart_ends_nothing(
    project: Path,
) -> None:
    missed = asyncio.Event()
    async with opened(boot_for(project)) as (app, pilot):
        begun = asyncio.Event()

        async def late() -> None:
            begun.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            missed.set()
            app.session_screen.query_one("#was-here-once")

        app.session_screen.run_worker(late())
        await until(pilot, begun.is_set)
        assert not app._exit
    assert missed.is_set()


async def test_work_that_looks_for_the_screen_when_all_have_gone_ends_with_the_app(project: Path) -> None:
    late = asyncio.Event()

    async def look() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        while app.screen_stack:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
        late.set()
        assert app.screen is not None

    async with opened(boot_for(project)) as (app, _):
        app.run_worker(look())
    assert late.is_set()


async def test_a_fault_on_a_screen_that_stands_is_not_passed_over(project: Path) -> None:
    async with opened(boot_for(project)) as (app, pilot):
        app.session_screen.call_later(lambda: app.session_screen.query_one("#nowhere") and None)
        await until(pilot, lambda: app._exception is not None)
        assert isinstance(app._exception, NoMatches)
        app._exception = None


def click_on(app: MunimentApp, widget: Widget, row: int) -> None:
    """Let one click come in at the front door, as the terminal driver does, without waiting for it."""
    x, y = widget.content_region.x + 2, widget.content_region.y + row
    for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
        app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y))


async def test_two_quick_clicks_on_a_command_run_it_once(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("ctrl+p", *"settings")
        await until(pilot, lambda: "theme, quiet time" in screen_text(app))
        rows = app.screen.query_one(CommandList)
        await until(pilot, lambda: rows.option_count == 1 and rows.has_class("--visible"))
        await pilot.pause()
        click_on(app, rows, 0)
        click_on(app, rows, 0)
        await until(pilot, lambda: type(app.screen).__name__ == "SettingsScreen")
        assert len(app.screen_stack) == 2


async def test_a_click_on_a_row_that_has_left_its_list_does_nothing(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.action_go("settings")
        await until(pilot, lambda: bool(app.screen.query("#settings-list")))
        rows = app.screen.query_one("#settings-list", OptionList)
        await until(pilot, lambda: rows.option_count > 4)
        await pilot.pause()
        click = events.Click(rows, 2, 3, 0, 0, 1, False, False, False, style=Style(meta={"option": 999}))
        rows.post_message(click)
        click_on(app, rows, 3)
        rows.clear_options()
        await pilot.pause()
        assert type(app.screen).__name__ == "SettingsScreen"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
