"""Carrying records elsewhere: one JSON bundle out, and an import that is planned before it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from muniment.memory.records import planning
from muniment.memory.records.plans import InvalidRecord, ScopeWord, StorePlan
from muniment.memory.records.record import Record, as_dict
from muniment.memory.records.scan import read_bodies
from muniment.memory.records.store import RecordStore
from muniment.memory.records.times import TimeFault, later, parse_time
from muniment.safety.errors import MunimentError

FORMAT = "muniment-records"
VERSION = 1
Verdict = Literal["create", "replace", "same", "differs", "refused"]
_TEXTS = ("id", "category", "title", "content", "source")


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What an import would do with one record; `plan` stands where it would write."""

    id: str
    verdict: Verdict
    reason: str = ""
    plan: StorePlan | None = None


def export_bundle(store: RecordStore, *, scope: ScopeWord | None = None) -> dict[str, Any]:
    """Return every readable copy of the chain, or of one kind of scope, as a JSON object."""
    metas = [each.meta for each in store.snapshot(all=True).entries if scope in (None, each.meta.scope.kind)]
    records = [{"scope": meta.scope.kind, **as_dict(record)} for meta, record in read_bodies(metas)]
    return {"format": FORMAT, "version": VERSION, "records": records}


def plan_import(
    store: RecordStore, text: str, *, scope: ScopeWord | None = None, overwrite: bool = False
) -> list[ImportItem]:
    """Plan an import; nothing is written. Each record keeps its times and gets `source: import`.

    `scope` overrides where the records came from. A record that is there with other text is left alone
    unless `overwrite`. Raise `InvalidRecord` where the text is no bundle.
    """
    items: list[ImportItem] = []
    seen: set[tuple[str, str]] = set()
    for number, fields in enumerate(_bundle(text), 1):
        name = str(fields.get("id", f"record {number}"))[:80]
        try:
            word = scope or _scope_of(fields)
            record = _record(fields)
            if (word, record.id) in seen:
                raise InvalidRecord(f"{record.id} stands twice in the bundle.")
            seen.add((word, record.id))
            items.append(_item(store, record, word, overwrite))
        except MunimentError as refused:
            items.append(ImportItem(name, "refused", str(refused)))
    return items


def _item(store: RecordStore, record: Record, word: ScopeWord, overwrite: bool) -> ImportItem:
    plan = store.plan_record(replace(record, source="import"), scope=word)
    before = plan.before
    if before is None:
        return ImportItem(record.id, "create", plan=plan)
    if replace(before, source="import") == plan.after:
        return ImportItem(record.id, "same", "it is there already")
    if not overwrite:
        return ImportItem(record.id, "differs", "a record with this id and other text is there")
    return ImportItem(record.id, "replace", plan=plan)


def _bundle(text: str) -> list[dict[str, Any]]:
    try:
        bundle = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRecord("The text to import is not JSON.") from error
    if not isinstance(bundle, dict) or bundle.get("format") != FORMAT:
        raise InvalidRecord(f'The text to import is no export of records: its "format" is not {FORMAT}.')
    if bundle.get("version") != VERSION:
        raise InvalidRecord(
            f'The export has a "version" that is not {VERSION}; import it with a newer program.'
        )
    records = bundle.get("records")
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise InvalidRecord('The export has no list of "records".')
    return records


def _scope_of(fields: Mapping[str, Any]) -> ScopeWord:
    word = fields.get("scope", "project")
    planning.check_scope_word(str(word))
    return "global" if word == "global" else "project"


def _record(fields: Mapping[str, Any]) -> Record:
    """Read one record of a bundle as strictly as arguments of a store."""
    for name in _TEXTS:
        if not isinstance(fields.get(name), str):
            raise InvalidRecord(f"{name} is missing or no text.")
    tags = fields.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidRecord("tags is not a list of texts.")
    extras = fields.get("extras", {})
    if not isinstance(extras, dict) or not _is_value(extras):
        raise InvalidRecord("extras holds something that is no text, list or object.")
    created = _time(fields, "created_at")
    updated = _time(fields, "updated_at")
    if created is None or updated is None:
        raise InvalidRecord("created_at or updated_at is missing.")
    return Record(
        id=fields["id"],
        category=fields["category"],
        title=fields["title"],
        content=fields["content"],
        tags=tuple(tags),
        source=fields["source"],
        created_at=created,
        updated_at=later(updated, created),
        expires_at=_time(fields, "expires_at"),
        extras=extras,
    )


def _time(fields: Mapping[str, Any], name: str) -> Any:
    value = fields.get(name)
    if value is None:
        return None
    try:
        return parse_time(str(value), day_ends=name == "expires_at")
    except TimeFault as fault:
        raise InvalidRecord(f"{name} {fault}.") from fault


def _is_value(value: Any, depth: int = 0) -> bool:
    if value is None or isinstance(value, str):
        return True
    if depth > 16:
        return False
    if isinstance(value, list):
        return all(_is_value(each, depth + 1) for each in value)
    return isinstance(value, dict) and all(_is_value(each, depth + 1) for each in value.values())
