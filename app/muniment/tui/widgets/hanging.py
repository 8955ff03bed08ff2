"""Lines whose text stays in its own column where it wraps: what stands before it hangs out to the left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

_BEFORE = (re.compile(r" *\S+ {2,}(?=\S)|[-+] (?=\S)"), re.compile(r" +(?=\S)"))
"""What a line may hang by: a name with a gap or the sign of a difference; else its own indentation."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and the places in it where a text could begin that has a column of its own, widest first."""

    whole: Content
    places: tuple[int, ...]

    def parts(self, width: int) -> tuple[Content, Content]:
        """Return what hangs and the text; nothing hangs where the text would keep less than half of a row."""
        for at in self.places:
            if self.whole[:at].cell_length <= width // 2:
                return self.whole[:at], self.whole[at:]
        return Content(""), self.whole


class Hanging(Visual):
    """Draws lines below each other."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = tuple(lines)

    def __str__(self) -> str:
        """Return the whole text without the breaks that only a width makes."""
        return "\n".join(each.whole.plain for each in self.lines)

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        rows: list[Strip] = []
        plain = replace(options, selection=None)
        for number, each in enumerate(self.lines):
            head, text = replace(each, whole=_with_selection(each.whole, number, options)).parts(width)
            indent = head.cell_length
            first = head.render_strips(indent, 1, style, plain) or [Strip.blank(0)]
            before = _moved(first[0], 0, number)
            for strip in text.render_strips(width - indent, None, style, plain) or [Strip.blank(0)]:
                rows.append(Strip.join([before, _moved(strip, len(head), number)]))
                before = Strip.blank(indent, style.rich_style)
        return rows if height is None else rows[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return max((each.whole.cell_length for each in self.lines), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        height = 0
        for each in self.lines:
            head, text = each.parts(width)
            height += max(1, text.get_height(rules, width - head.cell_length))
        return height


def hanging(text: Content, sign: Content | None = None) -> Hanging:
    """Return a text of several lines, each hanging by the name it begins with or by its indentation.

    A `sign` stands before the first one, and as much room before the others.
    """
    sign = sign or Content("")
    lines: list[Line] = []
    for number, line in enumerate(text.split("\n", allow_blank=True)):
        room = Content(" " * sign.cell_length) if number else sign
        ends = [found.end() for each in _BEFORE if (found := each.match(line.plain))]
        places = sorted({len(room) + at for at in (*ends, 0)}, reverse=True)
        lines.append(Line(Content.assemble(room, line), tuple(places)))
    return Hanging(lines)


def _with_selection(line: Content, number: int, options: RenderOptions) -> Content:
    """Return a line with what is selected of it marked."""
    span = None if options.selection is None else options.selection.get_span(number)
    if span is None or options.selection_style is None:
        return line
    start, end = span
    return line.stylize(options.selection_style, start, None if end < 0 else end)


def _moved(strip: Strip, by: int, number: int) -> Strip:
    """Say where in the whole text a strip stands: it knows only its place in its own part."""
    moved: list[Segment] = []
    for text, style, _ in strip:
        offset = None if style is None else style.meta.get("offset")
        if style is not None and offset is not None:
            style += RichStyle.from_meta({"offset": (offset[0] + by, number)})
        moved.append(Segment(text, style))
    return Strip(moved, strip.cell_length)
