"""Editing a file by hand: a private copy opens in the user's own editor."""

from __future__ import annotations

import tempfile
from pathlib import Path

from muniment.cli.shell import Shell, UsageError
from muniment.safety.errors import MunimentError, reason_of
from muniment.session.editor import run_editor


def edited(shell: Shell, name: str, data: bytes, instead: str) -> bytes:
    """Open `data` under a file name in $VISUAL or $EDITOR and return what the file says afterwards.

    `instead` names the options that do without an editor. Raise `MunimentError` where nothing was changed.
    """
    command = shell.environ.get("VISUAL") or shell.environ.get("EDITOR")
    if not command:
        raise UsageError(f"No editor is set: give {instead}, or set EDITOR.")
    with tempfile.TemporaryDirectory(prefix="muniment-") as directory:
        copy = Path(directory) / name
        copy.write_bytes(data)
        try:
            code = run_editor(command, copy)
        except (OSError, ValueError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise MunimentError(f"The editor {command} could not be started: {why}.") from error
        if code != 0:
            raise MunimentError(f"The editor ended with code {code}; nothing was changed.")
        after = copy.read_bytes()
    if after == data:
        raise MunimentError("The text is as it was; nothing was changed.")
    return after
