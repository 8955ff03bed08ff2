"""No colour where `NO_COLOR` asks for none, whichever theme is in force."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor


class Colourless(LineFilter):
    """Takes colour out of what is drawn: shades of our own, and nothing but the terminal's two of its own.

    The framework chooses once, before it knows the theme. Shades made of colours that only the terminal knows
    are black on black.
    """

    def __init__(self, is_ansi: Callable[[], bool]) -> None:
        super().__init__()
        self._is_ansi = is_ansi
        self._shades, self._none = Monochrome(), NoColor()

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        chosen = self._none if self._is_ansi() else self._shades
        return chosen.apply(segments, background)
