"""The smallest Textual app with a Static and an Input: what a first paint costs at least."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class Smallest(App[None]):
    """Two widgets."""

    def compose(self) -> ComposeResult:
        yield Static("READY-TO-PAINT")
        yield Input(placeholder="Write a message")


Smallest().run()
