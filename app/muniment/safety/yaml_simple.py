"""The quick way through YAML that is as simple as most records are, in one pass and without the parser.

It knows a single form: keys of lower-case letters at the start of their lines, and as values plain text
that no rule of YAML could take for anything else, quoted text without escapes, literal blocks indented by
two, and lists of such texts. Whatever is not exactly so is left to the parser, which alone decides what is
a fault.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.safety.strict_yaml import Value

# No line breaks of any kind, no controls, no marks of order: those are for the parser to judge.
_WIDE = "\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_PLAIN = rf'[A-Za-z0-9{_WIDE}][ -"$-9;-~{_WIDE}]*(?::(?=[!-~{_WIDE}])[ -"$-9;-~{_WIDE}]*)*(?<! )'
_QUOTED = rf"[ !#-\[\]-~{_WIDE}]*"
_LINE = rf"[ -~\t{_WIDE}]*"
_ENTRY = re.compile(
    rf'([a-z_][a-z0-9_]{{0,60}}):(?: ({_PLAIN})| "({_QUOTED})"| (\[\])'
    rf"| \|(-?)\n  ([!-~{_WIDE}]{_LINE}(?:\n(?:  {_LINE})?)*)"
    rf'|((?:\n- (?:{_PLAIN}|"{_QUOTED}"))+))\n'
)


def read_simple(raw: bytes) -> dict[str, Value] | None:
    """Return the fields of a simple text; None where it is anything else, right or wrong."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    fields: dict[str, Value] = {}
    at, end, match = 0, len(text), _ENTRY.match
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
