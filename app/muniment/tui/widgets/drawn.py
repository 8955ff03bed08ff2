"""A table or a list of Markdown as one widget that draws only the lines that are looked at.

A widget for every cell makes a table of some hundred rows too heavy to lay out while a window is dragged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock

from muniment.tui.widgets.prose_rows import Laid, ListText, Piece, TableText
from muniment.tui.widgets.prose_tokens import TABLE, read_list, read_table

if TYPE_CHECKING:
    from markdown_it.token import Token

_Block = TypeVar("_Block", bound=MarkdownBlock)
_KEPT = 2
"""Widths whose rows are kept: the layout asks for one with and one without a scrollbar."""


def without_looks(block: type[_Block]) -> type[_Block]:
    """Let a block find the looks of its text in the Markdown around it.

    With looks of its own each block counts as five where styles are worked out, for each new size and each
    dialog that closes.
    """
    block._inherit_component_classes = False
    return block


@without_looks
class Drawn(MarkdownBlock):
    """Rows of text; the mouse selects in them, and links in them are links."""

    DEFAULT_CSS = "Drawn { margin: 0 0 1 0; }"

    def __init__(self, markdown: Markdown, token: Token) -> None:
        super().__init__(markdown, token)
        self.text: TableText | ListText = (read_table if token.type == TABLE else read_list)(
            token, self._token_to_content
        )
        self._laid: dict[int, Laid] = {}

    def laid(self, width: int) -> Laid:
        """Return the rows at a width."""
        found = self._laid.get(width)
        if found is None:
            while len(self._laid) >= _KEPT:
                self._laid.pop(next(iter(self._laid)))
            found = self._laid[width] = self.text.lay_out(width)
        return found

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if isinstance(block, Drawn):
            self._copy_context(block)
            self.text = block.text
            self._laid.clear()
            self.clear_cached_dimensions()
            self.refresh(layout=True)
        else:
            await super()._update_from_block(block)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take the width that there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the lines that the rows need."""
        return self.laid(width).height if width else 0

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected: every row on a line of its own, however it is broken on the screen."""
        return selection.extract(self.laid(self.size.width).text), "\n"

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        base = self.visual_style
        number, pieces = self.laid(width).line(y)
        strips: list[Strip] = []
        used = 0
        for piece in pieces:
            if piece.at > used:
                strips.append(Strip.blank(piece.at - used, base.rich_style))
            strip = self._draw(piece, number, base)
            strips.append(strip)
            used = piece.at + strip.cell_length
        return Strip.join(strips).adjust_cell_length(width, base.rich_style)

    def _draw(self, piece: Piece, row: int, base: Style) -> Strip:
        link = self.link_style
        segments: list[Segment] = []
        for text, style in self._marked(piece, row).render(base, "", self._get_style):
            drawn = style.rich_style
            segments.append(Segment(text, drawn + link if "@click" in drawn.meta else drawn))
        return Strip(segments).apply_offsets(piece.offset, row)

    def _marked(self, piece: Piece, row: int) -> Content:
        """Return the text of a piece with what is selected of it."""
        selection = self.text_selection
        span = None if selection is None else selection.get_span(row)
        if span is None:
            return piece.text
        start, end = (each - piece.offset for each in span)
        length = len(piece.text.plain)
        until = length if span[1] == -1 else min(end, length)
        if until <= max(start, 0):
            return piece.text
        shade = Style.from_styles(self.screen.get_component_styles("screen--selection"))
        return piece.text.stylize(shade, max(start, 0), until)
