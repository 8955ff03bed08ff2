"""What the user said before, in all sessions: searched as it is typed, and taken into the composer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.safety.visible import reading_line
from muniment.tui.looks import Box
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import AskedLine
from muniment.tui.widgets.options import OptionList

SHOWN = 200
"""How many hits are listed; a word more finds the rest."""


def hits(said: Sequence[str], words: str) -> list[str]:
    """Return the messages that hold all the words, in any letter case, the newest first."""
    wanted = words.casefold().split()
    return [text for text in reversed(said) if all(word in text.casefold() for word in wanted)]


class PastScreen(Box[str | None]):
    """Dismissed with the message that was taken."""

    AUTO_FOCUS: ClassVar[str | None] = "#past-words"
    BINDING_GROUP_TITLE = "Said before"
    HELP = "Type words that the message held; arrows move, Enter takes it into the composer. Nothing is sent."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the draft as it was", id="past.back"),
        Binding("down,ctrl+n", "step(1)", "Older", show=False, tooltip="The message before", id="past.older"),
        Binding("up,ctrl+p", "step(-1)", "Newer", show=False, tooltip="The message after", id="past.newer"),
        Binding("ctrl+r", "step(1)", "Next", tooltip="The next older message that fits", id="past.next"),
    ]
    DEFAULT_CSS = """
    PastScreen {
        align: center bottom;
        & > Vertical { width: 96%; max-width: 120; height: 70%; max-height: 20; padding: 0 1; }
        & .hint { padding: 0 1; }
        & OptionList { height: 1fr; }
        & OptionList > .option-list--option { padding: 0 1; }
        & OptionList > .option-list--option-highlighted { text-style: bold; }
    }
    """

    def __init__(self, said: Sequence[str]) -> None:
        super().__init__()
        self._said = said
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content("Said before")
            yield AskedLine(
                "Take", placeholder="words of the message", id="past-words", select_on_focus=False
            )
            yield Static("", id="past-say", classes="hint", markup=False)
            yield OptionList(id="past-list", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        self._show("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    def _show(self, words: str) -> None:
        self._found = hits(self._said, words)
        width = max(20, self.size.width - 10)
        listed = self.query_one("#past-list", OptionList)
        listed.clear_options()
        for text in self._found[:SHOWN]:
            listed.add_option(Option(Content(reading_line(text)).truncate(width, ellipsis=True)))
        if self._found:
            listed.highlighted = 0
        self.query_one("#past-say", Static).update(Content(self._sentence()))

    def _sentence(self) -> str:
        count = len(self._found)
        if not self._said:
            return "Nothing was said in any session yet."
        if not count:
            return "No message holds all of these words; fewer of them find more."
        more = f", the newest {SHOWN} listed" if count > SHOWN else ""
        return f"{count} message{'' if count == 1 else 's'}{more}"

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        at = self.query_one("#past-list", OptionList).highlighted
        self.dismiss(self._found[at] if at is not None and at < len(self._found) else None)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._found[event.option_index])

    def action_step(self, by: int) -> None:
        """Move in the list while the words keep the focus."""
        listed = self.query_one("#past-list", OptionList)
        if listed.option_count:
            at = 0 if listed.highlighted is None else listed.highlighted + by
            listed.highlighted = max(0, min(listed.option_count - 1, at))

    def action_leave(self) -> None:
        """Take nothing."""
        self.dismiss(None)
