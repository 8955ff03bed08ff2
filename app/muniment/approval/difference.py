"""What changed between two texts: line by line, and word by word inside changed lines while they are short.

The work is bounded. Where it would be too much, `difference` returns None and both texts are to be shown
whole, side by side; nothing is ever guessed. Pure functions: they may run in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

LineKind = Literal["same", "old", "new"]
Spans = tuple[tuple[int, int], ...]

MAX_STEPS = 1_000_000
"""Comparisons that one difference may cost; about half a second."""
MAX_EDITS = 1_200
"""Changed lines after which a difference is no longer easier to read than the two texts."""
WORDS_MAX_LENGTH = 400
"""Characters up to which a changed line is compared word by word."""
_WORDS_MAX_STEPS = 20_000
_LEAST_ALIKE = 0.35

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference; numbers count from 1, None on the side where the line does not stand."""

    kind: LineKind
    text: str
    old: int | None
    new: int | None
    changed: Spans = ()
    """Where the line differs from its counterpart; empty where the whole line is to be read as changed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """All lines of both texts in reading order, a replaced run as its old lines and then its new ones."""

    lines: tuple[DiffLine, ...]

    @property
    def removed(self) -> int:
        return sum(line.kind == "old" for line in self.lines)

    @property
    def added(self) -> int:
        return sum(line.kind == "new" for line in self.lines)


def difference(old: Sequence[str], new: Sequence[str], *, max_edits: int = MAX_EDITS) -> Difference | None:
    """Compare two texts given as lines; None where the bounds do not suffice."""
    pairs = common_pairs(old, new, max_steps=MAX_STEPS, max_edits=max_edits)
    if pairs is None:
        return None
    lines: list[DiffLine] = []
    at_old = at_new = 0
    for match_old, match_new in [*pairs, (len(old), len(new))]:
        gone = [DiffLine("old", old[n], n + 1, None) for n in range(at_old, match_old)]
        come = [DiffLine("new", new[n], None, n + 1) for n in range(at_new, match_new)]
        lines.extend(_mark_words(gone, come))
        if match_old < len(old) and match_new < len(new):
            lines.append(DiffLine("same", old[match_old], match_old + 1, match_new + 1))
        at_old, at_new = match_old + 1, match_new + 1
    return Difference(tuple(lines))


def common_pairs(
    old: Sequence[Hashable], new: Sequence[Hashable], *, max_steps: int, max_edits: int
) -> list[tuple[int, int]] | None:
    """Return the index pairs of a longest common subsequence, in order; None past a bound."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle = _fewest_edits(
        old[start : len(old) - end], new[start : len(new) - end], max_steps=max_steps, max_edits=max_edits
    )
    if middle is None:
        return None
    head = [(n, n) for n in range(start)]
    tail = [(len(old) - n, len(new) - n) for n in range(end, 0, -1)]
    return head + [(a + start, b + start) for a, b in middle] + tail


def _fewest_edits(
    old: Sequence[Hashable], new: Sequence[Hashable], *, max_steps: int, max_edits: int
) -> list[tuple[int, int]] | None:
    """Walk the edit graph by number of edits; `furthest[k]` tells how far diagonal k was reached."""
    if not old or not new:
        return []
    names: dict[Hashable, int] = {}
    a = [names.setdefault(item, len(names)) for item in old]
    b = [names.setdefault(item, len(names)) for item in new]
    furthest = {1: 0}
    history: list[dict[int, int]] = []
    steps = 0
    for edits in range(min(len(a) + len(b), max_edits) + 1):
        history.append(furthest.copy())
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            begin = x
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            steps += 1 + x - begin
            furthest[k] = x
            if x == len(a) and y == len(b):
                return _walk_back(history, len(a), len(b))
        # Copying the reached ends is work as well.
        steps += len(furthest) // 4
        if steps > max_steps:
            return None
    return None


def _walk_back(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(history) - 1, -1, -1):
        furthest = history[edits]
        k = x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before_k = k + 1 if down else k - 1
        before_x = furthest[before_k] if edits else 0
        before_y = before_x - before_k if edits else 0
        while x > before_x and y > before_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = before_x, before_y
    pairs.reverse()
    return pairs


def _mark_words(gone: list[DiffLine], come: list[DiffLine]) -> list[DiffLine]:
    """Mark the changed words where a run of lines was replaced by as many lines."""
    if len(gone) == len(come):
        for n, (left, right) in enumerate(zip(gone, come, strict=True)):
            marked = changed_words(left.text, right.text)
            if marked is not None:
                gone[n] = replace(left, changed=marked[0])
                come[n] = replace(right, changed=marked[1])
    return gone + come


def changed_words(old: str, new: str) -> tuple[Spans, Spans] | None:
    """Return where two lines differ, in characters; None where they are too long or too unlike."""
    if max(len(old), len(new)) > WORDS_MAX_LENGTH:
        return None
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    pairs = common_pairs(a, b, max_steps=_WORDS_MAX_STEPS, max_edits=len(a) + len(b))
    if pairs is None:
        return None
    kept = sum(len(a[n]) for n, _ in pairs if not a[n].isspace())
    longest = max(len(old.replace(" ", "")), len(new.replace(" ", "")))
    if kept < _LEAST_ALIKE * longest:
        return None
    return _gaps(a, {n for n, _ in pairs}), _gaps(b, {n for _, n in pairs})


def _gaps(tokens: Sequence[str], kept: set[int]) -> Spans:
    spans: list[tuple[int, int]] = []
    at = 0
    for n, token in enumerate(tokens):
        if n not in kept:
            if spans and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], at + len(token))
            else:
                spans.append((at, at + len(token)))
        at += len(token)
    return tuple(spans)
