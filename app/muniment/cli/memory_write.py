"""The record commands that write; each goes through the same plan and commit as a tool."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.cli.settled import settled
from muniment.cli.shell import FAILED, OK, Shell, UsageError
from muniment.memory.records import shapes
from muniment.memory.records.plans import DeleteRequest, StoreRequest
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.visible import exact_block, exact_line

if TYPE_CHECKING:
    from muniment.memory.journal_undo import UndoPlan
    from muniment.memory.records.plans import StoreOutcome, StorePlan

_OUT_OF_REACH = (
    "Copies in session logs, traces, exports, backups and at the model's provider are out of reach here."
)


def store(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write a record with the given fields."""
    request = StoreRequest(
        title=arguments.title,
        content=shell.text_or_stdin(arguments.content, "--content") or "",
        id=arguments.id,
        category=arguments.category,
        tags=None if arguments.tag is None else tuple(arguments.tag),
        scope=arguments.scope,
        expires_at=_time(arguments.expires_at),
        clear=tuple(arguments.clear or ()),
    )
    records = shell.surfaces.records
    return _written(shell, lambda: records.plan_store(request, origin=shell.origin), arguments.json)


def edit(arguments: argparse.Namespace, shell: Shell) -> int:
    """Change fields of one copy; without any option the whole file opens in $EDITOR."""
    records = shell.surfaces.records
    found = records.get(arguments.id, arguments.scope, expired=True)
    given = (
        arguments.title,
        arguments.content,
        arguments.category,
        arguments.tag,
        arguments.expires_at,
        arguments.clear,
    )
    if all(each is None for each in given):
        from muniment.cli.editing import edited

        data = edited(shell, found.path.name, found.data, "--title, --content or other fields")
        plan = records.plan_edit(found, data)
        return _told(shell, plan, records.commit(plan, shell.origin), arguments.json)
    content = shell.text_or_stdin(arguments.content, "--content")
    expires_at = _time(arguments.expires_at)

    def planned() -> StorePlan:
        found = records.get(arguments.id, arguments.scope, expired=True)
        deepest = records.chain().deepest_project
        if found.scope.kind == "project" and (deepest is None or deepest.directory != found.scope.directory):
            raise MunimentError(
                f"{found.record.id} stands in {found.scope.directory}, above the deepest project; "
                "edit it there, or with $EDITOR by giving no options."
            )
        request = StoreRequest(
            title=found.record.title if arguments.title is None else arguments.title,
            content=found.record.content if content is None else content,
            id=found.record.id,
            category=arguments.category,
            tags=None if arguments.tag is None else tuple(arguments.tag),
            scope=found.scope.kind,
            expires_at=expires_at,
            clear=tuple(arguments.clear or ()),
        )
        return records.plan_store(request, origin=shell.origin)

    return _written(shell, planned, arguments.json)


def delete(arguments: argparse.Namespace, shell: Shell) -> int:
    """Delete one copy after a question that says which, and what counts afterwards."""
    records = shell.surfaces.records
    plan = records.plan_delete(DeleteRequest(arguments.id, arguments.scope))
    heir = plan.next_effective
    after = "no other copy counts then" if heir is None else f"then {heir.directory} counts"
    shell.confirm(
        f"Delete {plan.before.id} ({exact_line(plan.before.title).text}) from {plan.scope.directory}; "
        f"{after}?",
        yes=arguments.yes,
    )
    outcome = records.commit(plan, shell.origin)
    if arguments.json:
        shell.json(shapes.delete_shape(outcome))
    else:
        now = outcome.now_effective
        shell.out(f"Deleted {outcome.id} from {outcome.scope.directory}.")
        shell.out("No copy counts now." if now is None else f"The copy in {now.directory} counts now.")
    _notes(shell, outcome.notes)
    return OK


def undo(arguments: argparse.Namespace, shell: Shell) -> int:
    """Take back the newest write of this chain and of user memory."""
    return _brought_back(shell, shell.surfaces.records.plan_undo(), "Undo", arguments)


def restore(arguments: argparse.Namespace, shell: Shell) -> int:
    """Bring back the text from before one journalled write."""
    item, at, entry = arguments.entry.rpartition("@")
    plan = shell.surfaces.records.plan_restore(entry, item if at else None)
    return _brought_back(shell, plan, "Restore", arguments)


def purge(arguments: argparse.Namespace, shell: Shell) -> int:
    """Take a text out of its files, the journal and the index of this chain."""
    from muniment.memory.journal_undo import reaches

    records = shell.surfaces.records
    name, surface = arguments.id, arguments.surface
    what = {
        "record": f"every copy of {name} in this scope chain and its earlier texts in the journal",
        "user": f"the entry {name} of user memory and its earlier texts in the journal",
    }
    first = what.get(surface, f"the earlier texts of {name} in the journal (not the one that stands now)")
    shell.confirm(f"Remove {first}? This cannot be undone.", yes=arguments.yes)
    deleted = _delete_all(shell, name, surface)
    places = [scope.directory for scope in records.chain().scopes]
    journal = shell.surfaces.journal
    named = [each for each in journal.entries() if each.surface == surface and each.item == name]
    # What shares its file with others, as pinned items do, stands in the earlier texts of that file too.
    files = {each.path: each.directory for each in named if reaches(each, places)}
    texts = journal.purge(lambda entry: entry.path in files)
    for path, directory in files.items():
        journal.clear(Path(directory), Path(path))
    left = []
    if surface == "record":
        records.forget_removed()
        left = [f"{path} ({reason})" for path, reason in records.unreadable(name)]
    if not deleted and not texts and not left:
        raise MunimentError(f"There is no text of {name} in this scope chain or its journal.")
    if arguments.json:
        shell.json(
            {
                "id": name,
                "surface": surface,
                "deleted": deleted,
                "texts_removed": texts,
                "left": left,
                "out_of_reach": _OUT_OF_REACH,
            }
        )
    else:
        shell.out(
            f"Removed {_count(len(deleted), 'copy', 'copies')} and "
            f"{_count(texts, 'earlier text', 'earlier texts')} of {name}. {_OUT_OF_REACH}"
        )
    for each in left:
        shell.note(f"left as it is, remove it yourself: {each}")
    return FAILED if left else OK


