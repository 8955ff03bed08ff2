"""`muniment config`: where the settings are, what they say, and a file to begin with."""

from __future__ import annotations

import argparse
from dataclasses import replace

from muniment.cli.shell import OK, Shell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="path|show|init")
    for name, action, text in (
        ("path", path, "print where everything is kept"),
        ("show", show, "print the effective values and where each came from"),
        ("init", init, "write a settings file that holds every default as a comment"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="one JSON object")
        command.set_defaults(action=action)


def path(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print the directories and files."""
    paths = shell.paths
    places = {
        "config": paths.config_file,
        "soul": paths.soul_file,
        "recipes": paths.recipes,
        "data": paths.data,
        "records": paths.data / "memory",
        "state": paths.state,
        "sessions": paths.sessions,
        "cache": paths.cache,
        "index": paths.memindex,
    }
    if arguments.json:
        shell.json({name: str(place) for name, place in places.items()})
    else:
        for name, place in places.items():
            shell.out(f"{name:<9}{place}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print every setting, its value and its origin; the API key itself is never read here."""
    from muniment.settings import effective_provider

    settings = shell.settings
    provider, why = effective_provider(settings, shell.environ)
    settings = replace(settings, model=replace(settings.model, provider=provider))
    if settings.tui.keymap:
        from muniment.settings.keymap import usable

        _, clashes = usable(settings.tui.keymap)
        if clashes:
            shell.note(clashes)
    if arguments.json:
        shell.json(
            {
                "settings": settings.as_dict(),
                "provider": provider,
                "why": why or None,
                "path": str(shell.paths.config_file),
            }
        )
        return OK
    from muniment.settings.template import written

    for name, value, origin in settings.leaves():
        shell.out(f"{name} = {'(none)' if value is None else written(value)}    [{origin}]")
    if why:
        shell.note(why)
    return OK


def init(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write the commented settings file, never over an existing one."""
    from muniment.safety.errors import MunimentError
    from muniment.safety.files import ensure_private_dir, write_atomic
    from muniment.settings.template import default_text

    target = shell.paths.config_file
    if target.exists() or target.is_symlink():
        raise MunimentError(f"{target} exists already; edit it, or move it away to begin anew.")
    ensure_private_dir(target.parent)
    write_atomic(target, default_text().encode("utf-8"))
    if arguments.json:
        shell.json({"path": str(target)})
    else:
        shell.out(f"Wrote {target}.")
    return OK
