"""One memory of the ledger: what may stand in it, what it is called, and what tells two of them apart."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from muniment.memory.records.times import expired, format_time
from muniment.safety.errors import InvalidInput
from muniment.safety.visible import clean_surrogates

RowType = Literal["semantic", "episodic", "procedural"]
ScopeKind = Literal["global", "project", "agent"]
Trust = Literal["human", "system", "agent", "external"]
Status = Literal["active", "superseded", "retracted", "expired"]

TYPES: tuple[str, ...] = get_args(RowType)
SCOPE_KINDS: tuple[str, ...] = get_args(ScopeKind)
TRUSTS: tuple[str, ...] = get_args(Trust)
"""Most trusted first."""

MAX_BODY_BYTES = 65_536
MAX_TITLE_CHARS = 300
MAX_SOURCE_CHARS = 300
MAX_KEY_CHARS = 200
MAX_LABELS = 64
MAX_LABEL_CHARS = 300
_ID = re.compile(r"M-[A-Za-z0-9-]{1,62}")


class InvalidRow(InvalidInput):
    """A row that cannot stand in the ledger; the sentence names the field."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """What is to be remembered. `source` names where it came from; `source_key` is what newer content shares
    with the older that it replaces, the source itself where none is given.

    `scope_key` is the project's stable id or the agent's name; `project` says in which project an agent's row
    holds, None for outside of any. `importance` and `confidence` go from 0 to 1.
    """

    type: RowType
    scope_kind: ScopeKind
    scope_key: str | None
    title: str
    body: str
    trust: Trust
    source: str
    project: str | None = None
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.5
    expires_at: datetime | None = None
    source_key: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was read; `status` is `expired` where an active row's time has passed.

    Of a row that was purged only what it was is left, when it was purged, and why.
    """

    id: str
    type: RowType
    scope_kind: ScopeKind
    scope_key: str | None
    project: str | None
    title: str
    body: str
    trust: Trust
    status: Status
    source: str
    source_key: str
    paths: tuple[str, ...]
    tags: tuple[str, ...]
    importance: float
    confidence: float
    content_hash: str
    superseded_by: str | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    purged_at: datetime | None = None
    purge_reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return every field as JSON values."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("paths", "tags"):
            values[name] = list(values[name])
        for name in ("expires_at", "created_at", "updated_at", "purged_at"):
            values[name] = None if values[name] is None else format_time(values[name])
        return values


