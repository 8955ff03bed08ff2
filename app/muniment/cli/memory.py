"""`muniment memory`: the records of this directory's scope chain, by hand."""

from __future__ import annotations

import argparse

from muniment.cli.shell import lazy, positive

_SCOPES = ("project", "global")
OTHER_SURFACES = ("pinned", "inbox", "notes", "notebook", "knowledge")
"""What else the journal keeps texts of; there a purge is of earlier texts only."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(
        required=True,
        metavar="list|show|search|store|edit|delete|stats|history|undo|restore|purge|export|import|reindex|doctor",
    )

    def command(name: str, text: str, action: object) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.add_argument("--json", action="store_true", help="one JSON object")
        made.set_defaults(action=action)
        return made

    def scope(made: argparse.ArgumentParser) -> None:
        made.add_argument("--scope", choices=_SCOPES, help="only this scope")

    def fields(made: argparse.ArgumentParser, *, required: bool) -> None:
        made.add_argument("--title", required=required)
        made.add_argument("--content", required=required, help="the text; - reads standard input")
        made.add_argument("--category")
        made.add_argument("--tag", action="append", metavar="TAG", help="may be given several times")
        made.add_argument("--expires-at", metavar="TIME", help="RFC 3339 time, or a date whose end is meant")
        made.add_argument("--clear", action="append", metavar="FIELD", help="tags, category or expires_at")

    made = command("list", "list the records that count", lazy("muniment.cli.memory_read", "list_records"))
    scope(made)
    made.add_argument("--category", help="only this category")
    made.add_argument("--tag", help="only with this tag")
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")

    made = command("show", "show one record whole", lazy("muniment.cli.memory_read", "show"))
    made.add_argument("id", metavar="ID")
    scope(made)
    made.add_argument("--all", action="store_true", help="an expired copy too, where none counts")

    made = command("search", "search records, best first", lazy("muniment.cli.memory_read", "search"))
    made.add_argument("query", metavar="QUERY", nargs="+")
    scope(made)
    made.add_argument("--limit", type=positive, default=10, help="at most so many (default 10)")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")

    made = command("stats", "count the scope chain", lazy("muniment.cli.memory_read", "stats"))

    made = command("store", "write a record by hand", lazy("muniment.cli.memory_write", "store"))
    fields(made, required=True)
    made.add_argument("--id", help="replace the record of this id, or name a new one")
    made.add_argument("--scope", choices=_SCOPES, help="where to write (default: the deepest project)")

    made = command(
        "edit",
        "change a record with options, or in $EDITOR without any",
        lazy("muniment.cli.memory_write", "edit"),
    )
    made.add_argument("id", metavar="ID")
    made.add_argument("--scope", choices=_SCOPES, help="the copy in this scope")
    fields(made, required=False)

    made = command("delete", "delete one copy of a record", lazy("muniment.cli.memory_write", "delete"))
    made.add_argument("id", metavar="ID")
    made.add_argument("--scope", choices=_SCOPES, help="the copy in this scope (default: the deepest)")
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command(
        "history",
        "list the journalled writes of a record, or of all memory here",
        lazy("muniment.cli.memory_read", "history"),
    )
    made.add_argument("id", metavar="ID", nargs="?")
    scope(made)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")

    made = command(
        "undo", "take back the newest write that is not undone", lazy("muniment.cli.memory_write", "undo")
    )
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command(
        "restore",
        "bring back the text from before a journalled write",
        lazy("muniment.cli.memory_write", "restore"),
    )
    made.add_argument("entry", metavar="ID@ENTRY", help="as history lists it; the entry's id alone will do")
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command(
        "purge",
        "take a text out of its files, the journal and the index for good",
        lazy("muniment.cli.memory_write", "purge"),
    )
    made.add_argument("id", metavar="ID")
    made.add_argument(
        "--surface",
        choices=("record", "user", *OTHER_SURFACES),
        default="record",
        help="what ID names: a record (default), an entry of user memory, or something of the team's",
    )
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command("export", "write every record elsewhere", lazy("muniment.cli.memory_carry", "export"))
    made.add_argument("target", metavar="DIR|-", help="a new directory for the files, or - for lines of JSON")
    scope(made)

    made = command(
        "import",
        "take records from an export, Markdown or a list; shows first what it would do",
        lazy("muniment.cli.memory_carry", "bring_in"),
    )
    made.add_argument("source", metavar="SOURCE", help="a directory or file; - reads standard input")
    made.add_argument("--scope", choices=_SCOPES, help="put all of them there (default: where they were)")
    made.add_argument("--replace", action="store_true", help="replace records whose text differs")
    made.add_argument("--yes", action="store_true", help="write without asking")

    command("reindex", "make the search indexes anew", lazy("muniment.cli.memory_read", "reindex"))
    made = command("doctor", "look for what is wrong with memory here", lazy("muniment.cli.doctor", "memory"))
    made.add_argument("--fix", action="store_true", help="put right what harms nothing, and say what it was")
