"""The inbox: notes that wait for your review. Nothing in it reaches a model before a consolidation."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.origin import Actor, Origin
from muniment.memory.team.files import Problem, listed
from muniment.memory.team.near import MOST_NAMED
from muniment.memory.team.notefile import (
    MAX_FILE_BYTES,
    MAX_NAME,
    SUFFIX,
    NewNote,
    Note,
    check_new,
    check_note_name,
    decode_note,
    encode_note,
    safe_slug,
    slug,
)
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

SURFACE = "inbox"
"""The journal's word for writes to the inbox."""
MAX_NOTES_A_SESSION = 20
"""How many notes an agent may add in one session by itself."""
_BY_HAND = Origin("user", "panel", decided_by="user")
_TOOL = "tool"
ID_PREFIX = "NOTE-"
_MOST_SUFFIX = 99


class Inbox:
    """The directory `notes/inbox` of a workspace, read anew at every use; only `*.md` counts."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._added: dict[str, int] = {}

    @property
    def directory(self) -> Path:
        return self._team.directory / "notes" / "inbox"

    @property
    def archive_directory(self) -> Path:
        return self._team.directory / "notes" / "archive"

    def list(self) -> Sequence[Note]:
        """Return the notes, newest first; what cannot be read is left out, see `problems`."""
        return self.scan()[0]

    def problems(self) -> Sequence[Problem]:
        """Return the files that are no notes or cannot be read, and why."""
        return self.scan()[1]

    def scan(self) -> tuple[Sequence[Note], Sequence[Problem]]:
        """Read the inbox once and return notes, newest first, and problems."""
        held = self._team.holds.keys()
        notes: list[Note] = []
        problems = listed(self._team.files, self.directory, lambda path: notes.append(self._note(path, held)))
        return sorted(notes, key=lambda each: (-each.mtime, each.name)), problems

    def eligible(self) -> Sequence[Note]:
        """Return the notes that a consolidation may take: all but those held."""
        return [each for each in self.list() if not each.held]

    def read(self, name: str) -> Note:
        """Return one note by its file name, with or without `.md`; raise `NotFound`."""
        path = self.directory / check_note_name(name)
        try:
            return self._note(path, self._team.holds.keys())
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"The inbox has no note {path.name[:180]!a} in {self.directory}.") from None

    def find(self, word: str) -> Note:
        """Return one note by its file name, its id or its title in any case; raise `NotFound`."""
        if word.startswith(ID_PREFIX):
            for each in self.list():
                if each.id == word:
                    return each
        try:
            return self.read(word)
        except (NotFound, InvalidInput) as fault:
            title = " ".join(word.split()).casefold()
            called = [each for each in self.list() if " ".join(each.title.split()).casefold() == title]
            if len(called) == 1:
                return called[0]
            if called:
                names = ", ".join(each.name for each in called[:MOST_NAMED])
                raise NotFound(
                    f"{len(called)} notes are called {word[:60]!a}; name one of them: {names}."
                ) from fault
            raise

    def authors(self, notes: Sequence[Note]) -> Mapping[str, Actor]:
        """Return by name who wrote each note as it stands, as far as this machine's journal knows.

        What a file says of itself counts for nothing here: a note that came with a project, or was changed
        outside, has no author.
        """
        wanted = {each.name: each.digest for each in notes}
        found: dict[str, Actor] = {}
        for entry in self._team.journal.entries() if wanted else ():
            name = Path(entry.path).name
            if (
                entry.surface == SURFACE
                and name in wanted
                and name not in found
                and entry.path == str(self.directory / name)
                and entry.digest_after == wanted[name]
            ):
                found[name] = entry.origin.actor
        return found

    def add(self, new: NewNote, origin: Origin) -> Note:
        """Write a note and return it; raise `InvalidInput` for what cannot be one, else `TeamRefused`."""
        new = check_new(new)
        with self._team.guard():
            self._check_count(origin)
            now = self._team.clock()
            self._team.files.prepare(self.directory)
            project = self._team.project
            name = new.name or quick_name(new, f"{now:%Y-%m-%d}")
            path = self._free(self.directory, name)
            data = encode_note(
                new,
                note_id=f"{ID_PREFIX}{secrets.token_hex(6)}",
                date=f"{now:%Y-%m-%d}",
                project="" if project is None else " ".join(project.name.split()),
            )
            self._team.files.write(path, data, origin, surface=SURFACE, item=path.name, before=None)
            if origin.session:
                self._added[origin.session] = self._count(origin.session) + _counts(origin)
            return self._note(path, frozenset())

    def add_once(self, new: NewNote, key: str, origin: Origin) -> Note | None:
        """Write a note unless one of the same agent, key and day is there, waiting or archived: then None."""
        with self._team.guard():
            start = f"{safe_slug(new.agent)}-{safe_slug(key)}-{self._team.clock():%Y-%m-%d}"[:MAX_NAME]
            files = self._team.files
            archived = f"{self._team.clock():%Y-%m-%d}-{start}"
            if any(name.startswith(start) for name in files.names(self.directory)) or any(
                name.startswith(archived) for name in files.names(self.archive_directory)
            ):
                return None
            return self.add(
                NewNote(new.title, new.body, new.agent, new.source, new.session, start + SUFFIX, new.extras),
                origin,
            )

    def hold(self, name: str, origin: Origin = _BY_HAND) -> Note:
        """Keep a note out of every consolidation until it is released; raise `NotFound`."""
        return self._held(name, True, origin)

    def release(self, name: str, origin: Origin = _BY_HAND) -> Note:
        """Let a held note take part again; raise `NotFound`."""
        return self._held(name, False, origin)

    def archive(self, note: Note, origin: Origin, *, prefix: str = "") -> Path | None:
        """Move a note to the archive as `<prefix or today>-<name>` and return its path; None if it is gone.

        A name that is taken gets `-2` to `-99`. Raise `TeamRefused` where the note was changed since.
        """
        with self._team.guard():
            data = self._team.files.read(note.path, max_bytes=MAX_FILE_BYTES)
            if data is None:
                return None
            now = decode_note(data, note.path, mtime=note.mtime, held=note.held)
            if now.digest != note.digest:
                raise TeamRefused(f"{note.path} was changed meanwhile and stays in the inbox.")
            day = prefix or f"{self._team.clock():%Y-%m-%d}"
            target = self._free(self.archive_directory, f"{day}-{note.name}")
            self._team.files.move(note.path, target, origin, surface=SURFACE, item=note.name, before=data)
            if note.held:
                self._team.holds.put(self.key(note.name), False, origin, surface=SURFACE)
            self._bound_archive()
            return target

    def key(self, name: str) -> str:
        """Return the key under which a note is held."""
        return f"notes/inbox/{name}"

    def _held(self, name: str, held: bool, origin: Origin) -> Note:
        note = self.read(name)
        self._team.holds.put(self.key(note.name), held, origin, surface=SURFACE)
        return self.read(name)

    def _note(self, path: Path, held: frozenset[str]) -> Note:
        data = self._team.files.read(path, max_bytes=MAX_FILE_BYTES)
        status = self._team.files.status(path)
        if data is None or status is None:
            raise FileNotFoundError(2, "No such file", str(path))
        return decode_note(data, path, mtime=status.st_mtime, held=self.key(path.name) in held)

    def _free(self, directory: Path, name: str) -> Path:
        """Return a path that nothing stands at, with a number behind the stem where the name is taken."""
        stem = name.removesuffix(SUFFIX)
        for number in range(1, _MOST_SUFFIX + 1):
            tail = "" if number == 1 else f"-{number}"
            path = directory / f"{stem[: MAX_NAME - len(tail)]}{tail}{SUFFIX}"
            if self._team.files.status(path) is None:
                return path
        raise TeamRefused(
            f"{directory} has {_MOST_SUFFIX} files named {stem[:80]!a} already; move some away."
        )

    def _check_count(self, origin: Origin) -> None:
        if _counts(origin) and self._count(origin.session) >= MAX_NOTES_A_SESSION:
            raise TeamRefused(
                f"This session has added {MAX_NOTES_A_SESSION} notes already, which is all it may; "
                "put what is left into the reply."
            )

    def _count(self, session: str) -> int:
        """Return how many notes the agent of a session has added, counted from the journal once."""
        if session not in self._added:
            self._added[session] = sum(
                entry.surface == SURFACE
                and entry.action == "create"
                and entry.undoes is None
                and entry.origin.session == session
                and _counts(entry.origin)
                for entry in self._team.journal.entries()
            )
        return self._added[session]

    def _bound_archive(self) -> None:
        """Remove the oldest archived notes beyond the number of the settings."""
        files = self._team.files
        names = files.names(self.archive_directory)
        over = len(names) - self._team.settings.notes.archive_max_files
        if over <= 0:
            return
        with files.opened(self.archive_directory) as fd:
            if fd is None:
                return
            aged = sorted((os.stat(name, dir_fd=fd, follow_symlinks=False).st_mtime, name) for name in names)
            for _, name in aged[:over]:
                os.unlink(name, dir_fd=fd)


def quick_name(new: NewNote, date: str) -> str:
    """Return the name of a note that nothing else names: agent, title, day and four random digits."""
    title = slug(new.title, 40) or "note"
    return f"{safe_slug(new.agent)[:64]}-{title}-{date}-{secrets.token_hex(2)}{SUFFIX}"


def _counts(origin: Origin) -> bool:
    return origin.actor == "agent" and origin.surface == _TOOL and bool(origin.session)
