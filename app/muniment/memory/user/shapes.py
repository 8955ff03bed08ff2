"""The JSON objects of the user memory commands and tools: one builder each, so that both always agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from muniment.memory.user.entry import Entry
from muniment.memory.user.index import MAX_ENTRIES, MAX_INDEX_BYTES, Index
from muniment.memory.user.plans import Held, Outcome
from muniment.safety.visible import clean_surrogates

SCOPE = "global"
"""Where entries count: everywhere."""


def place(directory: Path) -> dict[str, str]:
    """Return the pair that names where user memory is kept."""
    return {"scope": SCOPE, "directory": clean_surrogates(str(directory))}


def list_shape(index: Index, directory: Path, *, limit: int | None = None) -> dict[str, Any]:
    """Return the index with how much of its limits is used, and what is left out."""
    return {
        "entries": [
            {"name": each.name, "type": each.type, "summary": each.summary, "has_details": each.has_details}
            for each in index.entries[:limit]
        ],
        "total": len(index.entries),
        "max_entries": MAX_ENTRIES,
        "bytes": index.bytes,
        "max_bytes": MAX_INDEX_BYTES,
        "skipped": [
            {"path": clean_surrogates(str(each.path)), "reason": each.reason} for each in index.problems
        ],
        **place(directory),
    }


def entry_shape(entry: Entry) -> dict[str, str]:
    return {"name": entry.name, "type": entry.type, "summary": entry.summary, "details": entry.details}


def show_shape(held: Held) -> dict[str, Any]:
    return {"entry": entry_shape(held.entry), **place(held.path.parent)}


def outcome_shape(outcome: Outcome) -> dict[str, Any]:
    """Return what a write did; `created` is left out for a deletion."""
    shape: dict[str, Any] = {"name": outcome.name, **place(outcome.path.parent)}
    if outcome.action != "delete":
        shape["created"] = outcome.action == "create"
    return shape
