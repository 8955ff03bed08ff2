"""Lists of rows to choose from, on a terminal of any size."""

from __future__ import annotations

from typing import Literal

from textual import events
from textual.widgets import OptionList as FrameworkList

from muniment.tui.widgets.type_ahead import TypeAhead


class ClicksThatStand:
    """Mixed into a list: a click is passed over whose row has left the list since it was drawn."""

    async def _on_click(self, event: events.Click) -> None:
        at = event.style.meta.get("option")
        if isinstance(self, FrameworkList) and at is not None and at >= self.option_count:
            event.prevent_default()


class OptionList(ClicksThatStand, TypeAhead, FrameworkList):
    """An option list that a page key leaves where it is while there is no room to draw a row."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        # Where nothing is laid out the framework knows no line for any row.
        if can_page(self):
            super()._move_page(direction)


def can_page(rows: FrameworkList) -> bool:
    """Tell whether a list has been laid out, so that there are pages to turn."""
    return (rows.highlighted or 0) in rows._index_to_line
