"""A reply of the model as Markdown; its links are shown, and opened only after a question."""

from __future__ import annotations

from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream


class Reply(Markdown):
    """Markdown that opens nothing by itself."""

    DEFAULT_CSS = """
    Reply { padding: 0 1 0 3; margin: 0; background: transparent; }
    Reply MarkdownParagraph, Reply MarkdownFence, Reply MarkdownBulletList, Reply MarkdownOrderedList,
    Reply MarkdownBlockQuote, Reply MarkdownTable { margin: 0 0 1 0; }
    Reply > MarkdownBlock:last-child { margin-bottom: 0; }
    Reply MarkdownH1, Reply MarkdownH2, Reply MarkdownH3, Reply MarkdownH4 {
        margin: 0 0 1 0; padding: 0; content-align: left middle; color: $primary; background: transparent;
        text-style: bold;
    }
    Reply MarkdownFence { background: $surface; color: $foreground; }
    Reply MarkdownFence > Label { width: 100%; padding: 0 1; text-wrap: wrap; }
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text, open_links=False)

    def stream(self) -> MarkdownStream:
        """Return a stream that appends to this reply without parsing all of it again."""
        return Markdown.get_stream(self)
