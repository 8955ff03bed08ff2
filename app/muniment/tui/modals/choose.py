"""Choosing one of a few words, with a look at what each would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static
from textual.widgets.option_list import Option

from muniment.tui.looks import Box
from muniment.tui.text import safe, safe_line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing
from muniment.tui.widgets.options import OptionList


class Choose(Box[str | None]):
    """Dismissed with the word that was taken, with None where the old one stays."""

    AUTO_FOCUS: ClassVar[str | None] = "#choose-words"
    BINDING_GROUP_TITLE = "Choice"
    HELP = "Arrows move, Enter takes one, Escape leaves things as they were."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back without a change", id="choose.back"),
    ]
    DEFAULT_CSS = """
    Choose {
        & > Vertical { width: 56; }
        & OptionList { max-height: 12; margin: 1 0; }
    }
    """

    def __init__(
        self,
        title: str,
        about: str,
        words: Sequence[str],
        now: str,
        preview: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._title, self._about, self._words, self._now = title, about, words, now
        self._preview = preview

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = safe(self._title)
            yield Static(safe(self._about), markup=False)
            yield Listing("Take", id="choose-words")
            yield KeyBar()

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.add_options(
            [Option(safe_line(f"{'● ' if word == self._now else '  '}{word}")) for word in self._words]
        )
        options.highlighted = self._words.index(self._now) if self._now in self._words else 0

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._preview is not None:
            self._preview(self._words[event.option_index])

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._words[event.option_index])

    def action_leave(self) -> None:
        """Leave things as they were."""
        if self._preview is not None:
            self._preview(self._now)
        self.dismiss(None)
