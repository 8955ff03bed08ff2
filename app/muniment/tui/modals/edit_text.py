"""Editing a text of several lines before anything is decided about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from muniment.safety.visible import reading_line
from muniment.tui.looks import Box
from muniment.tui.text import safe_line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.typing_fields import TextField


class EditText(Box[str | None]):
    """Dismissed with the text once `fault` finds nothing wrong with it, with None where it is left."""

    AUTO_FOCUS: ClassVar[str | None] = "#edit-text"
    BINDING_GROUP_TITLE = "Editing"
    HELP = "Ctrl+S keeps the text; Escape leaves it as it was, after a second press where it was changed."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Keep the text; nothing is written yet", id="edit.keep"),
        Binding("escape", "leave", "Back", tooltip="Back without a change", id="edit.back"),
    ]
    DEFAULT_CSS = """
    EditText {
        & > Vertical { width: 100%; max-width: 120; height: 90%; padding: 0 1; }
        & TextArea, & TextArea:focus { height: 1fr; padding: 0; background: $surface; }
        & #edit-say { height: auto; color: $warning; }
    }
    """

    def __init__(self, title: str, text: str, fault: Callable[[str], str]) -> None:
        super().__init__()
        self._title, self._text, self._fault = title, text, fault
        self._asked = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = safe_line(self._title)
            area = TextField(self._text, id="edit-text", soft_wrap=True, compact=True)
            area.cursor_blink = False
            yield area
            yield Static("", id="edit-say", markup=False)
            yield KeyBar()

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._asked = False
        self._say("")

    def action_keep(self) -> None:
        """Keep the text where it can be used."""
        text = self.query_one(TextArea).text
        fault = self._fault(text)
        if fault:
            self._say(fault)
        else:
            self.dismiss(text)

    def action_leave(self) -> None:
        """Leave the text as it was; a changed one only on the second press."""
        if self.query_one(TextArea).text != self._text and not self._asked:
            self._asked = True
            self._say("The text was changed; Escape again drops that, Ctrl+S keeps it.")
            return
        self.dismiss(None)

    def _say(self, text: str) -> None:
        self.query_one("#edit-say", Static).update(Content(reading_line(text)))
