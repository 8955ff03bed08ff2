"""Markdown as it looks everywhere: headings in the colour of names, close lists, tables without a grid."""

from __future__ import annotations

from textual.widgets import Markdown


class Prose(Markdown):
    """Markdown in our own looks."""

    DEFAULT_CSS = """
    Prose {
        padding: 0; margin: 0; background: transparent;
        & MarkdownHeader {
            width: 1fr; margin: 0 0 1 0; padding: 0; content-align: left middle; color: $primary;
            background: transparent; text-style: bold;
        }
        & > MarkdownBlockQuote, & > MarkdownBlockQuote:light {
            margin: 0 0 1 0; background: transparent; border-left: outer $border-blurred;
        }
        & MarkdownTable, & MarkdownTable:light { margin: 0 0 1 0; background: transparent; }
        & MarkdownTableContent { keyline: none; padding: 0; grid-gutter: 0 2; }
        & MarkdownTableContent > .cell, & MarkdownTableContent > .header { padding: 0; }
        & MarkdownTableContent > .header { text-style: bold; }
        & MarkdownFence, & MarkdownFence:light {
            margin: 0 0 1 0; padding: 0; color: $foreground; background: $panel;
        }
        & MarkdownFence > Label { width: 100%; padding: 0 1; text-wrap: wrap; }
        & MarkdownBlock:dark > .code_inline, & MarkdownBlock:light > .code_inline {
            color: $foreground; background: $panel;
        }
    }
    """
