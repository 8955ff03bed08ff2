"""Search, context and sessions by their keys, through the real app."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from muniment.paths import resolve_paths
from muniment.tui.app import MunimentApp
from muniment.tui.modals.entry import Entry
from muniment.tui.screens.inspector import InspectorScreen
from muniment.tui.screens.reader import Reader
from muniment.tui.screens.search import SearchScreen
from muniment.tui.screens.sessions import SessionsScreen
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.reading import Reading
from support.app import boot_for, opened, project_at, ready, say, screen_text, until
from support.memory_world import memory_world


def ids(app: MunimentApp) -> list[str]:
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    return [hit.item.id for hit in screen.hits]


async def searched(app: MunimentApp, pilot: Pilot[int], words: str) -> SearchScreen:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, SearchScreen))
    await pilot.press(*words)
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    await until(pilot, lambda: "searched" in screen_text(app))
    return screen


async def test_search_opens_a_hit_above_itself_and_comes_back_to_it(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        await searched(app, pilot, "pnpm")
        await until(pilot, lambda: "package-manager" in ids(app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Reader))
        await pilot.pause()
        assert "My projects install with pnpm" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.screen.query_one("#search-words", Input).value == "pnpm"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_kind_scope_and_standing_narrow_and_are_said(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        await searched(app, pilot, "pilot sheet")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "kind record" in screen_text(app))
        screen = app.screen
        assert isinstance(screen, SearchScreen)
        await until(pilot, lambda: {hit.item.kind for hit in screen.hits} == {"record"})
        await pilot.press("ctrl+l", "ctrl+l")
        await until(pilot, lambda: "scope global" in screen_text(app) and ids(app) == ["answer-style"])
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "pilot-terms" in ids(app))
        assert "overridden" in screen_text(app)
        await pilot.press("down", "k")
        await until(pilot, lambda: "kind user memory" in screen_text(app))
        await pilot.press("slash")
        assert app.screen.query_one("#search-words").has_focus


async def test_the_last_words_win_however_fast_they_are_typed(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        box = app.screen.query_one("#search-words", Input)
        for words in ("pilot", "pilot sheet", "sheet", "no such word", "pnpm"):
            box.value = words
            await pilot.pause(0.02)
        await until(pilot, lambda: ids(app) == ["package-manager"])
        box.value = ""
        await until(pilot, lambda: ids(app) == [])
        assert "Type words." in screen_text(app)


async def test_half_a_word_finds_and_marks_and_a_blank_behind_it_ends_the_word(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        screen = await searched(app, pilot, "pnp")
        await until(pilot, lambda: ids(app) == ["package-manager"])
        (hit,) = screen.hits
        assert [hit.item.title[start:end] for start, end in hit.title_spans] == ["pnpm"]
        await pilot.press("space")
        await until(pilot, lambda: ids(app) == [])
        await pilot.press("backspace", "m", "space")
        await until(pilot, lambda: ids(app) == ["package-manager"])


async def test_nothing_found_says_where_else_to_look_and_y_copies(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        await searched(app, pilot, "wombat")
        await until(pilot, lambda: "Nothing that is in effect matches" in screen_text(app))
        app.screen.query_one("#search-words", Input).value = "pnpm"
        await until(pilot, lambda: ids(app) == ["package-manager"])
        await pilot.press("down", "y")
        await until(pilot, lambda: app.clipboard == "package-manager")


async def inspected(app: MunimentApp, pilot: Pilot[int]) -> InspectorScreen:
    await pilot.press("f5")
    await until(
        pilot, lambda: isinstance(app.screen, InspectorScreen) and "summary is made" in screen_text(app)
    )
    assert isinstance(app.screen, InspectorScreen)
    return app.screen


async def test_the_inspector_shows_bounds_rows_with_reasons_and_the_raw_request(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(130, 45)) as (app, pilot):
        app.session_screen.composer.put("how are pilot sheets coded?")
        await inspected(app, pilot)
        text = screen_text(app)
        assert "the next request, with your draft" in text
        assert "177 of 4,096 units" in text
        assert "4 of 100 records" in text
        await pilot.press("down", "down", "down")
        await until(pilot, lambda: "Why each was chosen" in screen_text(app))
        assert "= words" in screen_text(app)
        await pilot.press("r")
        await until(pilot, lambda: "Raw, as muniment context" in screen_text(app))
        assert '"instructions"' in screen_text(app)
        await pilot.press("end")
        await until(pilot, lambda: '"budget"' in screen_text(app))
        await pilot.press("y")
        await until(pilot, lambda: '"estimate"' in app.clipboard)
        await pilot.press("escape")
        await until(pilot, lambda: "Raw, as" not in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert app.session_screen.composer.text == "how are pilot sheets coded?"


async def test_t_turns_to_the_last_request_once_there_is_one(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(130, 45)) as (app, pilot):
        await inspected(app, pilot)
        await pilot.press("t")
        await until(pilot, lambda: "No request was sent" in screen_text(app))
        await pilot.press("escape")
        await say(pilot, app, "remember the heron")
        await ready(pilot, app)
        await inspected(app, pilot)
        await pilot.press("t")
        await until(pilot, lambda: "the last request, as it was sent" in screen_text(app))
        await pilot.press("end", "up")
        await until(pilot, lambda: "remember the heron" in screen_text(app))
        await pilot.press("tab")
        assert app.screen.query_one(Reading).has_focus


async def earlier(project: Path, *texts: str) -> None:
    """Live through a session for each text and leave it."""
    for text in texts:
        async with opened(boot_for(project), size=(80, 24)) as (app, pilot):
            await say(pilot, app, text)
            await ready(pilot, app)
            await pilot.press("ctrl+q")
            await until(pilot, lambda app=app: app.return_code is not None)


async def listed(app: MunimentApp, pilot: Pilot[int]) -> SessionsScreen:
    await pilot.press("f6")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
    screen = app.screen
    assert isinstance(screen, SessionsScreen)
    await until(pilot, lambda: screen.selected is not None)
    await pilot.pause()
    return screen


async def test_sessions_are_found_by_what_was_said_previewed_and_renamed(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    await earlier(project, "about the heron", "about the owl")
    async with opened(boot_for(project), size=(140, 40)) as (app, pilot):
        screen = await listed(app, pilot)
        assert "1 turn ·" in screen_text(app)
        await pilot.press("slash", *"heron")
        await until(pilot, lambda: screen.selected is not None and "heron" in screen.selected.title)
        await until(pilot, lambda: "1 found of 2" in screen_text(app))
        await until(pilot, lambda: "Rehearsal model" in screen_text(app))
        assert "· assistant · rehearsal" in screen_text(app)
        await pilot.press("enter", "r")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        await pilot.press("ctrl+u", *"Birds [/]", "enter")
        await until(pilot, lambda: "Renamed to Birds [/]" in screen_text(app))
        await until(pilot, lambda: screen.selected is not None and screen.selected.title == "Birds [/]")
        await pilot.press("escape", "p")
        await until(pilot, lambda: "this project only" in screen_text(app))


async def test_two_presses_delete_and_anything_between_keeps(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    await earlier(project, "about the heron", "about the owl")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        screen = await listed(app, pilot)
        assert screen.selected is not None
        doomed = resolve_paths().sessions / f"{screen.selected.id}.jsonl"
        await pilot.press("d")
        await until(pilot, lambda: "Press d again" in screen_text(app))
        await pilot.press("down", "up", "d")
        await pilot.pause(0.2)
        assert doomed.exists()
        await pilot.press("escape")
        assert isinstance(app.screen, SessionsScreen)
        await pilot.press("d", "d")
        await until(pilot, lambda: not doomed.exists())
        await until(pilot, lambda: "What it saved to memory stays." in screen_text(app))
        await until(pilot, lambda: "Sessions  1" in screen_text(app))


async def test_the_open_session_is_marked_on_a_small_screen_and_behind_a_long_title(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(40, 20)) as (app, pilot):
        await say(pilot, app, "about the heron that stands at the weir every morning")
        await ready(pilot, app)
        await listed(app, pilot)
        assert "● open here · just now" in screen_text(app)


async def test_the_open_session_is_renamed_at_once_and_cannot_be_deleted(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "about the heron")
        await ready(pilot, app)
        await listed(app, pilot)
        assert "open here" in screen_text(app)
        await pilot.press("d", "d")
        await until(pilot, lambda: "cannot be deleted; open another one first" in screen_text(app))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        await pilot.press("ctrl+u", *"Birds", "enter")
        await until(pilot, lambda: "Renamed to Birds" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen and "Birds" in screen_text(app))


async def test_a_session_of_another_process_is_said_and_left_alone(tmp_path: Path) -> None:
    from muniment.safety.files import locked
    from muniment.session.logs.log import lock_path

    project = project_at(tmp_path / "p")
    await earlier(project, "about the heron")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        session = next(resolve_paths().sessions.glob("*.jsonl")).stem
        with locked(lock_path(resolve_paths(), session), timeout=0.0):
            await listed(app, pilot)
            assert "open in another process" in screen_text(app)
            await pilot.press("d")
            await until(pilot, lambda: "cannot be deleted before it is closed" in screen_text(app))
            await pilot.press("enter")
            await until(pilot, lambda: "close it there first" in screen_text(app))
            await pilot.press("r")
            await until(pilot, lambda: "rename it there" in screen_text(app))


TASK = """\
name: small-task
description: A task.
agent: reviewer
instructions: Do it.
task:
  capture: true
