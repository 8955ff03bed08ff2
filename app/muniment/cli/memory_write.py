"""The record commands that write; each goes through the same plan and commit as a tool."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING

from muniment.cli.shell import OK, Shell, UsageError
from muniment.memory.records import shapes
from muniment.memory.records.plans import DeleteRequest, StoreRequest
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.visible import exact_block, exact_line

if TYPE_CHECKING:
    from muniment.memory.journal_undo import UndoPlan
    from muniment.memory.records.plans import StorePlan


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
    return _written(shell, shell.surfaces.records.plan_store(request, origin=shell.origin), arguments.json)


def edit(arguments: argparse.Namespace, shell: Shell) -> int:
    """Change fields of one copy; without any option the whole file opens in $EDITOR."""
    records = shell.surfaces.records
    found = records.get(arguments.id, arguments.scope)
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
        return _written(shell, records.plan_edit(found, data), arguments.json)
    content = shell.text_or_stdin(arguments.content, "--content")
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
        expires_at=_time(arguments.expires_at),
        clear=tuple(arguments.clear or ()),
    )
    return _written(shell, records.plan_store(request, origin=shell.origin), arguments.json)


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
    entry = arguments.entry.rpartition("@")[2]
    return _brought_back(shell, shell.surfaces.records.plan_restore(entry), "Restore", arguments)


def purge(arguments: argparse.Namespace, shell: Shell) -> int:
    """Take a record's text out of its files, the journal and the index of this chain."""
    records = shell.surfaces.records
    places = {str(scope.directory) for scope in records.chain().scopes}
    shell.confirm(
        f"Remove every copy of {arguments.id} in this scope chain and its earlier texts in the journal? "
        "This cannot be undone.",
        yes=arguments.yes,
    )
    deleted = []
    while True:
        try:
            plan = records.plan_delete(DeleteRequest(arguments.id))
        except NotFound:
            break
        deleted.append(records.commit(plan, shell.origin))
    texts = shell.surfaces.journal.purge(
        lambda entry: entry.surface == "record" and entry.item == arguments.id and entry.directory in places
    )
    records.forget_removed()
    if not deleted and not texts:
        raise MunimentError(f"There is no text of {arguments.id} in this scope chain or its journal.")
    reach = (
        "Copies in session logs, traces, exports, backups and at the model's provider are out of reach here."
    )
    if arguments.json:
        shell.json(
            {
                "id": arguments.id,
                "deleted": [shapes.delete_shape(each) for each in deleted],
                "texts_removed": texts,
                "out_of_reach": reach,
            }
        )
    else:
        shell.out(f"Removed {len(deleted)} copies and {texts} earlier texts of {arguments.id}. {reach}")
    return OK


def _written(shell: Shell, plan: StorePlan, as_json: bool) -> int:
    outcome = shell.surfaces.records.commit(plan, shell.origin)
    for warning in plan.warnings:
        shell.note(warning.text)
    if as_json:
        shell.json(shapes.store_shape(outcome))
    else:
        word = "Created" if outcome.created else "Replaced"
        shell.out(f"{word} {outcome.id} in the {outcome.scope.kind} scope, {outcome.scope.directory}.")
    _notes(shell, outcome.notes)
    return OK


def _brought_back(shell: Shell, plan: UndoPlan, word: str, arguments: argparse.Namespace) -> int:
    entry = plan.entry
    shell.confirm(
        f"{word}: {plan.action} {entry.item} ({entry.surface}, {entry.path})?\n{_preview(plan.text_then)}",
        yes=arguments.yes,
    )
    done = shell.surfaces.records.commit_undo(plan, shell.origin)
    if arguments.json:
        shell.json(
            {
                "id": entry.item,
                "surface": entry.surface,
                "action": plan.action,
                "scope": entry.scope,
                "directory": entry.directory,
                "path": entry.path,
                "undone": plan.undoes,
                "entry": done.entry,
            }
        )
    else:
        verb = {"delete": "Removed", "create": "Brought back", "replace": "Put back the earlier text of"}
        shell.out(f"{verb[plan.action]} {entry.item} ({entry.path}).")
    return OK


def _preview(text: str | None) -> str:
    if text is None:
        return "The file goes: it did not exist before that write."
    return "The text will be:\n" + "\n".join(f"  | {line}" for line in exact_block(text).text.split("\n"))


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    from muniment.memory.records.times import TimeFault, parse_time

    try:
        return parse_time(text, day_ends=True, zone_required=False)
    except TimeFault as fault:
        raise UsageError(f"--expires-at: {fault}.") from None


def _notes(shell: Shell, notes: tuple[str, ...]) -> None:
    for note in notes:
        shell.note(note)
