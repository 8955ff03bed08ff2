"""Tables and lists of Markdown laid out as rows of text in columns, for a width in cells.

Pure layout without a screen. Nothing is cut: a text that is wider than its column goes on below, and where
the longest words of a table do not fit beside each other, its cells stand below each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from rich.cells import cell_len
from textual.content import Content

Side = Literal["left", "center", "right"]

GUTTER = 2
"""Cells between two columns, and before what stands below the first cell."""
_MISSING = Content("–")


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in a column that begins at cell `at`; `offset` counts the characters of the row before it."""

    text: Content
    at: int
    width: int
    offset: int
    side: Side = "left"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a line shows of a cell: text, first cell, and the characters of the row before it."""

    text: Content
    at: int
    offset: int


@dataclass(frozen=True, slots=True)
class Row:
    """Cells beside each other, as high as the highest of them; `between` parts them when they are copied."""

    cells: tuple[Cell, ...]
    between: str

    @property
    def text(self) -> str:
        """The row as one line of text."""
        return self.between.join(cell.text.plain for cell in self.cells)

    @property
    def height(self) -> int:
        """Lines that it takes."""
        return max((len(_wrap(cell)) for cell in self.cells if not _fits(cell)), default=1)

    def lines(self) -> list[list[Piece]]:
        """Return what stands on each of its lines."""
        wrapped = [_wrap(cell) for cell in self.cells]
        return [
            [
                Piece(text, cell.at + _indent(cell, text), cell.offset + offset)
                for cell, lines in zip(self.cells, wrapped, strict=True)
                for text, offset in lines[number : number + 1]
                if text.plain
            ]
            for number in range(self.height)
        ]


def row(columns: Sequence[tuple[Content, int, int, Side]], between: str = " " * GUTTER) -> Row:
    """Return a row of texts, each with its first cell, its width and its side."""
    cells: list[Cell] = []
    offset = 0
    for text, at, width, side in columns:
        cells.append(Cell(text, at, max(width, 1), offset, side))
        offset += len(text.plain) + len(between)
    return Row(tuple(cells), between)


class Laid:
    """Rows at a width: how high they are together, and what stands on each line."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._ends = list(accumulate(each.height for each in rows))
        self._at = -1
        self._lines: list[list[Piece]] = []
        """The lines of row `_at`, the one that was asked for last."""

    @property
    def height(self) -> int:
        """Lines of all rows."""
        return self._ends[-1] if self._ends else 0

    @property
    def text(self) -> str:
        """All rows, each as one line."""
        return "\n".join(each.text for each in self.rows)

    def line(self, number: int) -> tuple[int, list[Piece]]:
        """Return which row a line belongs to, and what stands on it; nothing below the last one."""
        at = bisect_right(self._ends, number)
        if at >= len(self.rows):
            return at, []
        if at != self._at:
            # Lines are drawn one after the other: to break a long text anew for each would hold all up.
            self._at, self._lines = at, self.rows[at].lines()
        return at, self._lines[number - (self._ends[at - 1] if at else 0)]


@dataclass(frozen=True, slots=True)
class TableText:
    """The cells of a table."""

    head: tuple[Content, ...]
    rows: tuple[tuple[Content, ...], ...]
    sides: tuple[Side, ...]

    def lay_out(self, width: int) -> Laid:
        """Return columns that are as wide as they need, or cells below each other."""
        count = len(self.head)
        lines = [self.head, *(_filled(cells, count) for cells in self.rows)]
        wished = [max(line[at].cell_length for line in lines) for at in range(count)]
        room = width - GUTTER * (count - 1)
        if sum(wished) > room:
            least = [max(_longest_word(line[at]) for line in lines) for at in range(count)]
            if sum(least) > room:
                return Laid([each for line in lines for each in _below(line, width)])
            wished = shares(wished, least, room)
        starts = [0, *accumulate(each + GUTTER for each in wished)]
        return Laid(
            [row(list(zip(line, starts, wished, self.sides, strict=False))) for line in lines],
        )


@dataclass(frozen=True, slots=True)
class Point:
    """A line of a list: what stands before it, and the text that goes on below its own beginning."""

    mark: Content
    text: Content


@dataclass(frozen=True, slots=True)
class ListText:
    """The lines of a list, those of the lists in it among them."""

    points: tuple[Point, ...]

    def lay_out(self, width: int) -> Laid:
        """Return each text beside its mark."""
        rows: list[Row] = []
        for point in self.points:
            # A deep list on a narrow screen gives up its indentation, not its text.
            at = min(point.mark.cell_length, max(width // 2, 1))
            mark = point.mark.truncate(at)
            rows.append(row([(mark, 0, at, "left"), (point.text, at, width - at, "left")], between=""))
        return Laid(rows)


def shares(wished: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return widths that fill the room: a column gets what it wishes unless others then had less than it."""
    low, high = 0, max(wished)
    while low < high:
        level = (low + high + 1) // 2
        if sum(_share(most, few, level) for most, few in zip(wished, least, strict=True)) <= room:
            low = level
        else:
            high = level - 1
    widths = [_share(most, few, low) for most, few in zip(wished, least, strict=True)]
    for at, most in enumerate(wished):
        if sum(widths) < room and widths[at] < most:
            widths[at] += 1
    return widths


def _share(most: int, few: int, level: int) -> int:
    return max(few, min(most, level))


def _below(cells: Sequence[Content], width: int) -> list[Row]:
    first, *rest = cells
    return [
        row([(first, 0, width, "left")]),
        *(row([(each if each.plain else _MISSING, GUTTER, width - GUTTER, "left")]) for each in rest),
    ]


def _filled(cells: tuple[Content, ...], count: int) -> tuple[Content, ...]:
    return (cells + (Content(""),) * count)[:count]


def _longest_word(text: Content) -> int:
    return max((cell_len(word) for word in text.plain.split()), default=1)


def _fits(cell: Cell) -> bool:
    return cell.text.cell_length <= cell.width


def _wrap(cell: Cell) -> list[tuple[Content, int]]:
    """Return the lines of a text, each with the number of characters before it."""
    if _fits(cell):
        return [(cell.text, 0)]
    lines: list[tuple[Content, int]] = []
    plain, at = cell.text.plain, 0
    for line in cell.text.wrap(cell.width):
        # Blanks at the end of a line are dropped, so that the next may begin further on.
        at = max(plain.find(line.plain, at), at)
        lines.append((line, at))
        at += len(line.plain)
    return lines


def _indent(cell: Cell, text: Content) -> int:
    free = max(cell.width - text.cell_length, 0)
    return {"left": 0, "center": free // 2, "right": free}[cell.side]
