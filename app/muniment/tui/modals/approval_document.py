"""Everything a proposal says, as lines: warnings, every field, and the text itself in its three views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from muniment.approval.difference import Difference
from muniment.approval.proposal import Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.safety.visible import exact_line, reading_line
from muniment.tui.widgets.difference_view import (
    ExactSource,
    compare,
    difference_lines,
    exact_source,
    side_by_side,
    text_lines,
)
from muniment.tui.widgets.exact_lines import Line, Mark

View = Literal["difference", "new", "old"]

NARROW = 64
"""Below so many cells two columns are shown one below the other."""
_LABEL_MOST = 14


@dataclass(frozen=True, slots=True)
class Document:
    """A proposal ready to be shown."""

    head: tuple[Line, ...]
    hidden: int
    """How many characters of all fields and texts are shown as escapes."""
    views: tuple[View, ...]
    label: str = ""
    old: ExactSource | None = None
    new: ExactSource | None = None
    changes: Difference | None = None
    unchanged: bool = False
    later: Line | None = None
    """Where the text will be shown, for screens that have no room for a standing line."""

    def lines(self, view: View | None, width: int, *, with_later: bool = False) -> list[Line]:
        """Return all lines for a view on a screen of `width` cells."""
        head = list(self.head)
        if with_later and self.later is not None:
            head.append(self.later)
        return head if view is None else [*head, *self._text(view, width)]

    def _text(self, view: View, width: int) -> list[Line]:
        old, new = self.old, self.new
        if view == "difference" and old is not None and new is not None:
            if self.changes is not None:
                told = f"{self.changes.removed:,} out (-), {self.changes.added:,} in (+)"
                return [
                    self._heading(f"difference, lines {told}", new),
                    *difference_lines(self.changes, old, new),
                ]
            if width >= NARROW:
                heading = self._heading("too much changed to compare: old left (-), new right (+)", new)
                return [heading, *side_by_side(old, new)]
            return [
                self._heading("too much changed to compare: first the old text", old),
                *text_lines(old, "old", "-"),
                self._heading("now the new text", new),
                *text_lines(new, "new", "+"),
            ]
        source = new if view == "new" else old
        if source is None:
            return []
        if view == "old":
            words = "this goes" if new is None else "old text"
            return [self._heading(words, source), *text_lines(source, "old" if new is None else "", " ")]
        words = "new text" if not self.unchanged else "unchanged"
        return [self._heading(words, source), *text_lines(source)]

    def _heading(self, words: str, source: ExactSource) -> Line:
        counts = f"{count(source.line_count, 'line')}, {count(source.characters, 'character')}"
        text = f"── {self.label}: {words} · {counts}"
        marks: list[Mark] = []
        if source.hidden:
            told = f"{source.hidden:,} hidden, shown as escapes"
            marks.append((len(text) + 3, len(text) + 3 + len(told), "warning"))
            text = f"{text} · {told}"
        return Line(text, "heading", tuple(marks))


def count(number: int, noun: str) -> str:
    """Return `1 line`, `2 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def build_document(proposal: Proposal) -> Document:
    """Prepare a proposal; for large texts this is work for a thread."""
    head = [_warning_line(warning) for warning in proposal.warnings]
    fields = list(proposal.fields)
    if not any(field.label == "tool" for field in fields):
        fields.insert(0, Field("tool", proposal.tool))
    label_width = min(max(len(field.label) for field in fields), _LABEL_MOST)
    hidden = 0
    for field in fields:
        lines, found = _field_lines(field, label_width)
        head += lines
        hidden += found
    asked = _asker_line(proposal, label_width)
    if asked is not None:
        head.append(asked)
    later: Line | None = None
    if proposal.shown_later:
        later = Line(reading_line(proposal.shown_later), "", (), *_gutter("later", label_width), "label")
    change = proposal.change
    if change is None:
        return Document(tuple(head), hidden, (), later=later)
    old = None if change.before is None else exact_source(change.before)
    new = None if change.after is None else exact_source(change.after)
    hidden += max((source.hidden for source in (old, new) if source is not None), default=0)
    unchanged = change.before == change.after
    views: tuple[View, ...]
    changes: Difference | None = None
    if old is not None and new is not None and not unchanged:
        views = ("difference", "new", "old")
        changes = compare(old, new)
    else:
        views = ("old",) if new is None else ("new",)
    return Document(
        tuple(head), hidden, views, reading_line(change.label), old, new, changes, unchanged, later
    )


def size_of(proposal: Proposal) -> int:
    """Return how many characters a proposal has to show."""
    change = proposal.change
    texts = [field.value for field in proposal.fields]
    if change is not None:
        texts += [change.before or "", change.after or ""]
    return sum(map(len, texts))


def _warning_line(warning: ReviewWarning) -> Line:
    place = f"{reading_line(warning.place)}: " if warning.place else ""
    return Line(
        f"{place}{reading_line(warning.text)}", "warning", gutter="▲ ", onward="  ", gutter_tone="warning"
    )


def _gutter(label: str, width: int) -> tuple[str, str]:
    shown = reading_line(label)
    return f"{shown:<{width}}  ", " " * (max(width, len(shown)) + 2)


def _field_lines(field: Field, width: int) -> tuple[list[Line], int]:
    if field.kind == "block":
        source = exact_source(field.value)
        heading = Line(f"── {reading_line(field.label)} · {count(source.line_count, 'line')}", "heading")
        return [heading, *text_lines(source)], source.hidden
    visible = exact_line(field.value)
    gutter, onward = _gutter(field.label, width)
    text = visible.text
    marks: list[Mark] = [(start, end, "warning") for start, end in visible.spans]
    if visible.hidden:
        # Behind the closing quote, where no value can reach.
        told = f"{visible.hidden:,} hidden"
        marks.append((len(text) + 2, len(text) + 2 + len(told), "warning"))
        text = f"{text}  {told}"
    return [Line(text, "", tuple(marks), gutter, onward, "label")], visible.hidden


def _asker_line(proposal: Proposal, width: int) -> Line | None:
    asker = proposal.asker
    named: Sequence[tuple[str, str]] = (
        ("session", asker.session),
        ("recipe", asker.recipe),
        ("agent", asker.agent),
        ("model", asker.model),
    )
    parts: list[str] = []
    marks: list[Mark] = []
    at = 0
    for word, value in named:
        if not value:
            continue
        visible = exact_line(value)
        before = f"{word} "
        marks += [
            (at + len(before) + start, at + len(before) + end, "warning") for start, end in visible.spans
        ]
        parts.append(before + visible.text)
        at += len(parts[-1]) + 3
    if not parts:
        return None
    gutter, onward = _gutter("asked by", width)
    return Line(" · ".join(parts), "", tuple(marks), gutter, onward, "label")
