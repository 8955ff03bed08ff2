"""Letters that come in one go behind the key of a filter are all in the filter, and none was an order."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from muniment.paths import resolve_paths
from muniment.tui.app import MunimentApp
from support.app import boot_for, opened, project_at, until, write_record
from support.session_logs import write_session

WORDS = "demhdpu"
"""Every letter of them is an order in the memory panel."""


def type_at_once(app: MunimentApp, text: str) -> None:
    """Put keys into the queue of the app without waiting for any of them."""
    for character in text:
        key = "slash" if character == "/" else character
        app.post_message(events.Key(key, character))


async def in_the_filter(app: MunimentApp, pilot: Pilot[int], box: str, words: str) -> None:
    await until(pilot, lambda: app.screen.query_one(box, Input).value == words)
    assert app.screen.focused is app.screen.query_one(box, Input)


async def test_the_filter_of_the_panel(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    path = write_record(project / ".muniment", "rule", "A rule")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        panel = app.session_screen.panel
        await until(pilot, lambda: "1 record" in panel.title_text)
        panel.records_tree.focus()
        await pilot.press("home", "down")
        type_at_once(app, f"/{WORDS}")
        await in_the_filter(app, pilot, "#memory-filter", WORDS)
        assert app.screen is app.session_screen
        assert not app.desk.pending
        assert path.exists()
        await pilot.press("escape")
        assert not panel.query_one("#memory-filter", Input).display


@pytest.mark.parametrize(("place", "box"), [("settings", "#settings-filter"), ("keymap", "#keymap-filter")])
async def test_the_filter_of_a_list(tmp_path: Path, place: str, box: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        app.action_go("settings")
        await until(pilot, lambda: type(app.screen).__name__ == "SettingsScreen")
        await until(pilot, lambda: app.screen.focused is not None)
        if place == "keymap":
            await pilot.press("down", "down", "down", "enter")
            await until(pilot, lambda: type(app.screen).__name__ == "KeymapScreen")
            await until(pilot, lambda: app.screen.focused is not None)
        type_at_once(app, "/xquit")
        await in_the_filter(app, pilot, box, "xquit")


async def test_the_filter_of_the_sessions(tmp_path: Path) -> None:
    path = write_session(resolve_paths(), 1, "Compare the codings", "Done.", cwd="/work/study")
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: type(app.screen).__name__ == "SessionsScreen")
        await until(pilot, lambda: app.screen.focused is not None)
        type_at_once(app, "/dd codings")
        await in_the_filter(app, pilot, "#session-filter", "dd codings")
        assert path.exists()
