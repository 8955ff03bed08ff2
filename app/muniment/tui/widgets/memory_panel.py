"""The memory panel: every surface that remembers, live, filtered as you type, with what counts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from muniment.safety.errors import MunimentError, sentence_of
from muniment.tui.front_door import KeyKeeper
from muniment.tui.widgets.listing import WordsLine
from muniment.tui.widgets.memory_tree import MemoryTree

if TYPE_CHECKING:
    # The screen is painted before anything that reads memory is loaded.
    from muniment.memory.surfaces import Surfaces
    from muniment.session.holdings.items import Holdings, Item
    from muniment.session.holdings.reading import Holder
    from muniment.tui.widgets.memory_panel_rows import Branch, Row

LOOK_SECONDS = 0.8
VERBS = frozenset({"delete", "edit", "move", "copy", "hold", "promote"})
"""What is done with an item; each has a binding of its name here."""
CLOSES = "Esc or F2 closes"
ABOUT_ROWS = 3
"""Always so many, because a list that grows and shrinks with what is said below loses its cursor."""


PARTS = ("title", "filter", "empty", "tree", "about")


class MemoryPanel(KeyKeeper, Vertical):
    """What is remembered where the session works."""

    BINDING_GROUP_TITLE = "Memory"
    HELP = (
        "What is remembered here, by scope and kind. The deepest copy of a record counts (●); others are "
        "marked (○) with the word why. Enter opens; / filters over everything."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash", "filter", "Filter", key_display="/", tooltip="Filter as you type", id="memory.filter"
        ),
        Binding("e", "want('edit')", "Edit", tooltip="Edit this in $EDITOR", id="memory.edit"),
        Binding("d", "want('delete')", "Delete", tooltip="Delete this, after a question", id="memory.delete"),
        Binding("m", "want('move')", "Move", tooltip="Move this record to another scope", id="memory.move"),
        Binding("h", "want('hold')", "Hold", tooltip="Hold this note back, or let it go", id="memory.hold"),
        Binding(
            "p",
            "want('promote')",
            "Promote",
            tooltip="Make a knowledge entry of this note, or pin this ledger row",
            id="memory.promote",
        ),
        Binding("n", "want('note')", "Note", tooltip="Put a note into the inbox", id="memory.note"),
        Binding(
            "plus",
            "want('create')",
            "New",
            key_display="+",
            tooltip="Write a record or an entry by hand",
            id="memory.create",
        ),
        Binding(
            "u", "want('undo')", "Undo", tooltip="Take back this session's newest write", id="memory.undo"
        ),
        Binding("y", "want('copy')", "Copy id", tooltip="Copy the id to the clipboard", id="memory.copy"),
        Binding("down", "list", "List", show=False, tooltip="From the filter to the list", id="memory.list"),
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
    DEFAULT_CSS = """
    MemoryPanel {
        & #memory-title { text-style: bold; color: $primary; height: 1; }
        & #memory-tree { background: $background; height: 1fr; padding: 0; }
        & #memory-empty { color: $secondary; height: auto; padding: 1 0; display: none; }
        & #memory-filter, & #memory-filter:focus { border: none; background: $panel; height: 1; }
        & #memory-about {
            height: 4; color: $secondary; border-top: solid $border-blurred;
        }
        border-title-color: $primary;
        border-title-style: bold;
        border-subtitle-color: $foreground;
    }
    """

    @dataclass
    class Wanted(Message):
        """Something is to be done, with the item under the cursor where there is one."""

        verb: str
        item: Item | None

    @dataclass
    class Resized(Message):
        """The panel is to be wider or narrower by so many cells."""

        cells: int

    @dataclass
    class Troubled(Message):
        """Reading the memory failed."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._holder: Holder | None = None
        self._surfaces: Surfaces | None = None
        self._holdings: Holdings | None = None
        self._opened: dict[str, bool] = {}
        self._trouble = ""
        self._covering = False
        self._looking = self._look_again = False
        self.title_text = "Memory"
        """What stands above the tree."""

    def compose(self) -> ComposeResult:
        # Nobody sees the parts of a closed panel: they come behind the first frame.
        if self.has_class("-open"):
            yield from self._parts()

    def _parts(self) -> ComposeResult:
        yield Static(self.title_text, id="memory-title", markup=False)
        box = WordsLine("filter over everything", id="memory-filter")
        box.display = False
        yield box
        yield Static("", id="memory-empty", markup=False)
        tree = MemoryTree(Text("memory"), id="memory-tree")
        tree.show_root = False
        tree.guide_depth = 2
        tree.show_guides = False
        yield tree
        yield Static("", id="memory-about", markup=False)

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._look_by_time)
        if not self.children:
            self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        await self.mount_all(self._parts())
        self.over(self._covering)
        self.look()

    @property
    def records_tree(self) -> MemoryTree:
        return self.query_one("#memory-tree", MemoryTree)

    def take_focus(self) -> None:
        """Put the focus on the list, where it is there already."""
        for tree in self.query(MemoryTree):
            tree.focus()

    def attach(self, surfaces: Surfaces) -> None:
        """Show the memory of a session."""
        self._surfaces = surfaces
        self._holder = None
        self._holdings = None
        self.look()

    def over(self, covering: bool) -> None:
        """Say whether the panel lies over the conversation: then it is framed, and says how it closes."""
        self._covering = covering
        self.border_subtitle = Content(CLOSES) if covering else None
        self._entitle(self.title_text)

    def _entitle(self, text: str) -> None:
        self.title_text = text
        for title in self.query("#memory-title").results(Static):
            title.display = not self._covering
            title.update(Content(text))
        self.border_title = Content(f"{text}, over the conversation") if self._covering else None

    def look(self) -> None:
        """Look at the disk again, off the event loop; a look that runs is never cut short by the next."""
        if self._looking:
            self._look_again = True
        elif self._surfaces is not None and self.is_mounted and self.display:
            self._looking = True
            self._look()

    def _look_by_time(self) -> None:
        if not self._looking:
            self.look()

    @work(group="memory-panel", exit_on_error=True)
    async def _look(self) -> None:
        try:
            await self._look_once()
        finally:
            self._looking = False
        if self._look_again:
            self._look_again = False
            self.look()

    @property
    def _whole(self) -> bool:
        """Whether all parts are there; while the app leaves they go one by one, and looks still come back."""
        return self.is_attached and all(self.query(f"#memory-{part}") for part in PARTS)

    async def _look_once(self) -> None:
        surfaces = self._surfaces
        if surfaces is None or not self._whole:
            return
        if self._holder is None:
            from muniment.session.holdings.reading import Holder

            self._holder = Holder(surfaces)
        try:
            deep = self._opened.get("ledger", False) or bool(self.query_one("#memory-filter", Input).value)
            found = await asyncio.to_thread(self._holder.look, ledger=deep)
        except (MunimentError, OSError) as error:
            told = sentence_of(error)
            if told != self._trouble:
                self._trouble = told
                self.post_message(self.Troubled(told))
            return
        self._trouble = ""
        if found is not self._holdings and surfaces is self._surfaces and self._whole:
            self._holdings = found
            self._draw()

    def _draw(self) -> None:
        if self._holdings is None:
            return
        from muniment.tui.widgets.memory_panel_rows import view

        shown = view(self._holdings, self.query_one("#memory-filter", Input).value, self._opened)
        tree = self.records_tree
        cursor = tree.cursor_node
        kept = cursor.data.key if cursor is not None and cursor.data is not None else None
        line = tree.cursor_line
        tree.clear()
        for branch in shown.branches:
            self._grow(tree.root, branch)
        self._restore_cursor(kept, line)
        self._entitle(shown.title)
        empty = self.query_one("#memory-empty", Static)
        empty.display = bool(shown.message)
        empty.update(Content(shown.message))
        self._tell_about()

    def _grow(self, root: TreeNode[Row], branch: Branch) -> None:
        node = root.add(Text(branch.row.left), data=branch.row, expand=branch.open)
        node.allow_expand = bool(branch.rows) or branch.row.more
        for row in branch.rows if branch.open else ():
            node.add_leaf(Text(f"{row.left}  {row.quiet}"), data=row)

    def _restore_cursor(self, kept: tuple[str, ...] | None, line: int) -> None:
        """Stand where the cursor stood: on the same thing, else as far down as before."""
        tree = self.records_tree
        # Asking for the last line lays the new rows out; before that none of them knows its own line.
        last = tree.last_line
        if kept is None:
            tree.cursor_line = 0
            return
        for group in tree.root.children:
            for node in (group, *group.children):
                if node.data is not None and node.data.key == kept:
                    tree.move_cursor(node)
                    return
        tree.cursor_line = min(line, last)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        node = self.records_tree.cursor_node
        return None if node is None else node.data

    @on(Tree.NodeHighlighted)
    def _moved(self, event: Tree.NodeHighlighted[Row]) -> None:
        event.stop()
        self._tell_about()
        self.refresh_bindings()

    def _tell_about(self) -> None:
        row = self.current
        about = self.query_one("#memory-about", Static)
        text = "" if row is None else row.about
        about.display = bool(text)
        about.update(_within(text, about.size.width, ABOUT_ROWS))

    def on_resize(self) -> None:
        if self._whole:
            self._tell_about()

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[Row]) -> None:
        event.stop()
        row = event.node.data
        if row is not None and row.item is not None:
            self.post_message(self.Wanted("open", row.item))
        elif row is not None and row.kind == "hint":
            self.action_filter()

    @on(Tree.NodeExpanded)
    def _expanded(self, event: Tree.NodeExpanded[Row]) -> None:
        event.stop()
        self._remember(event.node, opened=True)

    @on(Tree.NodeCollapsed)
    def _collapsed(self, event: Tree.NodeCollapsed[Row]) -> None:
        event.stop()
        self._remember(event.node, opened=False)

    def _remember(self, node: TreeNode[Row], *, opened: bool) -> None:
        if node.data is not None:
            self._opened[node.data.group] = opened
        if opened and not node.children:
            self._draw()
            self.look()

    @on(Input.Changed, "#memory-filter")
    def _filtered(self, event: Input.Changed) -> None:
        event.stop()
        self._draw()
        self.look()

    @on(Input.Submitted, "#memory-filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_list()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done with the item under the cursor."""
        if action != "want" or not self.is_mounted:
            return True
        verb = str(parameters[0])
        if verb not in VERBS:
            return True
        row = self.current
        if row is None or row.item is None:
            return False
        from muniment.tui.by_hand.door import verbs_of

        return any(verb == each for _, each, _ in verbs_of(row.item))

    def left_over(self, key: str) -> bool:
        """Say of a key that does nothing with what is under the cursor why that is, rather than nothing."""
        verb = self._verb_of(key)
        row = self.current
        if verb is None or not self.records_tree.has_focus:
            return False
        if row is not None and row.item is not None:
            self.post_message(self.Wanted(verb, row.item))
        else:
            from muniment.tui.widgets.memory_panel_rows import why_not

            self.notify(why_not(verb, row), markup=False)
        return True

    def _verb_of(self, key: str) -> str | None:
        """Return what a key does with an item, as the user's keymap has it."""
        bindings = self._bindings.copy()
        bindings.apply_keymap(self.app._keymap)
        ids = ((each.id or "").removeprefix("memory.") for each in bindings.key_to_bindings.get(key, ()))
        return next((verb for verb in ids if verb in VERBS), None)

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#memory-filter", Input)
        box.display = True
        box.focus()

    def action_list(self) -> None:
        """Go from the filter to the list, and onto the first thing found."""
        tree = self.records_tree
        tree.focus()
        first = next(iter(tree.root.children), None)
        if self.query_one("#memory-filter", Input).value and first is not None and first.children:
            tree.move_cursor(first.children[0])

    def clear_filter(self) -> bool:
        """Close the filter; tell whether it was open."""
        box = self.query_one("#memory-filter", Input) if self._whole else None
        if box is None or not box.display:
            return False
        box.value = ""
        box.display = False
        self.records_tree.focus()
        return True

    def action_want(self, verb: str) -> None:
        """Ask for something to be done with what is under the cursor."""
        row = self.current
        self.post_message(self.Wanted(verb, None if row is None else row.item))

    def action_resize(self, cells: int) -> None:
        """Ask for another width."""
        self.post_message(self.Resized(cells))


def _within(text: str, width: int, rows: int) -> Content:
    """Return a text that takes no more rows than there are; a sign says where it was cut."""
    whole = Content(text)
    lines = whole.wrap(width) if width > 0 else []
    if len(lines) <= rows:
        return whole
    last = Content("").join(lines[rows - 1 :]).truncate(width, ellipsis=True)
    return Content("\n").join([*(each.rstrip() for each in lines[: rows - 1]), last])
