"""Pictures of the session with a conversation in it, and of every question and choice around it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from muniment.tui.app import MunimentApp
from muniment.tui.screens.keymap import KeymapScreen
from support.app import (
    allow,
    boot_for,
    decide,
    dialog,
    ready,
    say,
    screen_text,
    still,
    until,
)
from support.consolidation import add_notes
from support.environment import REPOSITORY

SESSION = "9f2c4e1a7b3d5068c1e4f2a97d6b8053"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SAVE = """\
Use memory_store to save a project memory:
id: pilot-review-rule
title: Pilot comparison review rule
content: Cite Notes A and B; show both denominators."""
REMEMBER = "Remember for future sessions: 漢字 and [/] stay as they are"
Compare = Callable[..., bool]
Stage = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]
everywhere = pytest.mark.parametrize(
    ("size", "theme"),
    [(size, theme) for size in ((80, 24), (160, 45)) for theme in ("dark", "light")],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}x{value[1]}",
)
two_sizes = pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=["80x24", "160x45"])


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, in which every session has the same id."""
    real = secrets.token_hex
    monkeypatch.setattr(secrets, "token_hex", lambda count=32: SESSION if count == 16 else real(count))
    return project


def picture(
    snap_compare: Compare,
    project: Path,
    size: tuple[int, int],
    *stages: Stage,
    theme: str = "dark",
    pick: bool = False,
) -> bool:
    app = MunimentApp(boot_for(project, theme=theme, pick=pick))
    app.animation_level = "none"

    async def before(run: Pilot[None]) -> None:
        pilot = cast("Pilot[int]", run)
        if pick:
            await until(pilot, lambda: type(app.screen).__name__ == "RecipePicker")
        else:
            await ready(pilot, app)
            assert app.engine is not None
            surfaces = app.engine.surfaces
            surfaces.clock = surfaces.team.clock = surfaces.records.clock = lambda: NOW
        for stage in stages:
            await stage(app, pilot)
        still(app)
        # The pointer of a test rests in a corner, where nothing can be under it.
        await pilot.hover(offset=(size[0] - 1, 0))
        await pilot.pause(0.4)

    return snap_compare(app, terminal_size=size, run_before=before)


async def conversation(app: MunimentApp, pilot: Pilot[int]) -> None:
    """Save a record, refuse an entry, read the record, and have a draft begun."""
    await say(pilot, app, SAVE)
    await allow(pilot, app)
    await ready(pilot, app)
    await say(pilot, app, REMEMBER)
    await decide(pilot, app, await dialog(pilot, app), "d")
    await ready(pilot, app)
    await say(pilot, app, "Use memory_retrieve to fetch pilot-review-rule.")
    await ready(pilot, app)
    assert "denominators." in screen_text(app)
    panel = app.session_screen.panel
    await until(pilot, lambda: not panel.display or "2 records" in panel.title_text)
    app.session_screen.composer.put("And Note C?")


def shows(kind: str, *keys: str) -> Stage:
    """Press keys and wait for a screen by the name of its class."""

    async def stage(app: MunimentApp, pilot: Pilot[int]) -> None:
        await pilot.press(*keys)
        await until(pilot, lambda: type(app.screen).__name__ == kind)
        await pilot.pause(0.1)

    return stage


def said(kind: str, text: str) -> Stage:
    async def stage(app: MunimentApp, pilot: Pilot[int]) -> None:
        await say(pilot, app, text)
        await until(pilot, lambda: type(app.screen).__name__ == kind)

    return stage


async def recipes(app: MunimentApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: any(each.option_count > 1 for each in app.screen.query(OptionList)))


async def with_parameters(app: MunimentApp, pilot: Pilot[int]) -> None:
    await recipes(app, pilot)
    shown = app.screen.query_one("#recipes", OptionList)
    names = [str(each.prompt) for each in shown.options]
    shown.highlighted = next(at for at, name in enumerate(names) if name.startswith("questions"))


async def keymap(app: MunimentApp, pilot: Pilot[int]) -> None:
    app.action_go("settings")
    await until(pilot, lambda: type(app.screen).__name__ == "SettingsScreen")
    await until(pilot, lambda: any(each.highlighted is not None for each in app.screen.query(OptionList)))
    await pilot.press("down", "down", "down", "enter")
    await until(pilot, lambda: isinstance(app.screen, KeymapScreen))
    await until(pilot, lambda: any(each.option_count for each in app.screen.query(OptionList)))


async def digest(app: MunimentApp, pilot: Pilot[int]) -> None:
    assert app.engine is not None
    add_notes(app.engine.surfaces, 5)
    app.action_go("review")
    await until(pilot, lambda: "by rules" in screen_text(app))


@everywhere
def test_conversation(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, project, size, conversation, theme=theme)


@pytest.mark.parametrize("size", [(40, 20), (200, 60)], ids=["40x20", "200x60"])
def test_conversation_on_the_smallest_and_the_widest(
    snap_compare: Compare, project: Path, size: tuple[int, int]
) -> None:
    assert picture(snap_compare, project, size, conversation)


def test_conversation_in_the_colours_of_the_terminal(snap_compare: Compare, project: Path) -> None:
    assert picture(snap_compare, project, (80, 24), conversation, theme="ansi")


@two_sizes
def test_first_minute(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size)


@two_sizes
def test_choice_of_recipes(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, recipes, pick=True)


@two_sizes
def test_parameters(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    mine = project / ".muniment" / "recipes"
    mine.mkdir()
    source = (REPOSITORY / "recipes" / "code-review.yaml").read_text(encoding="utf-8")
    (mine / "questions.yaml").write_text(source.replace("name: code-review", "name: questions"))
    assert picture(snap_compare, project, size, with_parameters, shows("ParameterForm", "enter"), pick=True)


@two_sizes
def test_looser_mode(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, shows("Question", "f8"))


@two_sizes
def test_past(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, conversation, shows("PastScreen", "ctrl+r"))


@two_sizes
def test_clear(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, said("TypedQuestion", "/clear"))


@two_sizes
def test_keymap(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, keymap)


@two_sizes
def test_digest_to_change(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, digest, shows("EditText", "e"))


@two_sizes
def test_palette(snap_compare: Compare, project: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, project, size, shows("CommandPalette", "ctrl+p"))
