"""The user's own editor: the terminal is lent to it, and what comes back is checked before it counts."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.app import SuspendNotSupported

from muniment.safety.errors import MunimentError, reason_of
from muniment.session.editor import run_editor

if TYPE_CHECKING:
    from muniment.tui.app import MunimentApp

T = TypeVar("T")


class NoEditor(MunimentError):  # noqa: N818 - named for what it says
    """There is no editor, or it cannot have the terminal."""


async def edit_checked(app: MunimentApp, name: str, data: bytes, check: Callable[[bytes], T]) -> T | None:
    """Let the user edit a text until `check` takes it; None where nothing was changed or it was dropped.

    What does not hold is never lost without a question: the same text is opened again.
    """
    from muniment.tui.modals.question import Question

    text = data
    while True:
        text = edit_bytes(app, name, text)
        if text == data:
            app.tell("Nothing was changed.")
            return None
        try:
            return await asyncio.to_thread(check, text)
        except MunimentError as error:
            question = Question(
                f"{error.sentence}\n\nEdit the text again? It is not written as it is.",
                yes="Edit again",
                no="Drop it",
            )
            if not await app.push_screen_wait(question):
                app.tell("The edited text was dropped; nothing was changed.")
                return None


def edit_bytes(app: MunimentApp, name: str, data: bytes) -> bytes:
    """Open a text in the editor and return what it is afterwards; the app stands still, as it must."""
    environ = app.boot.environ
    command = environ.get("VISUAL") or environ.get("EDITOR")
    if not command:
        raise NoEditor("No editor is set; set EDITOR (or VISUAL) and start again.")
    with tempfile.TemporaryDirectory(prefix="muniment-") as directory:
        copy = Path(directory) / name
        copy.write_bytes(data)
        try:
            with app.suspend():
                code = run_editor(command, copy)
        except SuspendNotSupported as error:
            raise NoEditor("This terminal cannot be lent to an editor.") from error
        except (OSError, ValueError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise NoEditor(f"The editor {command} did not start: {why}.") from error
        return copy.read_bytes() if code == 0 else data
