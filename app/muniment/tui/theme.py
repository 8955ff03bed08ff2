"""Our own two themes and the terminal's; every colour on the screen is a variable of the theme in force."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="muniment-dark",
    primary="#7aa2c8",
    secondary="#8fa3b8",
    accent="#d8a657",
    warning="#e0af68",
    error="#f07178",
    success="#8ec07c",
    foreground="#e6e1d8",
    background="#14171c",
    surface="#1b1f26",
    panel="#232831",
    dark=True,
)
LIGHT = Theme(
    name="muniment-light",
    primary="#2a5d8f",
    secondary="#56697d",
    accent="#8a5a00",
    warning="#8a5200",
    error="#a4262c",
    success="#2e6b2e",
    foreground="#1f2328",
    background="#f6f3ec",
    surface="#fbf9f4",
    panel="#ebe6db",
    dark=False,
)
THEMES = (DARK, LIGHT)
_NAMES = {"dark": DARK.name, "light": LIGHT.name, "ansi": "ansi-dark"}


def theme_named(setting: str) -> str:
    """Return the name of Textual's theme for a value of the setting `tui.theme`."""
    return _NAMES.get(setting, DARK.name)
