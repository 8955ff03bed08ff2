"""Taking a journalled write back, and bringing an earlier text back: the same care as for any other write."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from muniment.memory.journal import Entry, Journal, Line, Target, bytes_of, text_of
from muniment.memory.origin import Origin
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.files import (
    FileRefused,
    digest,
    ensure_private_dir,
    read_regular,
    remove_file,
    write_atomic,
)

MAX_TEXT_BYTES = 16_777_216
_NOT_FILES = frozenset(("ledger",))
_WHOLE = frozenset(("consolidation", "sweep"))
"""Work of many writes that were approved as one: without a name in common one of them would leave a half."""


class CannotUndo(MunimentError):  # noqa: N818 - named for what it says
    """A write cannot be taken back as things stand; nothing was changed."""


class _TextPurged(CannotUndo):
    """The text to go back to was purged, so that this write can never be taken back."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What taking back or bringing back would do to one file; bound to the digest of its state."""

    entry: Entry
    path: Path
    action: str
    """`create`, `replace` or `delete`: what happens to the file."""
    text_now: str | None
    text_then: str | None
    digest_now: str | None
    undoes: str | None
    """The entry that is taken back; None where an earlier text is brought back instead."""
    cut_off: tuple[str, ...] = ()
    """Newer entries that were announced and never happened; noted as failed while the file proves it."""
    changed: str = ""
    """A sentence where the file is not what that write left, so that more is taken back; else empty."""
    also: tuple[UndoPlan, ...] = ()
    """What is taken back together with it: the other writes of one act, newest first."""
    passed_over: str = ""
    """Sentences on newer writes that stay because they cannot be taken back; else empty."""

    @property
    def parts(self) -> tuple[UndoPlan, ...]:
        """All that is done, in this order."""
        return (self, *self.also)

    @property
    def work(self) -> str:
        """What the act is called where it is work of many writes, such as `consolidation`; else empty."""
        surface = self.entry.origin.surface
        return surface if self.undoes is not None and surface in _WHOLE else ""


@dataclass(frozen=True, slots=True)
class Undone:
    """What was done: `entry` is the journal's id of this write, `also` those of the plan's other parts."""

    plan: UndoPlan
    entry: str
    also: tuple[str, ...] = ()


def plan_undo(journal: Journal, directories: Collection[Path], *, session: str | None = None) -> UndoPlan:
    """Plan to take back the newest write that is neither undone nor an undo, and all of one act together.

    `directories` are those of the scope chain; user memory always counts. With `session` only that session's
    writes count. Where the file was changed since, the plan says so in `changed` and is to be asked about.
    What was purged can never be taken back and is passed over, with all that was done to it before, and so
    is a sweep; the plan says so. Raise `NotFound` where nothing is left and `CannotUndo` where that is
    purged, or part of an act out of reach.
    """
    lines = journal.lines()
    mine = [
        line
        for line in lines
        if reaches(line.entry, directories) and session in (None, line.entry.origin.session)
    ]
    purged: _TextPurged | None = None
    lost: set[str] = set()
    for entry, cut_off in _standing(mine, lines):
        act = [each for each, _ in _act(lines, entry.origin.group)] if entry.origin.group else [entry]
        names = {entry.origin.group, *(each.path for each in act)} - {""}
        if not lost.isdisjoint(names):
            lost |= names
            continue
        try:
            plan = _plan_act(lines, entry, cut_off, directories)
        except _TextPurged as fault:
            purged = purged or fault
            lost |= names
            continue
        said = [] if purged is None else [purged.sentence]
        return replace(plan, passed_over=" ".join([*said, *_newer_work(mine, entry)]))
    if purged is not None:
        raise purged
    raise NotFound("There is no write of this scope chain or of user memory that could be undone.")


def _newer_work(lines: Sequence[Line], chosen: Entry) -> Iterator[str]:
    """Say that work of many writes is newer than the write that is taken back, and stays."""
    for line in lines:
        entry = line.entry
        if entry.id == chosen.id:
            return
        if entry.origin.surface in _WHOLE and not entry.origin.group and not line.failed:
            yield (
                f"The {entry.origin.surface} that wrote {entry.item} is newer and stays; `muniment memory "
                "history` lists the texts from before it."
            )
            return


