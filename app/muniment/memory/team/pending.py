"""Work of several steps that is done whole: written down first, and after a kill finished by the next run.

What is to be done stands in one file of the user's own data directory, never in the project: a project that
came from elsewhere must not be able to order work. Each step can be done again without doing it twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.memory.origin import Origin
from muniment.memory.records.times import format_time, parse_time
from muniment.memory.team.files import worded
from muniment.memory.team.notefile import NoteFault
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.files import (
    FileRefused,
    digest,
    ensure_private_dir,
    read_regular,
    remove_file,
    write_atomic,
)

if TYPE_CHECKING:
    from muniment.memory.ledger.row import NewRow
    from muniment.memory.team.workspace import Team

DIRECTORY = "pending"
MAX_BYTES = 67_108_864
MAX_FILE_BYTES = 16_777_216

Step = dict[str, Any]
"""One step as JSON: `do` names it, the rest is what it needs; paths are relative to the workspace."""


@dataclass(frozen=True, slots=True)
class Work:
    """Steps in order, and on whose behalf; `what` is a name for people such as "consolidation"."""

    what: str
    origin: Origin
    steps: tuple[Step, ...]
    done: int = 0


def section(text: str) -> Step:
    """Add a section to the team notes."""
    return {"do": "section", "text": text}


def notebook(agent: str, texts: Sequence[str]) -> Step:
    """Add entries to an agent's notebook, in one write."""
    return {"do": "notebook", "agent": agent, "texts": list(texts)}


def new_file(path: str, text: str, *, surface: str, item: str) -> Step:
    """Make a file; one with the same bytes is left as it is."""
    return {"do": "file", "path": path, "text": text, "surface": surface, "item": item}


def rows(new: Sequence[NewRow]) -> Step:
    """Write ledger rows."""
    return {"do": "rows", "rows": [_row_dict(each) for each in new]}


def retract(sources: Sequence[str]) -> Step:
    """Take the project's rows of some sources out of recall."""
    return {"do": "retract", "sources": list(sources)}


def refiled(key: str, path: str) -> Step:
    """Let the project's rows of a source key say where its file stands now."""
    return {"do": "refiled", "key": key, "path": path}


def archive(name: str, seen: str, prefix: str) -> Step:
    """Move a note that still is as it was seen (its digest) from the inbox to the archive."""
    return {"do": "archive", "name": name, "digest": seen, "prefix": prefix}


def move(path: str, target: str, seen: str, *, surface: str, item: str) -> Step:
    """Move a file that still is as it was seen (its digest)."""
    return {"do": "move", "path": path, "target": target, "digest": seen, "surface": surface, "item": item}


def remove(path: str, seen: str, *, surface: str, item: str) -> Step:
    """Remove a file that still is as it was seen (its digest)."""
    return {"do": "remove", "path": path, "digest": seen, "surface": surface, "item": item}


