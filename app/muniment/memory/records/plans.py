"""What a write to records is made of: requests, plans bound to the state that was seen, and outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from muniment.memory.records.record import Record
from muniment.memory.records.scope import Scope
from muniment.safety.errors import InvalidInput, MunimentError

ScopeWord = Literal["project", "global"]
SCOPE_WORDS: tuple[ScopeWord, ...] = ("project", "global")
CLEARABLE = ("tags", "category", "expires_at")


class StoreRefused(MunimentError):  # noqa: N818 - named for what it says
    """A write that cannot be done where it would have to go; nothing was written."""


class ChangedAfterApproval(MunimentError):  # noqa: N818 - as above
    """The file is no longer what was shown when the write was approved; nothing was written."""


class InvalidRecord(InvalidInput):
    """What was given can never be a record."""


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """A record to be written. None and empty keep what an existing copy has; `clear` names what goes."""

    title: str
    content: str
    id: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    scope: ScopeWord | None = None
    expires_at: datetime | None = None
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """One copy of a record to be deleted: the deepest in the scope named, or the deepest of all."""

    id: str
    scope: ScopeWord | None = None


@dataclass(frozen=True, slots=True)
class PlanWarning:
    """One line for the reviewer; `place` is the field or thing it is about."""

    kind: str
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class StorePlan:
    """A write that is ready: exact bytes, target, and the digest of the file's state (None: no file)."""

    scope: Scope
    path: Path
    before: Record | None
    after: Record
    data: bytes
    digest_before: str | None
    warnings: tuple[PlanWarning, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences that belong into the result too, such as that the copy stays expired."""

    @property
    def created(self) -> bool:
        return self.before is None


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """A deletion that is ready; `next_effective` is the scope whose copy counts afterwards."""

    scope: Scope
    path: Path
    before: Record
    digest_before: str
    next_effective: Scope | None = None
    warnings: tuple[PlanWarning, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """A record was written; `entry` is the journal's id of the write."""

    id: str
    created: bool
    scope: Scope
    path: Path
    entry: str
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class DeleteOutcome:
    """A copy was deleted; `now_effective` is the scope whose copy counts now, if any."""

    id: str
    scope: Scope
    path: Path
    entry: str
    now_effective: Scope | None
    notes: tuple[str, ...] = field(default=())
