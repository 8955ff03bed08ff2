"""`muniment recipe`: check, list and read recipes without running them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from muniment.cli.shell import OK, USAGE, Shell, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(required=True, metavar="validate|list|show|schema")

    command = commands.add_parser(
        "validate", help="name every fault with its line", description="Check files."
    )
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=validate)

    command = commands.add_parser("list", help="list the recipes that can be run by name")
    command.add_argument(
        "--scope",
        choices=("project", "global"),
        help="project: those of the project here; global: all others",
    )
    command.add_argument("--limit", type=positive, help="at most so many")
    command.add_argument("--all", action="store_true", help="all of them, which is what is listed anyway")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=list_all)

    command = commands.add_parser("show", help="print a recipe's text")
    command.add_argument("name", metavar="NAME", help="a known name or a path")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(action=show)

    command = commands.add_parser("schema", help="print the JSON schema of recipes")
    command.add_argument("--json", action="store_true", help="it is JSON anyway")
    command.set_defaults(action=schema)


def validate(arguments: argparse.Namespace, shell: Shell) -> int:
    """Check each file; faults go to stderr, the verdicts to stdout."""
    from muniment.session.recipes.recipe import check_recipe

    results = []
    for name in arguments.files:
        faults = check_recipe(Path(name))
        results.append({"path": name, "valid": not faults, "faults": [fault.as_dict() for fault in faults]})
        if not arguments.json:
            for fault in faults:
                shell.note(fault.sentence)
            if not faults:
                shell.out(f"{name}: valid")
    if arguments.json:
        shell.json({"results": results})
    return OK if all(each["valid"] for each in results) else USAGE


def list_all(arguments: argparse.Namespace, shell: Shell) -> int:
    """List known recipes in the order in which a name is looked up."""
    from muniment.memory.records.scope import resolve_chain
    from muniment.session.recipes.recipe import list_recipes

    recipes = list_recipes(shell.paths, resolve_chain(shell.cwd, shell.paths))
    if arguments.scope is not None:
        recipes = [each for each in recipes if (each.source == "project") == (arguments.scope == "project")]
    recipes = recipes[: None if arguments.all else arguments.limit]
    if arguments.json:
        shell.json({"recipes": [each.as_dict() for each in recipes]})
        return OK
    for each in recipes:
        fields = each.as_dict()
        about = fields.get("description") or fields.get("problem") or ""
        shell.out(f"{fields['name']:<20} {fields['source']:<9} {about}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print the text of one recipe as it would run."""
    from muniment.memory.records.scope import resolve_chain
    from muniment.session.recipes.recipe import find_recipe

    recipe = find_recipe(arguments.name, shell.paths, resolve_chain(shell.cwd, shell.paths))
    if arguments.json:
        shell.json({"recipe": recipe.as_dict()})
    else:
        sys.stdout.write(_visible(recipe.text))
    return OK


def _visible(text: str) -> str:
    from muniment.safety.visible import reading

    shown = reading(text)
    return shown if shown.endswith("\n") else shown + "\n"


def schema(arguments: argparse.Namespace, shell: Shell) -> int:
    """Print the JSON schema, for editors."""
    import json

    from muniment.session.recipes.shape import recipe_schema

    sys.stdout.write(json.dumps(recipe_schema(), indent=2) + "\n")
    return OK
