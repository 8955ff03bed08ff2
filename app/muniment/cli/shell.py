"""What every command shares: where it runs, how it prints, how it asks, and how it fails."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from muniment.paths import HomeUnknown, Paths, resolve_paths
from muniment.safety.errors import InvalidInput, MunimentError, reason_of
from muniment.safety.visible import clean_surrogates, reading, reading_line

if TYPE_CHECKING:
    from muniment.memory.origin import Origin
    from muniment.memory.surfaces import Surfaces
    from muniment.settings import Settings

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(InvalidInput):
    """The command line itself is off."""


class NotDone(MunimentError):  # noqa: N818 - named for what it says
    """The one thing that was asked for was not allowed; nothing changed."""


class Help(argparse.HelpFormatter):
    """The help of a parser, as wide as the terminal.

    One is made for every option that is declared, and by itself it loads `shutil` with all its compressors.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class Parser(argparse.ArgumentParser):
    """An argument parser that fails with one sentence and names the nearest word for a misspelt one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help).")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            kind = "option" if word.startswith("-") else "argument"
            raise UsageError(
                f"{self.prog} takes no {kind} {word!r}; {self._hint(word, self._option_string_actions)}"
            )
        return known, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = list(map(str, action.choices))
        if not isinstance(action, argparse._SubParsersAction):
            name = "/".join(action.option_strings) or str(action.metavar or action.dest).upper()
            raise UsageError(f"{name} cannot be {value!r}: it is one of {', '.join(choices)}.")
        raise UsageError(f"{self.prog} has no command {value!r}; {self._hint(str(value), choices)}")

    def _hint(self, word: str, known: Iterable[str]) -> str:
        from difflib import get_close_matches

        near = get_close_matches(word, list(known), n=1, cutoff=0.6)
        return f"did you mean {near[0]}?" if near else f"see: {self.prog} --help."


class Deferred(Parser):
    """The parser of a subcommand, made when that subcommand is the one that was given: most never are."""

    def __init__(self, *, declare: Callable[[Parser], None], **options: Any) -> None:
        # Of a parser itself nothing is made here: that is what costs.
        self._declare, self._options = declare, options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        made = Parser(**self._options)
        self._declare(made)
        return made.parse_known_args(args, namespace)


def lazy(module: str, name: str) -> Callable[[argparse.Namespace, Shell], int]:
    """Return an action that loads its module when it runs, so that a parser costs nothing else."""

    def action(arguments: argparse.Namespace, shell: Shell) -> int:
        from importlib import import_module

        code: int = getattr(import_module(module), name)(arguments, shell)
        return code

    return action


class Shell:
    """One run of a command: its directories, settings and streams."""

    def __init__(self) -> None:
        self.environ: Mapping[str, str] = os.environ
        try:
            self.paths: Paths = resolve_paths(self.environ)
        except HomeUnknown as error:
            raise MunimentError(str(error)) from error

    @cached_property
    def cwd(self) -> Path:
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise MunimentError("The working directory does not exist any more; change to another.") from None

    @cached_property
    def settings(self) -> Settings:
        from muniment.settings import load_settings

        return load_settings(self.paths, self.environ)

    @cached_property
    def surfaces(self) -> Surfaces:
        from muniment.memory.surfaces import Surfaces

        return Surfaces(self.paths, self.cwd, self.settings)

    @property
    def origin(self) -> Origin:
        """The origin of what a person writes by hand."""
        from muniment.memory.origin import Origin

        return Origin(actor="user", surface="cli", decided_by="user")

    @property
    def has_terminal(self) -> bool:
        """Whether a person can be asked: only a terminal counts, never a pipe."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def json(self, value: Any) -> None:
        """Print one JSON object on one line of stdout."""
        self.json_text(dumps(value))

    def json_text(self, text: str) -> None:
        """Print JSON that is text already; on a terminal what hides or controls becomes an escape of JSON."""
        if sys.stdout.isatty():
            import json

            text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
        sys.stdout.write(text + "\n")

    def out(self, text: str = "") -> None:
        """Print a line for a person; what hides or controls is shown as an escape."""
        sys.stdout.write(reading(text) + "\n")

    def note(self, text: str) -> None:
        """Tell a person something beside the result, on stderr."""
        sys.stdout.flush()
        with suppress(OSError):  # what stands beside the result must not spoil it
            sys.stderr.write(f"muniment: {reading_line(text)}\n")
            sys.stderr.flush()

    def confirm(self, question: str, *, yes: bool = False) -> None:
        """Return if the user says yes; raise `NotDone` if not, or where there is no terminal to ask on."""
        if yes:
            return
        if not self.has_terminal:
            raise NotDone("Nothing was changed: there is no terminal to ask on; --yes answers in advance.")
        sys.stdout.flush()
        forget_typed_ahead()
        sys.stderr.write(f"{reading(question)} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            raise NotDone("Not confirmed; nothing was changed.")

    def text_or_stdin(self, value: str | None, name: str) -> str | None:
        """Return an option's text; `-` reads standard input, which must be UTF-8."""
        if value != "-":
            return value
        data = self.read_stdin(name)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name} from standard input is not UTF-8 text (byte {error.start + 1})."
            ) from None

    def read_stdin(self, name: str, *, max_bytes: int = 67_108_864) -> bytes:
        """Return what stands in standard input; raise `UsageError` where that is more than `max_bytes`."""
        if sys.stdin.isatty():
            self.note(f"{name} is read from the terminal; end it with Ctrl+D on a line of its own.")
        data = sys.stdin.buffer.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise UsageError(f"{name} from standard input is larger than {max_bytes} bytes.")
        return data


def dumps(value: Any) -> str:
    """Return JSON on one line in UTF-8, lone surrogates replaced."""
    import json

    text = clean_surrogates(json.dumps(value, ensure_ascii=False))
    # Whoever reads line by line may take these for the end of a line; in JSON they stand inside texts only.
    return text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def stop_writing(stream: TextIO) -> None:
    """Let what is still buffered go nowhere, so that nothing fails again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def not_written(error: OSError) -> MunimentError:
    """Return what is told where stdout takes nothing more; whatever waits in it is given up."""
    stop_writing(sys.stdout)
    return MunimentError(f"The result could not be written: {reason_of(error)}.")


def forget_typed_ahead() -> None:
    """Drop what was typed before a question stood there: it cannot have been meant for it."""
    try:
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except (ImportError, OSError, ValueError):
        return


def _columns() -> int:
    """Return how wide the terminal is, 80 where there is none."""
    with suppress(ValueError):
        if (told := int(os.environ.get("COLUMNS", ""))) > 0:
            return told
    with suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return 80


def positive(text: str) -> int:
    """Read an option's value that must be a whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number
