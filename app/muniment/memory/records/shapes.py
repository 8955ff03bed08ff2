"""The JSON objects of record commands and record tools: one builder each, so that both always agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.memory.records.times import format_time
from muniment.safety.visible import clean_surrogates

if TYPE_CHECKING:
    from muniment.memory.journal import Line
    from muniment.memory.records.index.search import SearchResult
    from muniment.memory.records.listing import Found, Listed, Snapshot, Stats
    from muniment.memory.records.plans import DeleteOutcome, StoreOutcome
    from muniment.memory.records.scan import Skipped
    from muniment.memory.records.scope import Scope


class Selection(NamedTuple):
    """The part of a snapshot that a list shows; `total` counts what matched before limit and offset."""

    entries: tuple[Listed, ...]
    skipped: tuple[Skipped, ...]
    total: int
    offset: int


def select(
    snapshot: Snapshot,
    *,
    scope: str | None = None,
    category: str | None = None,
    tag: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> Selection:
    """Choose the copies that a list shows; category and tag are compared whole, without regard to case."""
    wanted_category = None if category is None else category.casefold()
    wanted_tag = None if tag is None else tag.casefold()
    entries = [
        each
        for each in snapshot.entries
        if scope in (None, each.meta.scope.kind)
        and (wanted_category is None or wanted_category == each.meta.category.casefold())
        and (wanted_tag is None or any(wanted_tag == one.casefold() for one in each.meta.tags))
    ]
    end = None if limit is None else offset + limit
    skipped = tuple(each for each in snapshot.skipped if scope in (None, each.scope.kind))
    return Selection(tuple(entries[offset:end]), skipped, len(entries), offset)


def place(scope: Scope) -> dict[str, str]:
    """Return the pair that names a scope."""
    return {"scope": scope.kind, "directory": clean_surrogates(str(scope.directory))}


def place_or_none(scope: Scope | None) -> dict[str, str] | None:
    return None if scope is None else place(scope)


def _listed_row(entry: Listed, places: dict[int, dict[str, str]]) -> dict[str, Any]:
    """Return one row of `memory list`; `places` keeps what the few scopes of all rows are called."""
    meta = entry.meta
    where = places.get(id(meta.scope))
    if where is None:
        where = places[id(meta.scope)] = place(meta.scope)
    return {
        "id": meta.id,
        "title": meta.title,
        "category": meta.category,
        "tags": list(meta.tags),
        **where,
        "effective": entry.effective,
        "expired": entry.expired,
        "overridden_by": place_or_none(entry.overridden_by),
        "expires_at": meta.expires,
        "updated_at": meta.updated,
    }


def skipped_rows(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    return [
        {"path": clean_surrogates(str(each.path)), "reason": clean_surrogates(each.reason)}
        for each in skipped
    ]


def list_shape(selection: Selection) -> dict[str, Any]:
    """Return the object of `memory list`."""
    places: dict[int, dict[str, str]] = {}
    return {
        "records": [_listed_row(each, places) for each in selection.entries],
        "skipped": skipped_rows(selection.skipped),
        "total": selection.total,
    }


def show_shape(found: Found) -> dict[str, Any]:
    """Return the object of `memory show`."""
    from muniment.memory.records.record import as_dict

    return {
        "record": as_dict(found.record),
        **place(found.scope),
        "path": clean_surrogates(str(found.path)),
        "overrides": [place(scope) for scope in found.overrides],
        "overridden_by": place_or_none(found.overridden_by),
        "expired": found.expired,
    }


def search_shape(result: SearchResult) -> dict[str, Any]:
    """Return the object of `memory search`."""
    return {
        "hits": [
            {
                "id": hit.meta.id,
                "title": hit.meta.title,
                **place(hit.meta.scope),
                "snippet": hit.snippet,
                "score": hit.score,
                "effective": hit.effective,
                "overridden_by": place_or_none(hit.overridden_by),
            }
            for hit in result.hits
        ],
        "searched": result.searched,
        "truncated": result.truncated,
        "notice": result.notice,
    }


def store_shape(outcome: StoreOutcome) -> dict[str, Any]:
    """Return the object of `memory store`."""
    return {
        "id": outcome.id,
        "created": outcome.created,
        **place(outcome.scope),
        "path": clean_surrogates(str(outcome.path)),
        "entry": outcome.entry,
        "notes": list(outcome.notes),
    }


def delete_shape(outcome: DeleteOutcome) -> dict[str, Any]:
    """Return the object of `memory delete`."""
    return {
        "id": outcome.id,
        **place(outcome.scope),
        "path": clean_surrogates(str(outcome.path)),
        "now_effective": place_or_none(outcome.now_effective),
        "entry": outcome.entry,
        "notes": list(outcome.notes),
    }


def stats_shape(stats: Stats) -> dict[str, Any]:
    """Return the object of `memory stats`."""
    return {
        "chain": [
            {
                **place(each.scope),
                "records": each.records,
                "skipped": each.skipped,
                "warnings": list(each.scope.warnings),
            }
            for each in stats.chain
        ],
        "excluded": [
            {"directory": clean_surrogates(str(each.directory)), "reason": each.reason}
            for each in stats.excluded
        ],
        "distinct": stats.distinct,
        "skipped": skipped_rows(stats.skipped),
    }


def history_shape(lines: Sequence[Line]) -> dict[str, Any]:
    """Return the object of `memory history`: the writes of one item, newest first."""
    return {
        "entries": [
            {
                "entry": line.entry.id,
                "time": format_time(line.entry.time),
                "action": line.entry.action,
                "surface": line.entry.surface,
                "id": line.entry.item,
                "scope": line.entry.scope,
                "directory": clean_surrogates(line.entry.directory),
                "path": clean_surrogates(line.entry.path),
                "actor": line.entry.origin.actor,
                "door": line.entry.origin.surface,
                "session": line.entry.origin.session,
                "recipe": line.entry.origin.recipe,
                "agent": line.entry.origin.agent,
                "model": line.entry.origin.model,
                "mode": line.entry.origin.mode,
                "decision": "allowed",  # what was denied was never written, so the journal has none of it
                "decided_by": line.entry.origin.decided_by,
                "reason": line.entry.origin.reason,
                "digest_before": line.entry.digest_before,
                "digest_after": line.entry.digest_after,
                "undoes": line.entry.undoes,
                "undone_by": line.undone_by,
                "failed": line.failed,
                "text_before": None
                if line.entry.text_before is None
                else clean_surrogates(line.entry.text_before),
            }
            for line in lines
        ]
    }
