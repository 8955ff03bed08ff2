"""A plain question with two answers, of which no is the default."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from muniment.tui.front_door import made_clock
from muniment.tui.looks import Box
from muniment.tui.text import safe
from muniment.tui.widgets.key_bar import KeyBar

ALONE_SECONDS = 0.5
"""So long after a key that means nothing here, more keys are taken for a word meant for elsewhere."""


class Question(Box[bool]):
    """Dismissed with True only when the user moved to yes, or pressed y, and could have seen the question."""

    AUTO_FOCUS: ClassVar[str | None] = "#no"
    BINDING_GROUP_TITLE = "Question"
    HELP = "No is chosen; Tab or an arrow moves to yes."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", tooltip="Yes", id="question.yes"),
        Binding("n,escape", "answer(False)", "No", tooltip="No", id="question.no"),
        Binding(
            "left,right", "app.focus_next", "Move", show=False, tooltip="The other answer", id="question.move"
        ),
    ]
    DEFAULT_CSS = """
    Question {
        & > Vertical { width: 64; border: round $accent; }
        & Horizontal { height: auto; margin: 1 0; align-horizontal: right; }
        & Button { margin-left: 2; }
    }
    """

    def __init__(self, text: str, *, yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._text, self._yes, self._no = text, yes, no
        self._heeds_after: float | None = None
        """An answer must be made after this, on `made_clock`; None while nothing has been drawn."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._text), markup=False)
            with Horizontal():
                yield Button(safe(self._no), id="no", compact=True)
                yield Button(safe(self._yes), id="yes", compact=True)
            yield KeyBar()

    def on_mount(self) -> None:
        self.call_after_refresh(self._seen)

    def _seen(self) -> None:
        self._heeds_after = made_clock()

    def on_key(self, event: events.Key) -> None:
        """Take no key for an answer that was typed before the question was seen, or within a word."""
        if event.key == "escape":
            return
        if self._heeds_after is None or event.time <= self._heeds_after:
            event.stop()
            event.prevent_default()
        elif event.is_printable and event.key not in self.active_bindings:
            self._heeds_after = event.time + ALONE_SECONDS

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
