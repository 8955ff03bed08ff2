"""The line of a text that shows why it was found: cut between characters, with the words found marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

SNIPPET_CHARACTERS = 200
_LEAD = 50
_MARK = "…"
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Snippet:
    """One line of text; `spans` are start and end of each marked word in it."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


def make_snippet(
    text: str, spans: Sequence[tuple[int, int, int]], *, characters: int = SNIPPET_CHARACTERS
) -> Snippet:
    """Return at most so many characters of a text, where most different terms stand together.

    `spans` are start, end and number of term, in order. Blanks and line breaks become one blank each.
    """
    start = _begin(text, spans, characters)
    end = min(len(text), start + characters)
    if end < len(text):
        end = _cut_back(text, end, start)
    return _one_line(text, start, end, spans)


def _begin(text: str, spans: Sequence[tuple[int, int, int]], characters: int) -> int:
    """Choose where the snippet begins."""
    if len(text) <= characters or not spans:
        return 0
    best, best_kinds = spans[0][0], 0
    lead = min(_LEAD, characters // 4)
    room = characters - lead
    for at, (start, _, _) in enumerate(spans[:100]):
        kinds = len({kind for begin, end, kind in spans[at : at + 50] if end <= start + room})
        if kinds > best_kinds:
            best, best_kinds = start, kinds
    start = max(0, min(best - lead, len(text) - characters))
    if not start:
        return 0
    # Rather the beginning of a word than its middle, if one is near.
    blank = text.find(" ", start, best)
    if 0 <= blank < start + 20:
        return blank + 1
    while start < best and not is_border(text, start):
        start += 1
    return start


def _cut_back(text: str, end: int, start: int) -> int:
    blank = text.rfind(" ", max(start, end - 20), end)
    if blank > start:
        return blank
    border = end
    while border > start + 1 and not is_border(text, border):
        border -= 1
    # Text that is one character with endless marks is cut anyway.
    return border if border > start + 1 else end


def is_border(text: str, at: int) -> bool:
    """Tell whether a text may be cut before this place without cutting a character that a reader sees."""
    if at <= 0 or at >= len(text):
        return True
    after, before = text[at], text[at - 1]
    if after in (_JOINER, "\ufe0f", "\ufe0e") or before == _JOINER or (before == "\r" and after == "\n"):
        return False
    if unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if "\U000e0020" <= after <= "\U000e007f" or "\u1160" <= after <= "\u11ff":
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        flags = 0
        while flags < at and "\U0001f1e6" <= text[at - 1 - flags] <= "\U0001f1ff":
            flags += 1
        return flags % 2 == 0
    return True


def _one_line(text: str, start: int, end: int, spans: Sequence[tuple[int, int, int]]) -> Snippet:
    inside = [(begin, stop) for begin, stop, _ in spans if begin >= start and stop <= end]
    head = _MARK if start else ""
    tail = _MARK if end < len(text) else ""
    part = text[start:end]
    line = " ".join(part.split())
    if line == part:
        moved = [(begin - start + len(head), stop - start + len(head)) for begin, stop in inside]
        return Snippet(head + line + tail, _merged(moved))
    # Blanks were dropped: count for each place how many characters of the line stand before it.
    places = [0] * (len(part) + 1)
    count = 0
    pending = False
    for at, ch in enumerate(part):
        if ch.isspace():
            pending = count > 0
            places[at] = count
            continue
        if pending:
            count += 1
            pending = False
        places[at] = count
        count += 1
    places[len(part)] = count
    moved = []
    for begin, stop in inside:
        first = places[begin - start] + len(head)
        last = places[stop - start - 1] + 1 + len(head)
        if last > first:
            moved.append((first, last))
    return Snippet(head + line + tail, _merged(moved))


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
