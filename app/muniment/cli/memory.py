"""`muniment memory`: the records of this directory's scope chain, by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from muniment.cli.shell import Deferred, Parser, lazy, positive

_SCOPES = ("project", "global")
OTHER_SURFACES = ("pinned", "inbox", "notes", "notebook", "knowledge")
"""What else the journal keeps texts of; there a purge is of earlier texts only."""


def add_arguments(parser: Parser) -> None:
    """Declare the subcommands, in the order in which the help lists them."""
    commands = parser.add_subparsers(
        required=True, prog=parser.prog, metavar="|".join(_COMMANDS), parser_class=Deferred
    )
    for name, (text, action, declare) in _COMMANDS.items():
        sentence = f"{text[0].upper()}{text[1:]}."
        commands.add_parser(name, help=text, description=sentence, declare=partial(_fill, action, declare))


def _fill(action: str, declare: Callable[[Parser], None], made: Parser) -> None:
    made.add_argument("--json", action="store_true", help="one JSON object")
    module, function = action.split(":")
    made.set_defaults(action=lazy(f"muniment.cli.{module}", function))
    declare(made)


def _nothing(made: Parser) -> None:
    """Declare nothing more."""


# What several of them take


def _scope(made: Parser, text: str = "only this scope") -> None:
    made.add_argument("--scope", choices=_SCOPES, help=text)


def _fields(made: Parser, *, required: bool) -> None:
    made.add_argument("--title", required=required)
    made.add_argument("--content", required=required, help="the text; - reads standard input")
    made.add_argument("--category")
    made.add_argument("--tag", action="append", metavar="TAG", help="may be given several times")
    made.add_argument("--expires-at", metavar="TIME", help="RFC 3339 time, or a date whose end is meant")
    made.add_argument("--clear", action="append", metavar="FIELD", help="tags, category or expires_at")


def _yes(made: Parser, text: str = "do not ask") -> None:
    made.add_argument("--yes", action="store_true", help=text)


# Reading


def _list(made: Parser) -> None:
    _scope(made)
    made.add_argument("--category", help="only this category")
    made.add_argument("--tag", help="only with this tag")
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")


def _show(made: Parser) -> None:
    made.add_argument("id", metavar="ID")
    _scope(made)
    made.add_argument("--all", action="store_true", help="an expired copy too, where none counts")


def _search(made: Parser) -> None:
    made.add_argument("query", metavar="QUERY", nargs="+")
    _scope(made)
    made.add_argument("--limit", type=positive, default=10, help="at most so many (default 10)")
    made.add_argument("--all", action="store_true", help="overridden and expired copies too")


def _history(made: Parser) -> None:
    made.add_argument("id", metavar="ID", nargs="?")
    _scope(made)
    made.add_argument("--limit", type=positive, help="at most so many")
    made.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")


def _doctor(made: Parser) -> None:
    made.add_argument("--fix", action="store_true", help="put right what harms nothing, and say what it was")


# Writing


def _store(made: Parser) -> None:
    _fields(made, required=True)
    made.add_argument("--id", help="replace the record of this id, or name a new one")
    _scope(made, "where to write (default: the deepest project)")


def _edit(made: Parser) -> None:
    made.add_argument("id", metavar="ID")
    _scope(made, "the copy in this scope")
    _fields(made, required=False)


def _delete(made: Parser) -> None:
    made.add_argument("id", metavar="ID")
    _scope(made, "the copy in this scope (default: the deepest)")
    _yes(made)


def _restore(made: Parser) -> None:
    made.add_argument("entry", metavar="ID@ENTRY", help="as history lists it; the entry's id alone will do")
    _yes(made)


def _purge(made: Parser) -> None:
    made.add_argument("id", metavar="ID")
    made.add_argument(
        "--surface",
        choices=("record", "user", *OTHER_SURFACES),
        default="record",
        help="what ID names: a record (default), an entry of user memory, or something of the team's",
    )
    _yes(made)


# Carrying elsewhere and back


def _export(made: Parser) -> None:
    made.add_argument("target", metavar="DIR|-", help="a new directory for the files, or - for lines of JSON")
    _scope(made)


def _import(made: Parser) -> None:
    made.add_argument("source", metavar="SOURCE", help="a directory or file; - reads standard input")
    _scope(made, "put all of them there (default: where they were)")
    made.add_argument("--replace", action="store_true", help="replace records whose text differs")
    _yes(made, "write without asking")


_COMMANDS: dict[str, tuple[str, str, Callable[[Parser], None]]] = {
    "list": ("list the records that count", "memory_read:list_records", _list),
    "show": ("show one record whole", "memory_read:show", _show),
    "search": ("search records, best first", "memory_search:search", _search),
    "store": ("write a record by hand", "memory_write:store", _store),
    "edit": ("change a record with options, or in $EDITOR without any", "memory_write:edit", _edit),
    "delete": ("delete one copy of a record", "memory_write:delete", _delete),
    "stats": ("count the scope chain", "memory_read:stats", _nothing),
    "history": (
        "list the journalled writes of a record, or of all memory here",
        "memory_read:history",
        _history,
    ),
    "undo": ("take back the newest write that is not undone", "memory_write:undo", _yes),
    "restore": ("bring back the text from before a journalled write", "memory_write:restore", _restore),
    "purge": (
        "take a text out of its files, the journal and the index for good",
        "memory_write:purge",
        _purge,
    ),
    "export": ("write every record elsewhere", "memory_carry:export", _export),
    "import": (
        "take records from an export, Markdown or a list; shows first what it would do",
        "memory_carry:bring_in",
        _import,
    ),
    "reindex": ("make the search indexes anew", "memory_read:reindex", _nothing),
    "doctor": ("look for what is wrong with memory here", "doctor:memory", _doctor),
}
"""What each subcommand does, the `module:function` below `muniment.cli` that does it, and its options."""
