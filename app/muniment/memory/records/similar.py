"""When two records say nearly the same, so that a reviewer sees the one that is there already."""

from __future__ import annotations

import re
import unicodedata

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
