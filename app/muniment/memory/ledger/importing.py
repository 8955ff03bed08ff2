"""Rows from elsewhere: JSON lines, each checked by itself; their trust is `external`, whatever they claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muniment.memory.ledger.row import MAX_SOURCE_CHARS, SCOPE_KINDS, TYPES, InvalidRow, NewRow, checked
from muniment.memory.records.times import TimeFault, parse_time
from muniment.safety.files import digest

MAX_LINES = 100_000
MAX_LINE_BYTES = 262_144
_KNOWN = frozenset(
    (
        "type",
        "scope",
        "scope_key",
        "title",
        "body",
        "source",
        "paths",
        "tags",
        "importance",
        "confidence",
        "expires_at",
    )
)
_IGNORED = frozenset(
    (
        "id",
        "trust",
        "status",
        "project",
        "scope_kind",
        "content_hash",
        "superseded_by",
        "created_at",
        "updated_at",
        "date",
        "score",
    )
)
"""What our own listings hold beside that: a file may say it, and it decides nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an import: the row it makes."""

    number: int
    row: NewRow


def read_lines(data: bytes, *, project: str | None, scope: str | None = None) -> list[Line]:
    """Read JSON lines for the project they are imported in; `scope` puts all of them there.

    Raise `InvalidRow` naming the first faulty lines; then nothing may be written. Blank lines count as lines.
    """
    found: list[Line] = []
    faults: list[str] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        if number > MAX_LINES:
            raise InvalidRow(
                f"Line {number}: at most {MAX_LINES:,} lines are imported at a time; split the file."
            )
        try:
            found.append(Line(number, _row(raw, project, scope)))
        except (InvalidRow, TimeFault) as fault:
            faults.append(f"line {number}: {_lower(str(fault))}")
    if faults:
        more = f" and {len(faults) - 3} more faulty lines" if len(faults) > 3 else ""
        raise InvalidRow(f"Nothing was imported; {' '.join(faults[:3])}{more}".rstrip(".") + ".")
    return found


def _row(raw: bytes, project: str | None, scope: str | None) -> NewRow:
    if len(raw) > MAX_LINE_BYTES:
        raise InvalidRow(f"the line is longer than {MAX_LINE_BYTES} bytes.")
    fields = _object(raw)
    unknown = sorted(set(fields) - _KNOWN - _IGNORED)
    if unknown:
        raise InvalidRow(f"unknown key {unknown[0][:60]!a}; known are {', '.join(sorted(_KNOWN))}.")
    kind: Any = scope or _one_of(fields, ("scope", "scope_kind"), SCOPE_KINDS, "global")
    key = _text(fields, "scope_key", "")
    if kind == "project":
        if project is None:
            raise InvalidRow("a row for the project needs a project here; use scope global.")
        key = project
    elif kind == "agent" and not key:
        raise InvalidRow("a row for an agent needs scope_key, the agent's name.")
    kind_of_row = _one_of(fields, ("type",), TYPES, "semantic")
    body = _text(fields, "body")
    title = _text(fields, "title", "")
    source = f"import:{_text(fields, 'source', '') or 'unnamed'}"[:MAX_SOURCE_CHARS]
    expires = fields.get("expires_at")
    if expires is not None and not isinstance(expires, str):
        raise InvalidRow("expires_at is a time such as 2026-10-25T03:07:29Z.")
    return checked(
        NewRow(
            kind_of_row,
            kind,
            None if kind == "global" else key,
            title,
            body,
            "external",
            source,
            project=project if kind == "agent" else None,
            paths=_texts(fields, "paths"),
            tags=_texts(fields, "tags"),
            importance=_number(fields, "importance"),
            confidence=_number(fields, "confidence"),
            expires_at=None if not expires else _time(expires),
            # One source may give many rows; a row takes the place of nothing but its own earlier import.
            source_key=f"import:{digest(f'{source} {title or body}'.encode())}",
        )
    )


def _one_of(fields: dict[str, Any], names: Sequence[str], allowed: Sequence[str], default: str) -> Any:
    value = next((fields[name] for name in names if fields.get(name)), default)
    if value not in allowed:
        raise InvalidRow(f"{names[0]} is one of {', '.join(allowed)}.")
    return value


def _object(raw: bytes) -> dict[str, Any]:
    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise InvalidRow("a key stands there twice.")
        return dict(pairs)

    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise InvalidRow(f"is not UTF-8 text (byte {error.start + 1}).") from error
    except (ValueError, RecursionError) as error:
        raise InvalidRow("is not one JSON object.") from error
    if not isinstance(value, dict):
        raise InvalidRow("is not one JSON object.")
    return value


def _text(fields: dict[str, Any], name: str, default: str | None = None) -> str:
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InvalidRow(f"{name} must be a text." if name in fields else f"{name} is missing.")
    if "\x00" in value or any("\ud800" <= each <= "\udfff" for each in value):
        raise InvalidRow(f"{name} holds a NUL or a lone surrogate.")
    return value


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidRow(f"{name} must be a list of texts.")
    return tuple(value)


def _number(fields: dict[str, Any], name: str) -> float:
    value = fields.get(name)
    if value is None:
        return 0.5
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidRow(f"{name} is a number from 0 to 1.")
    return float(value)


def _time(text: str) -> datetime:
    try:
        return parse_time(text, day_ends=True)
    except TimeFault as fault:
        raise InvalidRow(f"expires_at {fault}.") from fault


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
