"""A screen for reading one long text: a record, a recipe, a request, the guide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from muniment.tui.text import safe_line
from muniment.tui.widgets.key_bar import KeyBar


class Reader(ModalScreen[str | None]):
    """Shows sections under headings; dismissed with None, or with the word of a key that was offered."""

    AUTO_FOCUS: ClassVar[str | None] = "#reader-text"
    BINDING_GROUP_TITLE = "Reading"
    HELP = "Arrow keys scroll; Escape goes back."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", tooltip="Back to where you were", id="reader.back"),
    ]
    DEFAULT_CSS = """
    Reader { align: center middle; background: $background 60%; }
    Reader > VerticalScroll {
        width: 100%; max-width: 120; height: 1fr; padding: 0 2; background: $surface;
        border: round $primary; border-title-color: $foreground; border-title-style: bold;
    }
    Reader .heading { color: $primary; text-style: bold; margin-top: 1; }
    Reader .body { height: auto; }
    """

    def __init__(
        self,
        title: str,
        sections: Sequence[tuple[str, Content]],
        *,
        offers: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        super().__init__()
        self._title = title
        self._sections = sections
        for key, word, description in offers:
            # Made as bindings of their own, because the palette and the keymap go by tooltip and id.
            offer = Binding(
                key,
                f"choose('{word}')",
                description,
                tooltip=f"{description}: what is shown here",
                id=f"reader.{word}",
            )
            self._bindings.key_to_bindings.setdefault(key, []).append(offer)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="reader-text") as scroll:
            scroll.border_title = safe_line(self._title)
            for heading, body in self._sections:
                if heading:
                    yield Static(safe_line(heading), markup=False, classes="heading")
                yield Static(body, markup=False, classes="body")
        yield KeyBar()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

    def action_choose(self, word: str) -> None:
        """Go back with what was chosen."""
        self.dismiss(word)
