"""Markdown as a source of records: a whole note with or without front matter, or the items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from muniment.memory.front_matter import FrontMatterFault, split_front_matter
from muniment.memory.records.ids import derive_id, free_id, is_valid_id
from muniment.memory.records.plans import InvalidRecord
from muniment.memory.records.record import DEFAULT_CATEGORY, RECORD_FIELDS, Record
from muniment.memory.records.times import TimeFault, later, parse_time
from muniment.safety.strict_yaml import Value, YamlFault, load

LIST_NAMES = frozenset(("memory.md", "claude.md", "claude.local.md", "agents.md", "gemini.md"))
"""Files that are lists of facts by custom; in a directory only these are read item by item."""
MAX_TITLE = 80
MAX_TAG = 64
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?P<text>\S.*)")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
_MARKS = re.compile(r"\*\*|__|`")
_OWN_SOURCE = "original_source"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: its whole text, the heading it stands under and its line, counted from 1."""

    text: str
    heading: str
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The items of a Markdown text, and how many lines with text stand outside of them."""

    items: tuple[Item, ...]
    outside: int
    inside: int

    @property
    def is_list(self) -> bool:
        """Whether the text is mostly a list and not prose with a list in it."""
        return bool(self.items) and self.inside >= self.outside


def note_record(data: bytes, stem: str, changed: datetime) -> Record:
    """Read a whole Markdown file as one record; `changed` stands in for times that it does not give,
    the title for a `stem` that is empty.

    The text stays as it is. Fields of the front matter that a record has are taken over, all others are
    kept as extra fields. Raise `InvalidRecord` with the reason.
    """
    try:
        header, body = split_front_matter(data)
        fields = _fields(header)
    except FrontMatterFault as fault:
        raise InvalidRecord(f"It {fault}.") from fault
    text = body.strip("\r\n").rstrip()
    summary = _text(fields, "description", "summary")
    heading = _heading_of(text)
    name = _text(fields, "name")
    title = _text(fields, "title") or heading or summary or name or stem.replace("-", " ").replace("_", " ")
    content = text or _text(fields, "content") or summary
    if not content:
        raise InvalidRecord("It holds no text.")
    record_id = _text(fields, "id")
    if not record_id:
        record_id = name if is_valid_id(name) else derive_id(stem or title)
    created, created_key = _time(fields, "created_at", "created", "date")
    updated, updated_key = _time(fields, "updated_at", "updated", "modified")
    expires, expires_key = _time(fields, "expires_at", "expires", day_ends=True)
    used = {created_key, updated_key, expires_key, "id", "title", "content", "tags"}
    used |= {"category"} if _text(fields, "category") else {"type"}
    used |= {"name"} if record_id == name else set()
    used |= {key for key in ("description", "summary") if _text(fields, key) in (title, content)}
    extras = {
        _OWN_SOURCE if key == "source" else key: value
        for key, value in fields.items()
        if key not in used and (key == "source" or key not in RECORD_FIELDS)
    }
    first = created or min(changed, updated or changed)
    return Record(
        id=record_id,
        category=_text(fields, "category", "type") or DEFAULT_CATEGORY,
        title=shortened(title) if title != _text(fields, "title") else title,
        content=content,
        tags=_tags(fields.get("tags")),
        source="import",
        created_at=first,
        updated_at=later(updated or created or changed, first),
        expires_at=expires,
        extras=extras,
    )


def item_records(listing: Listing, changed: datetime) -> Iterator[Record]:
    """Make a record of each item; the same list gives the same ids again."""
    taken: set[str] = set()
    for item in listing.items:
        title = item_title(item.text)
        record_id = free_id(derive_id(title), taken.__contains__)
        taken.add(record_id)
        tags = (item.heading[:MAX_TAG].rstrip(),) if item.heading else ()
        yield Record(record_id, DEFAULT_CATEGORY, title, item.text, tags, "import", changed, changed)


def read_list(text: str) -> Listing:
    """Take a Markdown text apart into the items of its outermost lists; nested lines belong to their item."""
    items: list[Item] = []
    current: list[str] = []
    heading = fence = ""
    outside = inside = began = width = 0

    def finish() -> None:
        if current:
            items.append(Item("\n".join(current).rstrip(), heading, began))
            current.clear()

    for number, line in enumerate(text.splitlines(), 1):
        opens = _FENCE.match(line)
        if fence:
            fence = "" if opens and opens[1].startswith(fence) else fence
        elif opens:
            fence = opens[1]
        if not line.strip():
            if current:
                current.append("")
            continue
        indented = line[0] in " \t"
        item = None if fence or opens else _ITEM.fullmatch(line)
        if item is not None:
            finish()
            began, width = number, item.end("gap")
            current.append(item["text"].rstrip())
            inside += 1
        elif current and (indented or current[-1]) and (fence or opens or not _HEADING.fullmatch(line)):
            # Indented lines belong to the item; so do lines that go on without a blank line before them.
            current.append(_dedent(line, width))
            inside += 1
        else:
            finish()
            found = None if fence or opens else _HEADING.fullmatch(line)
            if found is not None:
                heading = found[1]
            else:
                outside += 1
    finish()
    return Listing(tuple(items), outside, inside)


def item_title(text: str) -> str:
    """Return a title for an item: its first line without marks, cut at a word."""
    first = _TASK.sub("", text.split("\n", 1)[0], count=1)
    link = _LINK.match(first)
    return shortened(_MARKS.sub("", link[1] if link else first).strip() or first)


def points_to(item: Item) -> str:
    """Return the file that an item is nothing but a pointer to, or an empty text."""
    link = _LINK.match(item.text)
    return "" if link is None or "\n" in item.text else link[2]


def shortened(text: str) -> str:
    """Return one line of at most `MAX_TITLE` characters, cut between words where there are any."""
    line = " ".join(text.split())
    if len(line) <= MAX_TITLE:
        return line
    cut = line[: MAX_TITLE - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:.") + "…"


def _dedent(line: str, width: int) -> str:
    blank = len(line) - len(line.lstrip(" \t"))
    return line[min(width, blank) :].rstrip()


def _fields(header: bytes | None) -> dict[str, Value]:
    if header is None:
        return {}
    try:
        # The empty line stands for the opening rule, so that a fault names the right line.
        fields = load(b"\n" + header)
    except YamlFault as fault:
        raise InvalidRecord(f"Its front matter cannot be read, {fault}.") from fault
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise InvalidRecord("Its front matter has no fields.")
    return fields


def _text(fields: dict[str, Value], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _time(fields: dict[str, Value], *names: str, day_ends: bool = False) -> tuple[datetime | None, str]:
    """Return the first of some fields that is a time, and its name.

    The first name is a record's own and must be a time; the foreign ones may hold anything.
    """
    for name in names:
        value = fields.get(name)
        try:
            if isinstance(value, str):
                return parse_time(value.strip(), day_ends=day_ends), name
            if value is not None and name == names[0]:
                raise TimeFault("is not a date or time such as 2026-10-25T03:07:29Z")
        except TimeFault as fault:
            if name == names[0]:
                raise InvalidRecord(f"{name} {fault}.") from fault
    return None, ""


def _tags(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [each for each in re.split(r"[,\s]+", value) if each]
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidRecord("tags is not a list of texts.")
    tags = (each.strip().removeprefix("#") for each in value if isinstance(each, str))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _heading_of(text: str) -> str:
    found = _HEADING.fullmatch(text.lstrip().split("\n", 1)[0].rstrip())
    return "" if found is None else found[1].strip()
