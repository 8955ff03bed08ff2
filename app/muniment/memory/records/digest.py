"""The digest: one list of record titles that a session starts with; never a body."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from muniment.memory.records.listing import Listed, Snapshot
from muniment.safety.visible import exact_line

MAX_ENTRIES = 100
MAX_BYTES = 16_384
TITLE_CELLS = 120
CATEGORY_CELLS = 40
_TRAILER_RESERVE = 80


@dataclass(frozen=True, slots=True)
class Digest:
    """The text, how many records it lists and how many more there are; all empty where there are none."""

    text: str
    items: int
    more: int


def build_digest(snapshot: Snapshot) -> Digest:
    """List effective records, deepest scope first, newest first inside, in 100 entries and 16,384 bytes."""
    entries = snapshot.effective
    lines: list[str] = []
    size = 0
    for entry in entries[:MAX_ENTRIES]:
        line = digest_line(entry)
        cost = len(line.encode("utf-8", "replace")) + 1
        if size + cost > MAX_BYTES - _TRAILER_RESERVE:
            break
        lines.append(line)
        size += cost
    more = len(entries) - len(lines)
    if more:
        lines.append(
            f"… and {more} more; memory_list and memory_search reach {'it' if more == 1 else 'them'}."
        )
    return Digest("\n".join(lines), len(lines) - (1 if more else 0), more)


def digest_line(entry: Listed) -> str:
    """Return a record's line: id, title, category and scope, each on this one line whatever they hold."""
    meta = entry.meta
    title = exact_line(cut_cells(meta.title, TITLE_CELLS)).text
    category = exact_line(cut_cells(meta.category, CATEGORY_CELLS)).text
    label = exact_line(cut_cells(meta.scope.label, TITLE_CELLS)).text
    return f"- {meta.id}: {title}, category {category}, scope {label}"


def cut_cells(text: str, cells: int) -> str:
    """Cut a text so that it fills at most that many terminal cells, the mark of the cut included."""
    if len(text) * 2 <= cells:
        return text
    used = 0
    fits = 0
    for at, ch in enumerate(text):
        used += _cells(ch)
        if used <= cells - 1:
            fits = at + 1
        # Marks take no cell of their own; a title made of nothing else must end somewhere too.
        if used > cells or at >= 4 * cells:
            return text[:fits] + "…"
    return text


def _cells(ch: str) -> int:
    if ch in "\u200d\ufe0f" or unicodedata.combining(ch):
        return 0
    if not ch.isprintable():
        return len(ascii(ch)) - 2
    return 2 if unicodedata.east_asian_width(ch) in ("W", "F") else 1
