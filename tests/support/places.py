"""Every place of the app and how to get there: for the tests that walk through all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList

from muniment.tui.app import MunimentApp
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
