"""Every key of every place has an id, a word and a sentence, clashes with nothing, and is in the palette."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from textual.screen import Screen
from textual.widgets import Markdown

from muniment.tui.keymap import known_bindings
from muniment.tui.palette import PlaceProvider
from muniment.tui.screens.guide import GuideScreen
from muniment.tui.slash import COMMANDS
from support.app import boot_for, opened, project_at, until
from support.places import PLACES, at


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
