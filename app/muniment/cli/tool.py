"""`muniment tool`: one tool called exactly as the model would call it."""

from __future__ import annotations

import argparse

from muniment.cli.shell import FAILED, OK, USAGE, Shell, positive

_CODES = {"completed": OK, "invalid_arguments": USAGE, "unknown_tool": USAGE}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="list|call")

    command = commands.add_parser("list", help="list the tools that are offered here")
    command.add_argument("--json", action="store_true", help="one JSON object with their schemas")
    command.add_argument("--limit", type=positive, help="at most so many")
    command.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")
    command.add_argument(
        "--scope", choices=("project", "global"), help="tools belong to none; lists the same"
    )
    command.set_defaults(action=list_all)

    command = commands.add_parser("call", help="call one tool; what changes something is asked about")
    command.add_argument("name", metavar="NAME")
    command.add_argument("--args", default="{}", metavar="JSON", help="the arguments; - reads standard input")
    command.add_argument("--yes", action="store_true", help="do not ask")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=call)


def list_all(arguments: argparse.Namespace, shell: Shell) -> int:
    """List the tools."""
    from muniment.session.toolcall import offered

    tools = offered(shell.surfaces)[: None if arguments.all else arguments.limit]
    if arguments.json:
        rows = [
            {
                "name": tool.name,
                "description": tool.description,
                "effect": str(tool.effect),
                "parameters": tool.parameters,
            }
            for tool in tools
        ]
        shell.json({"tools": rows})
        return OK
    for tool in tools:
        shell.out(f"{tool.name:<16} {tool.effect!s:<7} {tool.description}")
    return OK


def call(arguments: argparse.Namespace, shell: Shell) -> int:
    """Call one tool with the same checks, policy, question and execution as in a session."""
    from muniment.cli.asking import ask_now
    from muniment.session.toolcall import call_tool

    raw = shell.text_or_stdin(arguments.args, "--args") or ""
    ask = ask_now if shell.has_terminal else None
    result = call_tool(shell.surfaces, arguments.name, raw, shell.origin, ask=ask, yes=arguments.yes)
    if arguments.json:
        shell.json(
            {"tool": arguments.name, "status": result.status, "result": result.data, "text": result.text}
        )
    elif result.status == "completed":
        shell.out(result.text)
    else:
        shell.note(f"{arguments.name}: {result.status}: {result.text}")
    return _CODES.get(result.status, FAILED)
