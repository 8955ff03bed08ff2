"""What the panel says about its keys: what Enter does, and why a key does nothing with a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from muniment.tui.widgets.memory_panel_rows import Row, why_not
from support.app import boot_for, opened, screen_text, until
from support.memory_world import memory_world
from support.panel import nodes, panel_open


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("d", "Global is a place, not a thing to delete"),
        ("y", "Global is a place, not a thing to copy the id of"),
    ],
)
async def test_a_key_says_why_it_does_nothing_with_a_row_that_is_no_thing(
    tmp_path: Path, key: str, said: str
) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(130, 50)) as (app, pilot):
        await panel_open(app, pilot)
        tree = app.session_screen.panel.records_tree
        tree.move_cursor(next(each for each in nodes(app) if each.data and each.data.left == "Global"))
        await pilot.press(key)
        await until(pilot, lambda: said in screen_text(app))
        assert app.screen is app.session_screen


async def test_a_key_right_behind_an_arrow_is_meant_for_the_row_that_the_arrow_leads_to(
    tmp_path: Path,
) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(130, 50)) as (app, pilot):
        await panel_open(app, pilot)
        tree = app.session_screen.panel.records_tree
        place = next(each for each in nodes(app) if each.data and each.data.left == "Project")
        tree.move_cursor(place)
        first = place.children[0].data
        assert first is not None
        await pilot.pause()
        for key, character in (("down", None), ("y", "y")):
            app.post_message(events.Key(key, character))
        await until(pilot, lambda: app.clipboard != "")
        assert app.clipboard == first.left
        assert "is a place" not in screen_text(app)


def test_why_nothing_is_done_is_said_of_every_row_that_is_no_thing() -> None:
    assert why_not("edit", None) == "There is nothing here to edit."
    assert why_not("move", Row(("more",), "… 3 more")).endswith("/ filters.")
    assert "mend it or move it away" in why_not("delete", Row(("file",), "broken.yaml", kind="file"))


async def test_the_key_bar_says_that_enter_opens_a_row_of_the_panel(tmp_path: Path) -> None:
    async with opened(boot_for(memory_world(tmp_path)), size=(80, 24)) as (app, pilot):
        await panel_open(app, pilot)
        await until(pilot, lambda: "Enter Open" in screen_text(app))
        app.session_screen.panel.action_filter()
        await until(pilot, lambda: "Enter List" in screen_text(app))
