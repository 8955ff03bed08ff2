"""The composer: many lines, Enter sends, history at its edges, slash commands completed by Tab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from muniment.tui.slash import matching


class Composer(TextArea):
    """Where a message is written; it keeps what was pasted as it is."""

    BINDING_GROUP_TITLE = "Composer"
    HELP = "Enter sends; Alt+Enter or Ctrl+J breaks the line; Up and Down at the edges walk the history."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", show=False, tooltip="Send the message", id="composer.send"),
        Binding(
            "alt+enter,ctrl+j,shift+enter",
            "break_line",
            "New line",
            show=False,
            tooltip="Break the line",
            id="composer.break",
        ),
        Binding(
            "tab",
            "complete",
            "Complete",
            show=False,
            tooltip="Complete a slash command",
            id="composer.complete",
        ),
        Binding(
            "ctrl+c",
            "app.stop_or_quit",
            "Stop",
            show=False,
            tooltip="Copy a selection, stop a turn, or quit",
            id="composer.stop",
        ),
    ]

    @dataclass
    class Sent(Message):
        """The user sends a text."""

        text: str

    @dataclass
    class Edited(Message):
        """The draft changed."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False, compact=True)
        # A text area takes two function keys for selecting, which mean other things on this screen.
        for key in ("f6", "f7"):
            self._bindings.key_to_bindings.pop(key, None)
        self._history: list[str] = []
        self._at: int | None = None
        self._kept = ""
        self.placeholder = "Write a message; / for commands"

    async def _on_key(self, event: events.Key) -> None:
        if self._handled(event.key):
            event.prevent_default()
            event.stop()
        elif not event.key.startswith("alt+"):
            await super()._on_key(event)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Leave chords with Alt to the bindings, although they carry a letter."""
        return not key.startswith("alt+") and super().check_consume_key(key, character)

    def _handled(self, key: str) -> bool:
        """Act on a key that means something else here than in a text area."""
        match self._meaning(key):
            case "send":
                self.action_send()
                return True
            case "break_line":
                self.action_break_line()
                return True
            case "complete" if matching(self.text):
                self.action_complete()
                return True
        match key:
            case "enter":
                # The user gave sending another key; then this one breaks the line.
                self.action_break_line()
            case "up" if self.cursor_location[0] == 0:
                return self._older()
            case "down" if self._at is not None and self.cursor_at_last_line:
                return self._newer()
            case _:
                return False
        return True

    def _meaning(self, key: str) -> str:
        """Return the action of a key that is bound here, by the keymap in force; empty for others."""
        if len(key) == 1:
            return ""
        active = self.screen.active_bindings.get(key)
        return active.binding.action if active is not None and active.node is self else ""

    def action_send(self) -> None:
        """Send the draft, if there is one."""
        text = self.text
        if text.strip():
            self.post_message(self.Sent(text))

    def action_break_line(self) -> None:
        self.insert("\n")

    def action_complete(self) -> None:
        """Complete the slash command that the draft begins."""
        found = matching(self.text)
        if found:
            self.put(found[0].name + (" " if found[0].argument else ""))

    def accepted(self, text: str) -> None:
        """Empty the draft after it was sent, and remember it."""
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._at = None
        self._kept = ""
        self.put("")

    def put(self, text: str) -> None:
        """Replace the draft."""
        self.text = text
        self.move_cursor(self.document.end)

    def keep_paste(self, text: str) -> None:
        """Add a text to the draft that was pasted while something else was in front."""
        self.insert(text, self.document.end)

    def on_text_area_changed(self) -> None:
        self.post_message(self.Edited(self.text))

    def _older(self) -> bool:
        if not self._history:
            return False
        if self._at is None:
            self._kept, self._at = self.text, len(self._history)
        if self._at == 0:
            return True
        self._at -= 1
        self.put(self._history[self._at])
        return True

    def _newer(self) -> bool:
        if self._at is None:
            return False
        self._at += 1
        if self._at >= len(self._history):
            self._at = None
            self.put(self._kept)
        else:
            self.put(self._history[self._at])
        return True
