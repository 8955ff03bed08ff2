"""The stem of a word, the same as the index's own tokenizer makes, so that both count the same words."""

from __future__ import annotations

from functools import lru_cache

_MAX_BYTES = 64
_VOWELS = frozenset("aeiou")

_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    "al",
    "ance",
    "ence",
    "er",
    "ic",
    "able",
    "ible",
    "ant",
    "ement",
    "ment",
    "ent",
    "sion",
    "tion",
    "ou",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the Porter stem of a folded word; words under 3 or over 64 bytes stay as they are."""
    if len(word) < 3:
        return word if word.isascii() else _by_bytes(word)
    if not word.isascii():
        return _by_bytes(word)
    if len(word) > _MAX_BYTES:
        return word
    return _stem(word)


def candidate_prefix(stemmed: str) -> str:
    """Return what every word with this stem begins with."""
    if len(stemmed) > 1 and stemmed[-1] in "iel":
        return stemmed[:-1]
    return stemmed


def _by_bytes(word: str) -> str:
    raw = word.encode("utf-8", "replace")
    if not 3 <= len(raw) <= _MAX_BYTES:
        return word
    return _stem(raw.decode("latin-1")).encode("latin-1").decode("utf-8", "replace")


def _stem(word: str) -> str:
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2)
    word = _replace(word, _STEP_3)
    word = _drop(word)
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _short_end(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            if not _has_vowel(base):
                return word
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if len(base) > 1 and base[-1] == base[-2] and _consonant(base, len(base) - 1):
                return base if base[-1] in "lsz" else base[:-1]
            if _measure(base) == 1 and _short_end(base):
                return base + "e"
            return base
    return word


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, other in rules:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + other if _measure(base) > 0 else word
    return word


def _drop(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            cut = 3 if ending in ("sion", "tion") else len(ending)
            base = word[:-cut]
            return base if _measure(base) > 1 else word
    return word


def _consonant(word: str, at: int) -> bool:
    ch = word[at]
    if ch in _VOWELS:
        return False
    return ch != "y" or at == 0 or not _consonant(word, at - 1)


def _has_vowel(word: str) -> bool:
    return any(not _consonant(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """Count how often a vowel is followed by a consonant."""
    count = 0
    after_vowel = False
    for at in range(len(word)):
        if not _consonant(word, at):
            after_vowel = True
        elif after_vowel:
            count += 1
            after_vowel = False
    return count


def _short_end(word: str) -> bool:
    """Tell whether a word ends in consonant, vowel, consonant other than w, x and y."""
    last = len(word) - 1
    return (
        last >= 2
        and _consonant(word, last)
        and not _consonant(word, last - 1)
        and _consonant(word, last - 2)
        and word[last] not in "wxy"
    )
