"""A Markdown file's front matter: text fields between two rule lines, and the body after them untouched."""

from __future__ import annotations

import re

from muniment.safety.errors import MunimentError
from muniment.safety.strict_yaml import YamlFault, load_marked

_RULE = re.compile(rb"---[ \t]*\r?(?:\n|\Z)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_TEXT = re.compile(
    r"~|null|true|false|yes|no|on|off"
    r"|[-+]?(?:0b[01_]+|0x[0-9a-f_]+|0o[0-7_]+|\d[\d_]*(?::[0-5]?\d)*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[-+]?\d+)?"
    r"|[-+]?\.inf|\.nan"
    r"|\d{4}-\d\d?-\d\d?(?:(?:t|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?[ \t]*(?:z|[-+]\d\d?(?::?\d\d)?)?)?",
    re.IGNORECASE,
)
"""Unquoted words that other readers of YAML take for a number, a truth value, nothing or a time."""


class FrontMatterFault(MunimentError):  # noqa: N818 - a fault of the file
    """A file has no usable front matter; the sentence fits after the file's name."""


def read_front_matter(data: bytes) -> tuple[dict[str, str], str]:
    """Return the fields and the body of a file; lines in faults count from the start of the file."""
    header, body = split_front_matter(data)
    if header is None:
        raise FrontMatterFault("does not begin with front matter (a line of three hyphens)")
    return _fields(header), body


def split_front_matter(data: bytes) -> tuple[bytes | None, str]:
    """Return the lines between the two rules, None where a file begins without one, and the body."""
    if b"\x00" in data:
        raise FrontMatterFault("holds a NUL character")
    rest = data.removeprefix(_BYTE_ORDER_MARK)
    header: bytes | None = None
    opening = _RULE.match(rest)
    if opening is not None:
        at = opening.end()
        closing = next(
            (match for match in _RULE.finditer(rest, at) if _begins_line(rest, match.start())), None
        )
        if closing is None:
            raise FrontMatterFault("has front matter that is never closed by a line of three hyphens")
        header, rest = rest[at : closing.start()], rest[closing.end() :]
    try:
        return header, rest.decode("utf-8")
    except UnicodeDecodeError:
        raise FrontMatterFault("is not UTF-8") from None


def _begins_line(data: bytes, at: int) -> bool:
    return at == 0 or data[at - 1 : at] == b"\n"


def _fields(header: bytes) -> dict[str, str]:
    try:
        # The empty line stands for the opening rule, so that faults name the right line.
        value, marks = load_marked(b"\n" + header)
    except YamlFault as fault:
        raise FrontMatterFault(f"has unreadable front matter, {fault}") from fault
    if not isinstance(value, dict):
        raise FrontMatterFault("has front matter without fields")
    fields: dict[str, str] = {}
    for key, text in value.items():
        plain = not marks.is_quoted((key,))
        if not isinstance(text, str) or (plain and _NO_TEXT.fullmatch(text)):
            raise FrontMatterFault(f"has a field {ascii(key)[1:-1][:60]} that is not text; quote it")
        fields[key] = text
    return fields
