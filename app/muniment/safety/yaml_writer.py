"""Writing YAML so that every reader, of version 1.1 or 1.2, gets back exactly the text that was given.

Plain where nothing can be misread, a literal block where text has several lines and the block is exact, else
double quotes with escapes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from muniment.safety.errors import InvalidInput

_LONG_KEY = 120
"""A key longer than this is written in the explicit form; a short one may have at most 1,024 characters."""

_PLAIN_TAIL = r"[^\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
_PLAIN = re.compile(rf"[^\W\d_]{_PLAIN_TAIL}*(?: +{_PLAIN_TAIL}+)*")
_MISREAD_INSIDE = re.compile(r":(?=\s|$)|\s#")
_RESOLVED = frozenset(
    ("y", "n", "yes", "no", "true", "false", "on", "off", "null", "none", "nil", "nan", "inf", "infinity")
)
# What a reader may take for a number, a truth, nothing or a time: the only texts that lose by quotes.
_READ_AS_MORE = re.compile(r"~|[-+]?\.?[A-Za-z0-9_][A-Za-z0-9_.+:-]*(?: [0-9+-][0-9:.+Z-]*)*")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?")
_NOT_LITERAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_BRACKETS = re.compile(r"[\[\]{},]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


class Plain(str):
    """A text that stood without quotes where it was read, and goes back so: a number stays one for others."""

    __slots__ = ()


def dump(fields: Mapping[str, Any], *, plain: Collection[str] = ()) -> bytes:
    """Write a mapping of text, lists, mappings and None as UTF-8; keys keep their order.

    `plain` names top-level keys whose value is a time and stands without quotes. Raise `InvalidInput` for
    half a surrogate pair, which no file can hold.
    """
    lines: list[str] = []
    for key, value in fields.items():
        if key in plain and isinstance(value, str) and _TIME.fullmatch(value):
            lines.append(f"{_scalar(key)}: {value}")
        else:
            _entry(lines, "", key, value)
    text = "\n".join(lines) + "\n" if lines else "{}\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "The text holds half of a surrogate pair, which cannot be stored; remove it."
        ) from error


def scalar(text: str, *, inside_brackets: bool = False) -> str:
    """Write one text as a scalar on one line, plain where that is safe everywhere."""
    if inside_brackets and _BRACKETS.search(text):
        return _quoted(text)
    return _scalar(text)


def _entry(lines: list[str], indent: str, key: str, value: Any) -> None:
    name = _scalar(key)
    if len(name) > _LONG_KEY:
        lines.append(f"{indent}? {name}")
        head = f"{indent}:"
    else:
        head = f"{indent}{name}:"
    _value(lines, indent, head, value, list_indent=indent)


def _value(lines: list[str], indent: str, head: str, value: Any, *, list_indent: str) -> None:
    """Append `head` and its value; lines stand below `indent`, items of a list at `list_indent`."""
    if value is None:
        lines.append(head)
    elif isinstance(value, Plain) and _READ_AS_MORE.fullmatch(value) and not _MISREAD_INSIDE.search(value):
        lines.append(f"{head} {value}")
    elif isinstance(value, str):
        lines.append(f"{head} {_text(value, indent + '  ')}")
    elif isinstance(value, Mapping):
        if not value:
            lines.append(f"{head} {{}}")
            return
        lines.append(head)
        for key, each in value.items():
            _entry(lines, indent + "  ", key, each)
    else:
        if not value:
            lines.append(f"{head} []")
            return
        lines.append(head)
        for each in value:
            _item(lines, list_indent, each)


def _item(lines: list[str], indent: str, value: Any) -> None:
    if isinstance(value, Mapping) and value:
        at = len(lines)
        for key, each in value.items():
            _entry(lines, indent + "  ", key, each)
        lines[at] = f"{indent}- {lines[at][len(indent) + 2 :]}"
    elif isinstance(value, (list, tuple)) and value:
        at = len(lines)
        for each in value:
            _item(lines, indent + "  ", each)
        lines[at] = f"{indent}- {lines[at][len(indent) + 2 :]}"
    else:
        _value(lines, indent, f"{indent}-", value, list_indent=indent)


def _text(text: str, indent: str) -> str:
    """Write a text value; the lines of a block stand at `indent`."""
    if "\n" not in text or _NOT_LITERAL.search(text) or not text.strip():
        return _scalar(text)
    head = "|" if text[0] not in " \t\n" else "|2"
    body = text
    if text.endswith("\n\n") or text == "\n":
        head += "+"
        body = text[:-1]
    elif text.endswith("\n"):
        body = text[:-1]
    else:
        head += "-"
    return head + "\n" + "\n".join(indent + line if line else "" for line in body.split("\n"))


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _RESOLVED and not _MISREAD_INSIDE.search(text):
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
