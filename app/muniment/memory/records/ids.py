"""Identifiers of records: their rule, how one is derived from a title, and how a taken one is avoided.

Here too is what their files are called and how large they may be, for those who look at files unread.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

SUFFIX = ".yaml"
MAX_RECORD_BYTES = 1_048_576
MAX_ID = 64
ID_RULE = "lower-case letters, digits and hyphens, not starting with a hyphen, at most 64 characters"
_VALID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_WORD = re.compile(r"[a-z0-9]+", re.ASCII)
_FALLBACK_LENGTH = 12

# Latin letters that no Unicode decomposition takes apart although every reader knows their plain form.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)


def is_valid_id(text: str) -> bool:
    """Tell whether a text may be the identifier of a record."""
    return _VALID.fullmatch(text) is not None


def derive_id(title: str) -> str:
    """Derive an identifier from a title: its words without accents, joined by hyphens, cut at 64.

    A title that leaves no a-z or 0-9 gets a short hash of itself, so that it is stable and never empty.
    """
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", title).casefold())
    bare = "".join(ch for ch in decomposed if not unicodedata.combining(ch)).translate(_PLAIN)
    words = "-".join(_WORD.findall(bare))[:MAX_ID].rstrip("-")
    if words:
        return words
    settled = unicodedata.normalize("NFC", title).strip()
    return hashlib.sha256(settled.encode("utf-8", "surrogatepass")).hexdigest()[:_FALLBACK_LENGTH]


def free_id(stem: str, taken: Callable[[str], bool]) -> str:
    """Return the stem, or where it is taken the stem with the first free suffix from `-2` on, within 64."""
    if not taken(stem):
        return stem
    number = 2
    while True:
        suffix = f"-{number}"
        candidate = stem[: MAX_ID - len(suffix)].rstrip("-") + suffix
        if not taken(candidate):
            return candidate
        number += 1