class Pending:
    """The work of one workspace that was approved and is not finished yet."""

    def __init__(self, team: Team) -> None:
        self._team = team

    @property
    def path(self) -> Path:
        """The file of this workspace's work, named after where the workspace really stands."""
        place = os.path.realpath(self._team.directory)
        key = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._team.paths.data / DIRECTORY / f"{key}.json"

    def waits(self) -> bool:
        """Tell whether something approved is unfinished."""
        return os.path.lexists(self.path)

    def notes(self) -> frozenset[str]:
        """Return the names of the notes that unfinished work is going to archive."""
        work = self._read() if self.waits() else None
        steps = () if work is None else work.steps
        return frozenset(step["name"] for step in steps if step["do"] == "archive")

    def run(self, work: Work) -> tuple[str, ...]:
        """Do all steps and return sentences about what was left out; inside `Team.guard`.

        Where the first step fails nothing is done and nothing stays to be done. Where a later one fails, what
        is left is done by the next run. Raise `TeamRefused`.
        """
        if any(step["do"] in ("rows", "retract", "refiled") for step in work.steps):
            self._team.ledger.of_source("")  # a ledger that cannot be read is told before anything is done
        self._write(work)
        return self._finish(work, fresh=True)

    def recover(self) -> tuple[str, ...]:
        """Finish what an earlier run left and return one sentence about it, none where nothing waits."""
        if not self.waits():
            return ()
        with self._team.guard():
            work = self._read()
            if work is None:
                return ()
            left_out = self._finish(work, fresh=False)
        return (f"Finished the {work.what} that had been cut off.", *left_out)

    def _finish(self, work: Work, *, fresh: bool) -> tuple[str, ...]:
        left_out: list[str] = []
        for number in range(work.done, len(work.steps)):
            step = work.steps[number]
            again = not fresh and number == work.done
            try:
                self._do(step, work.origin, left_out, again=again)
            except (MunimentError, OSError) as error:
                why = error.sentence if isinstance(error, MunimentError) else f"{error.strerror or error}."
                if fresh and number == 0:
                    remove_file(self.path)
                    raise TeamRefused(f"Nothing was changed: {why}") from error
                raise TeamRefused(
                    f"The {work.what} is not finished; the next run goes on with it. {why}"
                ) from error
            if step["do"] in ("section", "notebook"):
                # Only these cannot tell from the files whether they are done once somebody edits them.
                work = Work(work.what, work.origin, work.steps, number + 1)
                self._write(work)
        remove_file(self.path)
        return tuple(left_out)

    def _do(self, step: Step, origin: Origin, left_out: list[str], *, again: bool) -> None:
        team = self._team
        match step["do"]:
            case "section":
                if not (again and step["text"].strip() in team.notes.sections()):
                    team.notes.append(step["text"], origin)
            case "notebook":
                if not (again and team.notebooks.holds(step["agent"], step["texts"][-1])):
                    team.notebooks.extend(step["agent"], step["texts"], origin)
            case "file":
                self._file(step, origin)
            case "rows":
                from muniment.memory.team.follow import write_rows

                write_rows(team, [_row(each) for each in step["rows"]], origin)
            case "retract":
                for source in step["sources"]:
                    for row in team.ledger.of_source(source):
                        if row.status == "active" and row.project == team.scope_key:
                            team.ledger.retract(row.id, origin)
            case "refiled":
                if team.files.status(team.directory / step["path"]) is not None:
                    team.ledger.refile(step["key"], step["path"], team.scope_key, origin)
            case "archive":
                self._archive(step, origin, left_out)
            case _:
                self._away(step, origin, left_out)

    def _file(self, step: Step, origin: Origin) -> None:
        path = self._team.directory / step["path"]
        data = step["text"].encode("utf-8")
        before = self._team.files.read(path, max_bytes=MAX_FILE_BYTES)
        if before is None:
            self._team.files.write(
                path, data, origin, surface=step["surface"], item=step["item"], before=None
            )
        elif before != data:
            raise TeamRefused(f"{path} exists already with another text; move it away.")

    def _archive(self, step: Step, origin: Origin, left_out: list[str]) -> None:
        inbox = self._team.inbox
        try:
            note = inbox.read(step["name"])
        except NotFound:
            return  # archived by the run before, or taken away by hand
        except (FileRefused, NoteFault) as fault:
            left_out.append(f"{step['name']} stays in the inbox: {fault.sentence}")
            return
        if note.digest != step["digest"]:
            left_out.append(f"{note.name} stays in the inbox: it was changed meanwhile.")
            return
        inbox.archive(note, origin, prefix=step["prefix"])

    def _away(self, step: Step, origin: Origin, left_out: list[str]) -> None:
        files = self._team.files
        path = self._team.directory / step["path"]
        try:
            before = files.read(path, max_bytes=MAX_FILE_BYTES)
        except FileRefused as refused:
            left_out.append(f"{path} stays where it is: it {worded(refused.reason)}.")
            return
        if before is None:
            return  # gone already, by the run before or by hand
        if digest(before) != step["digest"]:
            left_out.append(f"{path} stays where it is: it was changed meanwhile.")
            return
        if step["do"] == "remove":
            files.remove(path, origin, surface=step["surface"], item=step["item"], before=before)
            return
        target = self._team.directory / step["target"]
        free = next(each for each in _names(target) if files.status(each) is None)
        files.move(path, free, origin, surface=step["surface"], item=step["item"], before=before)

    def _write(self, work: Work) -> None:
        fields = {
            "what": work.what,
            "directory": str(self._team.directory),
            "origin": asdict(work.origin),
            "steps": work.steps,
            "done": work.done,
        }
        try:
            ensure_private_dir(self.path.parent)
            write_atomic(self.path, json.dumps(fields).encode("ascii"))
        except (OSError, FileRefused) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise TeamRefused(f"Nothing was changed: {self.path} cannot be written: {why}.") from error

    def _read(self) -> Work | None:
        try:
            fields = json.loads(read_regular(self.path, max_bytes=MAX_BYTES))
            return Work(fields["what"], Origin(**fields["origin"]), tuple(fields["steps"]), fields["done"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, FileRefused) as error:
            raise TeamRefused(
                f"{self.path} should say what is left to do and cannot be read; look at it and remove it."
            ) from error


def _names(path: Path) -> Iterator[Path]:
    """Yield a path and then the same with `-2`, `-3` … before its suffix."""
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1


def _row_dict(row: NewRow) -> dict[str, Any]:
    fields = asdict(row)
    fields["expires_at"] = None if row.expires_at is None else format_time(row.expires_at)
    return fields


def _row(fields: Mapping[str, Any]) -> NewRow:
    from muniment.memory.ledger.row import NewRow

    values = dict(fields)
    values["expires_at"] = None if values["expires_at"] is None else parse_time(values["expires_at"])
    values["paths"], values["tags"] = tuple(values["paths"]), tuple(values["tags"])
    return NewRow(**values)
