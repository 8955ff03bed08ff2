"""The row of choices. It only draws and tells what lies under the mouse: the dialog alone decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from muniment.tui.widgets.exact_lines import cells


class Choice(StrEnum):
    """What the person may choose."""

    ALLOW = "allow"
    DENY = "deny"
    REASON = "reason"
    VIEW = "view"
    DENY_SO = "deny-so"
    """Deny with the reason that was typed."""
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Offer:
    """One choice as it stands now; `labels` from long to short."""

    choice: Choice
    key: str
    labels: Sequence[str]
    enabled: bool
    also: str = ""
    """A second key, shown where there is room for it; the bar names it in any case."""


class ChoiceRow(Widget, can_focus=False):
    """Draws the choices as buttons, in one row, with the longest labels that fit."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "choice-row--enabled",
        "choice-row--allow",
        "choice-row--deny",
        "choice-row--disabled",
        "choice-row--chosen",
    }

    DEFAULT_CSS = """
    ChoiceRow {
        height: 1;
        background: $surface;
        color: $foreground;
        & .choice-row--enabled { background: $panel; text-style: bold; }
        & .choice-row--allow { background: $success-muted; text-style: bold; }
        & .choice-row--deny { background: $error-muted; text-style: bold; }
        & .choice-row--disabled { color: $foreground 75%; }
        & .choice-row--chosen { color: $surface; background: $foreground; text-style: bold; }
        &:ansi {
            & .choice-row--enabled {
                color: $text-primary; background: ansi_default; text-style: bold;
            }
            & .choice-row--allow {
                color: $text-success; background: ansi_default; text-style: bold;
            }
            & .choice-row--deny {
                color: $text-error; background: ansi_default; text-style: bold;
            }
            & .choice-row--disabled { color: ansi_default; text-style: dim; }
            & .choice-row--chosen {
                color: ansi_default; background: ansi_default; text-style: bold reverse;
            }
        }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._offers: tuple[Offer, ...] = ()
        self._chosen: Choice | None = None

    def offer(self, offers: Sequence[Offer], chosen: Choice | None) -> None:
        """Show these choices, one of them marked."""
        if tuple(offers) != self._offers or chosen != self._chosen:
            self._offers, self._chosen = tuple(offers), chosen
            self.refresh()

    def enabled_at(self, x: int, y: int) -> Choice | None:
        """Return the enabled choice at a place of the screen, or None."""
        region = self.content_region.translate(self.region.offset - self.content_region.offset)
        if not region.contains(x, y) or y != region.y:
            return None
        at = region.x
        for offer, text in self._texts(region.width):
            if at <= x < at + cells(text):
                return offer.choice if offer.enabled else None
            at += cells(text) + 1
        return None

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if y > 0:
            return Strip.blank(self.size.width, base)
        segments: list[Segment] = []
        for offer, text in self._texts(self.size.width):
            style = self.get_component_rich_style(f"choice-row--{self._look(offer)}")
            segments += [Segment(text, style), Segment(" ", base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _look(self, offer: Offer) -> str:
        if not offer.enabled:
            return "disabled"
        if offer.choice is self._chosen:
            return "chosen"
        if offer.choice is Choice.ALLOW:
            return "allow"
        return "deny" if offer.choice in (Choice.DENY, Choice.DENY_SO, Choice.REASON) else "enabled"

    def _texts(self, width: int) -> list[tuple[Offer, str]]:
        most = max((len(offer.labels) for offer in self._offers), default=0)
        texts: list[tuple[Offer, str]] = []
        for tight in (False, True):
            for length in range(most + tight):
                for also in (True, False):
                    texts = [(each, self._text(each, length, most, tight, also)) for each in self._offers]
                    if sum(cells(text) + 1 for _, text in texts) - 1 <= width:
                        return texts
        return texts

    def _text(self, offer: Offer, length: int, most: int, tight: bool, also: bool) -> str:
        key = f"{offer.key} or {offer.also}" if also and offer.also else offer.key
        label = offer.labels[min(length, len(offer.labels) - 1)]
        words = f" {key} · {label} " if not tight else f"{key} {label}" if length < most else key
        if not offer.enabled:
            return f"({words})"
        return f"▶{words}◀" if offer.choice is self._chosen else f"[{words}]"
