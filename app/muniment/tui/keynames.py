"""How keys are written for people: F1, ^P, Esc, Enter, /."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = {
    "slash": "/",
    "backslash": "\\",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "minus": "-",
    "question_mark": "?",
    "comma": ",",
    "full_stop": ".",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "escape": "Esc",
    "esc": "Esc",
    "enter": "Enter",
    "⏎": "Enter",
    "space": "Space",
    "tab": "Tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "delete": "Del",
    "home": "Home",
    "end": "End",
    "backspace": "Backspace",
}


def key_name(key: str) -> str:
    """Return a key as people write it: `ctrl+p` and `^p` as ^P, `slash` as /, `f1` as F1."""
    if len(key) == 2 and key[0] == "^":
        return key.upper()
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    if modifiers == ["ctrl"] and len(last) == 1:
        return f"^{last.upper()}"
    if re.fullmatch(r"f\d{1,2}", last, re.IGNORECASE):
        last = last.upper()
    return "+".join([*(each.capitalize() for each in modifiers), _NAMES.get(last.casefold(), last)])


def cell(keys: Iterable[str]) -> str:
    """Return keys as code in a cell of a Markdown table; no key can end the cell."""
    return " ".join("`` ` ``" if key == "`" else f"`{key}`".replace("|", "\\|") for key in keys)