"""


async def test_plus_rates_a_finished_task_with_a_line_and_others_say_why_not(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    await earlier(project, "about the owl")
    recipe = tmp_path / "small-task.yaml"
    recipe.write_text(TASK)
    async with opened(boot_for(project, recipe=str(recipe)), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "about the heron")
        await ready(pilot, app)
        await say(pilot, app, "/done success it went well")
        await until(pilot, lambda: app.engine is not None and app.engine.task is not None)
        await pilot.pause(0.3)
        screen = await listed(app, pilot)
        await pilot.press("plus")
        await until(pilot, lambda: isinstance(app.screen, Entry))
        await pilot.press(*"well done", "enter")
        await until(pilot, lambda: "Rated as good" in screen_text(app))
        assert app.engine is not None
        note = app.engine.surfaces.team.inbox.list()[0]
        assert "well done" in note.body
        assert note.session == app.engine.id
        await pilot.press("end")
        await until(pilot, lambda: screen.selected is not None and "owl" in screen.selected.title)
        # Whoever cannot be rated is told so before a word is written about him.
        await pilot.press("minus")
        await until(pilot, lambda: "is no finished task" in screen_text(app))
        assert app.screen is screen
        await pilot.press("home")
        await until(pilot, lambda: screen.selected is not None and "heron" in screen.selected.title)
        await pilot.press("plus")
        await until(pilot, lambda: "was rated already" in screen_text(app))
        assert app.screen is screen


async def test_keys_of_the_bar_work_by_mouse(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(120, 40)) as (app, pilot):
        await searched(app, pilot, "pilot")
        bar = app.screen.query_one(KeyBar)
        at = str(bar.content).index("^T")
        await pilot.click(bar, offset=(at + 2, 0))
        await until(pilot, lambda: "kind record" in screen_text(app))
        row = next(n for n, line in enumerate(screen_text(app).splitlines()) if "pilot-terms" in line)
        await pilot.click(offset=(6, row))
        await until(pilot, lambda: isinstance(app.screen, Reader))


async def test_an_empty_list_of_sessions_says_so(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: "No earlier session yet." in screen_text(app))
        assert app.screen.query_one("#session-list", OptionList).option_count == 0
