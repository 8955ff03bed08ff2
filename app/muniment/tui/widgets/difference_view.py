"""Turns texts and their difference into lines for `ExactText`, told by sign and number and by colour."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muniment.approval.difference import Difference, DiffLine, difference
from muniment.safety.visible import exact_block
from muniment.tui.widgets.exact_lines import Line, Mark

CONTEXT = 3
"""Unchanged lines that stay on each side of a change."""
_FOLD_LEAST = 2 * CONTEXT + 4

_BLANK_LINES = re.compile(r"\\\{(\d+) blank lines\}")
"""A counted mark of `exact_block`; a text of its own cannot look like it, as its backslash is doubled."""


@dataclass(frozen=True, slots=True)
class ExactSource:
    """A text in its exact form, split at its line breaks."""

    lines: tuple[str, ...]
    marks: tuple[tuple[Mark, ...], ...]
    """Where escapes stand, line by line."""
    numbers: tuple[int, ...]
    """The number of each line in the text, from 1; a counted run of blank lines stands for several."""
    hidden: int
    characters: int
    line_count: int


def exact_source(text: str) -> ExactSource:
    """Return the exact form of a text."""
    visible = exact_block(text)
    lines = tuple(visible.text.split("\n"))
    marks: list[tuple[Mark, ...]] = []
    spans = iter(sorted(visible.spans))
    span = next(spans, None)
    at = 0
    for line in lines:
        end = at + len(line)
        found: list[Mark] = []
        while span is not None and span[0] <= end:
            found.append((max(span[0] - at, 0), min(span[1], end) - at, "warning"))
            span = next(spans, None)
        marks.append(tuple(found))
        at = end + 1
    numbers: list[int] = []
    number = 1
    for line in lines:
        numbers.append(number)
        run = _BLANK_LINES.fullmatch(line)
        number += int(run[1]) if run else 1
    return ExactSource(lines, tuple(marks), tuple(numbers), visible.hidden, len(text), text.count("\n") + 1)


def compare(old: ExactSource, new: ExactSource) -> Difference | None:
    """Compare the exact forms; as they are injective, they differ wherever the texts do."""
    return difference(old.lines, new.lines)


def text_lines(source: ExactSource, tone: str = "", sign: str = " ") -> list[Line]:
    """Show one text with line numbers."""
    width = len(str(source.line_count))
    return [
        _numbered(number, sign, text, width, tone, marks)
        for number, text, marks in zip(source.numbers, source.lines, source.marks, strict=True)
    ]


def difference_lines(found: Difference, old: ExactSource, new: ExactSource) -> list[Line]:
    """Show a difference in one column; long unchanged stretches are folded into a counted line."""
    width = len(str(max(old.line_count, new.line_count)))
    lines: list[Line] = []
    for stretch in _stretches(found.lines):
        same = stretch[0].kind == "same"
        if not same or len(stretch) < _FOLD_LEAST:
            lines.extend(_difference_stretch(stretch, old, new, width))
            continue
        first, last = stretch[0] is found.lines[0], stretch[-1] is found.lines[-1]
        head = 0 if first else CONTEXT
        tail = 0 if last else CONTEXT
        folded = stretch[head : len(stretch) - tail]
        lines.extend(_difference_stretch(stretch[:head], old, new, width))
        lines.append(_marker(f"{len(folded):,} unchanged lines; v shows them in the new text", width))
        lines.extend(_difference_stretch(stretch[len(stretch) - tail :], old, new, width))
    return lines


def side_by_side(old: ExactSource, new: ExactSource) -> list[Line]:
    """Show both texts whole in two columns, without a comparison."""
    old_lines = text_lines(old, "old", "-")
    new_lines = text_lines(new, "new", "+")
    blank = Line("")
    count = max(len(old_lines), len(new_lines))
    old_lines += [blank] * (count - len(old_lines))
    new_lines += [blank] * (count - len(new_lines))
    return [
        Line(left.text, left.tone, left.marks, left.gutter, left.onward, left.gutter_tone, beside=right)
        for left, right in zip(old_lines, new_lines, strict=True)
    ]


def _stretches(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    stretch: list[DiffLine] = []
    for line in lines:
        if stretch and stretch[-1].kind != line.kind:
            yield stretch
            stretch = []
        stretch.append(line)
    if stretch:
        yield stretch


def _difference_stretch(
    stretch: Sequence[DiffLine], old: ExactSource, new: ExactSource, width: int
) -> Iterator[Line]:
    for line in stretch:
        source, at = (old, line.old) if line.kind == "old" else (new, line.new)
        assert at is not None  # noqa: S101 - each kind stands on that side
        sign, tone = {"same": (" ", ""), "old": ("-", "old"), "new": ("+", "new")}[line.kind]
        marks = [(a, b, f"{tone}-changed") for a, b in line.changed]
        # Escapes come last: a mark that warns wins over one that compares.
        marks.extend(source.marks[at - 1])
        yield _numbered(source.numbers[at - 1], sign, line.text, width, tone, tuple(marks))


def _numbered(number: int, sign: str, text: str, width: int, tone: str, marks: tuple[Mark, ...]) -> Line:
    return Line(
        text,
        tone,
        marks,
        gutter=f"{number:>{width}}{sign}│ ",
        onward=f"{'':>{width}}{sign}┆ ",
        gutter_tone=tone or "muted",
    )


def _marker(text: str, width: int) -> Line:
    return Line(f"⋯ {text} ⋯", "note", gutter=f"{'':>{width + 1}}┆ ", onward=f"{'':>{width + 1}}┆ ")
