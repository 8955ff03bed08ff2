"""One note of the inbox: its file name, its front matter, and how both are read back from any file."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.files import digest
from muniment.safety.strict_yaml import Value, YamlFault, dump, load

SUFFIX = ".md"
MAX_BODY_BYTES = 65_536
MAX_TITLE_BYTES = 1_024
MAX_FILE_BYTES = 81_920
"""Body, title and front matter together, with room for the fields of a note written elsewhere."""

Source = Literal["user", "agent", "task", "engine", "feedback"]

_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_FENCED = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(?P<title>\S.*?)[ \t]*\r?$", re.MULTILINE)
_PREFIX = re.compile(r"(\w+)-")
MAX_NAME = 176


class NoteFault(MunimentError):  # noqa: N818 - a fault of the file
    """A file is no note; the sentence fits after the file's name."""


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to be written. `name` is the file's name where it follows from what the note is about."""

    title: str
    body: str
    agent: str
    source: Source
    session: str = ""
    name: str = ""
    extras: Mapping[str, str | None] = field(default_factory=dict)
    """More front matter; a value of None is left out."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note as its file has it. `text` is all behind the front matter, `body` the same without the title."""

    id: str
    name: str
    path: Path
    agent: str
    date: str
    session: str
    project: str
    source: str
    title: str
    body: str
    text: str
    held: bool
    mtime: float
    digest: str
    fields: Mapping[str, str] = field(default_factory=dict)


def check_new(new: NewNote) -> NewNote:
    """Return the note with its title on one line; raise `InvalidInput` for what cannot be one."""
    title = " ".join(new.title.split())
    for name, text, most in (("title", title, MAX_TITLE_BYTES), ("body", new.body, MAX_BODY_BYTES)):
        if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
            raise InvalidInput(f"The {name} of the note holds a NUL character or half of a character.")
        size = len(text.encode("utf-8"))
        if size > most:
            raise InvalidInput(f"The {name} of the note has {size} bytes; at most {most} are allowed.")
    if not title:
        raise InvalidInput("A note needs a title.")
    return NewNote(title, new.body, new.agent, new.source, new.session, new.name, new.extras)


def encode_note(new: NewNote, *, note_id: str, date: str, project: str) -> bytes:
    """Return the file of a note. Front matter that its body begins with is merged; our own fields win."""
    carried, body = split(new.body)
    ours = {
        "id": note_id,
        "agent": new.agent,
        "date": date,
        "session": new.session,
        "project": project,
        "source": new.source,
    }
    merged: dict[str, Value] = dict(ours)
    for key, value in (*new.extras.items(), *carried.items()):
        if value is not None and key not in merged:
            merged[key] = value
    head = b"---\n" + dump(merged) + b"---\n"
    body = body.strip("\n")
    return head + f"# {new.title}\n".encode() + (f"\n{body}\n".encode() if body.strip() else b"")


def decode_note(data: bytes, path: Path, *, mtime: float, held: bool) -> Note:
    """Read a note from any Markdown file; without usable front matter the file's name says who wrote it."""
    try:
        whole = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NoteFault("is not UTF-8 text") from None
    if "\x00" in whole:
        raise NoteFault("holds a NUL character")
    fields, text = split(whole)
    heading = _HEADING.search(text)
    if heading is None:
        title, body = path.stem, text
    else:
        title, body = heading["title"], text[: heading.start()] + text[heading.end() :]
    return Note(
        id=fields.get("id", ""),
        name=path.name,
        path=path,
        agent=fields.get("agent") or agent_of(path.name),
        date=fields.get("date", ""),
        session=fields.get("session", ""),
        project=fields.get("project", ""),
        source=fields.get("source", ""),
        title=" ".join(title.split()),
        body=body.strip("\n\r"),
        text=text,
        held=held,
        mtime=mtime,
        digest=digest(data),
        fields=fields,
    )


def split(text: str) -> tuple[dict[str, str], str]:
    """Return the text fields of a front matter and what follows; no closing rule means no front matter."""
    match = _FENCED.match(text)
    if match is None:
        return {}, text
    try:
        value = load(match["head"].replace("\r\n", "\n"))
    except YamlFault:
        return {}, text
    if not isinstance(value, dict):
        return {}, text
    fields = {key: " ".join(item.split()) for key, item in value.items() if isinstance(item, str)}
    return fields, text[match.end() :]


def agent_of(name: str) -> str:
    """Return the agent that a file name begins with, up to its first hyphen; else `unknown`."""
    match = _PREFIX.match(name)
    return "unknown" if match is None else match[1]


def safe_slug(text: str) -> str:
    """Return a text as a part of a file name: as it is if that is safe, else with a hash; never empty."""
    if _SAFE.fullmatch(text):
        return text
    if not text.strip():
        return "item"
    words = slug(text, 60)
    tail = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{words}-{tail}" if words else f"item-{tail}"


def slug(text: str, most: int) -> str:
    """Return lower-case words of a text joined by hyphens, at most `most` characters; may be empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _UNSAFE.sub("-", plain).strip("-")[:most].strip("-")


def check_note_name(name: str) -> str:
    """Return a file name of the inbox; raise `InvalidInput` for a path or anything else."""
    if not name.endswith(SUFFIX):
        name += SUFFIX
    if name[0] == "." or any(each in name for each in ("/", "\\", "\x00")) or ".." in name:
        raise InvalidInput("A note is named by its file name in the inbox, without a path.")
    return name
