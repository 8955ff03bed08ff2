"""One entry of user memory: its fields, their limits, and its form as a Markdown file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

from muniment.memory.front_matter import FrontMatterFault, read_front_matter
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.strict_yaml import dump

SUFFIX = ".md"
MAX_NAME = 64
MAX_SUMMARY_BYTES = 200
MAX_DETAILS_BYTES = 16_384
MAX_FILE_BYTES = 20_480
NAME_RULE = (
    "lower-case letters and digits, with single hyphens between them, at most 64 characters; not a path"
)
EntryType = Literal["user", "feedback", "project", "reference"]
TYPES: tuple[EntryType, ...] = get_args(EntryType)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_FIELDS = ("name", "type", "summary")


class EntryFault(MunimentError):  # noqa: N818 - a fault of the file
    """A file is no entry; the sentence fits after the file's name."""


class InvalidEntry(InvalidInput):
    """What was given can never be an entry of user memory."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A lasting fact about a user or his work; `details` is the file's text after the front matter."""

    name: str
    type: EntryType
    summary: str
    details: str = ""

    @property
    def has_details(self) -> bool:
        return bool(self.details.strip())


def is_valid_name(text: str) -> bool:
    """Tell whether a text may name an entry."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def check_name(name: str) -> None:
    """Raise `InvalidEntry` for a text that names no entry, quoting the rule."""
    if not is_valid_name(name):
        raise InvalidEntry(
            f'"{ascii(name[:80])[1:-1]}" names no entry of user memory: a name has {NAME_RULE}.'
        )


def check_entry(entry: Entry) -> None:
    """Raise `InvalidEntry` where an entry breaks a rule."""
    check_name(entry.name)
    problem = _problem(entry)
    if problem:
        raise InvalidEntry(f"The {problem}.")


def decode(data: bytes, stem: str) -> Entry:
    """Read an entry from a file's bytes; `stem` is its name without suffix. Raise `EntryFault`."""
    if len(data) > MAX_FILE_BYTES:
        raise EntryFault(f"is larger than {MAX_FILE_BYTES} bytes")
    if not is_valid_name(stem):
        raise EntryFault("has a name that names no entry")
    try:
        fields, details = read_front_matter(data)
    except FrontMatterFault as fault:
        raise EntryFault(str(fault)) from fault
    for name in _FIELDS:
        if name not in fields:
            raise EntryFault(f"lacks the field {name}")
    for name in fields:
        if name not in _FIELDS:
            raise EntryFault(f"has a field {ascii(name)[1:-1][:60]} beside name, type and summary")
    if fields["name"] != stem:
        raise EntryFault(f"has the name {fields['name'][:80]!a} in it, which is not that of the file")
    entry = Entry(stem, cast("EntryType", fields["type"]), fields["summary"], details)
    problem = _problem(entry)
    if problem:
        raise EntryFault(f"is not used: its {problem}")
    return entry


def encode(entry: Entry) -> bytes:
    """Write an entry as the bytes of its file; the details stand there exactly as they are."""
    fields = {"name": entry.name, "type": entry.type, "summary": entry.summary}
    data = b"---\n" + dump(fields) + b"---\n" + entry.details.encode("utf-8")
    if len(data) > MAX_FILE_BYTES:
        raise InvalidEntry(
            f"The entry would be {len(data)} bytes long; at most {MAX_FILE_BYTES} are allowed."
        )
    return data


def _problem(entry: Entry) -> str:
    """Return what is wrong with type, summary or details, as words that begin with the field's name."""
    if entry.type not in TYPES:
        return f"type {str(entry.type)[:40]!a} is not one of: {', '.join(TYPES)}"
    for name, text in (("summary", entry.summary), ("details", entry.details)):
        if "\x00" in text:
            return f"{name} holds a NUL character"
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return f"{name} holds half of a character (a lone surrogate)"
    if not entry.summary.strip():
        return "summary is empty"
    if entry.summary.splitlines() != [entry.summary]:
        return "summary has more than one line"
    for name, text, most in (
        ("summary", entry.summary, MAX_SUMMARY_BYTES),
        ("details", entry.details, MAX_DETAILS_BYTES),
    ):
        size = len(text.encode("utf-8"))
        if size > most:
            return f"{name} has {size} bytes; at most {most} are allowed"
    return ""
