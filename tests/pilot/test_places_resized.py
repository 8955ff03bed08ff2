"""Review, settings, guide, tour and map on screens of every size, and left while they still load."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.tui.widgets.key_bar import KeyBar
from support.app import boot_for, opened, project_at, screen_text, until
from support.consolidation import add_notes

SIZES = [(40, 20), (200, 60), (30, 10), (80, 24), (120, 15), (60, 50)]
PLACES = ["review", "settings", "guide", "tour", "map"]


@pytest.mark.parametrize("place", PLACES)
async def test_a_storm_of_sizes_leaves_every_place_whole(tmp_path: Path, place: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        assert app.engine is not None
        add_notes(app.engine.surfaces, 5)
        app.action_go(place)
        await until(pilot, lambda: app.screen is not app.session_screen and app.screen.query(KeyBar))
        for _ in range(2):
            for size in SIZES:
                await pilot.resize_terminal(*size)
                lines = screen_text(app).splitlines()
                assert len(lines) <= size[1]
        await until(pilot, lambda: "Esc Back" in screen_text(app))
        await pilot.press("escape")
        assert app.screen is app.session_screen


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
