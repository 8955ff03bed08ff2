"""The knowledge base: entries in directories by category, each with a row in the ledger."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, PlanWarning
from muniment.memory.team.classify import CATEGORIES, as_category, classify
from muniment.memory.team.entry import (
    MAX_FILE_BYTES,
    SUFFIX,
    Entry,
    NewEntry,
    check_new,
    decode,
    encode,
    fields_of,
    stem_for,
)
from muniment.memory.team.files import Problem, listed
from muniment.memory.team.insights import one_line
from muniment.memory.team.near import MOST_NAMED as _MOST_NAMED
from muniment.memory.team.near import near
from muniment.memory.team.pending import Step, Work, archive, new_file, rows
from muniment.memory.team.refusals import TeamRefused
from muniment.memory.team.rows import entry_row
from muniment.safety.errors import InvalidInput, NotFound
from muniment.safety.files import FileRefused, digest

if TYPE_CHECKING:
    from muniment.memory.ledger.row import NewRow, Row
    from muniment.memory.team.notefile import Note
    from muniment.memory.team.workspace import Team

SURFACE = "knowledge"
"""The journal's word for writes to the knowledge base."""
DIRECTORY = "knowledge"
SWEPT = "_swept"
AGENTS = "agents"
_MOST_SUFFIX = 999
_Entries = list[Entry]
_Problems = list[Problem]
_Steps = list[Step]


