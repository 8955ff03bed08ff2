"""What a write to user memory is made of: a request, plans bound to the state that was seen, outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from muniment.memory.user.entry import Entry, EntryType
from muniment.safety.errors import InvalidInput

SaveMode = Literal["create", "overwrite"]


class SaveRefused(InvalidInput):
    """A save that cannot be done as things stand, known before anybody is asked."""


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """An entry to be written; `details` None keeps what an existing entry has, empty removes it."""

    mode: SaveMode
    name: str
    type: EntryType
    summary: str
    details: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """An entry as it stands on disk now."""

    entry: Entry
    path: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class SavePlan:
    """A save that is ready: exact bytes, target, and the digest of the file's state (None: no file)."""

    path: Path
    before: Entry | None
    after: Entry
    data: bytes
    digest_before: str | None
    warnings: tuple[tuple[str, str, str], ...] = ()
    """Kind, one line, and the field it is about."""
    keeps_details: bool = False

    @property
    def created(self) -> bool:
        return self.before is None


@dataclass(frozen=True, slots=True)
class RemovePlan:
    """A deletion that is ready."""

    path: Path
    before: Entry
    digest_before: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A write that was done; `entry` is the journal's id of it."""

    name: str
    action: Literal["create", "replace", "delete"]
    path: Path
    entry: str
