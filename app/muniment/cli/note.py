"""`muniment note`: the inbox by hand; nothing in it reaches a model before a consolidation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from muniment.cli.shell import OK, Shell, positive

if TYPE_CHECKING:
    from muniment.memory.team.notefile import Note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="add|list|show|hold|release|promote")

    def command(name: str, text: str, action: object, *, named: bool = False) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if named:
            made.add_argument("name", metavar="NAME", help="a note's file name or its id")
        made.add_argument("--json", action="store_true", help="one JSON object")
        made.set_defaults(action=action)
        return made

    made = command("add", "put a note into the inbox", add)
    made.add_argument("--title", required=True, help="what it is about, on one line")
    made.add_argument("--body", default="", help="the note, at most 65536 bytes; - reads standard input")

    made = command("list", "list the notes that wait, newest first", list_notes)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")
    made.add_argument("--scope", choices=("project", "global"), help="only if the inbox here is of that kind")

    command("show", "show one note whole", show, named=True)
    command("hold", "keep a note out of consolidations", hold, named=True)
    command("release", "let a held note take part again", release, named=True)
    made = command("promote", "make an entry of the knowledge base of a note", promote, named=True)
    made.add_argument("--category", help="where to file it (default: chosen by what it says)")


def add(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write a note."""
    from muniment.memory.team import shapes
    from muniment.memory.team.notefile import NewNote
    from muniment.safety.findings import warnings_for

    body = shell.text_or_stdin(arguments.body, "--body") or ""
    team = shell.surfaces.team
    note = team.inbox.add(NewNote(arguments.title, body, "user", "user"), shell.origin)
    for _, text, place in warnings_for([("title", note.title), ("body", body)]):
        shell.note(f"{place}: {text}")
    if arguments.json:
        shell.json(shapes.note_written(team, note))
    else:
        shell.out(f"Added {note.name} to the inbox, {note.path.parent}.")
    return OK


def list_notes(arguments: argparse.Namespace, shell: Shell) -> int:
    """List the inbox."""
    from muniment.memory.team import shapes

    team = shell.surfaces.team
    notes, problems = team.inbox.scan()
    if arguments.scope not in (None, team.scope):
        shell.note(f"the inbox here is {team.scope}, {team.directory}")
        notes, problems = [], []
    shown = notes[: None if arguments.all else arguments.limit]
    if arguments.json:
        shell.json(shapes.note_list(team, shown, problems, total=len(notes)))
        return OK
    width = max((len(each.name) for each in shown), default=0)
    for each in shown:
        shell.out(
            f"{each.name:<{width}}  {'held  ' if each.held else '      '}{each.agent}: {_one(each.title)}"
        )
    if not notes:
        shell.note("no notes; write one with: muniment note add --title … --body …")
    for problem in problems:
        shell.note(f"left out: {problem.path} {problem.reason}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show one note in its exact form."""
    from muniment.memory.team import shapes
    from muniment.safety.visible import exact_block, exact_line

    team = shell.surfaces.team
    note = team.inbox.find(arguments.name)
    if arguments.json:
        shell.json(shapes.note_whole(team, note))
        return OK
    fields = (("id", note.id), ("agent", note.agent), ("date", note.date), ("session", note.session))
    for name, value in (*fields, ("project", note.project), ("source", note.source)):
        if value:
            shell.out(f"{name}: {exact_line(value).text}")
    shell.out(f"held: {'yes' if note.held else 'no'}")
    shell.out(f"file: {note.path}")
    for line in exact_block(note.text).text.split("\n"):
        shell.out(f"  {line}")
    return OK


def hold(arguments: argparse.Namespace, shell: Shell) -> int:
    """Hold a note."""
    inbox = shell.surfaces.team.inbox
    return _held(arguments, shell, inbox.hold(inbox.find(arguments.name).name, shell.origin))


def release(arguments: argparse.Namespace, shell: Shell) -> int:
    """Release a note."""
    inbox = shell.surfaces.team.inbox
    return _held(arguments, shell, inbox.release(inbox.find(arguments.name).name, shell.origin))


def promote(arguments: argparse.Namespace, shell: Shell) -> int:
    """Make an entry of a note; it counts as written by the user then."""
    from muniment.memory.team import shapes

    team = shell.surfaces.team
    note = team.inbox.find(arguments.name)
    added = team.knowledge.promote(note, shell.origin, category=arguments.category)
    for each in added.notes:
        shell.note(each)
    if arguments.json:
        row = None if added.row is None else added.row.id
        shell.json({**shapes.place(team), "note": note.name, "entry": added.entry.as_dict(), "row": row})
    else:
        shell.out(f"Made {added.entry.path} of {note.name}.")
    return OK


def _held(arguments: argparse.Namespace, shell: Shell, note: Note) -> int:
    from muniment.memory.team import shapes

    if arguments.json:
        shell.json(shapes.note_written(shell.surfaces.team, note))
    else:
        shell.out(f"{note.name} is {'held' if note.held else 'released'}.")
    return OK


def _one(text: str) -> str:
    from muniment.safety.visible import reading_line

    return reading_line(text)
