"""The settings of the screen take effect: theme, width of the panel, animations, keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from muniment.paths import resolve_paths
from muniment.settings import load_settings
from muniment.settings.values import TuiSettings
from muniment.tui.screens.search import SearchScreen
from support.app import boot_for, opened, project_at, until


@pytest.mark.parametrize(
    ("setting", "theme"), [("dark", "muniment-dark"), ("light", "muniment-light"), ("ansi", "muniment-ansi")]
)
async def test_each_theme_of_the_settings_is_one_of_the_apps(
    tmp_path: Path, setting: str, theme: str
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"), theme=setting)) as (app, _):
        assert app.current_theme.name == theme


async def test_the_panel_has_the_width_of_the_settings_and_keeps_a_new_one(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"), tui=replace(TuiSettings(), panel_width=36))
    async with opened(boot, size=(120, 30)) as (app, pilot):
        assert app.session_screen.panel.outer_size.width == 36
        app.session_screen.panel.records_tree.focus()
        await pilot.press("greater_than_sign")
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: app.session_screen.panel.outer_size.width == 44)
        await until(pilot, lambda: load_settings(resolve_paths(), {}).tui.panel_width == 44)
    later = boot_for(boot.cwd, tui=load_settings(resolve_paths(), {}).tui)
    async with opened(later, size=(120, 30)) as (app, _):
        assert app.session_screen.panel.outer_size.width == 44


async def test_the_panel_never_squeezes_the_conversation_away(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"), tui=replace(TuiSettings(), panel_width=200))
    async with opened(boot, size=(100, 30)) as (app, _):
        assert app.session_screen.panel.outer_size.width == 59
        assert app.session_screen.query_one("#left").region.width == 40


async def test_animations_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEXTUAL_ANIMATIONS")
    boot = boot_for(project_at(tmp_path / "p"), tui=replace(TuiSettings(), animations=False))
    async with opened(boot) as (app, _):
        assert app.animation_level == "none"


async def test_keys_follow_the_keymap_by_the_id_of_the_binding(tmp_path: Path) -> None:
    keymap = {"session.memory": "ctrl+b", "composer.send": "ctrl+t", "memory.filter": "ctrl+f"}
    boot = boot_for(project_at(tmp_path / "p"), tui=replace(TuiSettings(), keymap=keymap))
    async with opened(boot, size=(90, 24)) as (app, pilot):
        screen = app.session_screen
        assert not screen.panel.has_class("-open")
        await pilot.press("f2")
        assert not screen.panel.has_class("-open")
        await pilot.press("ctrl+b")
        assert screen.panel.has_class("-open")
        await pilot.press("ctrl+f", "x", "escape", "ctrl+b")
        await pilot.press(*"hello", "enter")
        assert screen.composer.text == "hello\n"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: screen.composer.text == "")
        await until(pilot, lambda: app.engine is not None and not app.engine.busy)
        assert app.engine is not None
        assert any("hello" in str(item) for item in app.engine.replay())


async def test_a_key_that_the_user_gave_counts_where_a_field_would_edit_with_it(tmp_path: Path) -> None:
    keymap = {"session.search": "ctrl+f", "search.back": "ctrl+w"}
    boot = boot_for(project_at(tmp_path / "p"), tui=replace(TuiSettings(), keymap=keymap))
    async with opened(boot) as (app, pilot):
        app.session_screen.composer.put("two words")
        await pilot.press("home", "ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.session_screen.composer.text == "two words"
        await pilot.press("a", "ctrl+w")
        await until(pilot, lambda: app.screen is app.session_screen)
        # What nobody gave away edits as ever.
        await pilot.press("end", "ctrl+w")
        assert app.session_screen.composer.text == "two "
