"""The root of all errors that a person is meant to read."""

from __future__ import annotations

import os


class MunimentError(Exception):
    """An expected failure, told in one sentence that says what, where and what to do.

    `str(error)` is that sentence. It may hold text from files; a sink escapes it like any other text.
    """

    @property
    def sentence(self) -> str:
        return str(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what a terminal shows, a line each; more than one only where several faults are told."""
        return (self.sentence,)


def reason_of(error: OSError) -> str:
    """Return why the system refused something, in its own words and without its number."""
    return error.strerror or str(error) or type(error).__name__


def sentence_of(error: MunimentError | OSError) -> str:
    """Return what went wrong as a person reads it: for the system's own errors the file, and why."""
    if isinstance(error, MunimentError):
        return error.sentence
    named = isinstance(error.filename, (str, bytes)) and bool(error.filename)
    place = f"{os.fsdecode(error.filename)}: " if named else ""
    return f"{place}{reason_of(error)}."


class InvalidInput(MunimentError):  # noqa: N818 - named for what it is, not for being an error
    """What was given cannot be used as it is; commands end with exit code 2."""


class NotFound(MunimentError):  # noqa: N818 - as above
    """The thing asked for does not exist; commands end with exit code 1."""
