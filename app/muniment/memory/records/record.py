"""One record: its fields, and its form as a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from muniment.memory.records.ids import MAX_RECORD_BYTES, is_valid_id
from muniment.memory.records.times import TimeFault, format_time, from_epoch, parse_time
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.strict_yaml import NULLS, Value, YamlFault, as_written, dump, load, load_marked

DEFAULT_CATEGORY = "fact"
_TIME_FIELDS = frozenset(("created_at", "updated_at", "expires_at"))
RECORD_FIELDS = frozenset(("id", "category", "title", "content", "tags", "source")) | _TIME_FIELDS
_OPTIONAL = RECORD_FIELDS - {"id", "title", "content"}
"""Of these an unquoted null says that they are missing; a title may be such a word."""
_NO_EXTRAS: Mapping[str, Value] = {}


class RecordFault(MunimentError):  # noqa: N818 - a fault of the file
    """A file is no record; the sentence gives the reason and the place in it, not the file's name."""


class RecordTooLarge(InvalidInput):
    """The encoded record would be larger than `MAX_RECORD_BYTES`."""


@dataclass(frozen=True, slots=True)
class Record:
    """A fact with its provenance; times are UTC in whole seconds, `extras` holds its unknown fields."""

    id: str
    category: str
    title: str
    content: str
    tags: tuple[str, ...]
    source: str
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    extras: Mapping[str, Value] = field(default_factory=dict)


def decode(data: bytes, stem: str, mtime: float) -> Record:
    """Read a record from a file's bytes; `stem` is its name without suffix, `mtime` its time in seconds.

    Missing times become `mtime`. Raise `RecordFault` for anything that is not exactly a record.
    """
    try:
        fields = load(data, max_bytes=MAX_RECORD_BYTES)
    except YamlFault as fault:
        raise RecordFault(str(fault)) from fault
    if not isinstance(fields, dict):
        raise RecordFault("is empty" if fields is None else "is not a mapping of fields")
    if fields.get("category") in NULLS or fields.get("source") in NULLS:
        fields = _without_nulls(fields, data)
    try:
        return _record(fields, data, stem, mtime)
    except RecordFault:
        present = _without_nulls(fields, data)
        if present == fields:
            raise
        return _record(present, data, stem, mtime)


def _record(fields: dict[str, Value], data: bytes, stem: str, mtime: float) -> Record:
    get = fields.get
    record_id = get("id")
    if record_id != stem:
        raise RecordFault(_id_problem(record_id, stem))
    if not is_valid_id(stem):
        raise RecordFault("has a name that is no identifier")
    title = get("title")
    if not isinstance(title, str) or not title.strip():
        raise RecordFault(_text_problem(title, "title"))
    content = get("content")
    if not isinstance(content, str):
        raise RecordFault(_text_problem(content, "content"))
    category = get("category")
    if category is None or category == "":
        category = DEFAULT_CATEGORY
    elif not isinstance(category, str):
        raise RecordFault("category is not text")
    source = get("source")
    if source is None:
        source = "user"
    elif not isinstance(source, str):
        raise RecordFault("source is not text")
    created = get("created_at")
    updated = get("updated_at")
    created_at = from_epoch(mtime) if created is None else _time(created, "created_at")
    if updated == created:
        updated_at = created_at
    else:
        updated_at = from_epoch(mtime) if updated is None else _time(updated, "updated_at")
    expires = get("expires_at")
    expires_at = None if expires is None else _time(expires, "expires_at")
    tags = get("tags")
    known = len(fields) <= len(RECORD_FIELDS) and RECORD_FIELDS.issuperset(fields)
    return Record(
        record_id,
        category,
        title,
        content,
        () if not tags else _tags(tags),
        source,
        created_at,
        updated_at,
        expires_at,
        _NO_EXTRAS if known else _extras(fields, data),
    )


def encode(record: Record) -> bytes:
    """Write a record as the bytes of its file; raise `RecordTooLarge` beyond `MAX_RECORD_BYTES`."""
    fields = as_dict(record)
    fields.pop("extras", None)
    if record.expires_at is None:
        del fields["expires_at"]
    fields.update(record.extras)
    data = dump(fields, plain=_TIME_FIELDS)
    if len(data) > MAX_RECORD_BYTES:
        raise RecordTooLarge(
            f"The record {record.id} would be {len(data)} bytes long; at most {MAX_RECORD_BYTES} are allowed."
        )
    return data


def as_dict(record: Record) -> dict[str, Any]:
    """Return all fields as JSON values; times are strings, an absent `expires_at` is null."""
    fields: dict[str, Any] = {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "content": record.content,
        "tags": list(record.tags),
        "source": record.source,
        "created_at": format_time(record.created_at),
        "updated_at": format_time(record.updated_at),
        "expires_at": None if record.expires_at is None else format_time(record.expires_at),
    }
    if record.extras:
        fields["extras"] = dict(record.extras)
    return fields


def _without_nulls(fields: dict[str, Value], data: bytes) -> dict[str, Value]:
    """Return the fields without those that may be missing and hold an unquoted null."""
    named = [name for name in _OPTIONAL if fields.get(name) in NULLS]
    if not named:
        return fields
    _, marks = load_marked(data)
    absent = {name for name in named if not marks.is_quoted((name,))}
    return {name: value for name, value in fields.items() if name not in absent}


def _extras(fields: dict[str, Value], data: bytes) -> Mapping[str, Value]:
    """Return the unknown fields so that an update writes them back as what they are to other readers."""
    return as_written({key: value for key, value in fields.items() if key not in RECORD_FIELDS}, data)


def _id_problem(value: Value, stem: str) -> str:
    if value is None:
        return "id is missing"
    if not isinstance(value, str):
        return "id is not text"
    return f"id is {value[:80]!r} but the file is named {stem[:80]!r}"


def _text_problem(value: Value, name: str) -> str:
    if value is None:
        return f"{name} is missing"
    return f"{name} is not text" if not isinstance(value, str) else f"{name} is blank"


def _time(value: Value, name: str) -> datetime:
    if not isinstance(value, str):
        raise RecordFault(f"{name} is not a time")
    try:
        return parse_time(value, day_ends=name == "expires_at")
    except TimeFault as fault:
        raise RecordFault(f"{name} {fault}") from fault


def _tags(value: Value) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise RecordFault("tags is not a list")
    for number, tag in enumerate(value, 1):
        if not isinstance(tag, str):
            raise RecordFault(f"tag {number} is not text")
    return tuple(tag for tag in value if isinstance(tag, str))
