"""The pack: the best memories as one text within its bytes, each with where it comes from.

A memory is a head of three lines and its body. Everything in the first line is a word of ours or an id; the
source and the title stand alone on the lines that name them, on one line each whatever they hold; every line
of a body is indented. So nothing in a memory can look like the head of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from muniment.memory.ledger.row import one_line
from muniment.memory.recall.rank import Parts, Ranked
from muniment.memory.records.times import format_time
from muniment.safety.fence import fenced_body
from muniment.safety.visible import clean_surrogates

TOP_K = 8
MAX_BYTES = 8_192
MAX_TITLE_BYTES = 160
MAX_SOURCE_BYTES = 200
"""Room for the path of an entry of knowledge, so that it can be found by what is shown."""
LEAST_BODY_BYTES = 64
"""A body of which not even so much would fit is left out."""
INDENT = "  "
_CUT = "…"
_ENDS = "[cut: {size} bytes in all]"


@dataclass(frozen=True, slots=True)
class RecalledRow:
    """One memory of a pack and why it is in it."""

    id: str
    title: str
    source: str
    score: float
    parts: Parts

    def as_dict(self) -> dict[str, Any]:
        """Return the row for programs."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "score": self.score,
            "parts": self.parts.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Pack:
    """The text, exactly as it stands in the fence, its size in bytes of UTF-8, and its rows in order."""

    text: str
    bytes: int
    rows: tuple[RecalledRow, ...]


def make_pack(ranked: Sequence[Ranked], *, top_k: int = TOP_K, max_bytes: int = MAX_BYTES) -> Pack:
    """Pack the first so many within the bytes, heads counted; the same input gives the same bytes.

    Short memories stay whole; those that are longer than their share have what the short ones leave, and say
    that they are cut. Where not even heads and a little of each body fit, the last ones are left out.
    """
    room = max_bytes
    while True:
        pack = _packed(ranked, top_k, room)
        # Two values side by side may look like a tag; what breaks that up has to fit as well.
        text = fenced_body(pack.text, max_bytes=2 * max_bytes + len(_CUT))
        size = _size(text)
        if size <= max_bytes:
            return Pack(text, size, pack.rows)
        room -= size - max_bytes


def _packed(ranked: Sequence[Ranked], top_k: int, max_bytes: int) -> Pack:
    chosen = list(ranked[:top_k])
    names = [(one_line(each.candidate.title), one_line(each.candidate.source)) for each in chosen]
    heads = [_head(each, *named) for each, named in zip(chosen, names, strict=True)]
    bodies = [_body(each.candidate.body, max_bytes) for each in chosen]
    while chosen and _least(heads, bodies) > max_bytes:
        for part in (chosen, heads, bodies):
            part.pop()
    room = max_bytes - sum(_size(head) for head in heads) - 2 * max(len(chosen) - 1, 0)
    shares = _shares([_size(body) + 1 for body in bodies], room)
    texts = [
        f"{head}\n{_cut(body, share - 1, each.candidate.body)}"
        for each, head, body, share in zip(chosen, heads, bodies, shares, strict=True)
    ]
    text = "\n\n".join(texts)
    rows = tuple(
        RecalledRow(each.candidate.id, title, source, each.score, each.parts)
        for each, (title, source) in zip(chosen, names, strict=False)
    )
    return Pack(text, _size(text), rows)


def _head(ranked: Ranked, title: str, source: str) -> str:
    each = ranked.candidate
    source = _short(source, MAX_SOURCE_BYTES)
    title = _short(title, MAX_TITLE_BYTES)
    date = format_time(each.date)[:10]
    words = f"id={each.id} type={each.type} scope={each.scope} date={date} trust={each.trust}"
    return f"* {words}\nsource: {source}\ntitle: {title}"


def _short(line: str, limit: int) -> str:
    """Return a line with nothing in it that could be taken for a tag, cut to its bytes."""
    line = fenced_body(line)
    if _size(line) <= limit:
        return line
    return line.encode()[: limit - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT


def _body(text: str, limit: int) -> str:
    """Return a body with every line indented, whatever ends a line in it; what can never fit is left away."""
    lines = clean_surrogates(text[: limit + 1]).replace("\x00", "").splitlines()
    return fenced_body("\n".join(f"{INDENT}{line}".rstrip() for line in lines), max_bytes=8 * limit + 8)


def _cut(body: str, limit: int, whole: str) -> str:
    """Return a body within so many bytes; one that is cut ends in a line that says how long the whole is."""
    if _size(body) <= limit:
        return body
    notice = f"\n{INDENT}{_ENDS.format(size=_size(whole))}"
    return body.encode()[: max(limit - len(notice), 0)].decode("utf-8", "ignore").rstrip() + notice


def _least(heads: Sequence[str], bodies: Sequence[str]) -> int:
    little = sum(min(_size(body), LEAST_BODY_BYTES) + 1 for body in bodies)
    return sum(_size(head) for head in heads) + little + 2 * (len(heads) - 1)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Share the room out: whoever needs less than an equal share leaves the rest to the others."""
    shares = [0] * len(sizes)
    left = room
    waiting = sorted(range(len(sizes)), key=lambda at: (sizes[at], at))
    for done, at in enumerate(waiting):
        shares[at] = min(sizes[at], left // (len(waiting) - done))
        left -= shares[at]
    return shares


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
