"""Lines of text laid out in rows of cells: wrapped without losing a character, two columns where wanted.

Pure layout without a screen. Widths are terminal cells, and no grapheme is ever split over two rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

Mark = tuple[int, int, str]
"""Start, end (in characters) and the name of a style."""

Slice = tuple[int, int]

LEAST_WIDTH = 4
"""Cells of text that a row keeps however narrow the screen is."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, shown whole on as many rows as it needs.

    `gutter` stands before its first row and `onward` before the others; both have the same width in cells.
    `tone` names the style of the text, `gutter_tone` that of the gutter; `marks` lie above both.
    """

    text: str
    tone: str = ""
    marks: tuple[Mark, ...] = ()
    gutter: str = ""
    onward: str = ""
    gutter_tone: str = "muted"
    beside: Line | None = None
    """A second line that is shown in the right half."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of cells: which part of which line it shows, and of the line beside it."""

    line: int
    first: bool
    part: Slice | None
    beside: Slice | None = None


def wrap(text: str, width: int) -> list[Slice]:
    """Cut a text into consecutive slices of at most `width` cells, after a blank where one is near."""
    width = max(width, 1)
    if text.isascii():
        return _wrap_ascii(text, width) if len(text) > width else [(0, len(text))]
    return _wrap_graphemes(text, width)


def _wrap_ascii(text: str, width: int) -> list[Slice]:
    slices: list[Slice] = []
    at = 0
    while len(text) - at > width:
        blank = text.rfind(" ", at + width // 2, at + width)
        end = blank + 1 if blank >= 0 else at + width
        slices.append((at, end))
        at = end
    slices.append((at, len(text)))
    return slices


def _wrap_graphemes(text: str, width: int) -> list[Slice]:
    from rich.cells import split_graphemes

    slices: list[Slice] = []
    at = used = 0
    blank = blank_used = -1
    for start, end, cells in split_graphemes(text)[0]:
        if used + cells > width and start > at:
            if blank > at and blank_used * 2 >= width:
                slices.append((at, blank))
                at, used = blank, used - blank_used
            if used + cells > width and start > at:
                slices.append((at, start))
                at, used = start, 0
            blank = blank_used = -1
        used += cells
        if text[start] == " ":
            blank, blank_used = end, used
    slices.append((at, len(text)))
    return slices


@lru_cache(maxsize=256)
def cells(text: str) -> int:
    """Return how many cells a short text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def halves(width: int) -> tuple[int, int]:
    """Return the widths of the left and the right column, with one cell between them."""
    left = (width - 1) // 2
    return left, width - 1 - left


def lay_out(lines: Iterable[Line], width: int) -> list[Row]:
    """Lay lines out in rows of `width` cells."""
    rows: list[Row] = []
    for number, line in enumerate(lines):
        if line.beside is None:
            rows.extend(
                Row(number, n == 0, part) for n, part in enumerate(wrap(line.text, _room(line, width)))
            )
            continue
        left_width, right_width = halves(width)
        left = wrap(line.text, _room(line, left_width))
        right = wrap(line.beside.text, _room(line.beside, right_width))
        for n in range(max(len(left), len(right))):
            rows.append(
                Row(
                    number,
                    n == 0,
                    left[n] if n < len(left) else None,
                    right[n] if n < len(right) else None,
                )
            )
    return rows


def _room(line: Line, width: int) -> int:
    return max(width - cells(line.gutter), LEAST_WIDTH)


def pieces(line: Line, part: Slice) -> list[tuple[str, str]]:
    """Return the text of a part in pieces, each with the name of its style; later marks win over earlier."""
    start, end = part
    inside = [(max(a, start), min(b, end), tone) for a, b, tone in line.marks if a < end and b > start]
    if not inside:
        return [(line.text[start:end], line.tone)]
    borders = sorted({start, end, *(a for a, _, _ in inside), *(b for _, b, _ in inside)})
    result: list[tuple[str, str]] = []
    for a, b in pairwise(borders):
        tone = line.tone
        for mark_start, mark_end, mark_tone in inside:
            if mark_start <= a and mark_end >= b:
                tone = mark_tone
        result.append((line.text[a:b], tone))
    return result


def row_of_line(rows: Sequence[Row], line: int) -> int:
    """Return the first row of a line, or the last row of all where it does not stand there."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle].line < line:
            low = middle + 1
        else:
            high = middle
    return min(low, max(len(rows) - 1, 0))
