"""No place stands twice: opening one again returns to it, and the help comes to where the user is."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Markdown

from muniment.tui.app import MunimentApp
from muniment.tui.modals.question import Question
from muniment.tui.palette import CommandPalette
from muniment.tui.screens.guide import GuideScreen
from muniment.tui.screens.search import SearchScreen
from support.app import boot_for, opened, project_at, screen_text, until

PLACES = {
    "search": "SearchScreen",
    "context": "InspectorScreen",
    "resume": "SessionsScreen",
    "review": "ReviewScreen",
    "settings": "SettingsScreen",
    "tour": "TourScreen",
    "map": "MapScreen",
    "guide": "GuideScreen",
}


def stack(app: MunimentApp) -> list[str]:
    return [type(each).__name__ for each in app.screen_stack[1:]]


async def go(app: MunimentApp, pilot: Pilot[int], *names: str) -> None:
    """Go from place to place, as the palette does it."""
    for name in names:
        app.action_slash(name)
        await until(pilot, lambda name=name: type(app.screen).__name__ == PLACES[name])
        await pilot.pause()


async def pages(app: MunimentApp, pilot: Pilot[int]) -> str:
    page = app.screen.query_one("#guide-page", Markdown)
    await until(pilot, lambda: page.source.startswith("# Keys of this place"))
    return page.source


@pytest.mark.parametrize("name", PLACES)
async def test_a_place_opened_again_is_the_one_that_stands(tmp_path: Path, name: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await go(app, pilot, name)
        first = app.screen
        for other in ("tour", "map") if name not in ("tour", "map") else ("settings", "review"):
            await go(app, pilot, other)
        await go(app, pilot, name)
        if name == "guide":
            # The help shows the keys of where it was asked for, so it comes up rather than going back.
            assert stack(app) == ["TourScreen", "MapScreen", "GuideScreen"]
        else:
            assert app.screen is first
            assert stack(app) == [PLACES[name]]


async def test_walking_through_all_places_again_and_again_piles_up_nothing(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for _ in range(3):
            await go(app, pilot, *PLACES)
            assert len(set(stack(app))) == len(stack(app)) <= len(PLACES)
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            await pilot.press("f1")
            await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        for _ in range(len(PLACES) + 2):
            await pilot.press("escape")
        assert app.screen is app.session_screen


async def test_help_shows_the_keys_of_where_it_is_asked_for_and_leads_back_there(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        await go(app, pilot, "settings")
        settings = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        assert stack(app) == ["SettingsScreen", "GuideScreen"]
        assert "Enter changes a setting" in await pages(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is settings)


async def test_searching_again_for_other_words_searches_where_the_search_stands(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.run_slash("search", "apples")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.is_mounted)
        first = app.screen
        await go(app, pilot, "settings")
        app.run_slash("search", "pears")
        await until(pilot, lambda: app.screen is first)
        assert first.query_one("#search-words", Input).value == "pears"


async def test_a_question_is_not_left_for_a_place_below_it(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await go(app, pilot, "settings")
        question = Question("Go on?")
        app.push_screen(question)
        await until(pilot, lambda: question.is_mounted)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        app.action_slash("settings")
        await until(pilot, lambda: app.screen is question)
        await until(pilot, lambda: "A question is open here" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: stack(app) == ["SettingsScreen"])


async def test_help_in_the_palette_names_its_keys_and_leads_back_to_what_was_typed(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Esc Close" in screen_text(app))
        assert "Enter Run  ↓ Next  ↑ Previous  Esc Close  F1 Help" in screen_text(app)
        palette = app.screen
        await pilot.press("t", "o", "u", "f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        page = await pages(app, pilot)
        assert str(CommandPalette.HELP) in page
        for id_ in ("Go to the next command", "Close it and run nothing"):
            assert id_ in page
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is palette)
        assert palette.query_one(Input).value == "tou"
        await until(pilot, lambda: "/tour" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_the_palette_opened_in_its_own_help_stands_once(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for _ in range(3):
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            await pilot.press("f1")
            await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        assert stack(app) == ["CommandPalette", "GuideScreen"]


async def test_what_acts_on_the_session_screen_goes_there_first(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        await go(app, pilot, "guide", "settings")
        app.action_slash("memory")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert app.session_screen.panel.has_class("-open")
        await go(app, pilot, "settings")
        before = app.engine
        app.action_slash("new")
        await until(pilot, lambda: app.engine is not before)
        assert app.screen is app.session_screen


async def test_what_a_command_says_is_seen_in_whatever_place_it_is_given(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await go(app, pilot, "settings")
        app.action_slash("mode")
        await until(pilot, lambda: "The mode is manual." in screen_text(app))
        assert app.screen is not app.session_screen


async def test_a_session_resumed_from_the_choice_of_recipes_takes_its_place(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        app.session_screen.composer.put("hello")
        await pilot.press("enter")
        await until(pilot, lambda: app.engine is not None and bool(app.engine.replay()))
        await until(pilot, lambda: app.engine is not None and not app.engine.busy)
        assert app.engine is not None
        kept = app.engine.id
        await app.engine.close()
    async with opened(boot_for(project, pick=True)) as (app, pilot):
        await go(app, pilot, "resume")
        await until(pilot, lambda: kept[:8] in screen_text(app) or "hello" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.engine is not None)
        assert app.engine is not None
        assert app.engine.id == kept
        assert stack(app) == []


async def test_leaving_the_choice_of_recipes_leaves_the_app(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"), pick=True)) as (app, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running)
        assert app.return_code == 0
