"""When two records say nearly the same, so that a reviewer sees the one that is there already."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from muniment.memory.records.record import Record
from muniment.memory.records.scan import Meta, read_bodies

SIMILAR_ENOUGH = 0.8
_WORDS = re.compile(r"\w+")
_MAX_WORDS = 2_000


def words_of(text: str) -> tuple[str, ...]:
    """Return a text's words without case, width and composition; only the first 2,000 count."""
    found = _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())
    return tuple(found[:_MAX_WORDS])


def resemble(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Tell whether two texts share at least four fifths of their distinct words."""
    if not first or not second:
        return False
    if first == second:
        return True
    one, two = frozenset(first), frozenset(second)
    if min(len(one), len(two)) < SIMILAR_ENOUGH * max(len(one), len(two)):
        return False
    return len(one & two) >= SIMILAR_ENOUGH * len(one | two)


def alike(record: Record, metas: Iterable[Meta], *, most: int) -> list[Meta]:
    """Return at most so many records whose title is the same or whose content is nearly the same."""
    title, body = words_of(record.title), words_of(record.content)
    found: list[Meta] = []
    others: list[Meta] = []
    for meta in metas:
        # A title of signs only has no words to compare.
        same = meta.title.strip() == record.title.strip() or (title and words_of(meta.title) == title)
        (found if same else others).append(meta)
    for meta, other in read_bodies(others):
        if len(found) >= most:
            break
        if other.content == record.content or resemble(words_of(other.content), body):
            found.append(meta)
    return found[:most]
