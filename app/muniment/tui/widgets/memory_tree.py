"""The tree of the memory panel: rows that end in a sign where they are cut, with amounts at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from muniment.tui.widgets.listing import say_enter
from muniment.tui.widgets.type_ahead import TypeAhead

if TYPE_CHECKING:
    from muniment.tui.widgets.memory_panel_rows import Row

_TONES = ("name", "id", "quiet", "state")
_LEAST_LEFT = 8


class MemoryTree(TypeAhead, Tree["Row"]):
    """Draws `Row`s; it never scrolls sideways."""

    BINDING_GROUP_TITLE = "Memory"
    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"memory-tree--{tone}" for tone in _TONES}
    DEFAULT_CSS = """
    MemoryTree {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        &:focus { background-tint: transparent; }
        & .memory-tree--name { color: $primary; }
        & .memory-tree--id { color: $foreground; }
        & .memory-tree--quiet { color: $secondary; }
        & .memory-tree--state { color: $warning; }
        &:ansi {
            & .memory-tree--name, & .memory-tree--id, & .memory-tree--quiet, & .memory-tree--state {
                color: ansi_default;
            }
        }
    }
    """

    def __init__(self, label: Text, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(label, id=id)
        say_enter(self, "select_cursor", "Open", "Read this; a place unfolds and folds", "list.take")

    def render_label(self, node: TreeNode[Row], base_style: Style, style: Style) -> Text:
        row = node.data
        if row is None:
            return Text("")
        here = node is self.cursor_node
        plain = style if here else base_style + Style(bgcolor=style.bgcolor)
        room = self.scrollable_content_region.width - self._depth(node) * self.guide_depth
        if row.kind == "group":
            icon = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
            head = "  " if not node.allow_expand else icon
            left = Text.assemble((head, plain), (row.left, self._tone("name", plain, bold=True)))
        elif row.kind == "item":
            mark = "● " if row.counts else "○ "
            left = Text.assemble((mark + row.left, self._tone("id", plain, bold=row.counts)))
        else:
            left = Text(row.left, self._tone("quiet" if row.kind == "hint" else "id", plain))
        right = Text(row.right, self._tone("quiet" if row.kind == "group" else "state", plain))
        space = max(room - right.cell_len - 1, min(_LEAST_LEFT, room)) if row.right else room
        if row.quiet:
            quiet = row.quiet
            if row.kind == "group":
                from muniment.tui.widgets.memory_panel_rows import short_path

                quiet = short_path(quiet, max(space - left.cell_len - 2, 0))
            left.append(f"  {quiet}", self._tone("quiet", plain))
        if not row.right:
            _cut(left, room)
            left.append(" " * max(room - left.cell_len, 0), plain)
            return left
        _cut(left, space)
        left.append(" " * max(room - left.cell_len - right.cell_len, 1), plain)
        left.append_text(right)
        _cut(left, room)
        return left

    def get_label_width(self, node: TreeNode[Row]) -> int:
        """Every row is as wide as there is room, so that nothing is drawn beyond the edge."""
        return max(self.scrollable_content_region.width - self._depth(node) * self.guide_depth, 1)

    def _depth(self, node: TreeNode[Row]) -> int:
        depth = 0
        at = node.parent
        while at is not None and at is not self.root:
            depth, at = depth + 1, at.parent
        return depth

    def _tone(self, tone: str, under: Style, *, bold: bool = False) -> Style:
        colour = self.get_component_rich_style(f"memory-tree--{tone}", partial=True).color
        return under + Style(color=colour, bold=bold or under.bold)


def _cut(text: Text, room: int) -> None:
    if room > 0:
        text.truncate(room, overflow="ellipsis")
