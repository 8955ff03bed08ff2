"""What every command shares: where it runs, how it prints, how it asks, and how it fails."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from muniment.paths import Paths, resolve_paths
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.visible import reading, reading_line

if TYPE_CHECKING:
    from muniment.memory.origin import Origin
    from muniment.memory.surfaces import Surfaces
    from muniment.settings import Settings

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(InvalidInput):
    """The command line itself is off."""


class NotDone(MunimentError):  # noqa: N818 - named for what it says
    """The one thing that was asked for was not allowed; nothing changed."""


class Parser(argparse.ArgumentParser):
    """An argument parser that fails with one sentence."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help).")


class Shell:
    """One run of a command: its directories, settings and streams."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self.paths: Paths = resolve_paths(self.environ)

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
        return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()

    def json(self, value: Any) -> None:
        """Print one JSON object on one line of stdout."""
        sys.stdout.write(dumps(value) + "\n")

    def out(self, text: str = "") -> None:
        """Print a line for a person; what hides or controls is shown as an escape."""
        sys.stdout.write(reading(text) + "\n")

    def note(self, text: str) -> None:
        """Tell a person something beside the result, on stderr."""
        sys.stdout.flush()
        sys.stderr.write(f"muniment: {reading_line(text)}\n")
        sys.stderr.flush()

    def confirm(self, question: str, *, yes: bool = False) -> None:
        """Return if the user says yes; raise `NotDone` if not, or where there is no terminal to ask on."""
        if yes:
            return
        if not self.has_terminal:
            raise NotDone("Nothing was changed: there is no terminal to ask on; --yes answers in advance.")
        sys.stdout.flush()
        sys.stderr.write(f"{reading(question)} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            raise NotDone("Not confirmed; nothing was changed.")

    def text_or_stdin(self, value: str | None, name: str) -> str | None:
        """Return an option's text; `-` reads standard input, which must be UTF-8."""
        if value != "-":
            return value
        data = sys.stdin.buffer.read()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name} from standard input is not UTF-8 text (byte {error.start + 1})."
            ) from None


def dumps(value: Any) -> str:
    """Return JSON on one line in UTF-8, lone surrogates replaced."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def positive(text: str) -> int:
    """Read an option's value that must be a whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number
