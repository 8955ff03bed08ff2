"""Every key of every place has an id, a word and a sentence, clashes with nothing, and is in the palette."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Markdown, OptionList

from muniment.tui.app import MunimentApp
from muniment.tui.keymap import known_bindings
from muniment.tui.palette import PlaceProvider
from muniment.tui.screens.guide import GuideScreen
from muniment.tui.slash import COMMANDS
from support.app import boot_for, dialog, opened, project_at, say, until, write_record
from support.environment import REPOSITORY

Go = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]
SAVE = "Use memory_store to save a project memory:\nid: rule\ntitle: A rule\ncontent: Read every sheet."


def press(*keys: str) -> Go:
    async def go(app: MunimentApp, pilot: Pilot[int]) -> None:
        before = app.screen
        await pilot.press(*keys)
        await until(pilot, lambda: app.screen is not before)
        await pilot.pause()

    return go


def place(name: str, *keys: str) -> Go:
    """Go to a place by its name, then press keys one after the other, waiting for another screen."""

    async def go(app: MunimentApp, pilot: Pilot[int]) -> None:
        app.action_go(name)
        await until(pilot, lambda: app.screen is not app.session_screen)
        await until(pilot, lambda: (app.screen.is_mounted and app.screen.query(OptionList)) or name == "tour")
        await until(pilot, lambda: name == "tour" or app.screen.query(OptionList)[0].highlighted is not None)
        for key in keys:
            before = app.screen
            await pilot.press(key)
            await until(pilot, lambda before=before: app.screen is not before)
        await pilot.pause()

    return go


async def stay(app: MunimentApp, pilot: Pilot[int]) -> None:
    await pilot.pause()


async def panel(app: MunimentApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: "1 record" in app.session_screen.panel.title_text)
    app.session_screen.panel.records_tree.focus()
    await pilot.press("home", "down")


async def record(app: MunimentApp, pilot: Pilot[int]) -> None:
    await panel(app, pilot)
    await press("enter")(app, pilot)


async def create(app: MunimentApp, pilot: Pilot[int]) -> None:
    await panel(app, pilot)
    await press("plus")(app, pilot)
    await press("enter")(app, pilot)


async def clear(app: MunimentApp, pilot: Pilot[int]) -> None:
    await say(pilot, app, "/clear")
    await until(pilot, lambda: app.screen is not app.session_screen)


async def setting(app: MunimentApp, pilot: Pilot[int]) -> None:
    await place("settings")(app, pilot)
    await press("down", "enter")(app, pilot)


async def keymap(app: MunimentApp, pilot: Pilot[int]) -> None:
    await place("settings")(app, pilot)
    await press("down", "down", "down", "enter")(app, pilot)


async def digest(app: MunimentApp, pilot: Pilot[int]) -> None:
    from support.consolidation import add_notes

    assert app.engine is not None
    add_notes(app.engine.surfaces, 5)
    await place("review", "e")(app, pilot)


async def approval(app: MunimentApp, pilot: Pilot[int]) -> None:
    await say(pilot, app, SAVE)
    await dialog(pilot, app)


async def parameters(app: MunimentApp, pilot: Pilot[int]) -> None:
    recipes = app.screen.query_one("#recipes", OptionList)
    await until(pilot, lambda: recipes.option_count > 1)
    names = [str(each.prompt) for each in recipes.options]
    recipes.highlighted = next(n for n, name in enumerate(names) if name.startswith("questions"))
    await press("enter")(app, pilot)


@dataclass(frozen=True)
class Place:
    """How to get there, and the screen that then stands there."""

    go: Go
    screen: str
    pick: bool = False
    palette: bool = True


PLACES: dict[str, Place] = {
    "session": Place(stay, "SessionScreen"),
    "panel": Place(panel, "SessionScreen"),
    "record": Place(record, "Reader"),
    "form": Place(create, "Form"),
    "help": Place(press("f1"), "GuideScreen"),
    "search": Place(press("f3"), "SearchScreen"),
    "review": Place(press("f4"), "ReviewScreen"),
    "context": Place(press("f5"), "InspectorScreen"),
    "sessions": Place(press("f6"), "SessionsScreen"),
    "question": Place(press("f8"), "Question"),
    "past": Place(press("ctrl+r"), "PastScreen"),
    "clear": Place(clear, "TypedQuestion"),
    "settings": Place(place("settings"), "SettingsScreen"),
    "choice": Place(place("settings", "enter"), "Choose"),
    "entry": Place(setting, "Entry"),
    "keymap": Place(keymap, "KeymapScreen"),
    "tour": Place(place("tour"), "TourScreen"),
    "map": Place(place("map"), "MapScreen"),
    "digest": Place(digest, "EditText"),
    # The palette names nothing of its own, and nothing opens over the dialog, the palette neither.
    "palette": Place(press("ctrl+p"), "CommandPalette", palette=False),
    "approval": Place(approval, "ApprovalScreen", palette=False),
    "picker": Place(stay, "RecipePicker", pick=True),
    "parameters": Place(parameters, "ParameterForm", pick=True),
}


def ours(screen: Screen[object]) -> list[tuple[object, str, str, str, str]]:
    """Return node, key, id, description and tooltip of each binding that Muniment made."""
    return [
        (node, key, binding.id or "", binding.description, binding.tooltip or "")
        for node, bindings in screen._modal_binding_chain
        for key, binding in bindings
        if type(node).__module__.startswith("muniment") and not _inherited(node, binding.action)
    ]


def _inherited(node: object, action: str) -> bool:
    """Tell whether a binding is one of Textual's own widgets, such as moving a cursor."""
    for base in type(node).__mro__:
        if base.__module__.startswith("textual"):
            for each in base.__dict__.get("BINDINGS", ()):
                if getattr(each, "action", each[1] if isinstance(each, tuple) else "") == action:
                    return True
    return False


