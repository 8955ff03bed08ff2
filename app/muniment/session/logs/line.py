"""One line of a session log: which kinds there are, which fields each has, and how it is written and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from muniment.safety.errors import MunimentError
from muniment.tools.status import ToolStatus

VERSION = 1
RECORD_MAX_BYTES = 16 * 1024 * 1024
FILE_MAX_BYTES = 64 * 1024 * 1024

_Types = tuple[type, ...]
_COMMON: dict[str, _Types] = {"v": (int,), "seq": (int,), "turn_id": (str,), "kind": (str,), "time": (str,)}
_NULL = type(None)

KINDS: dict[str, dict[str, _Types]] = {
    "session": {
        "id": (str,),
        "cwd": (str,),
        "recipe": (dict, _NULL),
        "provider": (str,),
        "model": (str,),
    },
    "skills": {"entries": (list,)},
    "user_message": {"text": (str,)},
    "model_response": {"text": (str,), "calls": (list,), "status": (str,), "usage": (dict,)},
    "decision": {
        "call_id": (str,),
        "name": (str,),
        "title": (str,),
        "where": (str,),
        "decision": (str,),
        "by": (str,),
        "reason": (str,),
        "mode": (str,),
        "agent": (str,),
    },
    "tool_start": {"call_id": (str,), "name": (str,), "arguments": (str,)},
    "tool_result": {
        "call_id": (str,),
        "name": (str,),
        "status": (str,),
        "text": (str,),
        "result": (dict,),
        "changed": (bool,),
    },
    "context_compaction": {"text": (str,), "covered_seq": (int,)},
    "turn_end": {"status": (str,)},
    "recovery_ack": {"call_ids": (list,)},
    "title": {"text": (str,)},
    "task": {"outcome": (str,), "by": (str,), "summary": (str,), "note": (str, _NULL)},
    "directory": {"cwd": (str,)},
}
"""Every kind with exactly the fields it has; a record with more, fewer or other types is refused."""

_STATUSES: dict[str, frozenset[str]] = {
    "turn_end": frozenset({"completed", "failed", "cancelled", "interrupted"}),
    "model_response": frozenset({"stop", "tool_calls", "length", "refusal", "broken", "stopped"}),
    "tool_result": frozenset(get_args(ToolStatus)),
}


_FIELDS = {kind: _COMMON | fields for kind, fields in KINDS.items()}


class LineFault(MunimentError):  # noqa: N818 - named for what it is
    """A line is no record; `str()` says why in a few words."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One thing that happened. `turn_id` is 32 hex digits, empty outside a turn; `seq` counts from 1."""

    seq: int
    turn_id: str
    kind: str
    time: str
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def as_dict(self) -> dict[str, Any]:
        return {
            "v": VERSION,
            "seq": self.seq,
            "turn_id": self.turn_id,
            "kind": self.kind,
            "time": self.time,
            **self.fields,
        }


def encode(record: LogRecord) -> bytes:
    """Return the record as one line of UTF-8 JSON with its line feed."""
    from muniment.safety.visible import clean_surrogates

    text = json.dumps(record.as_dict(), ensure_ascii=False, separators=(",", ":"))
    # JSON escapes every line feed inside a text, so the only one is the end of the record.
    return clean_surrogates(text).encode("utf-8") + b"\n"


def decode(line: bytes, seq: int) -> LogRecord:
    """Read one line, which must be record number `seq`; raise `LineFault` with the reason."""
    if len(line) > RECORD_MAX_BYTES:
        raise LineFault(f"it is larger than {RECORD_MAX_BYTES} bytes")
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise LineFault("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise LineFault("it is not JSON") from None
    if not isinstance(value, dict):
        raise LineFault("it is not an object")
    if value.get("v") != VERSION or isinstance(value.get("v"), bool):
        raise LineFault(f"its version is not {VERSION}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise LineFault("its kind is unknown")
    _check_fields(value, _FIELDS[kind])
    if value["seq"] != seq:
        raise LineFault(f"its number is {value['seq']} where {seq} is due")
    allowed = _STATUSES.get(kind)
    if allowed is not None and value["status"] not in allowed:
        raise LineFault("its status is unknown")
    fields = {name: value[name] for name in KINDS[kind]}
    return LogRecord(seq, value["turn_id"], kind, value["time"], fields)


def _check_fields(value: Mapping[str, Any], expected: Mapping[str, _Types]) -> None:
    if value.keys() != expected.keys():
        for name in value:
            if name not in expected:
                raise LineFault(f"it has an unknown field {name[:40]}")
        missing = next(name for name in expected if name not in value)
        raise LineFault(f"it lacks the field {missing}")
    for name, types in expected.items():
        found = value[name]
        if type(found) in types:
            continue
        # True is an int to Python, but not to this log.
        if not isinstance(found, types) or (isinstance(found, bool) and bool not in types):
            raise LineFault(f"its field {name} has the wrong type")
