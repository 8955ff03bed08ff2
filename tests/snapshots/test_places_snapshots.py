"""Pictures of review, settings, keymap, guide, tour and map: small and large, dark and light."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from muniment.memory.team.notefile import NewNote
from muniment.tui.app import MunimentApp
from support.app import boot_for, ready, screen_text, still, until
from support.consolidation import FACTS
from support.team import USER

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SIZES = [(80, 24), (160, 45)]
THEMES = ["dark", "light"]
Compare = Callable[..., bool]
Stage = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]

both = pytest.mark.parametrize("theme", THEMES)
sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "160x45"])


def picture(
    snap_compare: Compare, project: Path, theme: str, size: tuple[int, int], stage: Stage, *, notes: int = 0
) -> bool:
    app = MunimentApp(boot_for(project, theme=theme))
    app.animation_level = "none"

    async def before(run: Pilot[None]) -> None:
        pilot = cast("Pilot[int]", run)
        await ready(pilot, app)
        assert app.engine is not None
        surfaces = app.engine.surfaces
        surfaces.clock = surfaces.team.clock = lambda: NOW
        for number in range(notes):
            note = NewNote(f"Finding {number + 1}", FACTS[number], "reviewer", "agent")
            surfaces.team.inbox.add(note, USER)
        await stage(app, pilot)
        still(app)
        mine = ("guide", "review", "map", "settings-read")
        await until(
            pilot, lambda: not any(each.is_running and each.group.startswith(mine) for each in app.workers)
        )
        await pilot.pause(0.1)

    return snap_compare(app, terminal_size=size, run_before=before)


def place(name: str, *keys: str, shows: str = "") -> Stage:
    """Go to a place, press keys there, and wait until a text stands on the screen."""

    async def go(app: MunimentApp, pilot: Pilot[int]) -> None:
        app.action_go(name)
        await until(pilot, lambda: app.screen is not app.session_screen)
        if name != "tour":
            await until(
                pilot, lambda: not keys or any(each.option_count for each in app.screen.query(OptionList))
            )
        await pilot.pause(0.1)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.05)
        await until(pilot, lambda: shows in screen_text(app))
        await pilot.pause(0.1)

    return go


@both
@sizes
def test_review(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    broken = project / ".muniment" / "memory" / "broken.yaml"
    broken.write_text("id: [\n")
    stage = place("review", shows="by rules")
    assert picture(snap_compare, project, theme, size, stage, notes=5)


@both
@sizes
def test_empty_review(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, theme, size, place("review", shows="Nothing waits for you."))


@both
@sizes
def test_settings(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    stage = place("settings", "down", "down", shows="moving parts")
    assert picture(snap_compare, project, theme, size, stage)


@both
def test_wrong_entry(snap_compare: Compare, project: Path, theme: str) -> None:
    stage = place("settings", "down", "enter", "9", shows="does not fit")
    assert picture(snap_compare, project, theme, (80, 24), stage)


@both
@sizes
def test_keys_of_a_place(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    stage = place("settings", "f1", shows="Take this setting out of the file")
    assert picture(snap_compare, project, theme, size, stage)


@both
@sizes
def test_guide(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    stage = place("memory", shows="What goes where")
    assert picture(snap_compare, project, theme, size, stage)


@both
@sizes
def test_tour(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    stage = place("tour", *["right"] * 4, shows="5. You approve it")
    assert picture(snap_compare, project, theme, size, stage)


@both
@sizes
def test_map(snap_compare: Compare, project: Path, theme: str, size: tuple[int, int]) -> None:
    stage = place("map", "down", "down", shows="5 of 5")
    assert picture(snap_compare, project, theme, size, stage, notes=5)


@pytest.mark.parametrize("name", ["review", "settings", "guide", "tour", "map"])
def test_the_smallest_screen(snap_compare: Compare, project: Path, name: str) -> None:
    shown = {"review": "by rules", "settings": "The screen", "guide": "Keys of this place", "tour": "1. A"}
    stage = place(name, shows=shown.get(name, "what remembers"))
    assert picture(snap_compare, project, "dark", (40, 20), stage, notes=5)


@pytest.mark.parametrize("name", ["review", "map"])
def test_the_terminals_own_colours(snap_compare: Compare, project: Path, name: str) -> None:
    stage = place(name, shows="by rules" if name == "review" else "5 of 5")
    assert picture(snap_compare, project, "ansi", (80, 24), stage, notes=5)
