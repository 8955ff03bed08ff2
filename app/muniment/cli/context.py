"""`muniment context`: what the next request would carry, by the same code that sends it."""

from __future__ import annotations

import argparse
import asyncio

from muniment.cli.run import add_model_arguments, first_message, opened
from muniment.cli.shell import OK, Shell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--file", metavar="RECIPE", help="a recipe's name or path (default: assistant)")
    parser.add_argument("--param", action="append", metavar="K=V", default=[], help="a recipe parameter")
    parser.add_argument("--prompt", metavar="TEXT", default="", help="the message to be sent; - reads stdin")
    parser.add_argument("--headless", action="store_true", help="as a run in a pipe, not as on the screen")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_model_arguments(parser)
    parser.set_defaults(action=show)


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Assemble the request of a new session and print it; nothing is sent or written."""
    from muniment.session.events import Notice

    prompt = shell.text_or_stdin(arguments.prompt, "--prompt") or ""
    engine = opened(arguments, shell, headless=arguments.headless, preview=True)
    try:
        message = first_message(engine, prompt) if arguments.headless else prompt or engine.first_prompt or ""
        assembly = engine.assemble_preview(message)
    finally:
        asyncio.run(engine.close())
    fields = assembly.as_dict()
    for notice in [*(each.text for each in engine.opening if isinstance(each, Notice)), *assembly.notices]:
        shell.note(notice)
    if arguments.json:
        shell.json(fields)
        return OK
    shell.out("── instructions ──")
    shell.out(fields["instructions"])
    for item in fields["input"]:
        shell.out(f"── {item['role']} ──")
        shell.out(item["content"])
    shell.out("── blocks ──")
    for block in fields["blocks"]:
        noun = "item " if block["items"] == 1 else "items"
        shell.out(
            f"{block['name']:<12} {block['items']:>4} {noun}  {block['bytes']:>6} bytes  {block['source']}"
        )
    shell.out(f"estimate {fields['estimate']} of {fields['budget']} tokens")
    return OK
