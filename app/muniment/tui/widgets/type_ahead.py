"""Lists whose filter takes every letter that was typed behind its key, however fast that was.

Keys wait in the queue of the widget that had the focus when they came. Without this, letters typed right
behind the key of the filter would reach the list, and be lost or taken for orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.widget import Widget as _Widget
else:
    # Textual takes the styles of a widget from its first base that is one, which must be the list.
    _Widget = object


class TypeAhead(_Widget):
    """Mixed into a list that stands beside a filter, whose binding has the action `filter`."""

    def on_key(self, event: events.Key) -> None:
        if not event.is_printable or event.character is None:
            return
        focused = self.screen.focused
        if isinstance(focused, Input):
            focused.insert_text_at_cursor(event.character)
        elif not self._opens_filter(event.key):
            return
        event.stop()
        event.prevent_default()

    def _opens_filter(self, key: str) -> bool:
        """Give the focus to the filter at once where the key is that of its binding."""
        active = self.screen.active_bindings.get(key)
        if active is None or active.binding.action != "filter" or not active.enabled:
            return False
        opens = getattr(active.node, "action_filter", None)
        box = next(iter(active.node.query(Input)), None)
        if opens is None or box is None:
            return False
        opens()
        self.screen.set_focus(box)
        return True
