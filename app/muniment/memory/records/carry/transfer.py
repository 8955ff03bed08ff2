"""An import of records, planned as a whole before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from muniment.memory.records.carry.sources import Candidate, Source
from muniment.memory.records.plans import InvalidRecord, ScopeWord, StorePlan
from muniment.memory.records.record import Record
from muniment.memory.records.store import RecordStore
from muniment.memory.records.times import format_time
from muniment.safety.errors import MunimentError

Verdict = Literal["create", "replace", "same", "differs", "refused"]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that an import would change, as text before and after."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What an import would do with one record; `plan` stands where it would write.

    `differs` is a collision that is left alone; `replace` one that is not.
    """

    id: str
    verdict: Verdict
    name: str
    """The file or line it came from."""
    reason: str = ""
    plan: StorePlan | None = None
    changes: tuple[FieldChange, ...] = ()
    title: str = ""


def plan_import(
    store: RecordStore, source: Source, *, scope: ScopeWord | None = None, replace_others: bool = False
) -> list[ImportItem]:
    """Plan an import; nothing is written. Each record keeps its times and gets `source: import`.

    It goes to `scope` where given, else to the scope directory it came from if that is in the chain, else to
    the kind of scope it came from. A record that is there with other text is left alone unless
    `replace_others`.
    """
    items: list[ImportItem] = []
    seen: set[Path] = set()
    for candidate in source.candidates:
        record = candidate.record
        if record is None:
            items.append(ImportItem(candidate.name, "refused", candidate.name, candidate.fault))
            continue
        try:
            plan = _plan(store, candidate, record, scope)
            if plan.path in seen:
                raise InvalidRecord(
                    f"{record.id} comes twice; {plan.path} is taken from another file or line."
                )
            seen.add(plan.path)
            items.append(_item(candidate, plan, replace_others))
        except MunimentError as refused:
            items.append(ImportItem(record.id, "refused", candidate.name, refused.sentence))
    return items


def _plan(store: RecordStore, candidate: Candidate, record: Record, scope: ScopeWord | None) -> StorePlan:
    directory = None if scope is not None or not candidate.directory else Path(candidate.directory)
    return store.plan_record(
        replace(record, source="import"), scope=scope or candidate.scope or "project", directory=directory
    )


def _item(candidate: Candidate, plan: StorePlan, replace_others: bool) -> ImportItem:
    before, after = plan.before, plan.after
    if before is None:
        return ImportItem(after.id, "create", candidate.name, "", plan, (), after.title)
    if replace(before, source="import") == after:
        return ImportItem(after.id, "same", candidate.name, "it is there already", None, (), after.title)
    changes = tuple(_changes(before, after))
    if not replace_others:
        reason = f"another text of this id is in {plan.scope.directory}; --replace puts this one in its place"
        return ImportItem(after.id, "differs", candidate.name, reason, None, changes, after.title)
    return ImportItem(after.id, "replace", candidate.name, "", plan, changes, after.title)


def _changes(before: Record, after: Record) -> Iterator[FieldChange]:
    for name in ("title", "content", "category", "tags", "created_at", "updated_at", "expires_at", "extras"):
        old, new = _shown(getattr(before, name)), _shown(getattr(after, name))
        if old != new:
            yield FieldChange(name, old, new)


def _shown(value: object) -> str:
    from datetime import datetime

    if value is None:
        return ""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else repr(value)
