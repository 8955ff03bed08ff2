"""What a reviewer should look at twice: secrets, look-alikes, hidden text, orders, commands, addresses.

Findings are hints for a person's eyes. They decide nothing, and none of them is a promise that nothing is
wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from muniment.safety.emoji import EMOJI
from muniment.safety.orders import commands, orders
from muniment.safety.visible import IN_WORDS, exact_line, is_hidden

Kind = Literal["secret", "mixed-scripts", "hidden-characters", "orders", "command", "url"]
_PADDING_LINES = 20
_PADDING_SPACES = 40


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding with its place in the text; `text` names what was found, for a secret only its kind."""

    kind: Kind
    text: str
    start: int
    end: int


_WORD = re.compile(r"[^\W\d_]{2,}")
_URL = re.compile(r"\b(?:https?|ftp|ftps|wss?|ssh|git)://[^\s<>\"'`\\)\]}]+", re.IGNORECASE)
_PADDING = re.compile(
    rf"\n(?:[^\S\n]*\n){{{_PADDING_LINES},}}(?=[^\S\n]*\S)| {{{_PADDING_SPACES},}}(?=[^\S\n]*\S)"
)
_WHOLE = re.compile(f"{EMOJI}|{IN_WORDS}")
_EASILY_SWAPPED_GREEK = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχϲϳ")


def findings(text: str) -> list[Finding]:
    """Return all findings of a text, in the order of their places."""
    found = [*_secrets(text), *_orders(text), *_urls(text), *_padding(text)]
    if not text.isascii():
        found += _mixed_scripts(text)
    hidden = _hidden(text)
    if hidden is not None:
        found.append(hidden)
    return sorted(found, key=lambda each: (each.start, each.end, each.kind))


def warnings_for(fields: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return `(kind, one line, place)` for the reviewer; `fields` are pairs of a label and its text.

    Several findings of one kind in one field are one line. The line may quote the text: escape it like any
    other.
    """
    lines: list[tuple[str, str, str]] = []
    for place, text in fields:
        by_kind: dict[str, list[Finding]] = {}
        for each in findings(text):
            by_kind.setdefault(each.kind, []).append(each)
        for kind, group in by_kind.items():
            names = list(dict.fromkeys(each.text for each in group))
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            line = text.count("\n", 0, group[0].start) + 1
            where = f" (line {line})" if "\n" in text.rstrip("\n") else ""
            lines.append((kind, f"{_SAYS[group[0].kind]}: {names[0]}{more}{where}", place))
    return lines


_SAYS: dict[Kind, str] = {
    "secret": "looks like a secret",
    "mixed-scripts": "letters of different scripts in one word",
    "hidden-characters": "hidden characters",
    "orders": "reads like an order to a model",
    "command": "names a command to run",
    "url": "names an address to fetch",
}


def _secrets(text: str) -> Iterator[Finding]:
    from muniment.safety.secret_formats import find_secrets

    for name, start, end in find_secrets(text):
        yield Finding("secret", name, start, end)


def _orders(text: str) -> Iterator[Finding]:
    for match in orders().finditer(text):
        yield Finding("orders", _quote(match[0]), *match.span())
    for match in commands().finditer(text):
        yield Finding("command", _quote(match[0]), *match.span())


def _urls(text: str) -> Iterator[Finding]:
    for match in _URL.finditer(text):
        yield Finding("url", _quote(match[0].rstrip(".,;:!?")), *match.span())


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else line[:99] + "…"


def _padding(text: str) -> Iterator[Finding]:
    """Text pushed out of sight by emptiness: only where something follows it."""
    for match in _PADDING.finditer(text):
        count = match[0].count("\n")
        what = (
            f"{count - 1} blank lines before more text"
            if count
            else f"{len(match[0])} spaces before more text"
        )
        yield Finding("hidden-characters", what, *match.span())


def _hidden(text: str) -> Finding | None:
    if text.isascii() and text.isprintable():
        return None
    kept = {at for match in _WHOLE.finditer(text) for at in range(*match.span())}
    places = [at for at, each in enumerate(text) if at not in kept and is_hidden(each)]
    if not places:
        return None
    names = list(dict.fromkeys(f"U+{ord(text[at]):04X}" for at in places))
    listed = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    return Finding("hidden-characters", f"{len(places)} ({listed})", places[0], places[-1] + 1)


def _mixed_scripts(text: str) -> Iterator[Finding]:
    """Words that mix letters of scripts which look alike.

    Han, kana and Hangul may stand beside Latin letters, and Greek letters in a Latin word count only where
    one of them can be taken for a Latin one: units and formulas write `μm` and `Δt`.
    """
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        scripts = {script for script in map(_script, word) if script}
        if len(scripts) < 2:
            continue
        if scripts == {"LATIN", "GREEK"} and not _EASILY_SWAPPED_GREEK.intersection(word):
            continue
        named = " and ".join(sorted(each.capitalize() for each in scripts))
        yield Finding("mixed-scripts", f"{exact_line(word[:60]).text} ({named})", *match.span())


_ALIKE = frozenset(
    ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "FULLWIDTH")
)


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    first = unicodedata.name(character, "").split(" ", 1)[0]
    return first if first in _ALIKE and unicodedata.category(character) != "Lm" else ""
