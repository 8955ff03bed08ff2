"""User memory: one Markdown file an entry, the same for every project; read anew whenever it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal

from muniment.memory.journal import Journal, Target
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, StoreRefused
from muniment.memory.user.entry import (
    MAX_FILE_BYTES,
    SUFFIX,
    Entry,
    EntryFault,
    InvalidEntry,
    check_entry,
    check_name,
    decode,
    encode,
)
from muniment.memory.user.index import (
    MAX_ENTRIES,
    MAX_INDEX_BYTES,
    Index,
    Problem,
    build_index,
    index_bytes,
    tell_problems,
)
from muniment.memory.user.plans import (
    Held,
    Outcome,
    RemovePlan,
    SavePlan,
    SaveRefused,
    SaveRequest,
)
from muniment.memory.user.shapes import SCOPE
from muniment.paths import Paths
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.files import (
    FileRefused,
    digest,
    ensure_private_dir,
    read_regular,
    remove_file,
    remove_stale_temps,
    write_atomic,
)
from muniment.safety.findings import warnings_for

SURFACE = "user"
"""The journal's word for writes to user memory."""

Action = Literal["create", "replace", "delete"]


class UserMemory:
    """The entries in `user/` of the data directory. Every answer comes from what stands on disk now."""

    def __init__(self, paths: Paths, *, journal: Journal) -> None:
        self.directory = paths.user_memory
        self.journal = journal
        self._told: tuple[Problem, ...] = ()

    # Reading

    def index(self) -> Index:
        """Read every entry and return what is listed, within the limits, and what is left out and why."""
        entries, problems = self._scan()
        return build_index([(self.path_of(each.name), each) for each in entries], problems)

    def news(self, index: Index) -> tuple[str, ...]:
        """Return one sentence about what is left out, if it is not what was told last."""
        if index.problems == self._told:
            return ()
        self._told = index.problems
        return tell_problems(index.problems)

    def get(self, name: str) -> Held:
        """Return one entry; raise `InvalidEntry` for no name, `NotFound`, or `EntryFault` with the path."""
        check_name(name)
        path = self.path_of(name)
        data = self._read(path)
        if data is None:
            raise NotFound(f"User memory has no entry {name} in {self.directory}.")
        return Held(_decoded(data, path), path, data)

    def path_of(self, name: str) -> Path:
        return self.directory / f"{name}{SUFFIX}"

    # Planning

    def plan_save(self, request: SaveRequest) -> SavePlan:
        """Look at the disk and say exactly what saving would do; nothing is written.

        Raise `InvalidEntry` for what can never be saved, `SaveRefused` for what cannot be saved now.
        """
        check_name(request.name)
        path = self.path_of(request.name)
        data = self._read(path)
        if request.mode == "create" and data is not None:
            raise SaveRefused(
                f"User memory has an entry {request.name} already; overwrite it, or choose another name."
            )
        if request.mode == "overwrite" and data is None:
            raise SaveRefused(f"User memory has no entry {request.name} to overwrite; create it.")
        before = None if data is None else _decoded(data, path)
        kept = request.details is None and before is not None
        details = before.details if before is not None and request.details is None else request.details or ""
        return self._plan(Entry(request.name, request.type, request.summary, details), before, data, kept)

    def plan_edit(self, held: Held, data: bytes) -> SavePlan:
        """Plan to replace an entry by a whole file that was edited by hand."""
        try:
            after = decode(data, held.entry.name)
        except EntryFault as fault:
            raise InvalidEntry(f"The edited text is no entry: it {fault}.") from fault
        return self._plan(after, held.entry, held.data, False)

    def plan_delete(self, name: str) -> RemovePlan:
        """Plan to delete an entry as it stands now."""
        held = self.get(name)
        return RemovePlan(held.path, held.entry, digest(held.data))

    def _plan(self, after: Entry, before: Entry | None, data: bytes | None, kept: bool) -> SavePlan:
        check_entry(after)
        self._check_room(after)
        fields = [("name", after.name), ("summary", after.summary), ("details", after.details)]
        return SavePlan(
            path=self.path_of(after.name),
            before=before,
            after=after,
            data=encode(after),
            digest_before=None if data is None else digest(data),
            warnings=tuple(warnings_for(fields)),
            keeps_details=kept,
        )

    def _check_room(self, after: Entry) -> None:
        """Refuse what would pass a limit; an entry that does not grow may be put right at any time."""
        now, _ = self._scan()
        then = [*(each for each in now if each.name != after.name), after]
        if len(then) > MAX_ENTRIES and len(then) > len(now):
            raise SaveRefused(
                f"User memory would have {len(then)} entries; at most {MAX_ENTRIES} are allowed. "
                "Overwrite an entry, or merge some and ask the user to delete the rest."
            )
        size = index_bytes(then)
        if size > MAX_INDEX_BYTES and size > index_bytes(now):
            raise SaveRefused(
                f"The index of user memory would have {size} bytes; at most {MAX_INDEX_BYTES} are allowed. "
                "Shorten this summary or others, or merge entries; details do not count."
            )

    # Writing

    def commit(self, plan: SavePlan | RemovePlan, origin: Origin) -> Outcome:
        """Do exactly what a plan says if its file is still what was seen, else raise `ChangedAfterApproval`.

        The journal has the text before on disk before the file changes; a crash leaves one file whole.
        """
        with self.journal.guard(self.directory):
            data = self._unchanged(plan)
            if isinstance(plan, SavePlan):
                self._check_room(plan.after)
                return self._write(plan, data, origin)
            return self._remove(plan, data, origin)

    def _write(self, plan: SavePlan, before: bytes | None, origin: Origin) -> Outcome:
        action: Action = "create" if plan.before is None else "replace"
        try:
            ensure_private_dir(self.directory)
            remove_stale_temps(self.directory)
        except (OSError, FileRefused) as error:
            raise _not_done("written", plan.path, error) from error
        with self._announced(plan, action, before, plan.data, origin) as entry:
            try:
                write_atomic(plan.path, plan.data)
            except (OSError, FileRefused) as error:
                raise _not_done("written", plan.path, error) from error
        return Outcome(plan.after.name, action, plan.path, entry)

    def _remove(self, plan: RemovePlan, before: bytes | None, origin: Origin) -> Outcome:
        with self._announced(plan, "delete", before, None, origin) as entry:
            try:
                remove_file(plan.path)
            except (OSError, FileRefused) as error:
                raise _not_done("deleted", plan.path, error) from error
        return Outcome(plan.before.name, "delete", plan.path, entry)

    def _announced(
        self,
        plan: SavePlan | RemovePlan,
        action: Action,
        before: bytes | None,
        after: bytes | None,
        origin: Origin,
    ) -> AbstractContextManager[str]:
        return self.journal.announced(
            Target(
                surface=SURFACE,
                action=action,
                scope=SCOPE,
                directory=self.directory,
                item=plan.path.stem,
                path=plan.path,
            ),
            origin,
            before=before,
            after=after,
        )

    def _unchanged(self, plan: SavePlan | RemovePlan) -> bytes | None:
        try:
            data = self._read(plan.path)
            if (None if data is None else digest(data)) == plan.digest_before:
                return data
        except MunimentError as error:
            raise ChangedAfterApproval(
                f"{plan.path} was changed after approval, nothing written: {error.sentence}"
            ) from error
        raise ChangedAfterApproval(f"{plan.path} was changed after approval, nothing written.")

    # Files

    def _scan(self) -> tuple[list[Entry], list[Problem]]:
        """Read all entries; names that do not end in `.md` or begin with a dot are nobody's business."""
        entries: list[Entry] = []
        problems: list[Problem] = []
        try:
            with self._opened() as fd:
                names = [] if fd is None else sorted(os.listdir(fd))
                for name in names:
                    if name.startswith(".") or not name.endswith(SUFFIX):
                        continue
                    path = self.directory / name
                    try:
                        data = read_regular(path, max_bytes=MAX_FILE_BYTES, dir_fd=fd)
                        entries.append(decode(data, path.stem))
                    except FileNotFoundError:
                        continue  # gone since it was listed
                    except FileRefused as refused:
                        problems.append(Problem(path, _why(refused.reason)))
                    except EntryFault as fault:
                        problems.append(Problem(path, fault.sentence))
        except FileRefused as refused:
            problems.append(Problem(self.directory, _why(refused.reason)))
        except OSError as error:
            problems.append(Problem(self.directory, f"cannot be read: {error.strerror or error}"))
        return entries, problems

    def _read(self, path: Path) -> bytes | None:
        """Return a file's bytes, None where nothing is there; refuse all that is not a plain file."""
        try:
            with self._opened() as fd:
                if fd is None:
                    return None
                return read_regular(path, max_bytes=MAX_FILE_BYTES, dir_fd=fd)
        except FileNotFoundError:
            return None
        except FileRefused as refused:
            raise StoreRefused(f"{refused.path} {_why(refused.reason)} and is left alone.") from refused

    @contextmanager
    def _opened(self) -> Iterator[int | None]:
        """Open the directory, which may be reached through links but may not be one; None where absent."""
        try:
            fd = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            yield None
            return
        except NotADirectoryError:
            kind = "symbolic link" if self.directory.is_symlink() else "not a directory"
            raise FileRefused(self.directory, kind) from None
        try:
            if os.fstat(fd).st_uid not in (os.geteuid(), 0):
                raise FileRefused(self.directory, "owned by someone else")
            yield fd
        finally:
            os.close(fd)


def _decoded(data: bytes, path: Path) -> Entry:
    try:
        return decode(data, path.stem)
    except EntryFault as fault:
        raise StoreRefused(f"{path} {fault} and is left alone; repair or move it first.") from fault


def _why(reason: str) -> str:
    """Turn a reason of `FileRefused` into words that fit after a file's name."""
    if reason.startswith(("has ", "is ")):
        return reason
    return f"is a {reason}" if reason == "symbolic link" else f"is {reason}"


def _not_done(verb: str, path: Path, error: Exception) -> StoreRefused:
    why = error.strerror or str(error) if isinstance(error, OSError) else str(error).rstrip(".")
    return StoreRefused(f"{path} was not {verb}: {why[:1].lower()}{why[1:]}.")
