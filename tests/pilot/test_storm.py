"""A terminal is dragged over many sizes, from very large to a single cell and back, while a turn streams."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.widgets import TextArea

from muniment.session import events as ev
from muniment.tui.app import MunimentApp
from muniment.tui.modals.approval import ApprovalScreen
from support.app import boot_for, decide, dialog, opened, project_at, ready, say, screen_text, until
from support.places import PLACES, SAVE, at

STEPS = 4
LOPSIDED = [(200, 1), (1, 60), (60, 2), (3, 20)]
DOWN = [(round(200 ** (1 - n / STEPS)), round(60 ** (1 - n / STEPS))) for n in range(STEPS + 1)]
STORM = [*DOWN, *LOPSIDED, *reversed(DOWN[1:-1])]


def stream(app: MunimentApp, number: int) -> None:
    """Let a piece of a reply come, as it would from a model."""
    if app.engine is not None:
        app.session_screen.emit(
            ev.TextDelta(f"\n\n- piece **{number}**\n\n| a | b |\n|---|---|\n| {number} | `x` |")
        )


@pytest.mark.parametrize("name", PLACES)
async def test_every_place_stands_through_a_storm_of_sizes(tmp_path: Path, name: str) -> None:
    async with at(tmp_path, PLACES[name]) as (app, pilot):
        here = app.screen
        if app.engine is not None:
            app.session_screen.emit(ev.UserSaid("Compare."))
        for number, (width, height) in enumerate(STORM):
            stream(app, number)
            await pilot.resize_terminal(width, height)
            lines = screen_text(app).split("\n")
            assert len(lines) <= height
            assert all(len(line) <= width for line in lines)
        await pilot.resize_terminal(120, 40)
        assert app.screen is here
        await until(pilot, lambda: len(screen_text(app).split()) > 5)
        if app.engine is not None:
            await app.session_screen.drained()
            assert f"piece **{len(STORM) - 1}**" in app.session_screen.transcript.parts[-1].text
        if isinstance(here, ApprovalScreen):
            await decide(pilot, app, here, "d")
        elif PLACES[name].screen not in ("SessionScreen", "RecipePicker"):
            await pilot.press("escape")
        else:
            return
        await until(pilot, lambda: app.screen is not here)


async def test_no_key_is_lost_in_a_storm_of_sizes(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        app.session_screen.emit(ev.UserSaid("Compare."))
        typed = ""
        for number, size in enumerate(STORM):
            stream(app, number)
            key = "abcdefghij"[number % 10]
            typed += key
            # The key is on its way while the new size is still being laid out.
            await asyncio.gather(pilot.resize_terminal(*size), pilot.press(key))
        await pilot.resize_terminal(120, 40)
        composer = app.session_screen.query_one("#composer", TextArea)
        await until(pilot, lambda: composer.text == typed)


async def test_a_dialog_that_stood_through_a_storm_arms_again_and_allows(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await say(pilot, app, SAVE)
        shown = await dialog(pilot, app)
        for size in STORM:
            await pilot.resize_terminal(*size)
            if size[0] < 20:
                # So small a screen shows no proposal, and no key allows what is not shown.
                await pilot.press("a")
            assert app.screen is shown
        assert not (project / ".muniment" / "memory").exists()
        await pilot.resize_terminal(120, 40)
        await decide(pilot, app, shown, "a")
        await ready(pilot, app)
        assert (project / ".muniment" / "memory" / "rule.yaml").is_file()
