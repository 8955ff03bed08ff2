"""The sweep: proposals to take duplicates and stale entries out of knowledge, and to file others anew."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.records.times import TimeFault, format_time, from_epoch, parse_time
from muniment.memory.team.classify import matched
from muniment.memory.team.entry import MAX_FILE_BYTES, SUFFIX, Entry
from muniment.memory.team.knowledge import DIRECTORY, SURFACE, SWEPT
from muniment.memory.team.notefile import split
from muniment.memory.team.pending import Step, Work, move, new_file, refiled, remove, retract
from muniment.memory.team.rows import entry_key, entry_source
from muniment.safety.errors import NotFound
from muniment.safety.files import FileRefused, digest
from muniment.safety.strict_yaml import dump

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

Kind = Literal["stale", "duplicate", "refile"]
_WORK = "sweep"
_MOST_BYTES = 8_388_608
_MAX_STEM = 176


@dataclass(frozen=True, slots=True)
class SweepItem:
    """One proposal. `target` is the category to file the entry under, None where it is to leave."""

    kind: Kind
    entry: Entry
    reason: str
    target: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.entry.name,
            "category": self.entry.category,
            "title": self.entry.title,
            "target": self.target,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What a sweep did: names of entries moved away, of entries filed elsewhere, and of old files removed."""

    swept: tuple[str, ...]
    filed: tuple[str, ...]
    pruned: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "swept": list(self.swept),
            "filed": list(self.filed),
            "pruned": list(self.pruned),
            "notices": list(self.notes),
        }


class Sweep:
    """Looks through the knowledge base and does what is approved; held entries are never touched."""

    def __init__(self, team: Team) -> None:
        self._team = team

    @property
    def directory(self) -> Path:
        """Where swept entries are kept for a while."""
        return self._team.knowledge.directory / SWEPT

    def propose(self) -> tuple[SweepItem, ...]:
        """Return what could be swept, at most one proposal for an entry; nothing is written."""
        now = self._team.clock()
        entries = self._team.knowledge.list()
        survivors: dict[str, Entry] = {}
        for each in sorted(entries, key=_rank, reverse=True):
            if each.held or not each.is_expired(now):
                survivors.setdefault(each.fingerprint, each)
        items: list[SweepItem] = []
        for each in sorted(entries, key=lambda entry: entry.key):
            item = None if each.held else self._judge(each, survivors, now)
            if item is not None:
                items.append(item)
        return tuple(items)

    def apply(self, items: Sequence[SweepItem], origin: Origin) -> SweepOutcome:
        """Do the given proposals if their entries still are as they were seen.

        What leaves goes to `knowledge/_swept` with the reason above its text; what has been there longer than
        the settings say is removed. Raise `ChangedAfterApproval`, `TeamRefused`, `LockBusy`.
        """
        team = self._team
        origin = replace(origin, surface=_WORK)
        with team.guard():
            said = team.pending.recover()
            now = team.clock()
            steps: list[Step] = []
            swept: list[str] = []
            filed: list[str] = []
            size = 0
            for item in items:
                data = self._unchanged(item)
                size += len(data)
                if size > _MOST_BYTES and (swept or filed):
                    said += ("The rest is proposed again: this was as much as one sweep does.",)
                    break
                if item.target is not None:
                    steps += self._file(item, item.target)
                    filed.append(item.entry.name)
                else:
                    steps += self._leave(item, data, now, len(swept))
                    swept.append(item.entry.name)
            old = self._old(now)
            steps += [
                remove(_relative(path, team), seen, surface=SURFACE, item=path.stem) for path, seen in old
            ]
            if steps:
                said += team.pending.run(Work(_WORK, origin, tuple(steps)))
        return SweepOutcome(tuple(swept), tuple(filed), tuple(path.name for path, _ in old), said)

    def _judge(self, entry: Entry, survivors: dict[str, Entry], now: datetime) -> SweepItem | None:
        if entry.expires_at is not None and entry.is_expired(now):
            return SweepItem("stale", entry, f"expired at {format_time(entry.expires_at)}")
        newer = survivors.get(entry.fingerprint)
        if newer is not None and newer.key != entry.key:
            return SweepItem("duplicate", entry, f"says the same as {newer.key}")
        # The name that tells something is the note's; an entry written by hand has none but ours.
        wanted = matched("" if entry.source == "user" else entry.source, entry.text)
        if wanted is None or wanted == entry.category:
            return None
        return SweepItem("refile", entry, f"reads like {wanted}", wanted)

    def _unchanged(self, item: SweepItem) -> bytes:
        entry = item.entry
        try:
            now = self._team.knowledge.read(entry.key)
            data = self._team.files.read(entry.path, max_bytes=MAX_FILE_BYTES)
        except (NotFound, FileRefused) as error:
            raise ChangedAfterApproval(
                f"{entry.path} is gone since it was approved, nothing moved."
            ) from error
        if data is None or now.held or digest(data) != entry.digest:
            raise ChangedAfterApproval(f"{entry.path} was changed after approval, nothing moved.")
        return data

    def _file(self, item: SweepItem, category: str) -> list[Step]:
        entry = item.entry
        target = entry_source(category, entry.name)
        return [
            move(f"{DIRECTORY}/{entry.key}", target, entry.digest, surface=SURFACE, item=entry.name),
            refiled(entry_key(entry.name), target),
        ]

    def _leave(self, item: SweepItem, data: bytes, now: datetime, number: int) -> list[Step]:
        entry = item.entry
        head = dump({"swept": format_time(now), "reason": item.reason, "from": entry.key}).decode()
        text = f"---\n{head}---\n{data.decode('utf-8-sig')}"
        # The number keeps two entries of the same name and day apart.
        stem = f"{now:%Y-%m-%d-%H%M%S}-{number}-{entry.name}"[:_MAX_STEM]
        path = f"{DIRECTORY}/{SWEPT}/{stem}{SUFFIX}"
        steps = [
            new_file(path, text, surface=SURFACE, item=entry.name),
            remove(f"{DIRECTORY}/{entry.key}", entry.digest, surface=SURFACE, item=entry.name),
        ]
        if item.kind == "duplicate":
            steps.append(retract([entry_key(entry.name)]))
        return steps

    def _old(self, now: datetime) -> list[tuple[Path, str]]:
        """Return the swept files that have been kept long enough, with the digests of what they hold."""
        border = now - timedelta(days=self._team.settings.knowledge.keep_swept_days)
        found: list[tuple[Path, str]] = []
        files = self._team.files
        with suppress(FileRefused, OSError):  # what cannot be looked at stays
            for name in files.names(self.directory):
                path = self.directory / name
                with suppress(FileRefused):
                    data = files.read(path, max_bytes=2 * MAX_FILE_BYTES)
                    status = files.status(path)
                    if data is not None and status is not None and _swept_at(data, status.st_mtime) < border:
                        found.append((path, digest(data)))
        return found


def _rank(entry: Entry) -> tuple[bool, str, float, str]:
    """Of entries that say the same a held one stays, else the newest."""
    return (entry.held, entry.date, entry.mtime, entry.key)


def _swept_at(data: bytes, mtime: float) -> datetime:
    fields, _ = split(data.decode("utf-8", "replace"))
    with suppress(TimeFault):
        return parse_time(fields.get("swept", ""))
    return from_epoch(mtime)


def _relative(path: Path, team: Team) -> str:
    return str(path.relative_to(team.directory))
