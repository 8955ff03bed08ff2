"""The field for a reason: its keys write, and none of them ever decides."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from muniment.tui.widgets.typing_fields import LineField

REASON_MAX_CHARACTERS = 1_000


class ReasonField(LineField):
    """One line; Enter moves on to the choices, Escape goes back to them and keeps what was written."""

    BINDING_GROUP_TITLE = "Reason"
    HELP = "Tell the model why you deny. Enter moves on to the choices, Escape goes back."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the choices", id="approval.reason.back"),
        Binding(
            "tab",
            "submit",
            "To the choices",
            show=False,
            tooltip="Go on to the choices",
            id="approval.reason.done",
        ),
    ]

    class Left(Message):
        """The person went back."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(
            id=id, placeholder="why not? (goes to the model)", max_length=REASON_MAX_CHARACTERS, disabled=True
        )

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def _on_paste(self, event: events.Paste) -> None:
        # An input keeps only the first line of a paste; here all of it is kept on one line.
        event.prevent_default()
        event.stop()
        self.insert_text_at_cursor(" ".join(event.text.split()))
