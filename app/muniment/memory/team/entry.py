"""One entry of the knowledge base: a Markdown file whose front matter says where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from muniment.memory.records.times import TimeFault, expired, format_time, parse_time
from muniment.memory.team.insights import safe_agent, title_of
from muniment.memory.team.notefile import slug, split
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.files import digest
from muniment.safety.strict_yaml import dump

SUFFIX = ".md"
MAX_FILE_BYTES = 1_048_576
MAX_TITLE_BYTES = 1_024
MAX_ROW_BYTES = 65_536
EntryType = Literal["semantic", "procedural"]
TYPES: tuple[EntryType, ...] = ("semantic", "procedural")
_MAX_STEM = 160
_PREVIEW = 200
_HASHED = 500


class EntryFault(MunimentError):  # noqa: N818 - a fault of the file
    """A file is no entry; the sentence fits after the file's name."""


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to be written by hand; `source` and `agent` say where it came from."""

    title: str
    content: str
    category: str
    type: EntryType = "semantic"
    expires_at: datetime | None = None
    agent: str = "user"
    source: str = "user"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as its file has it: `name` is its name without suffix, `text` all behind the front matter."""

    name: str
    category: str
    title: str
    text: str
    agent: str
    date: str
    source: str
    type: EntryType
    expires_at: datetime | None
    path: Path
    mtime: float
    digest: str
    held: bool = False
    claimed_trust: str = ""
    """What the file says of its own trust; it counts only for a file that this machine's journal knows."""

    @property
    def key(self) -> str:
        """The entry's place in the knowledge base: `category/name.md`."""
        return f"{self.category}/{self.name}{SUFFIX}"

    @property
    def preview(self) -> str:
        return " ".join(self.text.split())[:_PREVIEW]

    @property
    def fingerprint(self) -> str:
        """What two entries that say the same have in common; their titles are part of their texts."""
        plain = " ".join(self.text.split())
        return hashlib.sha256(f"{plain[:_HASHED]}:{len(plain)}".encode("utf-8", "replace")).hexdigest()

    def is_expired(self, now: datetime) -> bool:
        return expired(self.expires_at, now)

    def as_dict(self) -> dict[str, object]:
        """Return what a list shows, as JSON values; no text."""
        return {
            "name": self.name,
            "category": self.category,
            "title": self.title,
            "type": self.type,
            "agent": self.agent,
            "source": self.source,
            "date": self.date,
            "expires_at": None if self.expires_at is None else format_time(self.expires_at),
            "held": self.held,
            "path": str(self.path),
        }


def decode(data: bytes, path: Path, *, category: str, mtime: float, held: bool = False) -> Entry:
    """Read an entry from any Markdown file; missing fields follow from name and time. Raise `EntryFault`."""
    try:
        whole = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise EntryFault("is not UTF-8 text") from None
    if "\x00" in whole:
        raise EntryFault("holds a NUL character")
    fields, text = split(whole)
    expires_at: datetime | None = None
    with suppress(TimeFault):  # an expiry that nobody can read expires nothing
        expires_at = parse_time(fields["expires"], day_ends=True) if fields.get("expires") else None
    kind = fields.get("type", "")
    return Entry(
        name=path.stem,
        category=category,
        title=fields.get("title") or title_of(text, path.name),
        text=text.lstrip("\r\n"),
        agent=safe_agent(fields.get("agent", "")),
        date=fields.get("date", "") or _day(mtime),
        source=fields.get("source", ""),
        type=next((each for each in TYPES if each == kind), "semantic"),
        expires_at=expires_at,
        path=path,
        mtime=mtime,
        digest=digest(data),
        held=held,
        claimed_trust=fields.get("trust", ""),
    )


def encode(fields: Mapping[str, str], text: str) -> str:
    """Return the file of an entry: front matter from the fields that have a value, then the text as it is."""
    head = dump({key: value for key, value in fields.items() if value}).decode()
    return f"---\n{head}---\n{text}"


def fields_of(new: NewEntry, *, date: str, trust: str) -> dict[str, str]:
    """Return the front matter of a new entry, in the order in which it is written."""
    return {
        "title": new.title,
        "source": new.source,
        "agent": new.agent,
        "category": new.category,
        "date": date,
        "type": new.type,
        "trust": trust,
        "expires": "" if new.expires_at is None else format_time(new.expires_at),
        "note": new.note,
    }


def stem_for(date: str, agent: str, title: str) -> str:
    """Return the name of a new entry, safe for every file system and never a path."""
    words = slug(title, 80) or hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:12]
    who = slug(agent, 40) or "unknown"
    return f"{date}-{who}-{words}"[:_MAX_STEM]


def check_new(new: NewEntry) -> NewEntry:
    """Return the entry with its title on one line; raise `InvalidInput` where it can never be one."""
    title = " ".join(new.title.split())
    for name, text, most in (
        ("title", title, MAX_TITLE_BYTES),
        ("content", new.content, MAX_FILE_BYTES // 2),
    ):
        if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
            raise InvalidInput(f"The {name} of the entry holds a NUL character or half of a character.")
        if not text.strip():
            raise InvalidInput(f"The entry needs a {name}.")
        size = len(text.encode("utf-8"))
        if size > most:
            raise InvalidInput(f"The {name} of the entry has {size} bytes; at most {most} are allowed.")
    if new.type not in TYPES:
        raise InvalidInput(f"The type of an entry is one of {', '.join(TYPES)}.")
    return NewEntry(
        title, new.content, new.category, new.type, new.expires_at, new.agent, new.source, new.note
    )


def row_body(text: str, title: str) -> str:
    """Return an entry's text within the bound of a ledger row, cut on a character border."""
    body = text.strip() or title
    data = body.encode("utf-8")
    return body if len(data) <= MAX_ROW_BYTES else data[:MAX_ROW_BYTES].decode("utf-8", "ignore")


def _day(mtime: float) -> str:
    from muniment.memory.records.times import from_epoch

    return f"{from_epoch(mtime):%Y-%m-%d}"
