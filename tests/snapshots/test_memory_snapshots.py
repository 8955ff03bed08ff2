"""Pictures of the screens that show memory: panel, record, form, search, context and sessions."""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from muniment.paths import resolve_paths
from muniment.settings import Settings
from muniment.tui.app import MunimentApp
from muniment.tui.modals.form import Form
from muniment.tui.screens.inspector import InspectorScreen
from muniment.tui.screens.reader import Reader
from muniment.tui.screens.search import SearchScreen
from muniment.tui.screens.sessions import SessionsScreen
from support.app import boot_for, ready, screen_text, still, until
from support.environment import user_variables
from support.memory_world import memory_world
from support.panel import stand_on
from support.pictures import place_of
from support.session_logs import write_session

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SESSION = "9f2c4e1a7b3d5068c1e4f2a97d6b8053"
SIZES = [(80, 24), (160, 45)]
Compare = Callable[..., bool]
Step = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]
everywhere = pytest.mark.parametrize(
    ("size", "theme"),
    [(size, theme) for size in SIZES for theme in ("dark", "light")],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}x{value[1]}",
)


@pytest.fixture
def project(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A world at a fixed place of this test's own, with fixed times and a fixed session."""
    with place_of(request.node.name) as root:
        (root / "home").mkdir()
        for variable, value in user_variables(root).items():
            monkeypatch.setenv(variable, value)
        monkeypatch.delenv("NO_COLOR", raising=False)
        made = memory_world(root, lambda: NOW)
        real = secrets.token_hex
        monkeypatch.setattr(secrets, "token_hex", lambda count=32: SESSION if count == 16 else real(count))
        yield made


def picture(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str, *steps: Step) -> bool:
    """Run the app to a place and compare what it draws once nothing moves any more."""
    app = MunimentApp(boot_for(project, theme=theme))

    async def before(pilot: Pilot[int]) -> None:
        await ready(pilot, app)
        for step in steps:
            await step(app, pilot)
        still(app)
        # The pointer of a test rests in a corner, where nothing can be under it.
        await pilot.hover(offset=(size[0] - 1, 0))
        await pilot.pause(0.4)

    return snap_compare(app, terminal_size=size, run_before=before)


def press(*keys: str) -> Step:
    async def step(app: MunimentApp, pilot: Pilot[int]) -> None:
        await pilot.press(*keys)

    return step


def seen(*texts: str) -> Step:
    async def step(app: MunimentApp, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: all(each in screen_text(app) for each in texts))

    return step


async def panel(app: MunimentApp, pilot: Pilot[int]) -> None:
    if not app.session_screen.panel.has_class("-open"):
        await pilot.press("f2")
    await until(pilot, lambda: "6 records" in app.session_screen.panel.title_text)
    await stand_on(app, pilot, "record", "open-questions")


def on(kind: type[object]) -> Step:
    async def step(app: MunimentApp, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: isinstance(app.screen, kind))
        await pilot.pause()

    return step


@everywhere
def test_panel(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, project, size, theme, panel)


@everywhere
def test_record(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, project, size, theme, panel, press("enter"), on(Reader), seen("History"))


@everywhere
def test_form(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    assert picture(
        snap_compare,
        project,
        size,
        theme,
        panel,
        press("n"),
        on(Form),
        press(*"Late answers", "tab", *"Twelve came late.", "shift+tab"),
    )


@everywhere
def test_search(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    steps = (press("f3"), on(SearchScreen), press(*"pilot words", "ctrl+o"), seen("overridden", "searched"))
    assert picture(snap_compare, project, size, theme, *steps, press("down"))


@everywhere
def test_context(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    async def draft(app: MunimentApp, pilot: Pilot[int]) -> None:
        app.session_screen.composer.put("Which words does the pilot use?")

    steps = (draft, press("f5"), on(InspectorScreen), seen("a summary is made above"))
    assert picture(snap_compare, project, size, theme, *steps)


@everywhere
def test_sessions(snap_compare: Compare, project: Path, size: tuple[int, int], theme: str) -> None:
    paths = resolve_paths()
    for number, said in enumerate(
        ("Compare the two codings of Notes B", "漢字 and [/] in a title", "Who counted the late answers?"), 1
    ):
        path = write_session(paths, number, said, "And the heron?", cwd="/work/study")
        os.utime(path, (NOW.timestamp() - 7_000 * number, NOW.timestamp() - 7_000 * number))

    async def listed(app: MunimentApp, pilot: Pilot[int]) -> None:
        await app.push_screen(
            SessionsScreen(paths, Settings(), SESSION, cwd="/work/study", clock=lambda: NOW)
        )
        await until(pilot, lambda: "Who counted the late answers?" in screen_text(app))
        await pilot.press("slash", *"heron", "enter")
        await until(pilot, lambda: "3 found of 3" in screen_text(app))
        await pilot.press("d")

    assert picture(snap_compare, project, size, theme, listed, seen("Press d again", "begun"))


@pytest.mark.parametrize("theme", ["ansi"])
def test_panel_in_the_colours_of_the_terminal(snap_compare: Compare, project: Path, theme: str) -> None:
    assert picture(snap_compare, project, (80, 24), theme, panel)
