"""The place of one run: temporary directories without anything of the user's, and what is laid out there."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.evals.case import Case, Edits
from muniment.memory.origin import Origin
from muniment.paths import PROJECT_DIR_NAME, Paths
from muniment.safety.errors import MunimentError
from muniment.safety.files import digest, ensure_private_dir, remove_file, write_atomic

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.settings import Settings

_SEEDED = "2026-01-01T00:00:00Z"
_SEEDER = Origin("user", "eval", decided_by="user")
_BOOKKEEPING = frozenset(("journal", "locks"))
_SWITCHES = "MUNIMENT_"
_PREFIX = "muniment-eval-"
_OWN_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")
_STALE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where one run happens; `root` holds everything and goes at its end."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def paths(self) -> Paths:
        return Paths(*(self.root / name for name in ("config", "data", "state", "cache")))

    def working_directory(self, case: Case) -> Path:
        return self.project / case.directory

    def environ(self, case: Case, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a run: the key may stand in them, a switch of the user's may not."""
        kept = {name: value for name, value in outer.items() if not name.startswith(_SWITCHES)}
        return kept | {"HOME": str(self.root / "home")} | dict(case.environment)

    def file(self, path: str) -> Path:
        """Return where a path of a case lies: in the project, the data or the settings directory."""
        for prefix, directory in (("data:", self.paths.data), ("config:", self.paths.config)):
            if path.startswith(prefix):
                return directory / path.removeprefix(prefix)
        return self.project / path

    def fill(self, text: str, nonce: str = "") -> str:
        """Put the places of this run, and the word of a task, where a case names them."""
        if "{{" not in text:
            return text
        names = {"project": str(self.project), "data": str(self.paths.data), "nonce": nonce}
        for name, value in names.items():
            text = text.replace(f"{{{{ {name} }}}}", value) if value else text
        return text

    def edit(self, edits: Edits) -> None:
        """Do what somebody else does to files; neither log nor journal knows of it."""
        for path, text in edits.texts.items():
            self.write(self.file(path), text)
        for path in edits.removes:
            remove_file(self.file(path), durable=False)

    def write(self, path: Path, text: str) -> None:
        ensure_private_dir(path.parent)
        write_atomic(path, text.encode("utf-8"), durable=False)

    def surfaces(self, case: Case, settings: Settings) -> Surfaces:
        """Return the memory of this place, to lay it out or to look at it afterwards."""
        from muniment.memory.surfaces import Surfaces

        return Surfaces(self.paths, self.working_directory(case), settings)

    def snapshot(self) -> dict[str, str]:
        """Return the digest of every file of memory, settings and project, without journal and locks."""
        found: dict[str, str] = {}
        for top in (self.project, self.paths.data, self.paths.config):
            for directory, names, files in os.walk(top):
                names[:] = [each for each in names if each not in _BOOKKEEPING]
                for name in files:
                    path = Path(directory, name)
                    if path.suffix == ".lock" or path.name.startswith("ledger.db"):
                        continue
                    found[str(path)] = "link" if path.is_symlink() else digest(path.read_bytes())
        return found


@contextmanager
def temporary_place() -> Iterator[Place]:
    """Make a place that no `.muniment` lies above, and remove it with everything in it."""
    where = _outside_projects()
    _sweep(where)
    root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
    try:
        for name in ("project", "home"):
            (root / name).mkdir(mode=0o700)
        yield Place(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _sweep(directory: Path) -> None:
    """Remove the places that killed runs left more than a day ago; another user's stay."""
    border = time.time() - _STALE_SECONDS
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _OWN_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                info = entry.stat(follow_symlinks=False)
                if info.st_uid == os.geteuid() and info.st_mtime < border:
                    shutil.rmtree(entry.path, ignore_errors=True)


def _outside_projects() -> Path:
    """Return a temporary directory of which no part is a project: such a project's memory would take part."""
    candidates = [Path(os.path.realpath(each)) for each in (tempfile.gettempdir(), "/tmp", "/var/tmp")]  # noqa: S108 - only asked for, never guessed at: `mkdtemp` makes the name
    for each in candidates:
        if each.is_dir() and os.access(each, os.W_OK) and not _in_project(each):
            return each
    raise MunimentError(
        f"Evals need a temporary directory outside every project, but {candidates[0]} lies in one; "
        "set TMPDIR to another."
    )


def _in_project(directory: Path) -> bool:
    return any(os.path.lexists(each / PROJECT_DIR_NAME) for each in (directory, *directory.parents))


def lay_out(place: Place, case: Case, settings: Settings) -> None:
    """Write the seeds of a case: files and links, records, user memory, team memory and ledger."""
    if case.project:
        ensure_private_dir(place.project / PROJECT_DIR_NAME)
    place.working_directory(case).mkdir(parents=True, exist_ok=True)
    for name, text in case.files.items():
        path = place.file(name)
        if PROJECT_DIR_NAME in path.parts or not path.is_relative_to(place.project):
            place.write(path, text)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode("utf-8"), mode=0o644, durable=False)
    for name, target in case.links.items():
        path = place.file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(place.fill(target))
    _lay_records(place, case.memory.get("records", ()))
    for each in case.memory.get("user", ()):
        _lay_user_entry(place, each)
    if any(case.memory.get(name) for name in ("pinned", "notes", "inbox", "ledger")):
        from muniment.evals.team_seeds import lay_team

        lay_team(place.surfaces(case, settings), case.memory, _SEEDER)


def _lay_records(place: Place, seeds: Sequence[Mapping[str, Any]]) -> None:
    from muniment.memory.records.ids import SUFFIX
    from muniment.memory.records.record import Record, encode
    from muniment.memory.records.times import parse_time

    for seed in seeds:
        directory = place.paths.data
        if seed.get("scope", "project") == "project":
            directory = place.project / seed.get("directory", "") / PROJECT_DIR_NAME
        at = parse_time(seed.get("created_at", _SEEDED))
        expires = seed.get("expires_at")
        times = int(seed.get("repeat", 1))
        for number in range(1, times + 1):
            record_id = f"{seed['id']}-{number}" if "repeat" in seed else seed["id"]
            title = f"{seed['title']} {number}" if "repeat" in seed else seed["title"]
            record = Record(
                record_id,
                seed.get("category", "fact"),
                title,
                seed["content"],
                seed.get("tags", ()),
                seed.get("source", "user"),
                at,
                at,
                None if expires is None else parse_time(expires, day_ends=True),
            )
            path = directory / "memory" / f"{record_id}{SUFFIX}"
            place.write(path, encode(record).decode("utf-8"))


def _lay_user_entry(place: Place, seed: Mapping[str, Any]) -> None:
    from muniment.memory.user.entry import SUFFIX, Entry, check_entry, encode

    entry = Entry(seed["name"], seed["type"], seed["summary"], seed.get("details", ""))
    check_entry(entry)
    place.write(place.paths.user_memory / f"{entry.name}{SUFFIX}", encode(entry).decode("utf-8"))