@dataclass(frozen=True, slots=True)
class EntryPlan:
    """An entry that is ready to be written, and the note that it is made from, if any."""

    new: NewEntry
    name: str
    path: Path
    text: str
    note: Note | None = None
    warnings: tuple[PlanWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """An entry that was written, with its ledger row; `notes` are sentences for the reader."""

    entry: Entry
    row: Row | None
    notes: tuple[str, ...] = ()


class Knowledge:
    """The directory `knowledge` of a workspace, read anew at every use."""

    def __init__(self, team: Team) -> None:
        self._team = team

    @property
    def directory(self) -> Path:
        return self._team.directory / DIRECTORY

    def categories(self) -> tuple[str, ...]:
        """Return the categories: the five, and any other directory that stands there."""
        try:
            others = self._team.files.directories(self.directory)
        except (OSError, FileRefused):
            others = []
        kept = [each for each in others if each[0] not in "._" and each not in (*CATEGORIES, AGENTS)]
        return (*CATEGORIES, *kept)

    def list(self, category: str | None = None) -> tuple[Entry, ...]:
        """Return the entries, held ones first, then the newest; see `problems` for what is left out."""
        return self.scan(category)[0]

    def problems(self) -> tuple[Problem, ...]:
        """Return the files that are no entries or cannot be read, and why."""
        return self.scan()[1]

    def scan(self, category: str | None = None) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
        """Read the knowledge base once and return entries and problems."""
        held = self._team.holds.keys()
        found: _Entries = []
        problems: _Problems = []
        for each in self.categories() if category is None else (check_category(category, self),):

            def take(path: Path, at: str = each) -> None:
                found.append(self._entry(path, at, held))

            problems += listed(self._team.files, self.directory / each, take)
        by_name = sorted(found, key=lambda entry: (entry.title, entry.key))
        newest = sorted(by_name, key=lambda entry: (entry.date, entry.mtime), reverse=True)
        return tuple(sorted(newest, key=lambda entry: not entry.held)), tuple(problems)

    def read(self, name: str) -> Entry:
        """Return one entry by its name, with or without category and suffix; raise `NotFound`."""
        category, stem = _parted(name)
        held = self._team.holds.keys()
        for each in self.categories() if category is None else (check_category(category, self),):
            with suppress(FileNotFoundError, NotADirectoryError):
                return self._entry(self.directory / each / f"{stem}{SUFFIX}", each, held)
        raise NotFound(f"The knowledge base has no entry {stem[:180]!a} in {self.directory}.")

    def find(self, word: str) -> Entry:
        """Return one entry by its name, its title in any case, or its name without the date.

        Raise `NotFound` where none is meant, naming what is near, or where several are, naming them.
        """
        try:
            return self.read(word)
        except (NotFound, InvalidInput) as fault:
            found = near(word, self.list())
            if len(found.meant) == 1:
                return found.meant[0]
            if found.meant:
                keys = ", ".join(each.key for each in found.meant[:_MOST_NAMED])
                raise NotFound(
                    f"{len(found.meant)} entries are called {word[:60]!a}; name one of them: {keys}."
                ) from fault
            if not found.close:
                raise
            keys = ", ".join(each.key for each in found.close)
            raise NotFound(f"{fault.sentence.rstrip('.')}; near it: {keys}.") from fault

    # Writing

    def plan_add(self, new: NewEntry) -> EntryPlan:
        """Return what writing an entry by hand would do; nothing is written. Raise `InvalidInput`."""
        new = check_new(new)
        check_category(new.category, self)
        return self._plan(new, f"# {new.title}\n\n{new.content.strip(chr(10))}\n", None)

    def plan_promote(self, note: Note, *, category: str | None = None) -> EntryPlan:
        """Return what making an entry of a note would do: it is yours then, and the note is archived."""
        chosen = category or classify(note.name, note.text)
        check_category(chosen, self)
        new = NewEntry(
            title=note.title,
            content=note.text if note.text.strip() else note.title,
            category=chosen,
            agent=note.agent,
            source=one_line(note.name),
            note=note.id,
        )
        return self._plan(check_new(new), new.content, note)

    def commit(self, plan: EntryPlan, origin: Origin) -> Added:
        """Write the entry of a plan, its row of human trust, and archive its note; one undo takes all back.

        Raise `ChangedAfterApproval` where note or place are not what was seen, `TeamRefused`.
        """
        team = self._team
        act = origin if origin.group else replace(origin, group=secrets.token_hex(8))
        with team.guard():
            notes = team.pending.recover()
            if team.files.status(plan.path) is not None or not self.is_free(plan.name):
                raise ChangedAfterApproval(f"{plan.path} was made after approval, nothing written.")
            steps: _Steps = [new_file(_relative(plan.path, team), plan.text, surface=SURFACE, item=plan.name)]
            if plan.note is not None and team.inbox.read(plan.note.name).digest != plan.note.digest:
                raise ChangedAfterApproval(f"{plan.note.path} was changed after approval, nothing written.")
            team.files.prepare(plan.path.parent)
            row = self._row(plan)
            steps.append(rows([row]))
            if plan.note is not None:
                steps.append(archive(plan.note.name, plan.note.digest, f"kb-{plan.new.category}"))
            notes += team.pending.run(Work("writing of an entry", act, tuple(steps)))
            entry = self.read(f"{plan.new.category}/{plan.name}")
            found = [each for each in team.ledger.of_source(row.source_key) if each.status == "active"]
        return Added(entry, found[-1] if found else None, notes)

    def add(self, new: NewEntry, origin: Origin) -> Added:
        """Write an entry by hand."""
        return self.commit(self.plan_add(new), origin)

    def promote(self, note: Note, origin: Origin, *, category: str | None = None) -> Added:
        """Make an entry of a note by hand."""
        return self.commit(self.plan_promote(note, category=category), origin)

    def remove(self, entry: Entry, origin: Origin) -> None:
        """Delete the file of an entry and take its row out of recall; one undo brings both back as they were.

        Raise `ChangedAfterApproval` where the file is not what was seen, and `TeamRefused` where the file is
        gone and the ledger cannot be written.
        """
        from muniment.memory.ledger.faults import LedgerFault
        from muniment.memory.team.follow import retract_rows

        team = self._team
        act = origin if origin.group else replace(origin, group=secrets.token_hex(8))
        with team.guard():
            now = team.files.read(entry.path, max_bytes=MAX_FILE_BYTES)
            if now is None or digest(now) != entry.digest:
                raise ChangedAfterApproval(f"{entry.path} was changed meanwhile, nothing was deleted.")
            team.files.remove(entry.path, act, surface=SURFACE, item=entry.name, before=now)
        try:
            retract_rows(team, entry.name, act)
        except LedgerFault as fault:
            raise TeamRefused(
                f"{entry.path} is deleted, its ledger row is as it was: {fault.sentence}"
            ) from fault

    def hold(self, name: str, origin: Origin) -> Entry:
        """Keep an entry out of every sweep until it is released; raise `NotFound`."""
        return self._hold(name, True, origin)

    def release(self, name: str, origin: Origin) -> Entry:
        """Let a held entry take part in sweeps again; raise `NotFound`."""
        return self._hold(name, False, origin)

    def free_name(self, date: str, agent: str, title: str, taken: Collection[str] = ()) -> str:
        """Return a name for a new entry that no entry of any category has."""
        stem = stem_for(date, agent, title)
        for number in range(1, _MOST_SUFFIX + 1):
            name = stem if number == 1 else f"{stem}-{number}"
            if name not in taken and self.is_free(name):
                return name
        raise InvalidInput(f"There are {_MOST_SUFFIX} entries named {stem!a}; choose another title.")

    def is_free(self, name: str) -> bool:
        """Tell whether no category has an entry of this name."""
        status = self._team.files.status
        return all(status(self.directory / each / f"{name}{SUFFIX}") is None for each in self.categories())

    def _plan(self, new: NewEntry, text: str, note: Note | None) -> EntryPlan:
        from muniment.safety.findings import warnings_for

        date = f"{self._team.clock():%Y-%m-%d}"
        name = self.free_name(date, new.agent, new.title)
        warnings = warnings_for([("title", new.title), ("content", text)])
        return EntryPlan(
            new,
            name,
            self.directory / new.category / f"{name}{SUFFIX}",
            encode(fields_of(new, date=date, trust="human"), text),
            note,
            tuple(PlanWarning(*each) for each in warnings),
        )

    def _row(self, plan: EntryPlan) -> NewRow:
        entry = decode(plan.text.encode(), plan.path, category=plan.new.category, mtime=0.0)
        return entry_row(self._team, entry, "human")

    def _hold(self, name: str, held: bool, origin: Origin) -> Entry:
        entry = self.read(name)
        self._team.holds.put(hold_key(entry), held, origin, surface=SURFACE)
        return self.read(entry.key)

    def _entry(self, path: Path, category: str, held: frozenset[str]) -> Entry:
        data = self._team.files.read(path, max_bytes=MAX_FILE_BYTES)
        status = self._team.files.status(path)
        if data is None or status is None:
            raise FileNotFoundError(2, "No such file", str(path))
        is_held = f"{DIRECTORY}/{path.name}" in held
        return decode(data, path, category=category, mtime=status.st_mtime, held=is_held)


def hold_key(entry: Entry) -> str:
    """Return the key under which an entry is held; it stays the same when the entry is filed elsewhere."""
    return f"{DIRECTORY}/{entry.name}{SUFFIX}"


def check_category(text: str, knowledge: Knowledge) -> str:
    """Return a category that exists; raise `InvalidInput` naming those that do."""
    if as_category(text) is not None or text in knowledge.categories():
        return text
    raise InvalidInput(f"There is no category {text[:60]!a}; the categories are {', '.join(CATEGORIES)}.")


def _parted(name: str) -> tuple[str | None, str]:
    """Part `category/name.md`; raise `InvalidInput` for what is a path and no name."""
    category, slash, stem = name.rpartition("/")
    stem = stem.removesuffix(SUFFIX)
    if (
        not stem
        or stem[0] == "."
        or "\x00" in name
        or "\\" in name
        or "/" in category
        or category in (".", "..")
    ):
        raise InvalidInput("An entry is named by its file name, or as category/name.")
    return (category if slash else None), stem


def _relative(path: Path, team: Team) -> str:
    return str(path.relative_to(team.directory))
