"""Fields that obey their keys in the order in which these were pressed, however fast they come.

Textual lets a field write letters at once, while keys that are bound to an action first travel up to the app,
behind everything that waits there. Where many keys come in one piece (a slow line, a key held down), letters
and Enter would overtake Backspace and the arrows: another text would be sent than the one that was typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.widgets import Input, TextArea

from muniment.tui.veil import pictured

if TYPE_CHECKING:
    from textual.widget import Widget as _Widget
else:
    # Textual takes the styles of a widget from its first base that is one, which must be the field.
    _Widget = object


class KeysInOrder(_Widget):
    """Mixed into a field: what a key does to this field is done before the next key is looked at."""

    async def _on_key(self, event: events.Key) -> None:
        if self.check_consume_key(event.key, event.character):
            return
        active = self.screen.active_bindings.get(event.key)
        # An action with a dot belongs to the screen or the app, which have an order of their own.
        if active is None or active.node is not self or "." in active.binding.action or not active.enabled:
            return
        # What the field has no use for, such as scrolling where there is nothing to scroll, is for others.
        if await self.app.run_action(active.binding.action, self):
            event.stop()
            event.prevent_default()


class LineField(KeysInOrder, Input):
    """A field of one line; what is hidden in it is drawn as a sign and kept as it is."""

    @property
    def _value(self) -> Text:
        value = super()._value
        value.plain = pictured(value.plain)
        return value


class TextField(KeysInOrder, TextArea):
    """A field of many lines; what is hidden in it is drawn as a sign and kept as it is."""

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        line.plain = pictured(line.plain)
        return line