class Placed(Protocol):
    """Anything that says where it belongs."""

    @property
    def scope_kind(self) -> str: ...
    @property
    def scope_key(self) -> str | None: ...
    @property
    def project(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Places:
    """Which rows belong to where somebody works: global ones, this project's, and this agent's in it.

    `agent` None means every agent of this project, `everywhere` means other projects too.
    """

    project: str | None = None
    agent: str | None = None
    any_agent: bool = False
    everywhere: bool = False

    def condition(self) -> tuple[str, dict[str, str | None]]:
        """Return the SQL condition on `memory` and its parameters."""
        if self.everywhere:
            return "1", {}
        agent = "project IS :project" if self.any_agent else "scope_key = :agent AND project IS :project"
        condition = (
            "(scope_kind = 'global' OR (scope_kind = 'project' AND scope_key = :project)"
            f" OR (scope_kind = 'agent' AND {agent}))"
        )
        return condition, {"project": self.project, "agent": self.agent}

    def hold(self, row: Placed) -> bool:
        """Tell the same of one row."""
        if self.everywhere or row.scope_kind == "global":
            return True
        if row.scope_kind == "project":
            return self.project is not None and row.scope_key == self.project
        return (self.any_agent or row.scope_key == self.agent) and row.project == self.project


def checked(new: NewRow) -> NewRow:
    """Return a row as it is kept: texts cleaned, values in bounds; raise `InvalidRow`."""
    _one_of("type", new.type, TYPES)
    _one_of("scope", new.scope_kind, SCOPE_KINDS)
    _one_of("trust", new.trust, TRUSTS)
    body = clean_surrogates(new.body).replace("\x00", "").strip("\r\n")
    if not body.strip():
        raise InvalidRow("A ledger row needs a body.")
    if len(body.encode()) > MAX_BODY_BYTES:
        raise InvalidRow(f"The body of a ledger row has at most {MAX_BODY_BYTES} bytes.")
    title = one_line(new.title)[:MAX_TITLE_CHARS] or one_line(body)[:80]
    source = one_line(new.source)
    if not source or len(source) > MAX_SOURCE_CHARS:
        raise InvalidRow(f"The source of a ledger row is a text of 1 to {MAX_SOURCE_CHARS} characters.")
    key = None if new.scope_key is None else one_line(new.scope_key)
    if (key is None) != (new.scope_kind == "global") or key == "" or len(key or "") > MAX_KEY_CHARS:
        raise InvalidRow("A ledger row of a project or an agent needs its key, and a global one has none.")
    project = key if new.scope_kind == "project" else new.project if new.scope_kind == "agent" else None
    return NewRow(
        new.type,
        new.scope_kind,
        key,
        title,
        body,
        new.trust,
        source,
        project or None,
        _labels("paths", new.paths),
        _labels("tags", new.tags),
        _share("importance", new.importance),
        _share("confidence", new.confidence),
        new.expires_at,
        one_line(new.source_key)[:MAX_SOURCE_CHARS] or source,
    )


def one_line(text: str) -> str:
    """Return a text on one line: no line break of any kind, no control or hidden character, blanks joined."""
    plain = clean_surrogates(text)
    if not plain.isprintable():
        plain = "".join(" " if _parts(each) else each for each in plain if not _vanishes(each))
    return " ".join(plain.split())


def _parts(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp", "Zs")


def _vanishes(character: str) -> bool:
    # The two joiners belong to words of some scripts.
    return unicodedata.category(character) == "Cf" and character not in "\u200c\u200d"


def hash_of(body: str) -> str:
    """Return what identifies a body: the same for texts that differ in blanks only."""
    return hashlib.sha256(" ".join(body.split()).encode()).hexdigest()


def id_of(new: NewRow, turn: int) -> str:
    """Return the id of a row, the same wherever the same is written; `turn` counts returns of old content."""
    parts = [new.scope_kind, new.scope_key, new.project, new.source_key, new.type, new.title, new.body, turn]
    text = json.dumps(parts, ensure_ascii=False)
    return f"M-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def is_row_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def says_the_same(row: Row, new: NewRow) -> bool:
    """Tell whether a row already holds what is to be written; how it was judged since does not matter."""
    return (row.type, row.title, row.body, row.paths, row.tags, row.expires_at) == (
        new.type,
        new.title,
        new.body,
        new.paths,
        new.tags,
        None if new.expires_at is None else new.expires_at.replace(microsecond=0),
    )


def trusts_at_least(one: str, other: str) -> bool:
    """Tell whether one word of trust is worth as much as another."""
    return TRUSTS.index(one) <= TRUSTS.index(other)


def may_be_recalled(kind: str, trust: str, status: str) -> bool:
    """Tell whether a row may ever reach a model unasked: how to do things only by people or the engine."""
    return status == "active" and (kind != "procedural" or trust in ("human", "system"))


def status_at(stored: str, expires_at: datetime | None, now: datetime) -> str:
    """Return a row's status as it is now."""
    return "expired" if stored == "active" and expired(expires_at, now) else stored


def stored_status(status: str) -> str:
    """Return the status that the table holds for it; what has expired is active there."""
    return "active" if status == "expired" else status


def as_json(labels: Sequence[str]) -> str:
    return json.dumps(list(labels), ensure_ascii=False) if labels else "[]"


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InvalidRow(f"The {name} of a ledger row is one of {', '.join(allowed)}.")


def _labels(name: str, given: Sequence[str]) -> tuple[str, ...]:
    labels = tuple(dict.fromkeys(line for line in map(one_line, given) if line))
    if len(labels) > MAX_LABELS or any(len(each) > MAX_LABEL_CHARS for each in labels):
        raise InvalidRow(
            f"The {name} of a ledger row are at most {MAX_LABELS} texts of {MAX_LABEL_CHARS} characters."
        )
    return labels


def _share(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InvalidRow(f"The {name} of a ledger row is a number from 0 to 1.")
    if not 0 <= value <= 1:
        raise InvalidRow(f"The {name} of a ledger row is a number from 0 to 1.")
    return float(value)
