"""The line that says whether keys count: by word, by shape and by colour.

It remembers which state it has drawn, because the gate may only arm on a frame that showed the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from muniment.tui.widgets.exact_lines import cells


class BarState(StrEnum):
    """What the bar tells."""

    DISARMED = "disarmed"
    LOCKED = "locked"
    """Armed, but the end of the text has not been seen, so nothing can be allowed."""
    ARMED = "armed"
    REASONED = "reasoned"
    """Armed, with a reason written; only denying and going back are on offer."""
    WRITING = "writing"
    """A reason is being typed; these keys decide nothing."""


# Longest first: the first one that fits is shown. In braces stand the keys, which a keymap may change.
WORDS: dict[BarState, Sequence[str]] = {
    BarState.DISARMED: (
        "keys are ignored — read first",
        "keys ignored — read first",
        "keys are ignored",
        "ignored",
    ),
    BarState.LOCKED: (
        "ARMED — read to the end to unlock Allow ({on}) · {denies} deny · {why} deny with a reason",
        "ARMED — read to the end to unlock Allow ({on}) · {denies} deny",
        "ARMED — read to the end to allow · {denies} deny",
        "ARMED — read on · {denies} deny",
        "ARMED — read on",
        "ARMED",
    ),
    BarState.ARMED: (
        "ARMED — {allow} allow once · {denies} deny · {why} deny with a reason · {next} moves · {read} read",
        "ARMED — {allow} allow once · {denies} deny · {why} deny with a reason",
        "ARMED — {allow} allow once · {denies} deny",
        "ARMED — {allow} allow · {denies} deny",
        "ARMED",
    ),
    BarState.REASONED: (
        "ARMED — Enter or {deny} denies with this reason · Escape back",
        "ARMED — Enter denies · Escape back",
        "ARMED — Enter denies",
        "ARMED",
    ),
    BarState.WRITING: (
        "WRITING a reason — no key decides here · Enter when done · Escape back",
        "WRITING — no key decides · Enter done · Escape back",
        "WRITING — Enter done · Esc back",
        "WRITING",
    ),
}
TOO_SMALL = (
    "Too small to read: {denies} denies, a larger window shows all.",
    "Too small. {denies} denies.",
    "Too small. {deny} denies.",
    "{denies} denies",
    "{deny} denies",
)
SHAPES = {
    BarState.DISARMED: "□",
    BarState.LOCKED: "◧",
    BarState.ARMED: "■",
    BarState.REASONED: "■",
    BarState.WRITING: "✎",
}
CELLS_WIDE = 12
CELLS_NARROW = 6


class ArmingBar(Widget, can_focus=False):
    """One row in the dialog; the whole dialog where the screen is too small for anything else."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "arming-bar--disarmed",
        "arming-bar--filled",
        "arming-bar--locked",
        "arming-bar--armed",
        "arming-bar--reasoned",
        "arming-bar--writing",
    }

    DEFAULT_CSS = """
    ArmingBar {
        height: 1;
        background: $surface;
        color: $foreground;
        & .arming-bar--filled { text-style: bold; }
        & .arming-bar--locked, & .arming-bar--reasoned { background: $warning-muted; text-style: bold; }
        & .arming-bar--armed { background: $success-muted; text-style: bold; }
        & .arming-bar--writing { background: $primary-muted; text-style: bold; }
        &:ansi {
            & .arming-bar--locked, & .arming-bar--reasoned {
                color: $text-warning; background: ansi_default; text-style: bold reverse;
            }
            & .arming-bar--armed {
                color: $text-success; background: ansi_default; text-style: bold reverse;
            }
            & .arming-bar--writing {
                color: $text-primary; background: ansi_default; text-style: bold reverse;
            }
        }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._state = BarState.DISARMED
        self._progress = 0.0
        self._too_small = False
        self.keys: Mapping[str, str] = {}
        """The keys that the words name, by what they do; told before anything is drawn."""
        self.drawn: BarState | None = None
        """The state of the newest frame that was drawn; None while the look is out of date."""

    @property
    def state(self) -> BarState:
        return self._state

    def tell(self, state: BarState, progress: float, *, too_small: bool = False) -> None:
        """Show a state; `progress` of the quiet time goes from 0 to 1."""
        if state is not self._state or too_small != self._too_small:
            self.drawn = None
        elif round(progress * CELLS_WIDE) == round(self._progress * CELLS_WIDE):
            return
        self._state, self._progress, self._too_small = state, progress, too_small
        self.refresh()

    def forget(self) -> None:
        """Draw afresh, because the frames drawn so far may not have been seen."""
        self.drawn = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        if y == 0:
            self.drawn = self._state
        text = self._words(y, width)
        style = self.get_component_rich_style(f"arming-bar--{self._state}")
        if y > 0 or self._state is not BarState.DISARMED or self._too_small:
            return Strip([Segment(text, style)]).adjust_cell_length(width, style if y == 0 else base)
        return Strip([*self._gauge(width), Segment(text, style)]).adjust_cell_length(width, base)

    def _gauge_cells(self, width: int) -> int:
        return CELLS_WIDE if width >= 60 else CELLS_NARROW if width >= 34 else 0

    def _gauge(self, width: int) -> list[Segment]:
        count = self._gauge_cells(width)
        if not count:
            return []
        full = int(self._progress * count)
        style = self.get_component_rich_style("arming-bar--filled")
        return [Segment("▰" * full + "▱" * (count - full) + " ", style)]

    def _words(self, y: int, width: int) -> str:
        if self._too_small and y > 0:
            return fitting(self._named(TOO_SMALL), width) if y == 1 else ""
        shape = SHAPES[self._state]
        if self._state is BarState.DISARMED and not self._too_small:
            gauge = self._gauge_cells(width)
            return fitting([f"{shape} {words}" for words in WORDS[self._state]], width - gauge - bool(gauge))
        return fitting([f" {shape} {words}" for words in self._named(WORDS[self._state])] + [shape], width)

    def _named(self, candidates: Sequence[str]) -> list[str]:
        return [words.format_map(self.keys) for words in candidates]


def fitting(candidates: Sequence[str], width: int) -> str:
    """Return the first text that fits into `width` cells, or as much as fits of the last."""
    for text in candidates:
        if cells(text) <= width:
            return text
    return candidates[-1][: max(width, 0)] if candidates else ""