def _plan_act(
    lines: Sequence[Line], entry: Entry, cut_off: tuple[str, ...], directories: Collection[Path]
) -> UndoPlan:
    """Plan to take back one write, with the others of its act where it has any."""
    plan = _plan(entry, undoes=entry.id, cut_off=cut_off)
    if not entry.origin.group:
        return plan
    others = [each for each in _act(lines, entry.origin.group) if each[0].id != entry.id]
    for other, _ in others:
        if not reaches(other, directories):
            raise CannotUndo(
                f"The write of {entry.item} was one act with one in {other.directory}; nothing was changed: "
                "undo it where that is in the chain."
            )
    return replace(plan, also=tuple(_plan(each, undoes=each.id, cut_off=cut) for each, cut in others))


def _standing(lines: Sequence[Line], everything: Sequence[Line]) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """Yield the writes that happened and were not taken back, newest first.

    With each come the ids of what was announced since the one before it and cut off.
    """
    by_id: Mapping[str, Line] = {line.entry.id: line for line in everything}
    cut_off: list[str] = []
    for line in lines:
        entry = line.entry
        if line.failed or entry.undoes is not None or entry.surface in _NOT_FILES:
            continue
        if entry.origin.surface in _WHOLE and not entry.origin.group:
            continue
        if line.undone_by is not None:
            if not _never_happened(by_id[line.undone_by]):
                continue
            cut_off.append(line.undone_by)
        if _never_happened(line):
            cut_off.append(entry.id)
            continue
        yield entry, tuple(cut_off)
        cut_off.clear()


def _act(lines: Sequence[Line], group: str) -> list[tuple[Entry, tuple[str, ...]]]:
    """Return what stands of one act, newest first."""
    return list(_standing([line for line in lines if line.entry.origin.group == group], lines))


def plan_restore(
    journal: Journal, entry_id: str, directories: Collection[Path], *, item: str | None = None
) -> UndoPlan:
    """Plan to bring back the text from before one journalled write of the scope chain or of user memory.

    With `item` the write must be one of that item. Raise `NotFound` where there is none or no text is kept.
    """
    entry = journal.find(entry_id)
    if entry is None:
        raise NotFound(f"The journal has no entry {_shown(entry_id)}; see memory history.")
    if item is not None and entry.item != item:
        raise NotFound(f"Entry {entry.id} is a write of {entry.item} and not of {_shown(item)}.")
    if entry.surface in _NOT_FILES:
        raise NotFound(f"Entry {entry.id} is a write to the {entry.surface}, which has a restore of its own.")
    if not reaches(entry, directories):
        raise NotFound(
            f"Entry {entry.id} belongs to {entry.directory}; restore it where that is in the chain."
        )
    if entry.text_before is None:
        why = "was purged" if entry.purged else "did not exist: that write created it"
        raise NotFound(f"The text before entry {entry.id} {why}.")
    return _plan(entry, undoes=None)


def commit_undo(
    journal: Journal,
    plan: UndoPlan,
    origin: Origin,
    *,
    allows: Callable[[UndoPlan], None] | None = None,
    follows: Callable[[UndoPlan, Origin], None] | None = None,
) -> Undone:
    """Do what an undo plan says if all its files still are what was seen; raise `CannotUndo` if not.

    `allows` is called under the locks and raises where something else stands against it. `follows` brings
    what hangs on the files to what they will say, and back where no file could be written. Its fault is
    raised at the end, the files are done all the same. Cut off anywhere, the next undo takes back the rest.
    """
    fault: MunimentError | None = None
    places = {os.path.realpath(part.entry.directory): Path(part.entry.directory) for part in plan.parts}
    with ExitStack() as held:
        for _, place in sorted(places.items()):  # one order for everybody, so that no two wait for each other
            held.enter_context(journal.guard(place))
        if allows is not None:
            allows(plan)
        _whole(journal, plan)
        before = [_unchanged(part) for part in plan.parts]
        if follows is not None:
            # Before the files: cut off in between, the write still stands and is taken back once more.
            try:
                follows(plan, origin)
            except MunimentError as error:
                fault = error
        done: list[str] = []
        for part, data in zip(plan.parts, before, strict=True):
            try:
                done.append(_carry_out(journal, part, data, origin))
            except MunimentError as error:
                if not done:
                    if follows is not None:
                        with suppress(MunimentError):  # why nothing was done is what is to be told
                            follows(_back(plan), origin)
                    raise
                raise CannotUndo(
                    f"Only part of this was taken back, undo again for the rest: {error.sentence}"
                ) from error
    if fault is not None:
        raise fault
    return Undone(plan, done[0], tuple(done[1:]))


