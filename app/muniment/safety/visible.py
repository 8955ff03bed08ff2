"""Hidden and controlling characters made visible, for everything that reaches a screen or a terminal.

The *reading* form leaves text as it is and turns only what hides or controls into escapes. The *exact*
forms are injective: two different texts never look the same, and nothing that cannot be seen is shown as
itself.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from muniment.safety.emoji import EMOJI, PICTOGRAPH
from muniment.safety.pattern import LazyPattern

LONGEST_PLAIN_RUN = 3
"""Longer runs of spaces or of blank lines are shown as a counted mark in the exact forms."""
_TAB_STOP = 4
_MOST_MARKS = 4
"""Combining marks beyond these on one letter are escaped: they would draw over the lines around."""

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
"""What no reader can see or what steers the terminal; line breaks and tabs are judged by each form."""

_JOINING_SCRIPTS = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06e1-\u06ef\u06fa-\u06ff\u0710-\u074a\u0750-\u077f\u07ca-\u07f5"
    "\u0870-\u08e1\u08e3-\u08ff"  # Arabic, Syriac, N'Ko
    "\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa"  # Indic, Burmese, Khmer, Mongolian
)
_VIRAMAS = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
IN_WORDS = (
    f"(?<=[{_JOINING_SCRIPTS}])[\u200c\u200d](?=[{_JOINING_SCRIPTS}])"
    f"|(?<=[{_VIRAMAS}])[\u200c\u200d]"
    "|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]"
    f"|(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
)
"""Joiners and selectors that their scripts need inside words."""

_ANY_HIDDEN = re.compile(f"[{_HIDDEN}\t]")
_HIDDEN_ONE = LazyPattern(f"[{_HIDDEN}]")
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_READING = LazyPattern(f"(?P<keep>{EMOJI}|{IN_WORDS})|\r\n|[{_HIDDEN}]")

_SEEN_LETTERS = (
    "\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u0620-\u064a"
    "\u0904-\u0939\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\u2010-\u2027\u2030-\u205e"
)
"""Ranges in which every character can be seen: skipped without asking for each."""
_RUN = LONGEST_PLAIN_RUN + 1
_ODD = f"[^\x20-\x7e{_SEEN_LETTERS}]"
_LINE_TOKEN = LazyPattern(f'(?P<keep>{EMOJI})|(?P<spaces> {{{_RUN},}})|[\\\\"]|{_ODD}')
_BLOCK_TOKEN = LazyPattern(
    f"(?P<keep>{EMOJI})|(?P<spaces> {{{_RUN},}}| +(?=\n|\\Z))"
    f"|(?:(?<=\n)|\\A)(?P<blank>\n{{{_RUN},}})|\n|\\\\|{_ODD}"
)
_ODD_SPACES = frozenset("\u00a0\u1680\u202f\u205f\u3000\u2800") | frozenset(map(chr, range(0x2000, 0x200B)))


@dataclass(frozen=True, slots=True)
class Visible:
    """A text ready to be shown; `spans` are the places of escapes and marks in it, for the warning colour."""

    text: str
    spans: tuple[tuple[int, int], ...]
    hidden: int
    """How many hidden characters the original holds."""


def reading(text: str) -> str:
    """Return text as it is, with hidden and controlling characters as escapes and tabs as spaces.

    Whole emoji and the joiners inside words of scripts that need them stay; line breaks stay.
    """
    if not _ANY_HIDDEN.search(text):
        return text
    text = _READING.sub(_read_one, text)
    return text.expandtabs(_TAB_STOP) if "\t" in text else text


def reading_line(text: str) -> str:
    """Return the reading form on one line: a line break becomes `\\n`."""
    return reading(text).replace("\n", "\\n")


def copyable(text: str) -> str:
    """Return text as it may leave for a clipboard: as it is, tabs included, but for what acts in a terminal.

    Control codes become escapes, since whoever pastes into a terminal would have them carried out; line
    breaks become plain ones. What only hides is kept, because code may need it.
    """
    text = clean_surrogates(text.replace("\r\n", "\n"))
    return _ACTS.sub(lambda match: escape(match[0]), text)


def exact_line(text: str) -> Visible:
    """Return a text on one line in double quotes, with nothing hidden; injective."""
    shown = _exact(text, _LINE_TOKEN)
    spans = tuple((start + 1, end + 1) for start, end in shown.spans)
    return Visible(f'"{shown.text}"', spans, shown.hidden)


def exact_block(text: str) -> Visible:
    """Return a text whose line breaks are lines, with nothing else hidden; injective.

    Long runs of spaces, spaces at the end of a line and long runs of blank lines are counted marks, which no
    other text can imitate because a backslash of its own is always doubled.
    """
    return _exact(text, _BLOCK_TOKEN)


def is_hidden(character: str) -> bool:
    """Tell whether one character hides or steers when it stands alone; odd spaces and line breaks do not."""
    return _HIDDEN_ONE.match(character) is not None


def clean_surrogates(text: str) -> str:
    """Join surrogate pairs that arrived as halves and replace lone halves by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")  # ten times as fast as a search for what it cannot hold
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def escape(character: str) -> str:
    """Return the escape of one character: `\\x1b`, `\\u202e`, `\\U000e0041`."""
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _read_one(match: re.Match[str]) -> str:
    if match["keep"] is not None:
        return match[0]
    return "\n" if match[0] == "\r\n" else escape(match[0])