def _delete_all(shell: Shell, name: str, surface: str) -> list[dict[str, Any]]:
    """Delete every readable copy of a record, or an entry of user memory, and say what went."""
    deleted: list[dict[str, Any]] = []
    records, user = shell.surfaces.records, shell.surfaces.user
    with suppress(NotFound):
        if surface == "user":
            outcome = user.commit(user.plan_delete(name), shell.origin)
            deleted.append({"id": name, "scope": "user", "path": str(outcome.path)})
        while surface == "record":
            plan = records.plan_delete(DeleteRequest(name))
            deleted.append(shapes.delete_shape(records.commit(plan, shell.origin)))
    return deleted


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _written(shell: Shell, planned: Callable[[], StorePlan], as_json: bool) -> int:
    plan, outcome = settled(planned, lambda plan: shell.surfaces.records.commit(plan, shell.origin))
    return _told(shell, plan, outcome, as_json)


def _told(shell: Shell, plan: StorePlan, outcome: StoreOutcome, as_json: bool) -> int:
    for warning in plan.warnings:
        shell.note(warning.text)
    if as_json:
        shell.json(shapes.store_shape(outcome))
    else:
        word = "Created" if outcome.created else "Replaced"
        shell.out(f"{word} {outcome.id} in the {outcome.scope.kind} scope, {outcome.scope.directory}.")
    told = {warning.text for warning in plan.warnings}
    _notes(shell, tuple(note for note in outcome.notes if note not in told))
    return OK


def _brought_back(shell: Shell, plan: UndoPlan, word: str, arguments: argparse.Namespace) -> int:
    changed = "".join(f"{part.changed}\n" for part in plan.parts if part.changed)
    what = ", and ".join(
        f"{part.action} {part.entry.item} ({part.entry.surface}, {part.entry.path})" for part in plan.parts
    )
    if plan.work:
        what = f"the whole {plan.work}, {len(plan.parts)} writes in one step: {what}"
    previews = "\n".join(_preview(part, named=bool(plan.also)) for part in plan.parts)
    if plan.passed_over:
        shell.note(f"Passed over: {plan.passed_over}")
    shell.confirm(f"{changed}{word}: {what}?\n{previews}", yes=arguments.yes)
    done = shell.surfaces.records.commit_undo(plan, shell.origin)
    entries = (done.entry, *done.also)
    shown = [_undone_shape(part, entry) for part, entry in zip(plan.parts, entries, strict=True)]
    if arguments.json:
        shell.json(shown[0] | {"also": shown[1:]})
    else:
        verb = {"delete": "Removed", "create": "Brought back", "replace": "Put back the earlier text of"}
        for part in plan.parts:
            gone = part.text_now is None and part.text_then is None
            word = f"Took back the {part.entry.action} of" if gone else verb[part.action]
            shell.out(f"{word} {part.entry.item} ({part.entry.path}).")
        if plan.work:
            shell.out(f"That was the whole {plan.work}, {len(plan.parts)} writes in one step.")
    for part, written in zip(plan.parts, entries, strict=True):
        if part.changed and part.text_now is not None:
            shell.note(f"the text that stood there since is kept: memory restore {part.entry.item}@{written}")
    return OK


def _undone_shape(plan: UndoPlan, written: str) -> dict[str, Any]:
    entry = plan.entry
    return {
        "id": entry.item,
        "surface": entry.surface,
        "action": plan.action,
        "scope": entry.scope,
        "directory": entry.directory,
        "path": entry.path,
        "undone": plan.undoes,
        "changed_since": bool(plan.changed),
        "entry": written,
    }


def _preview(plan: UndoPlan, *, named: bool = False) -> str:
    from muniment.cli.asking import difference_lines

    if named:
        return f"{plan.path}:\n{_preview(plan)}"
    if plan.text_then is None and plan.text_now is None:
        return "The file stays away: it did not exist before that write either."
    if plan.text_then is None:
        return "The file goes: it did not exist before that write."
    if plan.changed and plan.text_now is not None:
        lines = "\n".join(difference_lines(plan.text_now, plan.text_then))
        return f"What stands there now (-) becomes (+):\n{lines}"
    lines = "\n".join(f"  | {line}" for line in exact_block(plan.text_then).text.split("\n"))
    return f"The text will be:\n{lines}"


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    from muniment.memory.records.times import TimeFault, parse_time

    try:
        return parse_time(text, day_ends=True, zone_required=False)
    except TimeFault as fault:
        raise UsageError(f"--expires-at: {fault}.") from None


def _notes(shell: Shell, notes: tuple[str, ...]) -> None:
    for note in notes:
        shell.note(note)
