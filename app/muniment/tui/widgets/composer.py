"""The composer: many lines, Enter sends, history at its edges, slash commands completed as they are typed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from muniment.tui.slash import Slash, matching
from muniment.tui.veil import Veil
from muniment.tui.widgets.typing_fields import TextField

HISTORY = 400
"""How many messages the arrows reach."""
CLEAR_SECONDS = 2.0
"""So soon the second press has to follow that clears the draft."""


class Composer(TextField):
    """Where a message is written; what was pasted is sent as it was."""

    BINDING_GROUP_TITLE = "Composer"
    HELP = (
        "Enter sends; Alt+Enter or Ctrl+J breaks the line; Up and Down at the edges walk what was said, "
        "Ctrl+R searches it; Ctrl+G opens the draft in your editor. Escape twice clears the whole draft, and "
        "Ctrl+Z brings it back."
    )
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
            "ctrl+r",
            "find_past",
            "Said before",
            show=False,
            tooltip="Search what you said in all sessions, and take it into the composer",
            id="composer.history",
        ),
        Binding(
            "ctrl+g",
            "edit_outside",
            "Your editor",
            show=False,
            tooltip="Go on with the draft in your own editor ($VISUAL or $EDITOR)",
            id="composer.editor",
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

    @dataclass
    class PastAsked(Message):
        """The user wants to search what was said before."""

    @dataclass
    class EditorAsked(Message):
        """The user wants to write the draft in an editor."""

    @dataclass
    class Choosing(Message):
        """Slash commands that the draft could become; `at` is the chosen one, None for none yet."""

        found: list[Slash]
        at: int | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        # A text area takes two function keys for selecting, which mean other things on this screen.
        for key in ("f6", "f7"):
            self._bindings.key_to_bindings.pop(key, None)
        self.veil = Veil()
        self.past: list[str] = []
        self._at: int | None = None
        self._kept = self._came_back = ""
        self._choice: int | None = None
        self._clear_asked = float("-inf")
        self._cleared = False
        self.placeholder = "Write a message; / for commands"

    @property
    def draft(self) -> str:
        """The text as it will be sent."""
        return self.veil.off(self.text)

    @property
    def hidden(self) -> list[str]:
        """The hidden characters of the draft, as escapes."""
        return self.veil.names(self.text)

    # What is drawn

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        drawn = self.veil.drawn(line.plain)
        if drawn != line.plain:
            line.plain = drawn
        return line

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if self._handled(event.key):
            event.prevent_default()
            event.stop()
        else:
            await super()._on_key(event)
            if event.key.startswith("alt+"):
                event.prevent_default()

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Leave chords with Alt to the bindings, although they carry a letter."""
        return not key.startswith("alt+") and super().check_consume_key(key, character)

    def _handled(self, key: str) -> bool:
        """Act on a key that means something else here than in a text area."""
        match self._meaning(key):
            case "send":
                self.action_send()
            case "break_line":
                self.action_break_line()
            case "complete" if matching(self.text):
                self.action_complete()
            case _ if key == "enter":
                # The user gave sending another key; then this one breaks the line.
                self.action_break_line()
            case _:
                return self._moved(key)
        return True

    def _meaning(self, key: str) -> str:
        """Return the action of a key that is bound here, by the keymap in force; empty for others."""
        if len(key) == 1:
            return ""
        active = self.screen.active_bindings.get(key)
        return active.binding.action if active is not None and active.node is self else ""

    def _moved(self, key: str) -> bool:
        found = matching(self.text)
        if key in ("up", "down") and len(found) > 1:
            step = 1 if key == "down" else -1
            start = -1 if key == "down" else 0
            self._choice = ((start if self._choice is None else self._choice) + step) % len(found)
            self.post_message(self.Choosing(found, self._choice))
            return True
        if key == "up" and self.cursor_at_first_line:
            return self._older()
        return key == "down" and self._at is not None and self.cursor_at_last_line and self._newer()

    async def _on_paste(self, event: events.Paste) -> None:
        """Keep a paste as one draft, whatever its size and whatever is in it."""
        event.prevent_default()
        event.stop()
        if result := self._replace_via_keyboard(self.veil.on(event.text), *self.selection):
            self.move_cursor(result.end_location)

    @property
    def selected_text(self) -> str:
        """The selected part of the draft, as it will be sent."""
        return self.veil.off(super().selected_text)

    def action_cut(self) -> None:
        """Cut the selection, or the line where there is none."""
        start, end = self.selection
        cut = self._delete_cursor_line() if start == end else self._delete_via_keyboard(start, end)
        if cut is not None:
            self.app.copy_to_clipboard(self.veil.off(cut.replaced_text))

    def action_paste(self) -> None:
        """Insert what was copied or cut in this app."""
        if result := self._replace_via_keyboard(self.veil.on(self.app.clipboard), *self.selection):
            self.move_cursor(result.end_location)

    def action_send(self) -> None:
        """Send the draft, or run the command that was moved to."""
        found = matching(self.text)
        if self._choice is not None and self._choice < len(found):
            self._hand_over(found[self._choice].name)
        elif self.draft.strip():
            self._hand_over(self.draft)

    def _hand_over(self, text: str) -> None:
        # The draft is emptied here and now: what is typed next begins the next message, however soon.
        self._at = None
        self._kept = self._came_back = ""
        self.put("")
        self._cleared = False
        self.post_message(self.Sent(text))

    def action_break_line(self) -> None:
        """Break the line."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Complete the slash command that the draft begins."""
        found = matching(self.text)
        if found:
            chosen = found[self._choice or 0] if (self._choice or 0) < len(found) else found[0]
            self.put(chosen.name + (" " if chosen.argument else ""))

    def action_find_past(self) -> None:
        """Search what was said before."""
        self.post_message(self.PastAsked())

    def action_edit_outside(self) -> None:
        """Go on with the draft in an editor."""
        self.post_message(self.EditorAsked())

    # The draft

    def remember(self, earlier: Sequence[str]) -> None:
        """Put what was said in earlier sessions, the oldest first, before what was said in this one."""
        self.past[:0] = earlier
        if self._at is not None:
            self._at += len(earlier)

    def accepted(self, text: str) -> None:
        """Remember what was sent."""
        if not self.past or self.past[-1] != text:
            self.past.append(text)
            del self.past[:-HISTORY]

    def returned(self, text: str) -> None:
        """Put back what could not be sent: behind what came back before it, before what was typed since."""
        before = self._came_back if self.draft.startswith(self._came_back) else ""
        since = self.draft.removeprefix(before).removeprefix("\n")
        # Each was meant as a message of its own.
        self._came_back = "\n".join(each for each in (before, text) if each)
        self.put("\n".join(each for each in (self._came_back, since) if each))

    def keep_draft(self) -> None:
        """Remember the draft before another text takes its place."""
        if self.draft.strip():
            self.past.append(self.draft)

    def put(self, text: str) -> None:
        """Replace the draft."""
        self.text = self.veil.on(text)
        self.move_cursor(self.document.end)

    def ask_to_clear(self) -> None:
        """Clear the whole draft on the second press in a row; undo brings it back."""
        if not self.text:
            return
        now = time.monotonic()
        if now - self._clear_asked > CLEAR_SECONDS:
            self._clear_asked = now
            self.border_subtitle = Content("Esc again clears the draft")
            return
        self._at = None
        self._cleared = True
        self.clear()

    def keep_paste(self, text: str) -> None:
        """Add a text to the draft that was pasted while something else was in front."""
        self.insert(self.veil.on(text), self.document.end)

    def on_text_area_changed(self) -> None:
        self._choice = None
        self._clear_asked = float("-inf")
        self._cleared = self._cleared and not self.text
        about = (
            "Esc Esc clears" if "\n" in self.text else "cleared; ^Z brings it back" if self._cleared else ""
        )
        self.border_subtitle = Content(about) if about else None
        self.post_message(self.Edited(self.draft))
        self.post_message(self.Choosing(matching(self.text), None))

    def _older(self) -> bool:
        if not self.past:
            return False
        if self._at is None:
            self._kept, self._at = self.draft, len(self.past)
        if self._at == 0:
            return True
        self._at -= 1
        self.put(self.past[self._at])
        return True

    def _newer(self) -> bool:
        if self._at is None:
            return False
        self._at += 1
        if self._at >= len(self.past):
            self._at = None
            self.put(self._kept)
        else:
            self.put(self.past[self._at])
        return True
