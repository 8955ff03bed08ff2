"""Where records can be imported from: an export, record files, Markdown, lists, or lines of JSON."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.memory.records import planning
from muniment.memory.records.carry import markdown
from muniment.memory.records.carry.export import FORMAT, MANIFEST, VERSION
from muniment.memory.records.ids import MAX_RECORD_BYTES, SUFFIX
from muniment.memory.records.plans import InvalidRecord, ScopeWord
from muniment.memory.records.record import Record, RecordFault, decode
from muniment.memory.records.times import TimeFault, from_epoch, later, parse_time
from muniment.safety.errors import MunimentError
from muniment.safety.files import FileRefused, read_regular

MAX_TEXT_BYTES = 268_435_456
"""Bytes of one file of JSON lines, or of standard input."""
MAX_FILES = 100_000
STANDARD_INPUT = "standard input"
_MAX_DEPTH = 16
_MAX_MANIFEST_BYTES = 1_048_576
_SCOPE_NAME = re.compile(r"global|project-[1-9]\d{0,3}", re.ASCII)
_MARKDOWN = (".md", ".markdown", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One record to be imported, with the place it asks for, or why there is none."""

    name: str
    """What people know it by: the name of a file, or a line."""
    record: Record | None
    fault: str = ""
    scope: ScopeWord | None = None
    directory: str = ""
    """The scope directory it was exported from; it goes back there where that is in the chain."""


