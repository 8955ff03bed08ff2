"""Labels with texts beside them; a text that wraps stays in its own column."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading
from muniment.tui.text import safe_line


class _Row(Horizontal):
    DEFAULT_CSS = """
    _Row { height: auto; }
    _Row .label { width: 13; color: $secondary; }
    _Row .text { width: 1fr; height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Static("", classes="label", markup=False)
        yield Static("", classes="text", markup=False)

    def tell(self, label: str, text: str) -> None:
        self.query_one(".label", Static).update(safe_line(label).truncate(12, ellipsis=True))
        self.query_one(".text", Static).update(Content(reading(text)))


class Facts(Vertical):
    """A heading and rows of label and text; what is told replaces what was there without a flicker."""

    DEFAULT_CSS = """
    Facts { height: auto; }
    Facts > .heading { text-style: bold; color: $primary; height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Static("", classes="heading", markup=False)

    def tell(self, heading: str, rows: Sequence[tuple[str, str]]) -> None:
        """Show these rows; a text may have several lines."""
        title = self.query_one(".heading", Static)
        title.display = bool(heading)
        title.update(safe_line(heading))
        shown = list(self.query(_Row))
        if len(shown) < len(rows):
            fresh = [_Row() for _ in range(len(rows) - len(shown))]
            self.mount_all(fresh)
            shown += fresh
        # Rows that were just mounted have no parts yet.
        self.call_after_refresh(_fill, shown, tuple(rows))


def _fill(shown: list[_Row], rows: tuple[tuple[str, str], ...]) -> None:
    for number, row in enumerate(shown):
        row.display = number < len(rows)
        if row.display and row.children:
            row.tell(*rows[number])
