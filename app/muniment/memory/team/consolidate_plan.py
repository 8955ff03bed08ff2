"""What a consolidation would do, note by note, as it is shown and approved; nothing here writes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from muniment.memory.ledger.row import Trust
from muniment.memory.records.plans import PlanWarning
from muniment.memory.team.notebooks import demoted
from muniment.memory.team.notefile import Note
from muniment.safety.errors import InvalidInput, NotFound

BREAKER_SHARE = 0.8
_BREAKER_PREFIX = 200
_BEGINS = re.compile(r"### \s*\S")

Writer = Literal["rules", "model", "user"]


@dataclass(frozen=True, slots=True)
class NotePlan:
    """One note of the batch and where it goes."""

    note: Note
    agent: str
    title: str
    category: str
    name: str
    """The name of its knowledge entry, without suffix."""
    trust: Trust
    """Who wrote the note, as far as this machine knows; its ledger row is trusted as much."""
    notebook: str | None = None
    """The agent whose notebook gets `entry`, None where the author has none."""
    entry: str = ""
    warnings: tuple[PlanWarning, ...] = ()

    @property
    def reference(self) -> str:
        """The place of the whole note, relative to the workspace."""
        return f"knowledge/{self.category}/{self.name}.md"


@dataclass(frozen=True, slots=True)
class Preview:
    """A consolidation to be approved as a whole, bound to the notes and the team notes as they were seen."""

    notes: tuple[NotePlan, ...]
    digest: str
    """The section for the team notes, as it will be written; empty where the breaker has tripped."""
    by: Writer
    why: str
    """Why the rules wrote the digest although a model was asked; else empty."""
    breaker: bool
    """Most of the batch is one note again and again: it goes to the archive unread and nothing is learned."""
    insights: int
    duplicates: int
    eligible: int
    threshold: int
    scope: str
    """`project` or `global`: where the rows will hold."""
    state: str | None
    """The digest of `notes.md` as it was seen, None where there was no file."""
    max_bytes: int

    @property
    def enough(self) -> bool:
        """Whether there are as many notes as a consolidation needs."""
        return self.eligible >= self.threshold

    @property
    def left(self) -> int:
        """How many eligible notes wait for the next consolidation because this one is full."""
        return self.eligible - len(self.notes)

    def with_digest(self, text: str, by: Writer = "user", why: str = "") -> Preview:
        """Return the preview with another digest; raise `InvalidInput` where it can be no section."""
        if self.breaker:
            raise InvalidInput("This batch goes to the archive as a whole; it has no digest.")
        return replace(self, digest=checked_digest(text, self.max_bytes), by=by, why=why)

    def with_category(self, name: str, category: str) -> Preview:
        """Return the preview with one note filed elsewhere; raise `InvalidInput`, `NotFound`."""
        from muniment.memory.team.classify import CATEGORIES, as_category

        if self.breaker:
            raise InvalidInput("This batch goes to the archive as a whole; none of it is filed.")
        if as_category(category) is None:
            raise InvalidInput(
                f"There is no category {category[:60]!a}; the categories are {', '.join(CATEGORIES)}."
            )
        if all(each.note.name != name for each in self.notes):
            raise NotFound(f"This consolidation has no note {name[:180]!a}.")
        digest, notes = self.digest, []
        for each in self.notes:
            moved = each
            if each.note.name == name:
                moved = replace(each, category=category)
                digest = digest.replace(each.reference, moved.reference)
                moved = replace(moved, entry=each.entry.replace(each.reference, moved.reference))
            notes.append(moved)
        return replace(self, notes=tuple(notes), digest=digest)

    def as_dict(self) -> dict[str, Any]:
        """Return the whole preview as JSON values."""
        return {
            "eligible": self.eligible,
            "threshold": self.threshold,
            "enough": self.enough,
            "left": self.left,
            "breaker": self.breaker,
            "digest": self.digest,
            "by": self.by,
            "why": self.why or None,
            "insights": self.insights,
            "duplicates": self.duplicates,
            "notes": [self._note_dict(each) for each in self.notes],
        }

    def row_of(self, each: NotePlan) -> dict[str, Any] | None:
        """Return the ledger row that a note will have, None where it has none."""
        if self.breaker:
            return None
        return {
            "type": "semantic",
            "scope": self.scope,
            "trust": each.trust,
            "title": each.title,
            "source": each.reference,
        }

    def _note_dict(self, each: NotePlan) -> dict[str, Any]:
        filed = not self.breaker
        return {
            "name": each.note.name,
            "title": each.title,
            "agent": each.agent,
            "category": each.category if filed else None,
            "knowledge": each.reference if filed else None,
            "notebook": each.notebook if filed else None,
            "entry": each.entry or None,
            "row": self.row_of(each),
            "warnings": [{"kind": one.kind, "text": one.text, "place": one.place} for one in each.warnings],
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a consolidation did; `notes` are sentences for the reader."""

    archived: tuple[str, ...]
    digest: str
    by: Writer
    breaker: bool
    entries: tuple[str, ...]
    notebooks: tuple[str, ...]
    rows: int
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "archived": list(self.archived),
            "digest": self.digest,
            "by": self.by,
            "breaker": self.breaker,
            "knowledge": list(self.entries),
            "notebooks": list(self.notebooks),
            "rows": self.rows,
            "notices": list(self.notes),
        }


def tripped(contents: Sequence[str | None]) -> bool:
    """Tell whether one content makes up more than 80 % of a batch of at least two notes.

    Contents count as the same by their first 200 characters and their length; None counts as empty.
    """
    if len(contents) < 2:
        return False
    marks: Iterable[str] = (
        hashlib.sha256(
            f"{(each or '')[:_BREAKER_PREFIX]}:{len(each or '')}".encode("utf-8", "replace")
        ).hexdigest()
        for each in contents
    )
    ((_, most),) = Counter(marks).most_common(1)
    return most > BREAKER_SHARE * len(contents)


def checked_digest(text: str, max_bytes: int) -> str:
    """Return a text as the one section that it will be: one heading of three marks, at its beginning.

    Raise `InvalidInput` for a text without it, beyond `max_bytes`, or with characters that no file can hold.
    """
    text = text.strip() + "\n"
    if _BEGINS.match(text) is None:
        raise InvalidInput("A digest begins with a heading of three marks: ### and its words.")
    if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
        raise InvalidInput("The digest holds a NUL character or half of a character.")
    size = len(text.encode("utf-8"))
    if size > max_bytes:
        raise InvalidInput(f"The digest has {size} bytes; at most {max_bytes} are allowed.")
    return "### " + demoted(text[4:])