@dataclass(slots=True)
class Source:
    """What was found in one place, and sentences about what is not taken from it."""

    candidates: list[Candidate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_source(path: Path) -> Source:
    """Read a file or directory to import from; raise `MunimentError` where it cannot be read at all."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        raise MunimentError(f"There is nothing at {path}.") from None
    except OSError as error:
        raise MunimentError(f"{path} cannot be read: {_why(error)}.") from error
    if stat.S_ISLNK(info.st_mode):
        raise MunimentError(f"{path} is a symbolic link; name what it points to.")
    if stat.S_ISDIR(info.st_mode):
        if os.path.lexists(path / MANIFEST):
            return _read_export(path)
        return _read_tree(path)
    data, changed = _read(path, MAX_TEXT_BYTES)
    if path.suffix.lower() == SUFFIX or path.suffix.lower() == ".yml":
        return Source([_record_file(path.name, data, changed)])
    if path.suffix.lower() in _MARKDOWN:
        return read_markdown(path.name, data, changed, alone=True)
    if path.suffix.lower() in _JSON or data.lstrip()[:1] == b"{":
        return read_lines(path.name, data, changed)
    raise InvalidRecord(f"{path} is no export, no YAML, no Markdown and no lines of JSON.")


def read_text(data: bytes, now: datetime) -> Source:
    """Read standard input: lines of JSON, Markdown with front matter, or a list."""
    if not data.strip():
        raise InvalidRecord("There is nothing to import in standard input.")
    if data.lstrip()[:1] == b"{":
        return read_lines(STANDARD_INPUT, data, now)
    source = read_markdown(STANDARD_INPUT, data, now, alone=True)
    begins = data.lstrip(b"\xef\xbb\xbf").startswith(b"---")
    if not begins and (len(source.candidates) == 1 and source.candidates[0].name == STANDARD_INPUT):
        fault = source.candidates[0].fault
        raise InvalidRecord(fault or "Standard input holds neither lines of JSON nor a list to import.")
    return source


def read_lines(name: str, data: bytes, changed: datetime) -> Source:
    """Read one record a line, as an export to `-` writes them."""
    source = Source()
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        where = f"{name}, line {number}"
        try:
            source.candidates.append(_from_line(where, raw, changed))
        except MunimentError as fault:
            source.candidates.append(Candidate(where, None, fault.sentence))
    if not source.candidates:
        raise InvalidRecord(f"There is nothing to import in {name}.")
    return source


def read_markdown(name: str, data: bytes, changed: datetime, *, alone: bool) -> Source:
    """Read a Markdown file: item by item where it is a list, whole otherwise.

    In a directory only files that are lists by custom are taken apart; one given `alone` where it is mostly
    a list.
    """
    stem = "" if name == STANDARD_INPUT else Path(name).stem
    try:
        text = _decoded(data)
        whole = text.startswith("---") or not (alone or name.lower() in markdown.LIST_NAMES)
        listing = markdown.Listing((), 0, 0) if whole else markdown.read_list(text)
        by_custom = name.lower() in markdown.LIST_NAMES
        if not listing.items or not (by_custom or listing.is_list):
            return Source([Candidate(name, markdown.note_record(data, stem, changed))])
    except InvalidRecord as fault:
        return Source([Candidate(name, None, fault.sentence)])
    records = markdown.item_records(listing, changed)
    found = [
        Candidate(f"{name}, line {item.line}", record)
        for item, record in zip(listing.items, records, strict=True)
    ]
    notes = []
    if listing.outside:
        lines, verb = ("1 line", "is") if listing.outside == 1 else (f"{listing.outside} lines", "are")
        notes = [f"{lines} of {name} outside of list items {verb} not taken."]
    return Source(found, notes)


# Directories


def _read_export(path: Path) -> Source:
    """Read a directory that `export` wrote; what its manifest does not name is not looked at."""
    source = Source()
    for entry in _manifest(path):
        name, kind = entry.get("name"), entry.get("scope")
        if not isinstance(name, str) or not _SCOPE_NAME.fullmatch(name) or kind not in ("global", "project"):
            raise InvalidRecord(f"{path / MANIFEST} names a scope that no export has.")
        before = len(source.candidates)
        word: ScopeWord = "global" if kind == "global" else "project"
        for file, data, changed in _files(path / name, source, depth=_MAX_DEPTH):
            if not file.endswith(SUFFIX):
                source.notes.append(f"{name}/{file} is no record file and is not taken.")
                continue
            read = _record_file(f"{name}/{file}", data, changed)
            place = str(entry.get("directory", ""))
            source.candidates.append(Candidate(read.name, read.record, read.fault, word, place))
        found = len(source.candidates) - before
        if entry.get("records") != found:
            source.notes.append(
                f"{name} holds {found} record files; its manifest says {entry.get('records')}."
            )
    return source


def _manifest(path: Path) -> list[Mapping[str, Any]]:
    try:
        manifest = json.loads(_read(path / MANIFEST, _MAX_MANIFEST_BYTES)[0])
    except (ValueError, RecursionError):
        raise InvalidRecord(f"{path / MANIFEST} is no JSON.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InvalidRecord(f"{path / MANIFEST} belongs to no export of records.")
    if manifest.get("version") != VERSION:
        raise InvalidRecord(f"{path} was exported in another version of the format; use a newer program.")
    scopes = manifest.get("scopes")
    if not isinstance(scopes, list) or not all(isinstance(each, dict) for each in scopes):
        raise InvalidRecord(f"{path / MANIFEST} has no list of scopes.")
    return scopes


def _read_tree(path: Path) -> Source:
    """Read all record files and Markdown below a directory; hidden names and links are left out."""
    source = Source()
    listed: list[Source] = []
    names: set[str] = set()
    for file, data, changed in _files(path, source, depth=0):
        if file.endswith(SUFFIX):
            source.candidates.append(_record_file(file, data, changed))
            continue
        names.add(file)
        base = Path(file).name
        read = read_markdown(base, data, changed, alone=False)
        folder = file.removesuffix(base)
        moved = [Candidate(folder + each.name, each.record, each.fault) for each in read.candidates]
        if base.lower() in markdown.LIST_NAMES:
            listed.append(Source(moved, read.notes))
        else:
            source.candidates += moved
    for read in listed:
        _take_list(source, read, names)
    if not source.candidates:
        raise InvalidRecord(f"There is nothing to import in {path}: no export, no YAML and no Markdown.")
    return source


def _take_list(source: Source, listed: Source, names: set[str]) -> None:
    """Take the items of a list, without those that only point to files that are imported anyway."""
    pointers = 0
    for each in listed.candidates:
        item = None if each.record is None else markdown.Item(each.record.content, "", 0)
        if item is not None and markdown.points_to(item) in names:
            pointers += 1
        else:
            source.candidates.append(each)
    if pointers:
        what = (
            "1 list item that only points to an imported file is"
            if pointers == 1
            else f"{pointers} list items that only point to imported files are"
        )
        source.notes.append(f"{what} not taken.")
    source.notes += listed.notes


def _files(
    path: Path, source: Source, *, depth: int, prefix: str = ""
) -> Iterator[tuple[str, bytes, datetime]]:
    """Yield the files to read in order of their names; what cannot be read becomes a faulty candidate."""
    try:
        if stat.S_ISLNK(path.lstat().st_mode):
            raise MunimentError(f"{path} is a symbolic link and is not entered.")
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        raise MunimentError(f"{path} cannot be read: {_why(error)}.") from error
    for entry in found:
        name = prefix + entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < _MAX_DEPTH:
                yield from _files(Path(entry.path), source, depth=depth + 1, prefix=f"{name}/")
            continue
        if not entry.name.lower().endswith((SUFFIX, ".md", ".markdown")) and depth < _MAX_DEPTH:
            if entry.is_symlink():
                source.notes.append(f"{name} is a symbolic link and is not followed.")
            continue
        if len(source.candidates) >= MAX_FILES:
            raise InvalidRecord(f"{path} holds more than {MAX_FILES} files to import; import it in parts.")
        try:
            data, changed = _read(Path(entry.path), MAX_RECORD_BYTES)
        except MunimentError as fault:
            source.candidates.append(Candidate(name, None, fault.sentence))
        else:
            yield name, data, changed


# Single records


def _record_file(name: str, data: bytes, changed: datetime) -> Candidate:
    try:
        return Candidate(name, decode(data, Path(name).stem, changed.timestamp()))
    except RecordFault as fault:
        return Candidate(name, None, f"It is no record: {str(fault).rstrip('.')}.")


def _from_line(where: str, raw: bytes, changed: datetime) -> Candidate:
    try:
        fields = json.loads(_decoded(raw), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise InvalidRecord("It is no JSON object.") from None
    if not isinstance(fields, dict):
        raise InvalidRecord("It is no JSON object.")
    word = fields.get("scope")
    planning.check_scope_word(None if word is None else str(word))
    scope: ScopeWord | None = None if word is None else "global" if word == "global" else "project"
    return Candidate(where, _from_fields(fields, changed), "", scope, str(fields.get("directory", "")))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise InvalidRecord("It has a key twice.")
    return fields


def _from_fields(fields: Mapping[str, Any], changed: datetime) -> Record:
    """Read a record as strictly as arguments of a store; what a file may leave out may be left out here."""
    texts = {"category": "fact", "source": "user"} | {
        key: value
        for key in ("id", "category", "title", "content", "source")
        if (value := fields.get(key)) is not None
    }
    for name in ("id", "title", "content", "category", "source"):
        if not isinstance(texts.get(name), str):
            raise InvalidRecord(f"{name} is missing or no text.")
    tags = fields.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidRecord("tags is not a list of texts.")
    extras = fields.get("extras") or {}
    if not isinstance(extras, dict) or not _is_value(extras):
        raise InvalidRecord("extras holds something that is no text, list or object.")
    created = _time(fields, "created_at") or changed
    return Record(
        tags=tuple(tags),
        created_at=created,
        updated_at=later(_time(fields, "updated_at") or changed, created),
        expires_at=_time(fields, "expires_at"),
        extras=extras,
        **texts,
    )


def _time(fields: Mapping[str, Any], name: str) -> datetime | None:
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


def _read(path: Path, max_bytes: int) -> tuple[bytes, datetime]:
    """Read a file of anybody's, never through a link; raise `MunimentError` with the reason."""
    try:
        data = read_regular(path, max_bytes=max_bytes, single_link=False, any_owner=True)
        return data, from_epoch(path.lstat().st_mtime)
    except FileNotFoundError:
        raise MunimentError(f"{path} is gone.") from None
    except FileRefused as refused:
        raise MunimentError(f"{path} is not read: {refused.reason}.") from refused


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRecord(f"It is not UTF-8 text (byte {error.start + 1}).") from None
    if "\x00" in text:
        raise InvalidRecord("It is no text: it holds a NUL character.")
    return text


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