def _back(plan: UndoPlan) -> UndoPlan:
    """Return a plan by which what hangs on files that stayed as they are is brought back to what they say."""
    return replace(
        plan,
        entry=plan.entry._replace(origin=replace(plan.entry.origin, group="")),
        text_now=plan.text_then,
        text_then=plan.text_now,
        also=tuple(map(_back, plan.also)),
    )


def _whole(journal: Journal, plan: UndoPlan) -> None:
    """Make sure that an act of many writes has neither gone on nor been taken back since it was looked at."""
    group = plan.entry.origin.group
    if plan.undoes is None or not group:
        return
    seen = {part.undoes for part in plan.parts}
    if {entry.id for entry, _ in _act(journal.lines(), group)} != seen:
        raise CannotUndo(f"The write of {plan.entry.item} went on or was taken back meanwhile; undo again.")


def _unchanged(plan: UndoPlan) -> bytes | None:
    data = _read(plan.path)
    if (None if data is None else digest(data)) != plan.digest_now:
        raise CannotUndo(f"{plan.path} was changed after approval, nothing written.")
    return data


def _carry_out(journal: Journal, plan: UndoPlan, data: bytes | None, origin: Origin) -> str:
    entry = plan.entry
    for passed in plan.cut_off:
        journal.fail(passed)
    then = None if plan.text_then is None else bytes_of(plan.text_then)
    with journal.announced(
        Target(
            surface=entry.surface,
            action=plan.action,
            scope=entry.scope,
            directory=Path(entry.directory),
            item=entry.item,
            path=plan.path,
        ),
        origin,
        before=data,
        after=then,
        undoes=plan.undoes,
    ) as done:
        try:
            if then is None:
                remove_file(plan.path)
            else:
                ensure_private_dir(plan.path.parent)
                write_atomic(plan.path, then)
        except OSError as error:
            raise CannotUndo(f"{plan.path} was not written: {error.strerror or error}.") from error
    return done


def reaches(entry: Entry, directories: Collection[Path]) -> bool:
    """Tell whether a write is one of these scope directories, or of user memory."""
    return entry.surface == "user" or entry.directory in {str(each) for each in directories}


def _shown(text: str) -> str:
    return ascii(text[:80])[1:-1]


def _plan(entry: Entry, *, undoes: str | None, cut_off: tuple[str, ...] = ()) -> UndoPlan:
    path = Path(entry.path)
    data = _read(path)
    now = None if data is None else digest(data)
    if undoes is not None and entry.digest_before is not None and entry.text_before is None:
        raise _TextPurged(
            f"The text of {path} before that write was purged, so the write cannot be taken back."
        )
    then = entry.text_before
    action = "delete" if then is None else "create" if data is None else "replace"
    changed = ""
    if undoes is not None and now != entry.digest_after:
        what = "is gone" if data is None else "was changed"
        changed = (
            f"{path} is gone already, moved or deleted since; taking the write back changes no file."
            if data is None and then is None
            else f"{path} {what} since that write; taking the write back undoes that too."
        )
    text_now = None if data is None else text_of(data)
    return UndoPlan(entry, path, action, text_now, then, now, undoes, cut_off, changed)


def _never_happened(line: Line) -> bool:
    """Tell whether a write was announced but cut off before its effect, judged by the file as it is."""
    entry = line.entry
    if line.failed:
        return True
    if line.settled or entry.digest_before == entry.digest_after:
        return False
    try:
        data = _read(Path(entry.path))
    except MunimentError:
        return False
    return (None if data is None else digest(data)) == entry.digest_before


def _read(path: Path) -> bytes | None:
    """Read the file that a journalled write was about; a directory swapped for a link is refused."""
    try:
        if not stat.S_ISDIR(os.lstat(path.parent).st_mode):
            raise CannotUndo(f"{path.parent} is no directory of its own any more; nothing was changed.")
        return read_regular(path, max_bytes=MAX_TEXT_BYTES)
    except FileNotFoundError:
        return None
    except FileRefused as refused:
        raise CannotUndo(f"{path} is not touched: it is {refused.reason}.") from refused
