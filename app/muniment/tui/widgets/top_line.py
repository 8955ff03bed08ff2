"""The top line: what is open on the left, where on the right, both shortened before they collide."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading_line


class TopLine(Static):
    """A title and a place."""

    DEFAULT_CSS = """
    TopLine { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, name: str = "Muniment", *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(markup=False, id=id)
        self._product = name
        self._title = ""
        self._place = ""

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def say(self, title: str, place: str = "") -> None:
        """Say what is open and where."""
        self._title, self._place = reading_line(title), reading_line(place)
        if self.is_attached:
            self._draw()

    def _draw(self) -> None:
        width = self.size.width
        left = Content.assemble((self._product, "bold $primary"), f"  {self._title}" if self._title else "")
        if width <= 0:
            return
        left = left.truncate(width, ellipsis=True)
        room = width - left.cell_length - 2
        # The end of a path tells more than its beginning.
        place = Content(self._place)
        if place.cell_length > room:
            place = Content("…" + tail(self._place, room - 1)) if room > 8 else Content("")
        gap = width - left.cell_length - place.cell_length
        self.update(Content.assemble(left, " " * max(0, gap), place.stylize("$secondary")))


def tail(text: str, cells: int) -> str:
    """Return the longest end of a text that fits into so many cells."""
    from rich.cells import cell_len

    start = max(0, len(text) - cells)
    while start < len(text) and cell_len(text[start:]) > cells:
        start += 1
    return text[start:]
