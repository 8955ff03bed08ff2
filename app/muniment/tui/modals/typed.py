"""A question that is answered yes only by typing a whole word out, so that no habit of hands answers it."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from muniment.tui.looks import Box
from muniment.tui.text import safe
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import AskedLine


class TypedQuestion(Box[bool]):
    """Dismissed with True only for exactly the expected text, letter case included."""

    AUTO_FOCUS: ClassVar[str | None] = "#typed"
    BINDING_GROUP_TITLE = "Question"
    HELP = "Only the whole text, typed as it stands, says yes; anything else and Escape say no."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "No", tooltip="Leave everything as it is", id="typed.no"),
    ]
    DEFAULT_CSS = """
    TypedQuestion {
        & > Vertical { width: 64; border: round $warning; }
        & Input { margin: 1 0; }
    }
    """

    def __init__(self, text: str, expected: str) -> None:
        super().__init__()
        self._text, self._expected = text, expected

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._text), markup=False)
            yield AskedLine("Confirm", id="typed")
            yield KeyBar()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value == self._expected)

    def action_leave(self) -> None:
        """Say no."""
        self.dismiss(False)
