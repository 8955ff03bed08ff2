"""The settings on the screen: what is shown is what is in force, and what is changed is checked and kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from muniment.paths import resolve_paths
from muniment.settings import load_settings
from muniment.tui.app import MunimentApp
from muniment.tui.keymap import known_bindings
from muniment.tui.modals.choose import Choose
from muniment.tui.modals.entry import Entry
from muniment.tui.screens.keymap import KeymapScreen
from muniment.tui.screens.settings import SettingsScreen
from support.app import boot_for, opened, project_at, say, screen_text, text_in, until

COMMENTED = """\
# my settings
retrieval:
  top_k: 6        # enough for me
"""


def config() -> Path:
    return resolve_paths().config_file


def write_config(text: str) -> None:
    config().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    config().write_text(text, encoding="utf-8")


def shows(app: MunimentApp, text: str) -> Callable[[], bool]:
    return lambda: text in screen_text(app)


async def open_settings(app: MunimentApp, pilot: Pilot[int]) -> SettingsScreen:
    await say(pilot, app, "/settings")
    await until(pilot, lambda: isinstance(app.screen, SettingsScreen))
    assert isinstance(app.screen, SettingsScreen)
    await until(pilot, shows(app, "The screen"))
    await pilot.pause()
    return app.screen


async def go_to(app: MunimentApp, pilot: Pilot[int], key: str) -> None:
    """Filter down to one setting and stand on it."""
    await pilot.press("slash")
    app.screen.query_one(Input).value = key
    await pilot.pause()
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.focused, OptionList))
    await until(pilot, shows(app, f"{key}  "))


async def test_every_setting_stands_there_with_its_value_and_where_it_came_from(tmp_path: Path) -> None:
    write_config(COMMENTED)
    async with opened(boot_for(project_at(tmp_path / "p")), size=(140, 80)) as (app, pilot):
        await open_settings(app, pilot)
        text = screen_text(app)
        rows = {line.split("  ")[0].strip(): line for line in text.splitlines()}
        assert "line 3" in rows["top k"]
        assert "default" in rows["quiet seconds"]
        assert str(config())[-20:] in text
        await pilot.press("escape")
        assert app.screen is app.session_screen


async def test_a_number_is_checked_while_it_is_typed_and_kept_with_the_comments(tmp_path: Path) -> None:
    write_config(COMMENTED)
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_settings(app, pilot)
        await go_to(app, pilot, "retrieval.top_k")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        app.screen.query_one(Input).value = "21"
        await until(pilot, shows(app, "allowed: a whole number from 1 to 20"))
        await pilot.press("enter")
        assert isinstance(app.screen, Entry)
        app.screen.query_one(Input).value = "12"
        await pilot.press("enter")
        await until(pilot, shows(app, "retrieval.top_k is changed; it counts with the next session"))
        text = config().read_text(encoding="utf-8")
        assert "# my settings" in text
        assert "top_k: 12" in text
        assert "# enough for me" in text
        assert app.boot.settings.retrieval.top_k == 12


async def test_the_theme_is_shown_before_it_is_taken_and_comes_back_where_it_is_not(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_settings(app, pilot)
        await go_to(app, pilot, "tui.theme")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down")
        await until(pilot, lambda: app.theme == "muniment-light")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == "muniment-dark")
        assert not config().exists()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: load_settings(resolve_paths(), {}).tui.theme == "light")
        await until(pilot, lambda: app.boot.settings.tui.theme == "light")
        assert app.theme == "muniment-light"


async def test_switches_and_the_quiet_time_take_effect_at_once(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_settings(app, pilot)
        await go_to(app, pilot, "tui.animations")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.animation_level == "none")
        await until(pilot, lambda: not load_settings(resolve_paths(), {}).tui.animations)
        await go_to(app, pilot, "approval.quiet_seconds")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        app.screen.query_one(Input).value = "2"
        await pilot.press("enter")
        await until(pilot, lambda: app.desk.quiet_seconds == 2)


async def test_x_takes_a_setting_out_of_the_file_again(tmp_path: Path) -> None:
    write_config(COMMENTED)
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_settings(app, pilot)
        await go_to(app, pilot, "retrieval.top_k")
        await pilot.press("x")
        await until(pilot, lambda: "top_k" not in config().read_text(encoding="utf-8"))
        await until(pilot, shows(app, "at its default again"))
        await pilot.press("x")
        await until(pilot, shows(app, "does not stand in the file"))


async def test_a_faulty_file_is_one_sentence_and_left_alone(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(140, 40)) as (app, pilot):
        faulty = "retrieval:\n  topk: 3\n"
        write_config(faulty)
        await open_settings(app, pilot)
        await until(pilot, shows(app, "did you mean top_k?"))
        await go_to(app, pilot, "tui.panel_width")
        await pilot.press("enter")
        assert isinstance(app.screen, SettingsScreen)
        await pilot.press("x")
        assert config().read_text(encoding="utf-8") == faulty
        assert "config.yaml:2:3" in screen_text(app)


async def test_a_file_that_breaks_meanwhile_is_left_alone_as_well(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(140, 40)) as (app, pilot):
        await open_settings(app, pilot)
        await go_to(app, pilot, "tui.panel_width")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        write_config("tui: [\n")
        app.screen.query_one(Input).value = "60"
        await pilot.press("enter")
        await until(pilot, shows(app, "cannot be read"))
        assert config().read_text(encoding="utf-8") == "tui: [\n"


async def test_a_filter_without_a_match_says_the_way_out(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_settings(app, pilot)
        await pilot.press("slash", *"zebra")
        await until(pilot, shows(app, "No setting matches"))
        await pilot.press("escape")
        await until(pilot, shows(app, "The screen"))
        await pilot.press("y")
        assert app.clipboard == str(config())


# The keymap


async def open_keymap(app: MunimentApp, pilot: Pilot[int]) -> None:
    await open_settings(app, pilot)
    await go_to(app, pilot, "tui.keymap")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, KeymapScreen))
    await until(pilot, shows(app, "Everywhere"))


async def find_key(app: MunimentApp, pilot: Pilot[int], id_: str) -> None:
    await pilot.press("slash")
    app.screen.query_one(Input).value = id_
    await pilot.pause()
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.focused, OptionList))


async def test_a_binding_gets_another_key_which_works_at_once(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_keymap(app, pilot)
        await find_key(app, pilot, "session.sessions")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        app.screen.query_one(Input).value = "f2"
        await until(pilot, shows(app, "takes f2, which session.memory has"))
        await pilot.press("enter")
        assert isinstance(app.screen, Entry)
        app.screen.query_one(Input).value = "f12"
        await pilot.press("enter")
        await until(pilot, shows(app, "session.sessions is F12 now."))
        assert dict(load_settings(resolve_paths(), {}).tui.keymap) == {"session.sessions": "f12"}
        await pilot.press("escape", "escape", "escape", "escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        await pilot.press("f12")
        await until(pilot, lambda: type(app.screen).__name__ == "SessionsScreen")


async def test_x_gives_a_binding_its_own_keys_again(tmp_path: Path) -> None:
    write_config("tui:\n  keymap:\n    session.search: f12\n")
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await open_keymap(app, pilot)
        await find_key(app, pilot, "session.search")
        await pilot.press("x")
        await until(pilot, lambda: not load_settings(resolve_paths(), {}).tui.keymap)
        await until(pilot, shows(app, "session.search is F3 now."))


async def test_keys_that_are_ignored_are_marked_and_can_be_changed_where_they_stand(tmp_path: Path) -> None:
    write_config("tui:\n  keymap:\n    session.search: f2\n")
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        await open_keymap(app, pilot)
        await until(pilot, shows(app, "0 keys changed, 1 ignored"))
        assert "session.search takes f2, which session.memory has" in text_in(app, app.screen)
        assert "It keeps its own keys; give it others" in text_in(app, app.screen)
        await find_key(app, pilot, "session.search")
        rows = [" ".join(row.split()) for row in screen_text(app).split("\n")]
        assert "F3 session.search ✗ f2 is ignored" in rows
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        app.screen.query_one(Input).value = "f12"
        await pilot.press("enter")
        await until(pilot, shows(app, "session.search is F12 now."))
        assert "1 key changed" in screen_text(app)
        assert "ignored" not in screen_text(app)


async def test_a_keymap_that_cannot_be_used_is_said_once_and_the_rest_counts(tmp_path: Path) -> None:
    from dataclasses import replace

    from muniment.settings.values import TuiSettings

    tui = replace(TuiSettings(), keymap={"session.serch": "f12", "session.memory": "ctrl+b"})
    async with opened(boot_for(project_at(tmp_path / "p"), tui=tui), size=(140, 30)) as (app, pilot):
        await until(pilot, shows(app, "did you mean session.search?"))
        opened_before = app.session_screen.panel.has_class("-open")
        await pilot.press("ctrl+b")
        assert app.session_screen.panel.has_class("-open") is not opened_before


async def test_a_narrow_screen_shows_the_ids_of_the_keymap_whole(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(40, 20)) as (app, pilot):
        await open_keymap(app, pilot)
        shown = [str(each.prompt) for each in app.screen.query_one("#keymap-list", OptionList).options]
        short = [each.id for each in known_bindings() if len(each.id) <= 24]
        assert "approval.previous" in short
        assert not [each for each in short if not any(line.rstrip().endswith(f" {each}") for line in shown)]


async def test_a_sentence_in_place_of_rows_is_whole_on_a_narrow_screen(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(40, 20)) as (app, pilot):
        await open_settings(app, pilot)
        await pilot.press("slash", *"zzqq")
        await until(pilot, shows(app, "No setting matches"))
        rows = app.screen.query_one(OptionList)
        assert text_in(app, rows) == "No setting matches; Escape shows all of them again."
