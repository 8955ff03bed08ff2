"""The settings as rows for a person: what each is and may be, where it came from, when it takes effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from muniment.safety.schema import INVALID, Choice, Fields, Flag, Items, Key, Report, Shape
from muniment.safety.strict_yaml import Marks
from muniment.settings.keymap import Keymap
from muniment.settings.shape import SETTINGS
from muniment.settings.values import Settings

ORDER = ("tui", "approval", "retrieval", "notes", "knowledge", "notebooks", "episodes", "model", "fence")
"""Sections in the order in which people look for them."""
_AT_ONCE = {
    "tui.theme": "at once",
    "tui.panel_width": "at once",
    "tui.animations": "at once",
    "tui.keymap": "at once",
    "approval.quiet_seconds": "with the next dialog",
}
_LATER = "with the next session (/new)"


@dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    key: str
    """Dotted: `retrieval.top_k`."""
    section: str
    """Heading of its group."""
    value: Any
    origin: str
    help: str
    shape: Shape

    @property
    def label(self) -> str:
        return self.key.partition(".")[2].replace(".", " ").replace("_", " ")

    @property
    def shown(self) -> str:
        """The value in words."""
        return shown(self.value)

    @property
    def when(self) -> str:
        """When a change takes effect."""
        return _AT_ONCE.get(self.key, _LATER)

    @property
    def allowed(self) -> str:
        return self.shape.allowed()

    @property
    def kept(self) -> bool:
        """Whether the settings file gives this value."""
        return self.origin not in ("default", "flag", "recipe") and not self.origin.startswith("environment")

    @property
    def overruled(self) -> str:
        """What else gives the value, so that the file does not count; empty where it does."""
        return self.origin if self.origin in ("flag", "recipe") or self.origin.startswith("env") else ""

    def place(self, file: str) -> str:
        """Where the value came from, the settings file by its line only."""
        return f"line {self.origin[len(file) + 1 :]}" if self.origin.startswith(f"{file}:") else self.origin


def rows(settings: Settings) -> tuple[Row, ...]:
    """Return every setting, section by section."""
    values = {key: (value, origin) for key, value, origin in settings.leaves()}
    found: list[Row] = []
    for name in sorted(SETTINGS.keys, key=lambda each: ORDER.index(each) if each in ORDER else len(ORDER)):
        section = SETTINGS.keys[name]
        heading = f"{section.help[:1].upper()}{section.help[1:]}"
        for dotted, key in _leaves(name, section):
            if dotted in values:
                value, origin = values[dotted]
                found.append(Row(dotted, heading, value, origin, key.help, key.shape))
    return tuple(found)


def _leaves(prefix: str, key: Key) -> Iterator[tuple[str, Key]]:
    if isinstance(key.shape, Fields):
        for name, inner in key.shape.keys.items():
            yield from _leaves(f"{prefix}.{name}", inner)
    else:
        yield prefix, key


def shown(value: Any) -> str:
    """Return a value in words."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        count = len(value)
        return "as they come" if not count else f"{count} key{'s' * (count != 1)} changed"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def typed(value: Any) -> str:
    """Return a value as it would be typed into a field."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return shown(value)


def words_of(row: Row) -> tuple[str, ...]:
    """Return the few words that a setting may be; empty where it is typed."""
    if isinstance(row.shape, Choice):
        return row.shape.words
    return ("on", "off") if isinstance(row.shape, Flag) else ()


def parsed(row: Row, text: str) -> tuple[Any, str]:
    """Return the value that a typed text means, and the schema's sentence where it means none."""
    raw: Any = text.strip()
    if isinstance(row.shape, Items):
        raw = [each.strip() for each in raw.split(",") if each.strip()]
    elif isinstance(row.shape, Keymap):
        return None, f"{row.key}: is changed entry by entry"
    report = Report(Marks())
    value = row.shape.check(raw, (row.key,), report)
    if value is INVALID:
        fault = report.faults[0]
        hint = f" (did you mean {fault.suggestion}?)" if fault.suggestion else ""
        allowed = f"; allowed: {fault.allowed}" if fault.allowed else ""
        return None, f"{row.key}: {fault.problem}{hint}{allowed}"
    return value, ""


def matching(found: tuple[Row, ...], words: str) -> tuple[Row, ...]:
    """Return the rows that hold all words in key, help, value or section."""
    wanted = words.casefold().split()
    return tuple(
        row
        for row in found
        if all(
            word in f"{row.key} {row.label} {row.help} {row.shown} {row.section}".casefold()
            for word in wanted
        )
    )
