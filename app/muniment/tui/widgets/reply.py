"""A reply of the model: streamed Markdown whose links are shown and never opened by a click."""

from __future__ import annotations

from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream


class Reply(Markdown):
    """A reply of the model; its links are shown and never opened by a click."""

    DEFAULT_CSS = """
    Reply { padding: 0 1 0 3; margin: 0; background: transparent; }
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text, open_links=False)

    def stream(self) -> MarkdownStream:
        """Return a stream that appends to this reply without parsing all of it again."""
        return Markdown.get_stream(self)
