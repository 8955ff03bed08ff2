"""`muniment session`: the conversations on disk."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from muniment.cli.shell import OK, Shell, positive

if TYPE_CHECKING:
    from muniment.session.logs.stored import SessionInfo

LISTED = 50
"""How many sessions are listed where nothing else is said."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="list|show|export|delete|rate")

    command = commands.add_parser("list", help="list sessions, newest first")
    command.add_argument(
        "--limit", type=positive, default=LISTED, help=f"at most so many (default: {LISTED})"
    )
    command.add_argument("--all", action="store_true", help="all of them, however many")
    command.add_argument(
        "--scope",
        choices=("project", "global"),
        help="project: only those of the project here; global: those of every place, as without it",
    )
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=list_all)

    command = commands.add_parser("show", help="show one session's conversation")
    command.add_argument("id", metavar="ID")
    command.add_argument("--json", action="store_true", help="one JSON object with every record")
    command.set_defaults(action=show)

    command = commands.add_parser("export", help="write a session out, secrets hidden")
    command.add_argument("id", metavar="ID")
    command.add_argument("--format", choices=("markdown", "json"), default="markdown")
    command.add_argument("--json", action="store_true", help="the same as --format json")
    command.set_defaults(action=export)

    command = commands.add_parser("delete", help="delete a session's log and trace")
    command.add_argument("id", metavar="ID")
    command.add_argument("--yes", action="store_true", help="do not ask")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=delete)

    command = commands.add_parser("rate", help="say whether a finished task was good; its agent gets a note")
    command.add_argument("id", metavar="ID")
    command.add_argument("rating", choices=("up", "down"))
    command.add_argument("--comment", default="", help="what was good or not; - reads standard input")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=rate)


def list_all(arguments: argparse.Namespace, shell: Shell) -> int:
    """List sessions with title, project and age."""
    from muniment.session.logs.stored import list_sessions, session_paths

    limit = None if arguments.all else arguments.limit
    if arguments.scope == "project":
        here = of_project(shell, list_sessions(shell.paths))
        sessions, total = here[:limit], len(here)
    else:
        sessions, total = list_sessions(shell.paths, limit=limit), len(session_paths(shell.paths))
    more = total - len(sessions)
    if arguments.json:
        shell.json({"sessions": [each.as_dict() for each in sessions], "more": more})
        return OK
    for each in sessions:
        fields = each.as_dict()
        state = "live  " if each.live else "damaged" if each.problem else "      "
        shell.out(
            f"{each.id}  {fields['updated']}  {state} "
            f"{_one(each.title or '(no message yet)')}  {_one(each.cwd)}"
        )
    if more > 0:
        shell.note(f"{more} older {'session' if more == 1 else 'sessions'} not listed; --all lists them")
    if not sessions:
        shell.note("no sessions yet; open one with: muniment")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print a conversation for reading."""
    from muniment.session.logs.export import as_json, as_markdown, read_log

    records = read_log(shell.paths, arguments.id)
    if arguments.json:
        import json

        shell.json({"id": arguments.id, **json.loads(as_json(records))})
    else:
        shell.out(as_markdown(records))
    return OK


def export(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print the whole session as Markdown or JSON, secrets hidden."""
    from muniment.session.logs.export import as_json, as_markdown, read_log

    records = read_log(shell.paths, arguments.id)
    if arguments.json or arguments.format == "json":
        shell.json_text(as_json(records).rstrip("\n"))
    else:
        shell.out(as_markdown(records).rstrip("\n"))
    return OK


def delete(arguments: argparse.Namespace, shell: Shell) -> int:
    """Delete a session that nobody has open."""
    from muniment.session.logs.log import check_id, log_path
    from muniment.session.logs.stored import delete_session

    check_id(arguments.id)
    if not log_path(shell.paths, arguments.id).exists():
        from muniment.safety.errors import NotFound

        raise NotFound(f"There is no session {arguments.id}; `muniment session list` shows those there are.")
    shell.confirm(f"Delete session {arguments.id} with its trace? This cannot be undone.", yes=arguments.yes)
    removed = delete_session(shell.paths, arguments.id)
    if arguments.json:
        shell.json({"id": arguments.id, "removed": [str(path) for path in removed]})
    else:
        shell.out(f"Deleted session {arguments.id}.")
    return OK


def rate(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write a note to the agent of a finished task."""
    from muniment.session.team.feedback import rate_session

    comment = shell.text_or_stdin(arguments.comment, "--comment") or ""
    rated = rate_session(shell.paths, shell.settings, arguments.id, arguments.rating, comment)
    if arguments.json:
        shell.json(
            {
                "id": arguments.id,
                "rating": arguments.rating,
                "agent": rated.note.agent,
                "note": rated.note.name,
                "scope": rated.scope,
                "directory": str(rated.directory),
            }
        )
    else:
        shell.out(
            f"Rated {arguments.rating}: {rated.note.name} waits in the inbox, {rated.note.path.parent}."
        )
    return OK


def of_project(shell: Shell, sessions: list[SessionInfo]) -> list[SessionInfo]:
    """Return the sessions that were started in the project of the working directory or below it."""
    from pathlib import Path

    from muniment.memory.records.scope import resolve_chain

    root = resolve_chain(shell.cwd, shell.paths).root
    return [each for each in sessions if each.cwd and Path(each.cwd).is_relative_to(root)]


def _one(text: str) -> str:
    from muniment.safety.visible import reading_line

    return reading_line(text)
