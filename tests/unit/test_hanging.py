"""Lines that hang: a text that wraps stays in its column, nothing is lost, selections know their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.css.styles import RulesMap
from textual.geometry import Offset
from textual.selection import Selection
from textual.style import Style
from textual.visual import RenderOptions

from muniment.tui.widgets.hanging import Hanging, hanging

RULES: RulesMap = {}


def rows(shown: Hanging, width: int, selection: Selection | None = None) -> list[str]:
    options = RenderOptions(lambda _: Style(), RULES, selection, Style(reverse=True))
    return [strip.text.rstrip() for strip in shown.render_strips(width, None, Style(), options)]


@pytest.mark.parametrize(
    ("text", "sign", "drawn"),
    [
        ("one two three four five", "· ", ["· one two three", "  four five"]),
        ("one two three four\nfive six seven", "! ", ["! one two three", "  four", "  five six seven"]),
        ("  name  one two three", "", ["  name  one two", "        three"]),
        ("  a long name  one two", "", ["  a long name", "  one two"]),
        ("+ one two three four five", "", ["+ one two three", "  four five"]),
        ("    one two three four", "", ["    one two", "    three four"]),
        ("one two three four five", "", ["one two three", "four five"]),
        ("one\n\ntwo", "", ["one", "", "two"]),
        ("", "· ", ["·"]),
    ],
)
def test_a_text_that_wraps_stays_in_its_column(text: str, sign: str, drawn: list[str]) -> None:
    assert rows(hanging(Content(text), Content(sign)), 16) == drawn


def test_wide_characters_count_as_two_cells() -> None:
    assert rows(hanging(Content("漢字  漢字漢字 漢字漢字"), None), 20) == ["漢字  漢字漢字", "      漢字漢字"]


@given(st.text("ab 漢\n-+", max_size=60), st.integers(1, 40))
def test_nothing_is_lost_and_the_height_is_that_of_the_rows(text: str, width: int) -> None:
    shown = hanging(Content(text), Content("· "))
    strips = shown.render_strips(width, None, Style(), RenderOptions(lambda _: Style(), RULES))
    assert len(strips) == shown.get_height(RULES, width)
    if width > 1:
        # A character of two cells does not fit into one.
        assert all(strip.cell_length <= width for strip in strips)
        drawn = "".join(strip.text for strip in strips)
        assert "".join(drawn.split()) == "".join(str(shown).split())


def test_each_character_says_its_line_and_its_place_there() -> None:
    shown = hanging(Content("one two three four\nfive six"), Content("· "))
    strips = shown.render_strips(14, None, Style(), RenderOptions(lambda _: Style(), RULES))
    offsets = [
        [
            segment.style.meta["offset"]
            for segment in strip
            if segment.style and "offset" in segment.style.meta
        ]
        for strip in strips
    ]
    lines = str(shown).split("\n")
    assert lines == ["· one two three four", "  five six"]
    assert [row[-1] for row in offsets] == [
        (2, 0),
        (lines[0].index("three"), 0),
        (lines[1].index("five"), 1),
    ]


def test_what_is_selected_is_marked_where_it_stands() -> None:
    shown = hanging(Content("one two\nfive six"), Content("· "))
    selection = Selection(Offset(2, 1), Offset(6, 1))
    options = RenderOptions(lambda _: Style(), RULES, selection, Style(reverse=True))
    strips = shown.render_strips(20, None, Style(), options)
    marked = [[each.text for each in strip if each.style and each.style.reverse] for strip in strips]
    assert marked == [[], ["five"]]
    assert selection.extract(str(shown)) == "five"
