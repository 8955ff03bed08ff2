"""Our own two themes and the terminal's; every colour on the screen is a variable of the theme in force."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import Theme


def _row_under_the_cursor(words: str, background: str) -> dict[str, str]:
    """It keeps the colours of its words; bold says in shape that the keys go there."""
    return {
        "block-cursor-foreground": words,
        "block-cursor-background": background,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": words,
        "block-cursor-blurred-background": background,
        "block-cursor-blurred-text-style": "none",
    }


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
    variables={
        **_row_under_the_cursor("#e6e1d8", "#2d3642"),
        "border-blurred": "#4a5463",
        "scrollbar": "#5a6777",
        "scrollbar-hover": "#7b8a9c",
        "scrollbar-background": "#1c2128",
        "text-disabled": "#97a5b6",
    },
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
    variables={
        **_row_under_the_cursor("#1f2328", "#e2dccf"),
        "border-blurred": "#9aa3ad",
        "scrollbar": "#868e97",
        "scrollbar-hover": "#626b75",
        "scrollbar-background": "#efeae0",
        "text-disabled": "#52616f",
    },
)
ANSI = Theme(
    name="muniment-ansi",
    ansi=True,
    # The plain blue of most terminals can hardly be read on black; the bright one can, on white as well.
    primary="ansi_bright_blue",
    secondary="ansi_cyan",
    accent="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        # Black on black and white on white show nothing, and it is not known which of them this would be.
        "border-blurred": "ansi_bright_black",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "input-cursor-background": "ansi_bright_black",
        "input-cursor-foreground": "ansi_bright_white",
        "input-cursor-text-style": "bold",
        "input-selection-background": "ansi_blue",
        "input-selection-foreground": "ansi_bright_white",
        "screen-selection-background": "ansi_blue",
        "screen-selection-foreground": "ansi_bright_white",
        "scrollbar": "ansi_bright_black",
        "scrollbar-hover": "ansi_white",
        "scrollbar-active": "ansi_blue",
        "scrollbar-background": "ansi_default",
    },
)
DARK_OF_256 = replace(
    DARK,
    background="#121212",
    surface="#1c1c1c",
    panel="#262626",
    variables={
        **DARK.variables,
        **_row_under_the_cursor("#e6e1d8", "#3a3a3a"),
        "scrollbar": "#6c6c6c",
        "scrollbar-background": "#1c1c1c",
    },
)
"""The dark one for 256 colours, which would make blue and green of grounds that are nearly grey."""
LIGHT_OF_256 = replace(
    LIGHT,
    background="#ffffff",
    surface="#ffffff",
    panel="#eaeaea",
    variables={
        **LIGHT.variables,
        **_row_under_the_cursor("#1f2328", "#eaeaea"),
        "scrollbar": "#767676",
        "scrollbar-background": "#eaeaea",
    },
)
"""The light one for 256 colours: its brown is a lighter one there, and asks for lighter grounds."""
THEMES = (DARK, LIGHT)
"""The two whose colours are our own."""
_NAMES = {"dark": DARK.name, "light": LIGHT.name, "ansi": ANSI.name}


def themes_for(colours: str | None) -> tuple[Theme, ...]:
    """Return dark, light and ANSI as they look best with so many colours, by Rich's name for them."""
    match colours:
        case "256":
            return DARK_OF_256, LIGHT_OF_256, ANSI
        case "standard" | "windows":
            # Sixteen colours are the terminal's own, and mixtures of them only blur what is there.
            return (*(replace(ANSI, name=each.name) for each in THEMES), ANSI)
        case _:
            return DARK, LIGHT, ANSI


def theme_named(setting: str) -> str:
    """Return the name of Textual's theme for a value of the setting `tui.theme`."""
    return _NAMES.get(setting, DARK.name)