def _exact(text: str, token: LazyPattern) -> Visible:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    hidden = at = size = 0
    for match in token.finditer(text):
        start, end = match.span()
        groups = match.groupdict()
        found = match[0]
        warn = True
        tail = ""
        if groups["keep"] is not None:
            continue
        if groups["spaces"] is not None:
            shown = f"\\{{{_count(len(found), 'space')}}}"
        elif groups.get("blank") is not None:
            shown = f"\\{{{_count(len(found), 'blank line')}}}"
            tail = "\n"
        elif found in '\\"':
            shown, warn = "\\" + found, False
        elif found == "\n" and token is _BLOCK_TOKEN:
            continue
        elif found in "\n\t":
            shown = _SHORT[found]
        elif _is_seen(found, text, start):
            continue
        else:
            shown = escape(found)
            hidden += 1
        before = text[at:start]
        parts.append(before)
        size += len(before)
        if warn:
            spans.append((size, size + len(shown)))
        parts.append(shown + tail)
        size += len(shown) + len(tail)
        at = end
    if not at:
        return Visible(text, (), 0)
    parts.append(text[at:])
    return Visible("".join(parts), tuple(spans), hidden)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _is_seen(character: str, text: str, at: int) -> bool:
    """Tell whether a character outside the plain ranges shows itself in the exact forms."""
    if _HIDDEN_ONE.match(character) or character in _ODD_SPACES:
        return False
    category = unicodedata.category(character)
    if category[0] == "M":
        return _has_base(text, at)
    if category == "Cn":
        # Newer pictographs and ideographs than this Python knows are drawn all the same.
        return PICTOGRAPH.match(character) is not None or 0x20000 <= ord(character) < 0x40000
    # Of the format characters only those that draw something, such as the Arabic number sign, are left here.
    return category not in ("Co", "Cs", "Cc", "Zs", "Zl", "Zp") and (
        category != "Cf" or character in _SEEN_FORMAT
    )


_SEEN_FORMAT = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


def _has_base(text: str, at: int) -> bool:
    """Tell whether a combining mark stands on a character that is shown as itself."""
    for back in range(1, _MOST_MARKS + 2):
        if at < back:
            return False
        base = text[at - back]
        if unicodedata.category(base)[0] == "M" and not _HIDDEN_ONE.match(base):
            continue
        if base in '\\"':
            return False  # shown doubled, so the mark would stand on something that is not in the text
        return _is_seen(base, text, at - back)
    return False
