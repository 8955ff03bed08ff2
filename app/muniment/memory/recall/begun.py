"""A word that is still being typed: how an index of stems is asked for all words that begin so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from muniment.memory.recall.stem import stem

_ENDINGS = (
    *("s", "ed", "ing", "ies", "y", "ly", "ally", "ational", "tional", "ization", "ation", "ations", "ator"),
    *("ators", "izer", "izers", "alism", "iveness", "fulness", "ousness", "ality", "ivity", "bility"),
    *("icate", "ative", "alize", "icity", "ical", "ically", "ful", "fully", "ness", "al", "ance", "ances"),
    *("ence", "ences", "er", "ers", "ic", "able", "ably", "ible", "ibly", "ant", "ants", "ement", "ements"),
    *("ment", "ments", "ent", "ents", "ently", "sion", "sions", "tion", "tions", "ism", "isms", "ate"),
    *("ates", "ated", "ating", "ity", "ous", "ously", "ive", "ively", "ize", "izes", "ized", "izing", "ancy"),
    *("ency", "ology", "e", "l"),
)
"""Endings that a stem leaves away, also where one follows another."""


@lru_cache(maxsize=256)
def begun_as(begun: str) -> tuple[str, tuple[str, ...]]:
    """Return what most stems of words that begin so begin with, and words for the stems that do not.

    The index stems what it is asked for too, so the first is the longest beginning that is its own stem. Of
    `cachi`, for one, the stem of `caching` is `cach`; of all words with one stem there is one.
    """
    kept = begun
    while len(kept) > 1 and stem(kept) != kept:
        kept = kept[:-1]
    found: dict[str, str] = {}
    for word in (begun, *_longer(begun)):
        stemmed = stem(word)
        if not stemmed.startswith(kept):
            found.setdefault(stemmed, word)
    return kept, tuple(found.values())


def _longer(begun: str) -> Iterator[str]:
    """Yield the word with every ending that what is there of it may be the beginning of."""
    for ending in _ENDINGS if begun.isascii() else ():
        for cut in range(len(ending)):
            if begun.endswith(ending[:cut]):
                yield begun + ending[cut:]
