"""The command line: finds the command, loads only what it needs, and turns failures into one sentence."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TextIO, cast

from muniment import __version__
from muniment.cli.shell import (
    FAILED,
    INTERRUPTED,
    OK,
    USAGE,
    Parser,
    Shell,
    UsageError,
    not_written,
    stop_writing,
)
from muniment.safety.errors import InvalidInput, MunimentError, NotFound, sentence_of
from muniment.safety.visible import reading_line

COMMANDS = {
    "run": ("muniment.cli.run", "open a session on the screen, or run one in a pipe with --prompt"),
    "recipe": ("muniment.cli.recipe", "check, list and read recipes"),
    "memory": ("muniment.cli.memory", "list, search, write and undo records"),
    "user": ("muniment.cli.user", "list, read and write what every session is shown"),
    "note": ("muniment.cli.note", "add, read and hold the notes that wait for your review"),
    "pin": ("muniment.cli.pin", "show and write what every session here is shown first"),
    "consolidate": ("muniment.cli.consolidate", "turn waiting notes into team notes and knowledge"),
    "knowledge": ("muniment.cli.knowledge", "list, write and sweep the knowledge base"),
    "ledger": ("muniment.cli.ledger", "search, judge and import structured memory, and see what recall did"),
    "context": ("muniment.cli.context", "show what the next request would carry"),
    "tool": ("muniment.cli.tool", "call one tool as the model would"),
    "session": ("muniment.cli.session", "list, show, export, rate and delete sessions"),
    "eval": ("muniment.cli.eval", "play cases through the engine and say which hold"),
    "config": ("muniment.cli.config", "show the settings and where they come from"),
    "doctor": ("muniment.cli.doctor", "look for what is wrong here"),
    "isolation": ("muniment.cli.doctor", "say what confines the tools here"),
}
COLLECT_AFTER = 200_000
"""So many new objects are made before any are looked through; Python's own number is 700."""
_EPILOG = """\
Without a command the screen opens with a choice of recipes. --json prints one JSON object for programs.
Exit codes: 0 done, 1 failed, not found or denied, 2 usage or invalid input, 130 interrupted."""

_LISTINGS = {
    "memory": "memory list --all",
    "user": "user list",
    "note": "note list",
    "pin": "pin show",
    "knowledge": "knowledge list",
}
_ABOUT_ONE = frozenset({"show", "edit", "delete", "remove", "hold", "release", "promote"})


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; every failure is one sentence on stderr."""
    # A command makes what it needs and ends: going through ten thousand records again and again for
    # garbage would take longer than listing them.
    gc.set_threshold(COLLECT_AFTER)
    _utf8()
    try:
        code = _code(list(argv))
        sys.stdout.flush()
    except BrokenPipeError:
        stop_writing(sys.stdout)
        code = FAILED
    except OSError as error:
        code = _fail(FAILED, not_written(error).sentence)
    try:
        sys.stderr.flush()
    except OSError:
        stop_writing(sys.stderr)
    return code


def _code(argv: list[str]) -> int:
    try:
        return _dispatch(argv)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else OK
    except InvalidInput as error:
        return _fail(USAGE, *error.lines)
    except NotFound as error:
        return _fail(FAILED, *_with_way_on(argv, error.lines))
    except MunimentError as error:
        return _fail(FAILED, *error.lines)
    except OSError as error:
        return _fail(FAILED, sentence_of(error))
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a person gets a sentence
        return _fail(FAILED, _fault(error))


def _with_way_on(argv: list[str], lines: Sequence[str]) -> list[str]:
    """Add the command that lists what there is where one item was named that there is not.

    The stores leave that out: a model reads their sentences too, and has no shell.
    """
    listing = _LISTINGS.get(argv[0])
    if listing is None or argv[1] not in _ABOUT_ONE or any("muniment " in line for line in lines):
        return list(lines)
    return [*lines[:-1], f"{lines[-1].rstrip('.')}; see: muniment {listing}."]


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] == "help":
        argv = [*argv[1:2], "--help"]
    if argv and argv[0] in ("-h", "--help"):
        sys.stdout.write(_help())
        return OK
    name = argv[0] if argv and not argv[0].startswith("-") else None
    if name is None:
        # Options without a command belong to `run`; no option at all opens the choice of recipes.
        name, rest, pick = "run", argv, not argv
    else:
        rest, pick = argv[1:], False
    if name not in COMMANDS:
        from muniment.safety.schema import nearest

        near = nearest(name, COMMANDS)
        hint = f"did you mean {near}?" if near else "see: muniment --help."
        if not near and Path(name).is_file():
            hint = f"to run a recipe: muniment run --file {name}"
        raise UsageError(f"there is no command {name!r}; {hint}")
    module_name, summary = COMMANDS[name]
    module = import_module(module_name)
    parser = Parser(prog=f"muniment {name}", description=f"{summary[0].upper()}{summary[1:]}.")
    module.add_arguments(parser)
    arguments = parser.parse_args(rest)
    arguments.pick = pick
    code: int = arguments.action(arguments, Shell())
    return code


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{summary}" for name, (_, summary) in COMMANDS.items()]
    return (
        "usage: muniment [--version] [COMMAND] [OPTIONS]\n\n"
        "A terminal agent that writes nothing to memory that you have not read and approved.\n\ncommands:\n"
        + "\n".join(lines)
        + f"\n\nmuniment COMMAND --help tells more of one.\n{_EPILOG}\n"
    )


def _fail(code: int, *sentences: str) -> int:
    with suppress(OSError):  # a reader that went away must not hide the reason
        sys.stdout.flush()
    with suppress(OSError):  # where nobody can be told why, the exit code still says it
        sys.stderr.writelines(f"muniment: {reading_line(each)}\n" for each in sentences)
    return code


def _fault(error: Exception) -> str:
    """Say in a sentence what no command foresaw, with the place that a report of it needs."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    place = f", at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return (
        f"This is a fault of Muniment itself, please report it: {type(error).__name__}: {error}{place} "
        f"(version {__version__})."
    )


def _utf8() -> None:
    """Speak UTF-8 whatever the locale says: JSON is UTF-8, and memory holds every script."""
    # A stream that was closed before the start would hand its number to the next file that is opened.
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                encoding="utf-8", errors="backslashreplace" if stream is not sys.stdin else "replace"
            )


def _nothing(mode: str) -> TextIO:
    return cast("TextIO", Path(os.devnull).open(mode, encoding="utf-8"))
