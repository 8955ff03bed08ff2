"""The stem of a word, the same as the index's own tokenizer makes, so that both count the same words."""

from __future__ import annotations

from collections.abc import Callable

_MAX_BYTES = 64
_MAX_KNOWN = 65_536
"""So many words are remembered with their stems; then all are forgotten."""
_VOWELS = frozenset("aeiou")
_SHAPES = "".join("v" if chr(code) in _VOWELS else "c" for code in range(256))
"""For each character of a word whether it is a vowel or not; of `y` that depends on what is before it."""

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


_ENDS_2 = tuple(ending for ending, _ in _STEP_2)
_ENDS_3 = tuple(ending for ending, _ in _STEP_3)


class _Stems(dict[str, str]):
    """The stems of the words that were met, the same ones again and again."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        self[word] = found = _stem_of(word)
        return found


stem: Callable[[str], str] = _Stems().__getitem__
"""Return the Porter stem of a folded word; words under 3 or over 64 bytes stay as they are."""


def _stem_of(word: str) -> str:
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
    if word[-1] == "s":
        word = _singular(word)
    if word.endswith(("ed", "ing")):
        word = _present(word)
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    if word.endswith(_ENDS_2):
        word = _replace(word, _STEP_2)
    if word.endswith(_ENDS_3):
        word = _replace(word, _STEP_3)
    if word.endswith(_STEP_4):
        word = _drop(word)
    if word[-1] == "e":
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _short_end(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _singular(word: str) -> str:
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _present(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    base = word[: -len("ed" if word.endswith("ed") else "ing")]
    if not _has_vowel(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and _shape(base)[-1] == "c":
        return base if base[-1] in "lsz" else base[:-1]
    if _measure(base) == 1 and _short_end(base):
        return base + "e"
    return base


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


def _shape(word: str) -> str:
    """Return a word as consonants and vowels; `y` is a vowel behind a consonant."""
    shape = word.translate(_SHAPES)
    if "y" in word:
        kinds = list(shape)
        for at in range(1, len(word)):
            if word[at] == "y" and kinds[at - 1] == "c":
                kinds[at] = "v"
        return "".join(kinds)
    return shape


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _measure(word: str) -> int:
    """Count how often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _short_end(word: str) -> bool:
    """Tell whether a word ends in consonant, vowel, consonant other than w, x and y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
