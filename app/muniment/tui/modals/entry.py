"""Asking for one line of text, checked while it is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from muniment.tui.looks import Box
from muniment.tui.text import safe
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import AskedLine


class Entry(Box[str | None]):
    """Dismissed with the text once `fault` finds nothing wrong with it, with None where it is left."""

    AUTO_FOCUS: ClassVar[str | None] = "#entry-text"
    BINDING_GROUP_TITLE = "Entry"
    HELP = "Type, then Enter keeps it. What is wrong is said below while you type."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back without a change", id="entry.back"),
    ]
    DEFAULT_CSS = """
    Entry {
        & Input { margin: 1 0; }
        & .fault { min-height: 2; }
        & .fault.-right { color: $success; }
    }
    """

    def __init__(self, title: str, about: str, text: str, fault: Callable[[str], str]) -> None:
        super().__init__()
        self._title, self._about, self._text, self._fault = title, about, text, fault

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = safe(self._title)
            yield Static(safe(self._about), markup=False)
            yield AskedLine("Keep", value=self._text, id="entry-text")
            yield Static("", id="entry-fault", classes="fault", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        self._judge(self._text)

    def _judge(self, text: str) -> str:
        fault = self._fault(text)
        line = self.query_one("#entry-fault", Static)
        line.set_class(not fault, "-right")
        line.update(Content.assemble("✗ ", safe(fault)) if fault else Content("✓ Enter keeps it"))
        return fault

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._judge(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._judge(event.value):
            self.dismiss(event.value)

    def action_leave(self) -> None:
        """Go back without a change."""
        self.dismiss(None)
