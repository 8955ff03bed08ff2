"""Markdown as it looks everywhere: headings in the colour of names, close lists, tables without a grid."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock

from muniment.tui.widgets.drawn import Drawn, without_looks
from muniment.tui.widgets.prose_tokens import LIST, TABLE, parser

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Prose(Markdown):
    """Markdown in our own looks; a table or a list is one widget, however long it is."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"em", "strong", "s", "code_inline", "table_head", "mark"}
    """Looks within a text. They belong here and not to each block, so that they are worked out once."""

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
        & MarkdownFence, & MarkdownFence:light {
            margin: 0 0 1 0; padding: 0; color: $foreground; background: $panel;
        }
        & MarkdownFence > Label { width: 100%; padding: 0 1; text-wrap: wrap; }
        & > .em { text-style: italic; }
        & > .strong { text-style: bold; }
        & > .s { text-style: strike; }
        & > .code_inline { color: $foreground; background: $panel; }
        &:ansi > .code_inline { background: ansi_default; }
        & > .table_head { color: $primary; text-style: bold; }
        & > .mark { color: $text-primary; }
        &:light > .mark { color: $text-secondary; }
    }
    """

    def __init__(
        self,
        text: str = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        open_links: bool = False,
        parser_factory: Callable[[], MarkdownIt] = parser,
    ) -> None:
        super().__init__(text, id=id, open_links=open_links, parser_factory=parser_factory)

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        """Return the class for a block."""
        return _plain(super().get_block_class(block_name))

    def unhandled_token(self, token: Token) -> MarkdownBlock | None:
        """Draw a table or a list in one piece."""
        return Drawn(self, token) if token.type in (TABLE, LIST) else None


@cache
def _plain(block: type[MarkdownBlock]) -> type[MarkdownBlock]:
    """Return the same block without looks of its own."""
    return without_looks(type(block.__name__, (block,), {}))
