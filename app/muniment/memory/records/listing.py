"""What counts in a scope chain: which copy of each record is effective, and which others stand behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from muniment.memory.records.scan import Meta, Skipped
from muniment.memory.records.scope import Excluded, Scope, ScopeChain
from muniment.memory.records.times import format_time

if TYPE_CHECKING:
    from muniment.memory.records.record import Record

_LONG_AGO = ""


class Listed(NamedTuple):
    """One copy of a record and its standing. `overrides` are the scopes of the shallower copies it hides."""

    meta: Meta
    effective: bool
    expired: bool
    overridden_by: Scope | None = None
    overrides: tuple[Scope, ...] = ()


class Snapshot(NamedTuple):
    """All copies (or only effective ones) of a chain, deepest scope first and newest first inside."""

    chain: ScopeChain
    entries: tuple[Listed, ...]
    skipped: tuple[Skipped, ...]

    @property
    def effective(self) -> list[Listed]:
        return [each for each in self.entries if each.effective]


@dataclass(frozen=True, slots=True)
class Found:
    """One copy of a record, read whole; `digest` is that of its file."""

    record: Record
    scope: Scope
    path: Path
    digest: str
    data: bytes
    overrides: tuple[Scope, ...] = ()
    overridden_by: Scope | None = None
    expired: bool = False


class ScopeCount(NamedTuple):
    """How many records a scope holds, overridden and expired ones included, and how many were skipped."""

    scope: Scope
    records: int
    skipped: int


class Stats(NamedTuple):
    """The chain with counts; `distinct` counts each id once."""

    chain: tuple[ScopeCount, ...]
    excluded: tuple[Excluded, ...]
    distinct: int
    skipped: tuple[Skipped, ...]


def sort_time(meta: Meta, now: str) -> str:
    """Return the time a copy is ordered by; a time yet to come is no merit and gives way."""
    if meta.updated <= now:
        return meta.updated
    return meta.created if meta.created <= now else _LONG_AGO


def newest_first(metas: Iterable[Meta], now: str) -> list[Meta]:
    """Order copies by time, newest first, and by id where times are equal; `now` is a written time."""
    ordered = sorted(metas, key=attrgetter("id"))
    ordered.sort(key=lambda meta: sort_time(meta, now), reverse=True)
    return ordered


def resolve(levels: list[list[Meta]], now: datetime, *, everything: bool) -> list[Listed]:
    """Decide which copies count; `levels` holds the copies of each scope, global first.

    Returned deepest scope first. Without `everything` only the effective copies are returned.
    """
    deepest_first = levels[::-1]
    moment = format_time(now)
    winners: dict[str, Meta] = {}
    behind: dict[str, list[Meta]] = {}
    for metas in deepest_first:
        for meta in metas:
            if meta.id in winners:
                behind.setdefault(meta.id, []).append(meta)
            elif meta.expires is None or meta.expires > moment:
                winners[meta.id] = meta
    listed: list[Listed] = []
    for metas in deepest_first:
        for meta in newest_first(metas, moment):
            winner = winners.get(meta.id)
            others = behind.get(meta.id, ())
            if winner is meta:
                overrides = tuple(each.scope for each in others) if others else ()
                listed.append(Listed(meta, True, False, None, overrides))
            elif everything:
                late = meta.expires is not None and meta.expires <= moment
                above = winner.scope if winner is not None and meta in others else None
                listed.append(Listed(meta, False, late, above))
    return listed
