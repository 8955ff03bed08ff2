"""Every key of every place has an id, a word and a sentence, clashes with nothing, and is in the palette."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from muniment.tui.app import MunimentApp
from muniment.tui.palette import PlaceProvider
from support.app import boot_for, opened, project_at, until, write_record

Go = Callable[[MunimentApp, Pilot[int]], Awaitable[None]]


def press(*keys: str) -> Go:
    async def go(app: MunimentApp, pilot: Pilot[int]) -> None:
        before = app.screen
        await pilot.press(*keys)
        await until(pilot, lambda: app.screen is not before)
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


PLACES: dict[str, Go] = {
    "session": stay,
    "panel": panel,
    "record": record,
    "help": press("f1"),
    "search": press("f3"),
    "context": press("f5"),
    "sessions": press("f6"),
    "question": press("f8"),
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


@pytest.mark.parametrize("place", PLACES)
async def test_each_key_is_described_unique_and_in_the_palette(tmp_path: Path, place: str) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await PLACES[place](app, pilot)
        bindings = ours(app.screen)
        assert bindings
        bare = [(key, id_, word) for _, key, id_, word, about in bindings if not (id_ and word and about)]
        assert bare == []
        twice = Counter((id(node), key) for node, key, *_ in bindings)
        assert [key for key, count in twice.items() if count > 1] == []
        offered = {name for name, _, _ in PlaceProvider(app.screen)._commands()}
        known = {"Commands", "Send", "New line", "Complete"}
        assert {word for _, _, _, word, _ in bindings} - offered - known == set()
