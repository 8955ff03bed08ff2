"""`muniment pin`: what every session in this place is shown first; only you write it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.cli.shell import OK, Shell, positive

if TYPE_CHECKING:
    from muniment.memory.team.pinned import PinPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="show|add|remove")

    made = commands.add_parser("show", help="show what is pinned here")
    made.add_argument("--limit", type=positive, help="at most so many entries in the JSON object")
    made.add_argument("--all", action="store_true", help="all of them, which is what is shown anyway")
    made.add_argument("--scope", choices=("project", "global"), help="only if this place is of that kind")
    made.add_argument("--json", action="store_true", help="one JSON object")
    made.set_defaults(action=show)

    made = commands.add_parser("add", help="pin an entry at the end")
    made.add_argument("--title", required=True, help="a title that nothing pinned here has yet")
    made.add_argument("--content", required=True, help="the text; - reads standard input")
    made.add_argument("--level", choices=("info", "warning", "critical"), default="info")
    made.add_argument("--json", action="store_true", help="one JSON object")
    made.set_defaults(action=add)

    made = commands.add_parser("remove", help="remove an entry by its title")
    made.add_argument("title", metavar="TITLE", nargs="?", help="in whatever letter case")
    made.add_argument("--title", dest="named", metavar="TITLE", help="the same as an option")
    made.add_argument("--json", action="store_true", help="one JSON object")
    made.set_defaults(action=remove)


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show the pinned text as a request carries it."""
    from muniment.memory.team import shapes
    from muniment.memory.team.pinned import MAX_UNITS, PinnedText
    from muniment.safety.visible import exact_block

    team = shell.surfaces.team
    text = team.pinned.read()
    entries = team.pinned.entries() if text.problem is None else []
    if arguments.scope not in (None, team.scope):
        shell.note(f"what is pinned here is {team.scope}, {team.directory}")
        text, entries = PinnedText("", 0, False, text.path), []
    if arguments.json:
        limit = None if arguments.all else arguments.limit
        shell.json(shapes.pinned(team, text, entries[:limit]))
        return OK
    for line in exact_block(text.text).text.split("\n") if text.text else ():
        shell.out(line)
    if text.problem is not None:
        shell.note(f"left out: {text.problem.path} {text.problem.reason}")
    elif not text.text:
        shell.note("nothing is pinned; do so with: muniment pin add --title … --content …")
    else:
        shell.note(f"{text.units}/{MAX_UNITS} UTF-16 units, {text.path}.")
    return OK


def add(arguments: argparse.Namespace, shell: Shell) -> int:
    """Pin an entry."""
    from muniment.memory.team.pinned import MAX_UNITS
    from muniment.safety.findings import warnings_for

    content = shell.text_or_stdin(arguments.content, "--content") or ""
    pinned = shell.surfaces.team.pinned
    plan = _done(shell, lambda: pinned.plan_add(arguments.title, content, arguments.level))
    for _, text, place in warnings_for([("title", plan.entry.title), ("content", content)]):
        shell.note(f"{place}: {text}")
    if plan.units > MAX_UNITS:
        shell.note(f"{plan.path.name} has {plan.units} UTF-16 units now; a request carries {MAX_UNITS}")
    return _told(arguments, shell, plan, "Pinned")


def remove(arguments: argparse.Namespace, shell: Shell) -> int:
    """Remove an entry."""
    from muniment.cli.shell import UsageError

    title = arguments.named if arguments.title is None else arguments.title
    if title is None or None not in (arguments.named, arguments.title):
        raise UsageError("muniment pin remove takes one title.")
    plan = _done(shell, lambda: shell.surfaces.team.pinned.plan_remove(title))
    return _told(arguments, shell, plan, "Removed")


def _done(shell: Shell, planned: Callable[[], PinPlan]) -> PinPlan:
    from muniment.cli.settled import settled

    pinned = shell.surfaces.team.pinned
    return settled(planned, lambda plan: pinned.commit(plan, shell.origin))[0]


def _told(arguments: argparse.Namespace, shell: Shell, plan: PinPlan, word: str) -> int:
    from muniment.memory.team import shapes
    from muniment.safety.visible import reading_line

    team = shell.surfaces.team
    if arguments.json:
        shell.json(shapes.pin_written(team, plan))
    else:
        shell.out(f"{word} {reading_line(plan.entry.title)}, {plan.path}.")
    return OK
