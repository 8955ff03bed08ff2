"""Text shown to the last character: wrapped, scrolled, and drawn only where it is looked at.

A widget of a mebibyte costs no more to draw than one of a page, because only visible rows become strips.
Lines come with their escapes already made (`safety.visible`); nothing here is ever read as markup.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from muniment.tui.begin import begin
from muniment.tui.widgets.exact_lines import Line, Row, cells, halves, lay_out, pieces, row_of_line

TONES = (
    "heading",
    "label",
    "muted",
    "note",
    "warning",
    "old",
    "new",
    "old-changed",
    "new-changed",
)

# The last guard behind `safety.visible`: no control code may reach the terminal from here.
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), "\ufffd")


THREAD_FROM = 200_000
"""Characters from which lines are laid out in a thread, so that the screen never stands still."""
_LINE_COST = 20


class ExactText(ScrollView, can_focus=False):
    """Shows `Line`s; keys belong to the screen around it, the wheel scrolls."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"exact-text--{tone}" for tone in TONES}

    DEFAULT_CSS = """
    ExactText {
        background: $surface;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        overflow-y: auto;
        & .exact-text--heading { text-style: bold; }
        & .exact-text--label { color: $foreground 75%; }
        & .exact-text--muted { color: $foreground 75%; }
        & .exact-text--note { color: $foreground 75%; text-style: italic; }
        & .exact-text--warning { background: $warning-muted; text-style: bold; }
        & .exact-text--old { background: $error-muted 60%; }
        & .exact-text--new { background: $success-muted 60%; }
        & .exact-text--old-changed { background: $error-muted; text-style: bold underline; }
        & .exact-text--new-changed { background: $success-muted; text-style: bold underline; }
        &:ansi {
            & .exact-text--label, & .exact-text--muted, & .exact-text--note {
                color: ansi_default; text-style: dim;
            }
            & .exact-text--warning {
                color: $text-warning; background: ansi_default; text-style: bold reverse;
            }
            & .exact-text--old { color: $text-error; background: ansi_default; }
            & .exact-text--new { color: $text-success; background: ansi_default; }
            & .exact-text--old-changed {
                color: $text-error; background: ansi_default; text-style: bold reverse;
            }
            & .exact-text--new-changed {
                color: $text-success; background: ansi_default; text-style: bold reverse;
            }
        }
    }
    """

    @dataclass
    class Moved(Message):
        """Other rows are visible now, or there are other rows."""

        text: ExactText

        @property
        def control(self) -> ExactText:
            return self.text

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._lines: Sequence[Line] = lines
        self._rows: list[Row] = []
        self._laid_out_for = 0
        self._awaited_top = 0
        self.end_drawn = False
        """Whether the last row has been drawn since these lines came."""

    @property
    def row_count(self) -> int:
        return len(self._rows)

    @property
    def visible_rows(self) -> tuple[int, int]:
        """First and last visible row, counted from 1; (0, 0) where there is none."""
        if not self._rows:
            return (0, 0)
        first = min(self.scroll_offset.y, len(self._rows) - 1)
        return first + 1, min(first + max(self.scrollable_content_region.height, 1), len(self._rows))

    def show(self, lines: Sequence[Line], *, top: int = 0) -> None:
        """Replace all lines and put line number `top` (from 0) uppermost."""
        self._lines = lines
        self._rows = []
        self._laid_out_for = 0
        self.end_drawn = False
        self._lay_out(top)

    def top_line(self) -> int:
        """Return the number of the uppermost visible line, or of the one that will be."""
        return self._rows[self.visible_rows[0] - 1].line if self._rows else self._awaited_top

    @property
    def laid_out(self) -> bool:
        """Whether the rows of these lines at this width are there."""
        return bool(self._rows)

    def _text_width(self, width: int) -> int:
        return max(width - self.styles.scrollbar_size_vertical, 1)

    def _lay_out(self, top: int) -> None:
        self._awaited_top = top
        width = self._text_width(self.size.width)
        if self.size.width == 0 or width == self._laid_out_for:
            return
        self._laid_out_for = width
        if sum(len(line.text) + _LINE_COST for line in self._lines) < THREAD_FROM:
            self._take_rows(lay_out(self._lines, width), top)
            return
        self._rows = []
        self.refresh()
        begin(self, partial(self._lay_out_aside, top, width), group="exact-text-layout", exclusive=True)

    async def _lay_out_aside(self, top: int, width: int) -> None:
        lines = self._lines
        rows = await asyncio.to_thread(lay_out, lines, width)
        if lines is self._lines and width == self._laid_out_for:
            self._take_rows(rows, top)

    def _take_rows(self, rows: list[Row], top: int) -> None:
        self._rows = rows
        self.virtual_size = Size(self._laid_out_for, len(rows))
        self.scroll_to(0, row_of_line(rows, top), animate=False, immediate=True)
        self.refresh()
        self.post_message(self.Moved(self))

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(self.top_line())
        self.post_message(self.Moved(self))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved(self))

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        base = self.rich_style
        if number >= len(self._rows):
            return Strip.blank(width, base)
        row = self._rows[number]
        line = self._lines[row.line]
        if line.beside is None:
            segments = self._segments(line, row, row.part, self._laid_out_for, base)
        else:
            left, right = halves(self._laid_out_for)
            segments = self._segments(line, row, row.part, left, base)
            segments.append(Segment("│", self._tone("muted", base)))
            segments += self._segments(line.beside, row, row.beside, right, base)
        if number == len(self._rows) - 1:
            self.end_drawn = True
        return Strip(segments).adjust_cell_length(width, base)

    def _segments(
        self, line: Line, row: Row, part: tuple[int, int] | None, width: int, base: Style
    ) -> list[Segment]:
        gutter = line.gutter if row.first else line.onward
        if part is None:
            return [Segment(" " * width, base)]
        segments = [Segment(gutter, self._tone(line.gutter_tone, base))] if gutter else []
        used = cells(gutter)
        for text, tone in pieces(line, part):
            clean = text.translate(_CONTROLS)
            segments.append(Segment(clean, self._tone(tone, base)))
            used += len(clean) if clean.isascii() else cells(clean)
        if used < width:
            # A changed line is coloured to the border, so that an empty one can be seen as well.
            filling = self._tone(line.tone, base) if line.tone in ("old", "new") else base
            segments.append(Segment(" " * (width - used), filling))
        return segments

    def _tone(self, tone: str, base: Style) -> Style:
        return self.get_component_rich_style(f"exact-text--{tone}") if tone else base
