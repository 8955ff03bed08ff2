"""A long text to be read with the keys: scrolls, and says how far it goes."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from muniment.tui.widgets.exact_text import ExactText

MEASURE = 120
"""A row is no longer than this, however wide the screen: the eye must find the next one."""


class Reading(ExactText, can_focus=True):
    """An `ExactText` that takes the focus; its border tells which rows are seen."""

    DEFAULT_CLASSES = "pane"
    BINDING_GROUP_TITLE = "Reading"
    HELP = "Arrows, PageUp and PageDown, Home and End scroll."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False, tooltip="One row up", id="reading.up"),
        Binding("down", "scroll_down", "Down", show=False, tooltip="One row down", id="reading.down"),
        Binding("pageup", "page_up", "Page up", show=False, tooltip="One page up", id="reading.page-up"),
        Binding(
            "pagedown,space",
            "page_down",
            "Page down",
            show=False,
            tooltip="One page down",
            id="reading.page-down",
        ),
        Binding("home", "scroll_home", "Start", show=False, tooltip="To the start", id="reading.start"),
        Binding("end", "scroll_end", "End", show=False, tooltip="To the end", id="reading.end"),
    ]
    DEFAULT_CSS = "Reading { & .exact-text--heading { color: $primary; } }"

    def _text_width(self, width: int) -> int:
        return min(super()._text_width(width), MEASURE)

    @on(ExactText.Moved)
    def _moved(self) -> None:
        first, last = self.visible_rows
        whole = self.row_count <= last - first + 1
        self.border_subtitle = None if whole else Content(f"rows {first:,}–{last:,} of {self.row_count:,}")
