"""Every place on screens of every size, down to a single cell, and left while it still loads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Select

from muniment.tui.app import MunimentApp
from muniment.tui.modals.form import Form
from support.app import boot_for, opened, project_at, screen_text, until, write_record
from support.panel import stand_on

TINY = [(1, 1), (2, 2), (3, 20), (4, 3), (6, 20), (9, 4), (20, 1), (60, 2), (80, 24)]
PLACES = ["review", "settings", "guide", "tour", "map"]
Opener = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]


@pytest.mark.parametrize("place", PLACES)
async def test_a_place_that_is_left_at_once_is_not_drawn_on_any_more(tmp_path: Path, place: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        for _ in range(4):
            app.action_go(place)
            await until(pilot, lambda: app.screen is not app.session_screen)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.session_screen)
        await pilot.pause(0.3)
        assert app.screen is app.session_screen


def by_keys(*keys: str, shows: str) -> Opener:
    async def opener(app: MunimentApp, pilot: Pilot[int]) -> None:
        await pilot.press(*keys)
        await until(pilot, lambda: type(app.screen).__name__ == shows)

    return opener


async def panel(app: MunimentApp, pilot: Pilot[int]) -> None:
    if not app.session_screen.panel.has_class("-open"):
        await pilot.press("f2")
    await stand_on(app, pilot, "record", "coding-scheme")


async def form(app: MunimentApp, pilot: Pilot[int]) -> None:
    await panel(app, pilot)
    await by_keys("plus", shows="Choose")(app, pilot)
    await by_keys("enter", shows="Form")(app, pilot)
    app.screen.query_one(Select).expanded = True
    await pilot.pause()


async def words(app: MunimentApp, pilot: Pilot[int]) -> None:
    await pilot.press("slash", "down")


@pytest.mark.parametrize("opener", [form, words])
async def test_no_terminal_is_too_small_for_what_lies_over_a_place(tmp_path: Path, opener: Opener) -> None:
    """A terminal is dragged to a single cell; what was open is open still, and nothing fell."""
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "coding-scheme", "Codes of the first round", "Six codes.")
    async with opened(boot_for(project), size=(80, 24)) as (app, pilot):
        await opener(app, pilot)
        place = app.screen
        for size in TINY:
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert app.screen is place
        assert screen_text(app).strip()


@pytest.mark.parametrize("size", [(80, 24), (40, 20)], ids=["80x24", "40x20"])
async def test_a_form_keeps_its_keys_and_what_is_wrong_in_view(tmp_path: Path, size: tuple[int, int]) -> None:
    """The record's form has more fields than such a screen has rows."""
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "coding-scheme", "Codes of the first round", "Six codes.")
    async with opened(boot_for(project), size=size) as (app, pilot):
        await panel(app, pilot)
        await by_keys("plus", shows="Choose")(app, pilot)
        await by_keys("enter", shows="Form")(app, pilot)
        await until(pilot, lambda: "^S Keep" in screen_text(app))
        lines = screen_text(app).splitlines()
        assert any("Title" in line for line in lines)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "✗ The title is empty" in screen_text(app))
        assert "^S Keep" in screen_text(app)
        await pilot.press(*["tab"] * 5, *["shift+tab"] * 5)
        await until(pilot, lambda: "Title" in screen_text(app))
        assert isinstance(app.screen, Form)


@pytest.mark.parametrize("size", [(40, 20), (80, 40), (140, 20)], ids=["low", "high", "beside"])
async def test_what_is_read_has_the_room_of_a_low_screen(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=size) as (app, pilot):
        await by_keys("f1", shows="GuideScreen")(app, pilot)
        topics, text = app.screen.query_one("#guide-topics", OptionList), app.screen.query_one("#guide-text")
        await until(pilot, lambda: topics.option_count > 6)
        before = topics.size.height
        await pilot.press("end", "up", "up", "up", "up", "enter")
        await until(pilot, lambda: text.has_focus)
        chosen = topics.highlighted or 0
        if size == (40, 20):
            await until(
                pilot, lambda: topics.size.height < before and text.size.height > 2 * topics.size.height
            )
            await until(pilot, lambda: topics.scroll_offset.y <= chosen < topics.scroll_offset.y + 3)
        await pilot.press("escape")
        await until(pilot, lambda: topics.has_focus and topics.size.height == before)
