"""What a text is made of, for indexing and for searching alike: folded words, one per CJK character.

`spread` prepares a text for the index's tokenizer, `code_words` adds what the tokenizer would lose of
identifiers, and `analyse` returns the words that both come to. Accents, case, width and composition make no
difference; characters of scripts that are written without blanks stand alone, so that a run of them is
found as a phrase; words of different scripts glued together are parted; invisible characters vanish.
"""

from __future__ import annotations

import re
import unicodedata

from muniment.memory.recall.stem import stem
from muniment.safety.pattern import LazyPattern

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
"""How FTS5 cuts a spread text. Marks belong to words, since those that may be dropped are dropped before."""

ANALYSIS = f"1/{unicodedata.unidata_version}"
"""Names this way of analysing; an index made by another one cannot be kept."""

# Ideographs, kana, bopomofo, Yi and Hangul: each character is a word.
_SINGLES = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua48c\uac00-\ud7a3\uf900-\ufaff\U00016fe0-\U00018d08\U0001aff0-\U0001b2fb\U00020000-\U000323af"
)
# Thai, Lao, Myanmar and Khmer: a base character with its marks is a word.
_BASES = (
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u1780-\u17b3"
)
_BASE_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u17dd"
)
ALONE = f"[{_SINGLES}]|[{_BASES}][{_BASE_MARKS}]*"

# Accents, vowel points, and characters that are not seen at all.
_IGNORED = LazyPattern(
    "[\u00ad\u034f\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u115f\u1160"
    "\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ŧ": "t"})
_ALONE = LazyPattern(ALONE)
_GLUED = LazyPattern(
    "(?<=[0-9a-z])(?=[^\\W0-9a-z_\u0080-\u024f])|(?<=[^\\W0-9a-z_\u0080-\u024f])(?=[0-9a-z])"
)
RAW_WORDS = LazyPattern(
    f"{ALONE}|[^\\W_{_SINGLES}{_BASES}](?:[^\\W_{_SINGLES}{_BASES}]|[\u0300-\u1cff]|{_IGNORED.pattern[:-1]})*"
)
"""Words of a text as it stands, with the accents that follow their letters."""
_WORDS = LazyPattern(f"{ALONE}|[^\\W_{_SINGLES}{_BASES}]+(?:[^\\W_{_SINGLES}{_BASES}]|[\u0300-\u1cff])*")
_ASCII_WORDS = (
    "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128)).encode().ljust(256)
)
"""For each character of ASCII what it is in a word, a blank for those that part words."""

_SHAPE = bytes(
    0x41 if 65 <= code <= 90 else 0x61 if 97 <= code <= 122 or 48 <= code <= 57 else 0x20
    for code in range(256)
)
_NAMES = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{3,64}(?![A-Za-z0-9])")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
HUMP = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
"""The parts of a name such as `dataStore2`."""
CODE_NAMES = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,40}\+\+|[A-Za-z]#(?![A-Za-z0-9]))")


def fold(text: str) -> str:
    """Return a text without accents, case, width, composition and invisible characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = _IGNORED.sub("", unicodedata.normalize("NFKD", plain))
    return unicodedata.normalize("NFC", plain.translate(_LETTERS))


def spread(text: str) -> str:
    """Return a text as the index's tokenizer is to see it; plain ASCII is left to the tokenizer whole."""
    if text.isascii():
        return text
    return _GLUED.sub(" ", _ALONE.sub(r" \g<0> ", fold(text)))


def code_words(text: str) -> str:
    """Return the words in a text's identifiers that its plain words hide, such as `store` in `dataStore`.

    `C++` and `C#` become words of their own, so that they differ from `C`.
    """
    found: list[str] = []
    if text.isascii():
        # Most text has none; two passes in C settle that.
        shape = text.encode().translate(_SHAPE)
        humped = b"aA" in shape or b"AAa" in shape
    else:
        humped = True
    if humped:
        for name in _NAMES.findall(text):
            if _HUMPED.search(name):
                found += HUMP.findall(name)
    if "++" in text or "#" in text:
        found += [code_name(name) for name in CODE_NAMES.findall(text)]
    return " ".join(found)


def code_name(name: str) -> str:
    """Return the one word that stands for a name such as `C++` or `C#`."""
    return name.lower().replace("+", "plus").replace("#", "sharp")


def words_of(text: str) -> list[str]:
    """Return a text's folded words in order, unstemmed."""
    if text.isascii():
        # Seven times as fast as a search for each word.
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return _WORDS.findall(spread(text))


def analyse(text: str) -> list[str]:
    """Return the words that a text is indexed and searched by, in order: folded and stemmed."""
    return [stem(word) for word in words_of(text)]
