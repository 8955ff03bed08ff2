"""Our own two themes and the terminal's; every colour on the screen is a variable of the theme in force."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="muniment-dark",
    primary="#7fabd4",
    secondary="#93a4b8",
    accent="#d9a95b",
    warning="#e3b36b",
    error="#f2848b",
    success="#94c482",
    foreground="#e6e1d8",
    background="#14171c",
    surface="#1c2128",
    panel="#242a33",
    dark=True,
    variables={"border-blurred": "#4a5463"},
)
LIGHT = Theme(
    name="muniment-light",
    primary="#24578a",
    secondary="#52616f",
    accent="#7d5200",
    warning="#7d4a00",
    error="#9e2229",
    success="#27632a",
    foreground="#1f2328",
    background="#f7f4ee",
    surface="#fffdf8",
    panel="#ebe6db",
    dark=False,
    variables={"border-blurred": "#9aa3ad"},
)
THEMES = (DARK, LIGHT)
_NAMES = {"dark": DARK.name, "light": LIGHT.name, "ansi": "ansi-dark"}


def theme_named(setting: str) -> str:
    """Return the name of Textual's theme for a value of the setting `tui.theme`."""
    return _NAMES.get(setting, DARK.name)
