"""Reading what memory holds into groups, again only where something on disk has changed since."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError, reason_of
from muniment.session.holdings.items import Group, Holdings, Item, Passed, size_text

if TYPE_CHECKING:
    from muniment.memory.records.listing import Listed, Snapshot
    from muniment.memory.surfaces import Surfaces

_MOST_STAMPED = 20_000
"""So many files of a directory are looked at for changes."""
AGAIN_SECONDS = 5.0
"""How long records are taken to be as they were, where nobody told of a change; some expire by then."""
Part = tuple[tuple[Group, ...], tuple[Passed, ...]]


class Holder:
    """Looks at all surfaces of one working directory; one look at a time, from any thread."""

    def __init__(self, surfaces: Surfaces) -> None:
        self._surfaces = surfaces
        self._snapshot: Snapshot | None = None
        self._mark: object = None
        self._looked = 0.0
        self._records: Part = ((), ())
        self._parts: dict[str, tuple[Hashable, Part]] = {}
        self._last: Holdings | None = None

    def look(self, *, ledger: bool = False) -> Holdings:
        """Return what is held now: the same object as last time where nothing has changed.

        With `ledger` the rows of the ledger are read as well, not only counted.
        """
        groups, passed, count = self._look_at_records()
        for name, places, read in self._others(ledger):
            part = self._part(name, places, read)
            groups += part[0]
            passed += part[1]
        found = Holdings(groups, passed, count)
        if self._last is None or found != self._last:
            self._last = found
        return self._last

    def _others(self, ledger: bool) -> Iterator[tuple[str, tuple[Path, ...], Callable[[], Part]]]:
        """Name the other surfaces: where their files stand, and how they are read."""
        from muniment.session.holdings import team

        surfaces = self._surfaces
        yield "user", (surfaces.user.directory,), self._user
        directory = surfaces.team.directory
        readers = {
            "inbox": team.inbox_part,
            "pinned": team.pinned_part,
            "notes": team.notes_part,
            "notebook": team.notebook_part,
            "knowledge": team.knowledge_part,
        }
        for name, places in team.team_directories(directory).items():
            yield name, places, partial(readers[name], surfaces)
        path = surfaces.paths.ledger
        files = (path, path.with_name(f"{path.name}-wal"), directory / "project.yaml")
        yield f"ledger{ledger}", files, partial(team.ledger_part, surfaces, whole=ledger)

    def _part(self, name: str, directories: tuple[Path, ...], read: Callable[[], Part]) -> Part:
        stamp = tuple(stamp_of(each) for each in directories)
        known = self._parts.get(name)
        if known is None or known[0] != stamp:
            try:
                part = read()
            except (MunimentError, OSError) as error:
                why = reason_of(error) if isinstance(error, OSError) else error.sentence
                part = (), (Passed(str(directories[0]), f"cannot be read: {why}"),)
            self._parts[name] = known = stamp, part
        return known[1]

    # Records

    def _look_at_records(self) -> tuple[tuple[Group, ...], tuple[Passed, ...], int]:
        records, old = self._surfaces.records, self._snapshot
        # Said before they are listed, so that what changes meanwhile is listed next time.
        mark, now = records.mark(), time.monotonic()
        if old is not None and mark is not None and mark == self._mark and now < self._looked + AGAIN_SECONDS:
            return (*self._records, len(old.entries))
        snapshot = records.snapshot(all=True)
        self._mark, self._looked = mark, now
        same = old is not None and (
            old.entries == snapshot.entries
            and old.chain == snapshot.chain
            and old.skipped == snapshot.skipped
        )
        if not same:
            self._snapshot = snapshot
            self._records = _record_part(snapshot)
        return (*self._records, len(snapshot.entries))

    # User memory

    def _user(self) -> Part:
        from muniment.memory.user.index import MAX_ENTRIES, MAX_INDEX_BYTES

        index = self._surfaces.user.index()
        place = str(self._surfaces.user.directory)
        items = tuple(
            Item("user", each.name, each.summary, place, words=f"{each.type} {each.details[:400]}", ref=each)
            for each in index.entries
        )
        size = f" · {size_text(index.bytes)}" if items else ""
        group = Group(
            "user",
            "User memory",
            f"{len(items)}/{MAX_ENTRIES}{size}",
            items,
            len(items),
            hint=f"At most {MAX_ENTRIES} entries and {size_text(MAX_INDEX_BYTES)} of summaries. "
            "Say: Remember for future sessions: …",
        )
        return (group,), tuple(Passed(str(each.path), each.reason) for each in index.problems)


def _record_part(snapshot: Snapshot) -> Part:
    by_scope: dict[str, list[Item]] = {}
    for listed in snapshot.entries:
        by_scope.setdefault(str(listed.meta.scope.directory), []).append(record_item(listed))
    groups: list[Group] = []
    for scope in reversed(snapshot.chain.scopes):
        directory = str(scope.directory)
        items = tuple(by_scope.get(directory, ()))
        deepest = scope is snapshot.chain.deepest_project
        groups.append(
            Group(
                f"scope:{directory}",
                "Global" if scope.kind == "global" else "Project" if deepest else "Parent",
                f"{len(items):,}",
                items,
                len(items),
                "" if scope.kind == "global" else directory,
                "others can write here" if scope.warnings else "",
                "Ask the model to save a rule, or press +",
            )
        )
    if snapshot.chain.deepest_project is None:
        groups.insert(
            0,
            Group(
                "scope:",
                "Project",
                "none yet",
                hint="The first project record makes .muniment here; press +",
            ),
        )
    return tuple(groups), tuple(Passed(str(each.path), each.reason) for each in snapshot.skipped)


def record_item(listed: Listed) -> Item:
    """Return a copy of a record as an item."""
    meta = listed.meta
    state = "" if listed.effective else "expired" if listed.expired else "overridden"
    words = f"{meta.category} {' '.join(meta.tags)}"
    return Item("record", meta.id, meta.title, str(meta.scope.directory), state, words, ref=listed)


def stamp_of(path: Path) -> Hashable:
    """Return what changes when a file, or any file below a directory, changes; cheap, and never fails."""
    found: list[tuple[str, int, int, int]] = []
    waiting = [str(path)]
    while waiting and len(found) < _MOST_STAMPED:
        at = waiting.pop()
        try:
            info = os.lstat(at)
            found.append((at, info.st_mtime_ns, info.st_size, info.st_ino))
            if stat.S_ISDIR(info.st_mode):
                with os.scandir(at) as entries:
                    waiting += [entry.path for entry in entries]
        except OSError:
            # Gone since it was listed, or not to be read: that is a state like any other.
            found.append((at, 0, 0, 0))
    return tuple(sorted(found))
