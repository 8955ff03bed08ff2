"""`muniment knowledge`: the knowledge base by hand; what you write here is trusted as yours."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from muniment.cli.shell import FAILED, OK, NotDone, Shell, UsageError, positive

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.memory.team.sweep import SweepItem

_NAMED = "as in the list, or its title, or its name without the date"
_CATEGORIES = "architecture, conventions, project-notes, build-reports or reviews"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="list|show|add|hold|release|sweep")

    def command(name: str, text: str, action: object) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.add_argument("--json", action="store_true", help="one JSON object")
        made.set_defaults(action=action)
        return made

    made = command("list", "list the entries, held ones first, then the newest", list_entries)
    made.add_argument("--category", metavar="C", help=_CATEGORIES)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="expired ones too")
    made.add_argument("--scope", choices=("project", "global"), help="only where the knowledge base is that")

    made = command("show", "show one entry whole", show)
    made.add_argument("name", metavar="NAME", help=_NAMED)

    made = command("add", "write an entry by hand, with its row in the ledger", add)
    made.add_argument("--category", metavar="C", help=f"{_CATEGORIES} (default: chosen by what it says)")
    made.add_argument("--title", required=True)
    made.add_argument("--content", required=True, help="- reads standard input")
    made.add_argument("--type", choices=("semantic", "procedural"), default="semantic")
    made.add_argument("--expires", metavar="T", help="a date or an RFC 3339 time; then the sweep proposes it")

    for name, text in (("hold", "keep an entry out of every sweep"), ("release", "let sweeps see it again")):
        made = command(name, text, hold)
        made.add_argument("name", metavar="NAME", help=_NAMED)
        made.set_defaults(held=name == "hold")

    made = command("sweep", "propose what is stale, said twice or filed wrongly, and move it", sweep)
    made.add_argument("--yes", action="store_true", help="do not ask")


def list_entries(arguments: argparse.Namespace, shell: Shell) -> int:
    """List entries with their category, trust and date."""
    from muniment.safety.visible import exact_line

    team = shell.surfaces.team
    entries, problems = team.knowledge.scan(arguments.category)
    if arguments.scope not in (None, team.scope):
        entries, problems = (), ()
    now = team.clock()
    expired = {each.key for each in entries if each.is_expired(now)}
    if not arguments.all:
        entries = tuple(each for each in entries if each.key not in expired)
    entries = entries[: arguments.limit]
    if arguments.json:
        shell.json(
            {
                "entries": [each.as_dict() | {"expired": each.key in expired} for each in entries],
                "skipped": [{"path": str(each.path), "reason": each.reason} for each in problems],
            }
        )
        return OK
    for each in entries:
        marks = "".join(
            f" ({word})" for word, on in (("held", each.held), ("expired", each.key in expired)) if on
        )
        shell.out(f"{each.key}: {exact_line(each.title).text} by {each.agent}, {each.date}{marks}")
    if not entries:
        shell.note("no entries; write one with: muniment knowledge add --title … --content …")
    for problem in problems:
        shell.note(f"left out: {problem.path} {problem.reason}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show one entry in its exact form, with its ledger row."""
    from muniment.memory.team.rows import entry_key
    from muniment.safety.errors import MunimentError
    from muniment.safety.visible import exact_block, exact_line

    team = shell.surfaces.team
    entry = team.knowledge.find(arguments.name)
    try:
        found = [
            each for each in team.ledger.of_source(entry_key(entry.name)) if each.project == team.scope_key
        ]
    except MunimentError as fault:
        # The entry is a file of its own and is shown whatever the ledger is like.
        shell.note(fault.sentence)
        found = []
    row = found[-1] if found else None
    if arguments.json:
        shell.json(
            {
                "entry": entry.as_dict() | {"content": entry.text},
                "row": None if row is None else {"id": row.id, "trust": row.trust, "status": row.status},
            }
        )
        return OK
    for name, value in entry.as_dict().items():
        if value not in (None, "", False):
            shell.out(f"{name}: {exact_line(entry.title).text if name == 'title' else value}")
    shell.out(f"ledger: {'no row' if row is None else f'{row.id}, trust {row.trust}, {row.status}'}")
    shell.out("content:")
    for line in exact_block(entry.text.rstrip("\n")).text.split("\n"):
        shell.out(f"  {line}")
    return OK


