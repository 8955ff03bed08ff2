"""One line where older turns were summarised: it opens the summary and the turns that it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from muniment.tui.parts import Part


class SummaryLine(Static, can_focus=True):
    """Says how many turns a summary covers; Enter or a click opens it."""

    BINDING_GROUP_TITLE = "Summary"
    HELP = "Enter opens the summary as the model receives it, and the turns that it covers."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="Read the summary and what it covers", id="summary.open"),
        Binding("y", "copy", "Copy", tooltip="Copy the summary to the clipboard", id="summary.copy"),
    ]
    DEFAULT_CSS = """
    SummaryLine { height: auto; padding: 0 1 0 0; border-left: blank; color: $secondary; pointer: pointer; }
    SummaryLine:hover { background: $surface; }
    SummaryLine:focus { background: $panel; border-left: outer $primary; text-style: bold; }
    """

    @dataclass
    class Opened(Message):
        """The user wants to read the summary."""

        text: str
        turns: int

    def __init__(self, part: Part) -> None:
        super().__init__(markup=False)
        self.part = part

    def on_mount(self) -> None:
        turns = self.part.turns
        about = f"{turns} earlier turn{' is' if turns == 1 else 's are'}" if turns else "Earlier turns are"
        self.update(Content(f"≡ {about} summarised in what the model receives  ▸ Enter opens"))

    def on_click(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the summary and what it covers."""
        self.post_message(self.Opened(self.part.text, self.part.turns))

    def action_copy(self) -> None:
        """Copy the summary."""
        self.app.copy_to_clipboard(self.part.text)
        self.app.notify("Copied.", markup=False)
