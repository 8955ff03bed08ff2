"""Checking hand-written YAML against a declared shape: every fault at once, with its place and a way out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from muniment.safety.errors import InvalidInput
from muniment.safety.strict_yaml import NULLS, KeyPath, Marks, Value, YamlFault, load_marked


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong in a file; line and column count from 1, `allowed` says what may stand there."""

    line: int
    column: int
    key: str
    problem: str
    allowed: str = ""
    suggestion: str = ""
    """The nearest key that exists, where a key is unknown."""
    file: str = ""

    @property
    def sentence(self) -> str:
        """The fault in one line: file, place, key, problem, what is allowed and the nearest key."""
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else f"{self.line}:{self.column}: "
        subject = f"{self.key}: " if self.key else ""
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        hint = f" (did you mean {self.suggestion}?)" if self.suggestion else ""
        return f"{place}{subject}{self.problem}{hint}{allowed}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "key": self.key,
            "problem": self.problem,
            "allowed": self.allowed or None,
            "suggestion": self.suggestion or None,
        }


class FileFaults(InvalidInput):
    """A file that cannot be used; `faults` holds every one of them, the sentence names them all."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(each.sentence for each in faults))
        self.faults = tuple(faults)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(each.sentence for each in self.faults)


class Shape(Protocol):
    """What a value may be; it turns text into the value meant and reports what is wrong."""

    def check(self, value: Value, path: KeyPath, report: Report) -> Any: ...

    def allowed(self) -> str: ...

    def json_schema(self) -> dict[str, Any]: ...


@dataclass(slots=True)
class Report:
    """The faults of one file while it is checked."""

    marks: Marks
    file: str = ""
    faults: list[Fault] = field(default_factory=list)

    def at_key(self, path: KeyPath, problem: str, *, allowed: str = "", suggestion: str = "") -> None:
        self._add(self.marks[path], path, problem, allowed, suggestion)

    def at_value(self, path: KeyPath, problem: str, *, allowed: str = "", suggestion: str = "") -> None:
        self._add(self.marks.value(path), path, problem, allowed, suggestion)

    def missing(self, path: KeyPath, *, allowed: str = "") -> None:
        """Report a required key that is not there, at the start of the mapping that lacks it."""
        self._add(self.marks.value(path[:-1]), path, "is required and missing", allowed, "")

    def misfit(self, value: Value, path: KeyPath, shape: Shape, *, suggestion: str = "") -> None:
        """Report a scalar that is not what its shape allows."""
        unquoted = isinstance(shape, (Flag, Number)) and self.marks.is_quoted(path)
        problem = "must stand without quotes" if unquoted else _unfit(value)
        self.at_value(path, problem, allowed=shape.allowed(), suggestion=suggestion)

    def _add(
        self, place: tuple[int, int], path: KeyPath, problem: str, allowed: str, suggestion: str
    ) -> None:
        line, column = place
        self.faults.append(Fault(line, column, dotted(path), problem, allowed, suggestion, self.file))


INVALID: Any = object()
"""What `check` returns for a value that was reported; it never leaves this module's callers unreported."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `pattern` must match it whole and `rule` says in words what the pattern demands."""

    pattern: str = ""
    rule: str = ""
    max_bytes: int = 65_536
    blank: bool = False
    one_line: bool = False

    def allowed(self) -> str:
        return self.rule or ("text on one line" if self.one_line else "text")

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if not isinstance(value, str):
            report.at_value(path, _not_text(value), allowed=self.allowed())
        elif not self.blank and not value.strip():
            report.at_value(path, "is empty", allowed=self.allowed())
        elif "\0" in value:
            report.at_value(path, "holds a NUL character", allowed=self.allowed())
        elif len(value.encode("utf-8", "surrogatepass")) > self.max_bytes:
            report.at_value(path, f"is longer than {self.max_bytes} bytes")
        elif self.one_line and len(value.splitlines()) > 1:
            report.at_value(path, "has several lines", allowed=self.allowed())
        elif self.pattern and not re.fullmatch(self.pattern, value):
            report.at_value(path, f"{_shown(value)} does not fit", allowed=self.allowed())
        else:
            return value
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        elif not self.blank:
            schema["minLength"] = 1
        return schema


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def allowed(self) -> str:
        return ", ".join(self.words)

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        near = nearest(value, self.words) if isinstance(value, str) else ""
        report.misfit(value, path, self, suggestion=near)
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no; written without quotes as `true` or `false`, also `yes`, `no`, `on`, `off`."""

    def allowed(self) -> str:
        return "true, false"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, str) and not report.marks.is_quoted(path):
            if value.lower() in ("true", "yes", "on"):
                return True
            if value.lower() in ("false", "no", "off"):
                return False
        report.misfit(value, path, self)
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds, whole unless `decimal`; written without quotes."""

    least: float
    most: float
    decimal: bool = False

    def allowed(self) -> str:
        kind = "a number" if self.decimal else "a whole number"
        return f"{kind} from {self.least:g} to {self.most:.15g}"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        pattern = r"[+-]?\d{1,15}(?:\.\d{1,15})?" if self.decimal else r"[+-]?\d{1,15}"
        if (
            isinstance(value, str)
            and not report.marks.is_quoted(path)
            and re.fullmatch(pattern, value, re.ASCII)
        ):
            number: float = float(value) if self.decimal else int(value)
            if self.least <= number <= self.most:
                return number
        report.misfit(value, path, self)
        return INVALID

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number" if self.decimal else "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Items:
    """A list of values of one shape; gives a tuple."""

    item: Shape
    most: int = 1_000
    unique: bool = False

    def allowed(self) -> str:
        return f"a list of: {self.item.allowed()}"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if not isinstance(value, list):
            report.at_value(path, "is not a list", allowed=self.allowed())
            return INVALID
        if len(value) > self.most:
            report.at_value(path, f"has more than {self.most} items")
            return INVALID
        checked = [self.item.check(each, (*path, at), report) for at, each in enumerate(value)]
        if any(each is INVALID for each in checked):
            return INVALID
        if self.unique:
            for at, each in enumerate(checked):
                if each in checked[:at]:
                    report.at_value((*path, at), f"{_shown(str(each))} stands twice")
                    return INVALID
        return tuple(checked)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.json_schema(), "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping."""

    shape: Shape
    help: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping with known keys; gives a dict of the keys that were given and are right."""

    keys: Mapping[str, Key]
    instead: Mapping[str, str] = field(default_factory=dict)
    """Keys that people write and that cannot be, each with the reason."""

    def allowed(self) -> str:
        return f"keys: {', '.join(self.keys)}"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if value is None and path:
            return {}
        if not isinstance(value, dict):
            problem = "the file is empty" if value is None else "is not a mapping of keys to values"
            report.at_value(path, problem, allowed=self.allowed())
            return INVALID
        checked: dict[str, Any] = {}
        for name, each in value.items():
            here = (*path, name)
            key = self.keys.get(name)
            if key is None:
                self._unknown(name, here, report)
            elif each is None and not isinstance(key.shape, Fields):
                report.at_key(here, "has no value", allowed=key.shape.allowed())
            else:
                result = key.shape.check(each, here, report)
                if result is not INVALID:
                    checked[name] = result
        for name, key in self.keys.items():
            if key.required and name not in value:
                report.missing((*path, name), allowed=key.shape.allowed())
        return checked

    def _unknown(self, name: str, path: KeyPath, report: Report) -> None:
        reason = self.instead.get(name)
        if reason is not None:
            report.at_key(path, reason, allowed=self.allowed())
            return
        report.at_key(path, "unknown key", allowed=self.allowed(), suggestion=nearest(name, self.keys))

    def json_schema(self) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for name, key in self.keys.items():
            properties[name] = key.shape.json_schema() | ({"description": key.help} if key.help else {})
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        required = [name for name, key in self.keys.items() if key.required]
        return schema | ({"required": required} if required else {})


@dataclass(frozen=True, slots=True)
class AnyKeys:
    """A mapping from any key to values of one shape."""

    item: Shape

    def allowed(self) -> str:
        return f"a mapping to: {self.item.allowed()}"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if value is None:
            return {}
        if not isinstance(value, dict):
            report.at_value(path, "is not a mapping", allowed=self.allowed())
            return INVALID
        checked = {name: self.item.check(each, (*path, name), report) for name, each in value.items()}
        return INVALID if any(each is INVALID for each in checked.values()) else checked

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.json_schema()}


def check_text(
    data: bytes | str,
    shape: Fields,
    *,
    file: str = "",
    may_be_empty: bool = False,
    null_is_text: bool = False,
) -> tuple[dict[str, Any], Value, Report]:
    """Read and check a text; return the checked keys, the value as read, and the report with all faults.

    A text that is no YAML is one fault with its place. An unquoted `null` is no value, as where nothing
    stands, unless `null_is_text`.
    """
    try:
        value, marks = load_marked(data)
    except YamlFault as fault:
        report = Report(Marks(), file)
        report.faults.append(
            Fault(fault.line, fault.column, "", f"cannot be read: {fault.problem}", file=file)
        )
        return {}, None, report
    report = Report(marks, file)
    if not null_is_text:
        value = _without_nulls(value, marks, ())
    if value is None and may_be_empty:
        return {}, {}, report
    checked = shape.check(value, (), report)
    report.faults.sort()
    return ({} if checked is INVALID else checked), value, report


def _without_nulls(value: Value, marks: Marks, path: KeyPath) -> Value:
    if isinstance(value, dict):
        return {key: _without_nulls(each, marks, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nulls(each, marks, (*path, number)) for number, each in enumerate(value)]
    return None if value in NULLS and not marks.is_quoted(path) else value


def nearest(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    """Return the known word that a misspelt one most likely means, or nothing."""
    from difflib import get_close_matches

    folded = name.lower().replace("-", "_")
    if folded in known:
        return folded
    matches = get_close_matches(folded, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else ""


def dotted(path: KeyPath) -> str:
    """Return a key path as people write it: `parameters[0].name`."""
    text = ""
    for each in path:
        if isinstance(each, int):
            text += f"[{each}]"
        else:
            text += f".{each}" if text else each
    return text


def _shown(value: str) -> str:
    from muniment.safety.visible import exact_line

    return exact_line(value if len(value) <= 60 else value[:59] + "…").text


def _not_text(value: Value) -> str:
    return "has no value" if value is None else "is not text"


def _unfit(value: Value) -> str:
    if value is None:
        return "has no value"
    if not isinstance(value, str):
        return "is a list" if isinstance(value, list) else "is a mapping"
    return f"{_shown(value)} does not fit"