def add(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write an entry; its row is trusted as yours."""
    from muniment.cli.settled import settled
    from muniment.memory.team.classify import classify
    from muniment.memory.team.entry import NewEntry

    knowledge = shell.surfaces.team.knowledge
    content = shell.text_or_stdin(arguments.content, "--content") or ""
    new = NewEntry(
        title=arguments.title,
        content=content,
        category=arguments.category or classify(arguments.title, content),
        type=arguments.type,
        expires_at=_time(arguments.expires),
    )
    plan, added = settled(lambda: knowledge.plan_add(new), lambda plan: knowledge.commit(plan, shell.origin))
    for warning in plan.warnings:
        shell.note(f"{warning.place}: {warning.text}")
    if arguments.json:
        row = added.row
        shell.json(
            {
                "name": added.entry.name,
                "category": added.entry.category,
                "path": str(added.entry.path),
                "row": None if row is None else {"id": row.id, "trust": row.trust, "scope": row.scope_kind},
            }
        )
    else:
        shell.out(f"Wrote {added.entry.key} in {knowledge.directory}.")
    for sentence in added.notes:
        shell.note(sentence)
    return OK


def hold(arguments: argparse.Namespace, shell: Shell) -> int:
    """Hold an entry, or release it."""
    knowledge = shell.surfaces.team.knowledge
    change = knowledge.hold if arguments.held else knowledge.release
    entry = change(knowledge.find(arguments.name).key, shell.origin)
    if arguments.json:
        shell.json({"name": entry.name, "category": entry.category, "held": entry.held})
    else:
        shell.out(f"{entry.key} is {'held' if entry.held else 'released'}.")
    return OK


def sweep(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show the proposals, ask once, and do them all; nothing is deleted."""
    work = shell.surfaces.team.sweep
    items = work.propose()
    shape = {"items": [each.as_dict() for each in items]}
    if not items:
        outcome = work.apply((), shell.origin)  # what has been kept long enough goes
        if arguments.json:
            shell.json(shape | {"applied": False} | outcome.as_dict())
        else:
            shell.out("Nothing to sweep.")
        return OK
    if not arguments.json:
        for each in items:
            shell.out(_line(each))
    elif not arguments.yes and not shell.has_terminal:
        shell.json(shape | {"applied": False})
        shell.note("nothing was changed: there is no terminal to ask on; --yes answers in advance.")
        return FAILED
    else:
        for each in items:
            shell.note(_line(each))
    try:
        shell.confirm(f"Do these {len(items)} things?", yes=arguments.yes)
    except NotDone:
        if arguments.json:
            shell.json(shape | {"applied": False})
        raise
    outcome = work.apply(items, shell.origin)
    if arguments.json:
        shell.json(shape | {"applied": True} | outcome.as_dict())
    else:
        shell.out(f"Moved {len(outcome.swept)} entries to {work.directory}, filed {len(outcome.filed)} anew.")
        if outcome.pruned:
            shell.out(f"Removed {len(outcome.pruned)} that had been kept there long enough.")
    for sentence in outcome.notes:
        shell.note(sentence)
    return OK


def _line(item: SweepItem) -> str:
    where = f"file under {item.target}" if item.target else "move to _swept"
    return f"{item.kind}: {item.entry.key} {item.reason}; {where}"


def _time(text: str | None) -> datetime | None:
    from muniment.memory.records.times import TimeFault, parse_time

    if text is None:
        return None
    try:
        return parse_time(text, day_ends=True)
    except TimeFault as fault:
        raise UsageError(f"--expires {fault}.") from None
