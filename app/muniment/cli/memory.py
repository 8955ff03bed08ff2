"""`muniment memory`: the records of this directory's scope chain, by hand."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from muniment.cli.shell import lazy, positive

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    Commands = _SubParsersAction[argparse.ArgumentParser]

_SCOPES = ("project", "global")
OTHER_SURFACES = ("pinned", "inbox", "notes", "notebook", "knowledge")
"""What else the journal keeps texts of; there a purge is of earlier texts only."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands, in the order in which the help lists them."""
    commands = parser.add_subparsers(
        required=True,
        metavar="list|show|search|store|edit|delete|stats|history|undo|restore|purge|export|import|reindex|doctor",
    )
    _list(commands)
    _show(commands)
    _search(commands)
    _command(commands, "stats", "count the scope chain", "memory_read:stats")
    _store(commands)
    _edit(commands)
    _delete(commands)
    _history(commands)
    _undo(commands)
    _restore(commands)
    _purge(commands)
    _export(commands)
    _import(commands)
    _command(commands, "reindex", "make the search indexes anew", "memory_read:reindex")
    _doctor(commands)


def _command(commands: Commands, name: str, text: str, action: str) -> argparse.ArgumentParser:
    """Declare one subcommand; `action` is `module:function` below `muniment.cli`, loaded when it is run."""
    made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    made.add_argument("--json", action="store_true", help="one JSON object")
    module, function = action.split(":")
    made.set_defaults(action=lazy(f"muniment.cli.{module}", function))
    return made


# What several of them take


def _scope(made: argparse.ArgumentParser, text: str = "only this scope") -> None:
    made.add_argument("--scope", choices=_SCOPES, help=text)


def _fields(made: argparse.ArgumentParser, *, required: bool) -> None:
    made.add_argument("--title", required=required)
    made.add_argument("--content", required=required, help="the text; - reads standard input")
    made.add_argument("--category")
    made.add_argument("--tag", action="append", metavar="TAG", help="may be given several times")
    made.add_argument("--expires-at", metavar="TIME", help="RFC 3339 time, or a date whose end is meant")
    made.add_argument("--clear", action="append", metavar="FIELD", help="tags, category or expires_at")


def _yes(made: argparse.ArgumentParser, text: str = "do not ask") -> None:
    made.add_argument("--yes", action="store_true", help=text)


# Reading


def _list(commands: Commands) -> None:
    made = _command(commands, "list", "list the records that count", "memory_read:list_records")
    _scope(made)
    made.add_argument("--category", help="only this category")
    made.add_argument("--tag", help="only with this tag")
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")


def _show(commands: Commands) -> None:
    made = _command(commands, "show", "show one record whole", "memory_read:show")
    made.add_argument("id", metavar="ID")
    _scope(made)
    made.add_argument("--all", action="store_true", help="an expired copy too, where none counts")


def _search(commands: Commands) -> None:
    made = _command(commands, "search", "search records, best first", "memory_read:search")
    made.add_argument("query", metavar="QUERY", nargs="+")
    _scope(made)
    made.add_argument("--limit", type=positive, default=10, help="at most so many (default 10)")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")


def _history(commands: Commands) -> None:
    text = "list the journalled writes of a record, or of all memory here"
    made = _command(commands, "history", text, "memory_read:history")
    made.add_argument("id", metavar="ID", nargs="?")
    _scope(made)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")


def _doctor(commands: Commands) -> None:
    made = _command(commands, "doctor", "look for what is wrong with memory here", "doctor:memory")
    made.add_argument("--fix", action="store_true", help="put right what harms nothing, and say what it was")


# Writing


def _store(commands: Commands) -> None:
    made = _command(commands, "store", "write a record by hand", "memory_write:store")
    _fields(made, required=True)
    made.add_argument("--id", help="replace the record of this id, or name a new one")
    _scope(made, "where to write (default: the deepest project)")


def _edit(commands: Commands) -> None:
    text = "change a record with options, or in $EDITOR without any"
    made = _command(commands, "edit", text, "memory_write:edit")
    made.add_argument("id", metavar="ID")
    _scope(made, "the copy in this scope")
    _fields(made, required=False)


def _delete(commands: Commands) -> None:
    made = _command(commands, "delete", "delete one copy of a record", "memory_write:delete")
    made.add_argument("id", metavar="ID")
    _scope(made, "the copy in this scope (default: the deepest)")
    _yes(made)


def _undo(commands: Commands) -> None:
    _yes(_command(commands, "undo", "take back the newest write that is not undone", "memory_write:undo"))


def _restore(commands: Commands) -> None:
    text = "bring back the text from before a journalled write"
    made = _command(commands, "restore", text, "memory_write:restore")
    made.add_argument("entry", metavar="ID@ENTRY", help="as history lists it; the entry's id alone will do")
    _yes(made)


def _purge(commands: Commands) -> None:
    text = "take a text out of its files, the journal and the index for good"
    made = _command(commands, "purge", text, "memory_write:purge")
    made.add_argument("id", metavar="ID")
    made.add_argument(
        "--surface",
        choices=("record", "user", *OTHER_SURFACES),
        default="record",
        help="what ID names: a record (default), an entry of user memory, or something of the team's",
    )
    _yes(made)


# Carrying elsewhere and back


def _export(commands: Commands) -> None:
    made = _command(commands, "export", "write every record elsewhere", "memory_carry:export")
    made.add_argument("target", metavar="DIR|-", help="a new directory for the files, or - for lines of JSON")
    _scope(made)


def _import(commands: Commands) -> None:
    text = "take records from an export, Markdown or a list; shows first what it would do"
    made = _command(commands, "import", text, "memory_carry:bring_in")
    made.add_argument("source", metavar="SOURCE", help="a directory or file; - reads standard input")
    _scope(made, "put all of them there (default: where they were)")
    made.add_argument("--replace", action="store_true", help="replace records whose text differs")
    _yes(made, "write without asking")
