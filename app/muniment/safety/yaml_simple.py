"""The quick way through YAML that is as simple as most records are, in one pass and without the parser.

It knows a single form: keys of lower-case letters at the start of their lines, and as values plain text
that no rule of YAML could take for anything else, quoted text without escapes, literal blocks indented by
two, and lists of such texts. Whatever is not exactly so is left to the parser, which alone decides what is
a fault.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.safety.strict_yaml import Value

# No line breaks of any kind, no controls, no marks of order: those are for the parser to judge. The classes
# exclude what lies below U+00A1; what is excluded above stands apart, since wide classes compile for long.
_WRONG = ("\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff")
_REST = r"[^\x00-\x1f#:\x7f-\xa0]*"
_PLAIN = rf"[^\x00-/:-@\[-`{{-\xa0]{_REST}(?::(?=[^\x00-\x20\x7f-\xa0]){_REST})*(?<! )"
_QUOTED = r'[^\x00-\x1f"\\\x7f-\xa0]*'
_LINE = r"[^\x00-\x08\x0a-\x1f\x7f-\xa0]*"
_ENTRY = (
    rf'([a-z_][a-z0-9_]{{0,60}}):(?: ({_PLAIN})| "({_QUOTED})"| (\[\])'
    rf"| \|(-?)\n  ([^\x00-\x20\x7f-\xa0]{_LINE}(?:\n(?:  {_LINE})?)*)"
    rf'|((?:\n- (?:{_PLAIN}|"{_QUOTED}"))+))\n'
)


@cache
def _entry() -> re.Pattern[str]:
    """Compile when the first text is read: many a command reads none."""
    return re.compile(_ENTRY)


def read_simple(raw: bytes) -> dict[str, Value] | None:
    """Return the fields of a simple text; None where it is anything else, right or wrong."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text.isascii() and any(wrong in text for wrong in _WRONG):
        return None
    fields: dict[str, Value] = {}
    at, end, match = 0, len(text), _entry().match
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        key, plain, quoted, empty, strip, block, items = found.groups()
        if key in fields:
            return None
        if plain is not None:
            fields[key] = plain
        elif items is not None:
            fields[key] = [item if item[0] != '"' else item[1:-1] for item in items[3:].split("\n- ")]
        elif quoted is not None:
            fields[key] = quoted
        elif block is not None:
            lines = block.replace("\n  ", "\n").rstrip("\n")
            fields[key] = lines if strip else lines + "\n"
        elif empty is not None:
            fields[key] = []
        at = found.end()
    return fields or None
