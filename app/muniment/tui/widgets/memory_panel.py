"""The memory panel: records by scope, live, filtered as you type, with what overrides what."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeGuard

from rich.style import Style
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from muniment.safety.errors import MunimentError
from muniment.safety.visible import reading_line

if TYPE_CHECKING:
    # The screen is painted before anything that reads memory is loaded.
    from muniment.memory.records.listing import Listed, Snapshot
    from muniment.memory.records.scope import Scope
    from muniment.memory.surfaces import Surfaces

    Node = Listed | Scope | None

WINDOW = 500
"""How many records of one scope are in the tree; the filter reaches the others."""
LOOK_SECONDS = 0.8


class RecordTree(Tree["Node"]):
    """A tree whose rows end in a sign where they are cut, and never scroll sideways."""

    DEFAULT_CSS = """
    RecordTree { overflow-x: hidden; }
    """

    def render_label(self, node: TreeNode[Node], base_style: Style, style: Style) -> Text:
        label = super().render_label(node, base_style, style)
        depth = 0
        at = node.parent
        while at is not None:
            depth, at = depth + 1, at.parent
        room = self.scrollable_content_region.width - depth * self.guide_depth
        if room > 0:
            label.truncate(room, overflow="ellipsis")
        return label


class MemoryPanel(Vertical):
    """The records of the session's scope chain."""

    BINDING_GROUP_TITLE = "Memory"
    HELP = "What is remembered here. The deepest copy of an id counts; others are marked."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash", "filter", "Filter", key_display="/", tooltip="Filter as you type", id="memory.filter"
        ),
        Binding("d", "delete", "Delete", tooltip="Delete this copy, after a question", id="memory.delete"),
        Binding("e", "edit", "Edit", tooltip="Edit this copy in $EDITOR", id="memory.edit"),
        Binding("u", "undo", "Undo", tooltip="Take back this session's newest write", id="memory.undo"),
        Binding("y", "copy", "Copy id", tooltip="Copy the id to the clipboard", id="memory.copy"),
        Binding(
            "less_than_sign",
            "resize(-4)",
            "Narrower",
            show=False,
            key_display="<",
            tooltip="Narrower panel",
            id="memory.narrower",
        ),
        Binding(
            "greater_than_sign",
            "resize(4)",
            "Wider",
            show=False,
            key_display=">",
            tooltip="Wider panel",
            id="memory.wider",
        ),
    ]

    @dataclass
    class Opened(Message):
        """A record is to be read."""

        entry: Listed

    @dataclass
    class DeleteAsked(Message):
        """A copy is to be deleted."""

        entry: Listed

    @dataclass
    class EditAsked(Message):
        """A copy is to be edited."""

        entry: Listed

    class UndoAsked(Message):
        """The newest write is to be taken back."""

    @dataclass
    class Resized(Message):
        """The panel is to be wider or narrower by so many cells."""

        cells: int

    @dataclass
    class Troubled(Message):
        """Reading the records failed."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._surfaces: Surfaces | None = None
        self._shown: tuple[Listed, ...] | None = None
        self._snapshot: Snapshot | None = None
        self._trouble = ""
        self.title_text = "Memory"
        """What stands above the tree."""

    def compose(self) -> ComposeResult:
        yield Static("Memory", id="memory-title", markup=False)
        yield Input(placeholder="filter by id, title, tag or category", id="memory-filter", compact=True)
        tree = RecordTree("records", id="memory-tree")
        tree.show_root = False
        tree.guide_depth = 2
        yield tree
        yield Static("", id="memory-empty", markup=False)

    def on_mount(self) -> None:
        self.query_one("#memory-filter").display = False
        self.set_interval(LOOK_SECONDS, self.look)

    @property
    def records_tree(self) -> Tree[Node]:
        return self.query_one("#memory-tree", Tree)

    def attach(self, surfaces: Surfaces) -> None:
        """Show the memory of a session."""
        self._surfaces = surfaces
        self._shown = None
        self.look()

    def look(self) -> None:
        """Look at the disk again, off the event loop."""
        if self._surfaces is not None and self.is_mounted and self.display:
            self._look()

    @work(exclusive=True, group="memory-panel", exit_on_error=False)
    async def _look(self) -> None:
        surfaces = self._surfaces
        if surfaces is None:
            return
        try:
            snapshot = await asyncio.to_thread(surfaces.records.snapshot, all=True)
        except (MunimentError, OSError) as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self.post_message(self.Troubled(str(error)))
            return
        self._trouble = ""
        changed = self._snapshot is None or (
            snapshot.entries != self._snapshot.entries
            or snapshot.chain != self._snapshot.chain
            or snapshot.skipped != self._snapshot.skipped
        )
        self._snapshot = snapshot
        if changed or self._shown is None:
            self._draw()

    def _draw(self) -> None:
        snapshot = self._snapshot
        if snapshot is None:
            return
        words = self.query_one("#memory-filter", Input).value.casefold().split()
        entries = tuple(each for each in snapshot.entries if _matches(each, words))
        self._shown = entries
        tree = self.records_tree
        kept = tree.cursor_node.data if tree.cursor_node is not None else None
        collapsed = {
            str(node.data.directory)
            for node in tree.root.children
            if _is_scope(node.data) and not node.is_expanded
        }
        tree.clear()
        for scope in reversed(snapshot.chain.scopes):
            mine = [each for each in entries if each.meta.scope == scope]
            node = tree.root.add(
                _scope_label(scope, len(mine), deepest=scope is snapshot.chain.deepest_project),
                data=scope,
                expand=str(scope.directory) not in collapsed,
            )
            for each in mine[:WINDOW]:
                node.add_leaf(_label(each), data=each)
            if len(mine) > WINDOW:
                node.add_leaf(Text(f"… {len(mine) - WINDOW} more: press / and type to see them"), data=None)
        if snapshot.skipped:
            node = tree.root.add(Text(f"Skipped files  {len(snapshot.skipped)}"), data=None, expand=False)
            for skipped in snapshot.skipped:
                node.add_leaf(Text(f"{skipped.path.name}: {reading_line(skipped.reason)}"), data=None)
        self._restore_cursor(kept)
        total = len(snapshot.entries)
        title = f"Memory  {total} record{'' if total == 1 else 's'}"
        self.title_text = title if not words else f"{title}, {len(entries)} shown"
        self.query_one("#memory-title", Static).update(self.title_text)
        empty = self.query_one("#memory-empty", Static)
        empty.display = not entries
        empty.update(
            "Nothing matches; Escape clears the filter."
            if words
            else "Nothing is remembered here yet. Ask the model to save a rule, or run: muniment memory store"
        )

    def _restore_cursor(self, kept: Node) -> None:
        tree = self.records_tree
        if not _is_record(kept):
            return
        for group in tree.root.children:
            for leaf in group.children:
                data = leaf.data
                if _is_record(data) and data.meta.path == kept.meta.path:
                    tree.move_cursor(leaf)
                    return

    def _current(self) -> Listed | None:
        node: TreeNode[Node] | None = self.records_tree.cursor_node
        return node.data if node is not None and _is_record(node.data) else None

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[Node]) -> None:
        event.stop()
        if _is_record(event.node.data):
            self.post_message(self.Opened(event.node.data))

    @on(Input.Changed, "#memory-filter")
    def _filtered(self, event: Input.Changed) -> None:
        event.stop()
        self._draw()

    @on(Input.Submitted, "#memory-filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.records_tree.focus()

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#memory-filter", Input)
        box.display = True
        box.focus()

    def clear_filter(self) -> bool:
        """Close the filter; tell whether it was open."""
        box = self.query_one("#memory-filter", Input)
        if not box.display:
            return False
        box.value = ""
        box.display = False
        self.records_tree.focus()
        return True

    def action_delete(self) -> None:
        """Ask to delete the copy under the cursor."""
        if (entry := self._current()) is not None:
            self.post_message(self.DeleteAsked(entry))

    def action_edit(self) -> None:
        """Ask to edit the copy under the cursor."""
        if (entry := self._current()) is not None:
            self.post_message(self.EditAsked(entry))

    def action_undo(self) -> None:
        """Ask to take back the newest write."""
        self.post_message(self.UndoAsked())

    def action_copy(self) -> None:
        """Copy the id under the cursor."""
        if (entry := self._current()) is not None:
            self.app.copy_to_clipboard(entry.meta.id)
            self.app.notify(f"Copied {entry.meta.id}.", markup=False)

    def action_resize(self, cells: int) -> None:
        """Ask for another width."""
        self.post_message(self.Resized(cells))


def _is_record(data: Node) -> TypeGuard[Listed]:
    from muniment.memory.records.listing import Listed

    return isinstance(data, Listed)


def _is_scope(data: Node) -> TypeGuard[Scope]:
    from muniment.memory.records.scope import Scope

    return isinstance(data, Scope)


def _matches(entry: Listed, words: list[str]) -> bool:
    if not words:
        return True
    meta = entry.meta
    text = " ".join((meta.id, meta.title, meta.category, *meta.tags)).casefold()
    return all(word in text for word in words)


def _scope_label(scope: Scope, count: int, *, deepest: bool) -> Text:
    name = "Global" if scope.kind == "global" else "Project" if deepest else "Parent"
    place = "" if scope.kind == "global" else f"  {_short(str(scope.directory.parent))}"
    warning = "  ! others can write here" if scope.warnings else ""
    return Text.assemble((name, "bold"), (reading_line(place), "dim"), f"  {count}", (warning, "bold"))


def _short(path: str, keep: int = 24) -> str:
    return path if len(path) <= keep else f"…{path[-keep:]}"


def _label(entry: Listed) -> Text:
    """Tell a record's standing by shape and word: a tree takes no colours of the theme."""
    meta = entry.meta
    title = f"  {reading_line(meta.title)[:60]}"
    if entry.effective:
        return Text.assemble((f"● {meta.id}", "bold"), title)
    return Text.assemble(f"○ {meta.id}", ("  expired" if entry.expired else "  overridden", "italic"), title)
