"""Guide, tour and map on the screen: the keys of the place first, everything searched, nothing written."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Markdown, OptionList

from muniment.guide import pages
from muniment.session.tour import steps
from muniment.tui.app import MunimentApp
from muniment.tui.screens import tour
from muniment.tui.screens.guide import READ_SECONDS, GuideScreen
from muniment.tui.screens.map import MapScreen
from muniment.tui.screens.settings import SettingsScreen
from muniment.tui.screens.tour import TourScreen
from muniment.tui.widgets.drawn import Drawn
from support.app import boot_for, opened, project_at, ready, say, screen_text, until, write_record
from support.team import tree


def shows(app: MunimentApp, text: str) -> Callable[[], bool]:
    return lambda: text in screen_text(app)


async def open_guide(app: MunimentApp, pilot: Pilot[int]) -> GuideScreen:
    await pilot.press("f1")
    await until(pilot, lambda: isinstance(app.screen, GuideScreen))
    await until(pilot, shows(app, "The first ten minutes"))
    assert isinstance(app.screen, GuideScreen)
    return app.screen


def page(app: MunimentApp) -> str:
    return app.screen.query_one("#guide-page", Markdown).source


async def test_f1_shows_the_keys_of_the_place_first(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_guide(app, pilot)
        await until(pilot, lambda: page(app).startswith("# Keys of this place"))
        assert "Show or hide the memory panel" in page(app)
        assert "`/undo`" in page(app)
        await pilot.press("f1")
        assert app.screen is app.session_screen


async def test_f1_in_another_place_shows_the_keys_of_that_place(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: app.screen is not app.session_screen)
        await open_guide(app, pilot)
        await until(pilot, lambda: page(app).startswith("# Keys of this place"))
        assert "## Sessions" in page(app)
        assert "Show or hide the memory panel" not in page(app)
        await pilot.press("escape")
        assert type(app.screen).__name__ == "SessionsScreen"


async def test_every_page_is_read_with_arrows_and_every_topic_is_reached(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_guide(app, pilot)
        seen = set()
        for _ in range(len(pages()) + 5):
            await pilot.press("n")
            await pilot.pause()
            seen.add(page(app).partition("\n")[0].removeprefix("# "))
        assert {each.title for each in pages()} <= seen
        assert "Keys" in seen
        await pilot.press("p")
        await pilot.press("enter")


async def test_enter_goes_into_the_text_and_escape_out_of_it(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        screen = await open_guide(app, pilot)
        await pilot.press("down", "enter")
        text = screen.query_one("#guide-text")
        await until(pilot, lambda: text.has_focus)
        await pilot.press("pagedown")
        await until(pilot, lambda: text.scroll_y > 0)
        await pilot.press("escape")
        assert isinstance(app.focused, OptionList)
        await pilot.press("escape")
        assert app.screen is app.session_screen


async def test_a_search_shows_the_line_that_holds_the_words(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_guide(app, pilot)
        await pilot.press("slash", *"quiet_seconds")
        await until(pilot, lambda: "approval.quiet_seconds" in page(app))
        listed = [str(each.prompt) for each in app.screen.query_one("#guide-topics", OptionList).options]
        assert any(each.startswith("Trouble\n") for each in listed)
        await pilot.press("enter")
        assert isinstance(app.focused, OptionList)
        await pilot.press("slash", *" zebra")
        await until(pilot, shows(app, "No page holds all of these words"))
        # What stood there before is no title of this.
        await until(pilot, shows(app, "Guide  nothing found"))
        await pilot.press("escape")
        await until(pilot, shows(app, "The first ten minutes"))


async def test_the_guide_leads_to_tour_map_and_settings(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for key, kind in (("t", TourScreen), ("m", MapScreen), ("s", SettingsScreen)):
            guide = await open_guide(app, pilot)
            await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await pilot.pause()
            await pilot.press("escape")
            await until(pilot, lambda guide=guide: app.screen is guide)
            await pilot.press("escape")
            assert app.screen is app.session_screen
        await open_guide(app, pilot)
        await pilot.press("end", "up", "up", "enter")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))


async def test_a_place_on_the_map_is_shown_from_the_guide_too(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project)) as (app, pilot):
        guide = await open_guide(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.screen is guide)
        await until(pilot, lambda: page(app).startswith("# Privacy"))
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert app.session_screen.panel.has_class("-open")


async def test_a_session_resumed_from_above_the_guide_is_what_is_seen(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "Remember the tea.")
        await ready(pilot, app)
        first = app.engine
        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not first)
        await open_guide(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await pilot.press("end", "up", "enter")
        await until(pilot, lambda: type(app.screen).__name__ == "SessionsScreen")
        await until(pilot, shows(app, "Remember the tea."))
        assert first is not None
        await pilot.press("enter")
        await until(pilot, lambda: app.engine is not None and app.engine.id == first.id)
        assert app.screen is app.session_screen


async def test_a_slash_command_opens_guide_tour_and_map(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for command, kind in (("/guide", GuideScreen), ("/tour", TourScreen), ("/map", MapScreen)):
            await say(pilot, app, command)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await pilot.pause()
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.session_screen)


async def test_the_map_tells_how_large_the_journal_is(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "/note The gate opens too early.")
        await until(pilot, shows(app, "Put into the project inbox"))
        app.action_go("map")
        await until(pilot, lambda: re.search(r"Journal +[\d.]+ (?:B|KiB)", screen_text(app)))


# The tour


async def test_the_tour_goes_on_and_back_and_never_over_its_ends(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.action_go("tour")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))
        await until(pilot, shows(app, f"1. {steps()[0].title}"))
        await pilot.press("left")
        assert f"1. {steps()[0].title}" in screen_text(app)
        for number, step in enumerate(steps()[1:], 2):
            await pilot.press("right")
            await pilot.pause()
            assert f"{number}. {step.title}" in screen_text(app)
            assert f"step {number} of {len(steps())}" in screen_text(app)
        await pilot.press("n", "space")
        assert f"step {len(steps())} of {len(steps())}" in screen_text(app)
        await pilot.press("home")
        await until(pilot, shows(app, f"step 1 of {len(steps())}"))


async def test_the_tour_names_its_arrows_and_its_samples_stay_in_their_columns(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        app.action_go("tour")
        await until(pilot, shows(app, "→ Next  ← Previous  p Play"))
        rows = screen_text(app).split("\n")
        at = next(number for number, row in enumerate(rows) if "findings  Sheet" in row)
        column = rows[at].index("Sheet")
        assert rows[at + 1][column] != " "
        assert rows[at + 1][:column].strip(" │") == ""


async def test_without_motion_the_tour_moves_with_keys_only(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.animation_level = "none"
        app.action_go("tour")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))
        await pilot.press("p")
        await until(pilot, shows(app, "Motion is off"))
        assert isinstance(app.screen, TourScreen)
        assert not app.screen.playing
        assert f"step 2 of {len(steps())}" in screen_text(app)


async def test_the_tour_plays_by_itself_until_a_key_is_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour, "STEP_SECONDS", 0.02)
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "full")
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        app.animation_level = "full"
        app.action_go("tour")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))
        screen = app.screen
        assert isinstance(screen, TourScreen)
        await pilot.press("p")
        await until(pilot, shows(app, f"step {len(steps())} of {len(steps())}"))
        await until(pilot, lambda: not screen.playing)
        monkeypatch.setattr(tour, "STEP_SECONDS", 60.0)
        await pilot.press("p")
        await until(pilot, lambda: screen.playing)
        await pilot.press("left")
        assert not screen.playing


async def test_the_tour_writes_nothing(tmp_path: Path, user: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        before = tree(project), tree(user / "data")
        app.action_go("tour")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))
        for _ in steps():
            await pilot.press("right")
        assert (tree(project), tree(user / "data")) == before


# The map


async def test_the_picture_of_the_map_is_whole_wherever_it_is_shown(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project), size=(MapScreen.SIDE_FROM, 24)) as (app, pilot):
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await until(pilot, shows(app, "┼─▶ request"))
        assert app.screen.query_one("#map-flow").size.height == 10


async def test_the_map_counts_what_there_is_and_opens_it_in_its_place(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project), size=(120, 30)) as (app, pilot):
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await until(pilot, shows(app, "1 in 2 scopes"))
        assert re.search(r"Journal +empty", screen_text(app))
        write_record(project / ".muniment", "pears", "About pears")
        await pilot.press("r")
        await until(pilot, shows(app, "2 in 2 scopes"))
        assert "How it reaches a model" in screen_text(app)
        await pilot.press("down", "down")
        await until(pilot, shows(app, "at 5 notes a consolidation is offered"))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert app.session_screen.panel.has_class("-open")
        assert app.session_screen.panel.records_tree.has_focus
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await until(pilot, shows(app, "what remembers"))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: app.screen is app.session_screen)
        panel = app.session_screen.panel
        await until(pilot, lambda: panel.current is not None and panel.current.group == "inbox")


async def test_the_map_leads_to_sessions_and_to_the_guide(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 30)) as (app, pilot):
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await until(pilot, shows(app, "what remembers"))
        await pilot.press("end", "up", "enter")
        await until(pilot, lambda: type(app.screen).__name__ == "SessionsScreen")
        await pilot.press("escape")
        app.action_go("map")
        await until(pilot, lambda: isinstance(app.screen, MapScreen))
        await until(pilot, shows(app, "what remembers"))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        await until(pilot, lambda: page(app).startswith("# Privacy"))


async def test_going_on_while_a_page_is_laid_out_leaves_no_piece_of_it_behind(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        guide = app.screen
        page = guide.query_one("#guide-page", Markdown)
        await until(pilot, lambda: bool(page.query(Drawn)))
        options = guide.query_one("#guide-topics", OptionList)
        await until(pilot, lambda: options.option_count > 6)
        for delay in (0.0, 0.01, 0.04):
            # The page of keys has many tables, and takes a while to come and to go.
            keys = max(at for at in range(options.option_count - 4) if not options.options[at].disabled)
            for at in (keys, 2, keys, 0):
                options.highlighted = at
                await asyncio.sleep(READ_SECONDS + delay)
        await until(pilot, lambda: page.source.startswith("# Keys of this place"))
        await until(pilot, lambda: not [each for each in guide.walk_children() if each._closed])
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
