"""`muniment user`: user memory by hand; each write goes through the same plan and commit as the tool."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.cli.editing import edited
from muniment.cli.settled import settled
from muniment.cli.shell import OK, Shell, positive

if TYPE_CHECKING:
    from muniment.memory.user.plans import Outcome, SavePlan

_TYPES = ("user", "feedback", "project", "reference")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="list|show|save|edit|delete")

    def command(name: str, text: str, action: object) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.add_argument("--json", action="store_true", help="one JSON object")
        made.set_defaults(action=action)
        return made

    made = command("list", "list the entries that every session is shown", list_entries)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")
    made.add_argument("--scope", choices=("project", "global"), help="entries are global; project has none")

    made = command("show", "show one entry whole", show)
    made.add_argument("name", metavar="NAME")

    made = command("save", "write an entry by hand", save)
    made.add_argument("--name", required=True, help="lower-case letters, digits and single hyphens")
    made.add_argument("--type", required=True, choices=_TYPES)
    made.add_argument("--summary", required=True, help="the fact on one line, at most 200 bytes")
    made.add_argument("--details", help="more about it; - reads standard input; left out, they stay")
    made.add_argument(
        "--mode",
        choices=("create", "overwrite"),
        help="refuse where an entry exists, or where none does (default: whichever fits)",
    )

    made = command("edit", "change an entry with options, or in $EDITOR without any", edit)
    made.add_argument("name", metavar="NAME")
    made.add_argument("--type", choices=_TYPES)
    made.add_argument("--summary")
    made.add_argument("--details", help="- reads standard input; empty removes them")

    made = command("delete", "delete an entry", delete)
    made.add_argument("name", metavar="NAME")
    made.add_argument("--yes", action="store_true", help="do not ask")


def list_entries(arguments: argparse.Namespace, shell: Shell) -> int:
    """List entries in the order of their names, with how much room is used."""
    from muniment.memory.user import shapes
    from muniment.memory.user.index import MAX_ENTRIES, MAX_INDEX_BYTES, Index, index_line

    memory = shell.surfaces.user
    index = Index(()) if arguments.scope == "project" else memory.index()
    limit = None if arguments.all else arguments.limit
    if arguments.json:
        shell.json(shapes.list_shape(index, memory.directory, limit=limit))
        return OK
    for entry in index.entries[:limit]:
        shell.out(index_line(entry))
    if index.entries:
        shell.note(f"{len(index.entries)}/{MAX_ENTRIES} entries, {index.bytes}/{MAX_INDEX_BYTES} bytes.")
    else:
        shell.note("no entries; write one with: muniment user save --name … --type … --summary …")
    for problem in index.problems:
        shell.note(f"left out: {problem.path} {problem.reason}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show one entry in its exact form."""
    from muniment.memory.user import shapes
    from muniment.safety.visible import exact_block, exact_line

    held = shell.surfaces.user.get(arguments.name)
    if arguments.json:
        shell.json(shapes.show_shape(held))
        return OK
    entry = held.entry
    shell.out(f"name: {entry.name}")
    shell.out(f"type: {entry.type}")
    shell.out(f"summary: {exact_line(entry.summary).text}")
    shell.out(f"file: {held.path}")
    if entry.details:
        shell.out("details:")
        for line in exact_block(entry.details).text.split("\n"):
            shell.out(f"  {line}")
    return OK


def save(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write an entry with the given fields."""
    from muniment.memory.user.entry import check_name
    from muniment.memory.user.plans import SaveRequest

    memory = shell.surfaces.user
    check_name(arguments.name)
    details = shell.text_or_stdin(arguments.details, "--details")

    def planned() -> SavePlan:
        mode = arguments.mode
        if mode is None:
            mode = "overwrite" if memory.path_of(arguments.name).exists() else "create"
        return memory.plan_save(SaveRequest(mode, arguments.name, arguments.type, arguments.summary, details))

    return _written(shell, planned, arguments.json)


def edit(arguments: argparse.Namespace, shell: Shell) -> int:
    """Change fields of an entry; without any option the whole file opens in $EDITOR."""
    from muniment.memory.user.plans import SaveRequest

    memory = shell.surfaces.user
    held = memory.get(arguments.name)
    if all(each is None for each in (arguments.type, arguments.summary, arguments.details)):
        data = edited(shell, held.path.name, held.data, "--type, --summary or --details")
        plan = memory.plan_edit(held, data)
        return _told(shell, plan, memory.commit(plan, shell.origin), arguments.json)
    details = shell.text_or_stdin(arguments.details, "--details")

    def planned() -> SavePlan:
        entry = memory.get(arguments.name).entry
        summary = entry.summary if arguments.summary is None else arguments.summary
        return memory.plan_save(
            SaveRequest("overwrite", entry.name, arguments.type or entry.type, summary, details)
        )

    return _written(shell, planned, arguments.json)


def delete(arguments: argparse.Namespace, shell: Shell) -> int:
    """Delete an entry after a question that shows its summary."""
    from muniment.memory.user import shapes
    from muniment.safety.visible import exact_line

    memory = shell.surfaces.user
    plan = memory.plan_delete(arguments.name)
    shell.confirm(
        f"Delete {plan.before.name} ({exact_line(plan.before.summary).text}) from user memory "
        f"in {memory.directory}?",
        yes=arguments.yes,
    )
    outcome = memory.commit(plan, shell.origin)
    if arguments.json:
        shell.json(shapes.outcome_shape(outcome))
    else:
        shell.out(f"Deleted {outcome.name} from user memory; muniment memory undo brings it back.")
    return OK


def _written(shell: Shell, planned: Callable[[], SavePlan], as_json: bool) -> int:
    plan, outcome = settled(planned, lambda plan: shell.surfaces.user.commit(plan, shell.origin))
    return _told(shell, plan, outcome, as_json)


def _told(shell: Shell, plan: SavePlan, outcome: Outcome, as_json: bool) -> int:
    from muniment.memory.user import shapes

    for _, text, place in plan.warnings:
        shell.note(f"{place}: {text}")
    if as_json:
        shell.json(shapes.outcome_shape(outcome))
    else:
        word = "Created" if plan.created else "Replaced"
        shell.out(f"{word} {outcome.name} in user memory, {outcome.path.parent}.")
    return OK