@asynccontextmanager
async def at(tmp_path: Path, where: Place) -> AsyncIterator[tuple[MunimentApp, Pilot[int]]]:
    """Run the app and go to a place."""
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples")
    recipes = project / ".muniment" / "recipes"
    recipes.mkdir()
    source = (REPOSITORY / "recipes" / "code-review.yaml").read_text(encoding="utf-8")
    (recipes / "questions.yaml").write_text(source.replace("name: code-review", "name: questions"))
    async with opened(boot_for(project, pick=where.pick), size=(120, 40)) as (app, pilot):
        await where.go(app, pilot)
        await until(pilot, lambda: type(app.screen).__name__ == where.screen)
        yield app, pilot


@pytest.mark.parametrize("name", PLACES)
async def test_each_key_is_described_unique_and_in_the_palette(tmp_path: Path, name: str) -> None:
    where = PLACES[name]
    async with at(tmp_path, where) as (app, _):
        bindings = ours(app.screen)
        assert bindings
        bare = [(key, id_, word) for _, key, id_, word, about in bindings if not (id_ and word and about)]
        assert bare == []
        # A binding with priority would be heard before the dialog that guards a decision.
        first = {
            (key, each.action)
            for _, held in app.screen._modal_binding_chain
            for key, each in held
            if each.priority
        }
        assert first <= {("ctrl+q", "quit")}
        twice = Counter((id(node), key) for node, key, *_ in bindings)
        assert [key for key, count in twice.items() if count > 1] == []
        if where.palette:
            offered = {name for name, _, _ in PlaceProvider(app.screen)._commands()}
            assert not {"Focus Next", "Focus Previous", "Copy selected text"} & offered
            known = {"Commands", "Send", "New line", "Complete"}
            assert {word for _, _, _, word, _ in bindings} - offered - known == set()
        assert getattr(app.screen, "HELP", "")
        assert getattr(app.screen, "BINDING_GROUP_TITLE", "")


def test_every_screen_and_modal_is_among_the_places() -> None:
    screens = {each.owner.__name__ for each in known_bindings() if issubclass(each.owner, Screen)}
    assert screens - {each.screen for each in PLACES.values()} == set()


@pytest.mark.parametrize("name", sorted(PLACES.keys() - {"help", "approval"}))
async def test_f1_shows_the_keys_of_every_place_and_leads_back(tmp_path: Path, name: str) -> None:
    async with at(tmp_path, PLACES[name]) as (app, pilot):
        here = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, GuideScreen))
        page = app.screen.query_one("#guide-page", Markdown)
        await until(pilot, lambda: page.source.startswith("# Keys of this place"))
        assert str(getattr(here, "HELP", "")) in page.source
        await pilot.press("escape")
        assert app.screen is here


async def test_the_palette_names_what_is_used_first_and_keys_as_they_are_written(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, _):
        commands = list(PlaceProvider(app.screen)._commands())
        names = [name for name, _, _ in commands]
        assert names[:6] == ["Memory", "Search", "Review", "Context", "Sessions", "Mode"]
        assert names[6 : 6 + len(COMMANDS)] == [each.name for each in COMMANDS]
        assert {"Quit", "Stop"} <= set(names[6 + len(COMMANDS) :])
        abouts = {name: about for name, about, _ in commands}
        assert abouts["Stop"].endswith("  ^C")
        assert abouts["Memory"].endswith("  F2")
