"""Our own colours: every word can be read on every ground that it stands on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.color import Color as Drawn
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from muniment.tui.theme import ANSI, THEMES, theme_named, themes_for

WORDS = ("foreground", "secondary", "primary", "accent", "warning", "error", "success")
GROUNDS = ("background", "surface", "panel")
LEAST = 4.5
LEAST_SIGN = 3.0


def luminance(colour: Color) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(theme: Theme) -> dict[str, str]:
    named = {name: getattr(theme, name) for name in (*WORDS, *GROUNDS)}
    return named | theme.variables


def of_256(theme: Theme) -> Theme:
    """Return a theme with the colours that a terminal with 256 of them draws in their place."""

    def drawn(colour: str) -> str:
        return str(Drawn.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex)

    named: Any = {name: drawn(getattr(theme, name)) for name in (*WORDS, *GROUNDS)}
    variables = {
        name: drawn(each) if each.startswith("#") else each for name, each in theme.variables.items()
    }
    return replace(theme, name=f"{theme.name}-of-256", variables=variables, **named)


ALL = (*THEMES, *(of_256(each) for each in themes_for("256") if not each.ansi))


@pytest.mark.parametrize("colours_there", ["256", "standard", "windows", "truecolor", None])
def test_there_is_a_theme_of_each_name_for_every_terminal(colours_there: str | None) -> None:
    found = themes_for(colours_there)
    assert {theme_named(setting) for setting in ("dark", "light", "ansi")} == {each.name for each in found}
    assert found[-1] is ANSI
    assert all(each.ansi for each in found) is (colours_there in ("standard", "windows"))


def test_no_ground_becomes_blue_or_green_where_there_are_256_colours() -> None:
    for theme in ALL[len(THEMES) :]:
        of = colours(theme)
        for ground in (*GROUNDS, "block-cursor-background", "scrollbar-background", "scrollbar"):
            colour = Color.parse(of[ground])
            assert colour.r == colour.g == colour.b, (theme.name, ground)


@pytest.mark.parametrize("theme", ALL, ids=lambda each: each.name)
def test_every_word_can_be_read_on_every_ground(theme: Theme) -> None:
    of = colours(theme)
    grounds = (*GROUNDS, "block-cursor-background", "block-cursor-blurred-background")
    poor = {
        f"{word} on {ground}": round(contrast(of[word], of[ground]), 2)
        for word in (*WORDS, "block-cursor-foreground")
        for ground in grounds
        if contrast(of[word], of[ground]) < LEAST
    }
    assert not poor


@pytest.mark.parametrize("theme", ALL, ids=lambda each: each.name)
def test_a_hint_in_an_empty_field_can_be_read_whether_the_field_has_the_focus_or_not(theme: Theme) -> None:
    of = colours(theme)
    focused = [
        Color.parse(of[ground]).blend(Color.parse(of["primary"]), 0.15).hex
        for ground in ("background", "surface")
    ]
    grounds = [of["background"], of["panel"], *focused]
    assert min(contrast(of["text-disabled"], each) for each in grounds) >= LEAST


@pytest.mark.parametrize("theme", ALL, ids=lambda each: each.name)
def test_a_scrollbar_is_seen_on_its_track(theme: Theme) -> None:
    of = colours(theme)
    for state in ("scrollbar", "scrollbar-hover"):
        assert contrast(of[state], of["background"]) >= LEAST_SIGN
