"""Ways about the memory panel, for tests that press its keys."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets.tree import TreeNode

from muniment.session.holdings.items import Item
from muniment.tui.app import MunimentApp
from muniment.tui.widgets.memory_panel_rows import Row
from support.app import until


def nodes(app: MunimentApp) -> list[TreeNode[Row]]:
    """Return all rows that are drawn, groups first before theirs."""
    groups = app.session_screen.panel.records_tree.root.children
    return [node for group in groups for node in (group, *group.children)]


def items(app: MunimentApp, kind: str = "") -> list[Item]:
    """Return the items that are drawn, of one kind where it is given."""
    found = [node.data.item for node in nodes(app) if node.data is not None and node.data.item is not None]
    return [each for each in found if kind in ("", each.kind)]


def group_row(app: MunimentApp, name: str) -> str:
    """Return what stands in the row of a group: its name and amount."""
    for node in app.session_screen.panel.records_tree.root.children:
        if node.data is not None and node.data.left.startswith(name):
            return f"{node.data.left}  {node.data.right}"
    return ""


async def panel_open(app: MunimentApp, pilot: Pilot[int]) -> None:
    """Open the panel with every group open, and put the focus into its tree."""
    panel = app.session_screen.panel
    if not panel.has_class("-open"):
        await pilot.press("f2")
    tree = panel.records_tree
    await until(pilot, lambda: len(tree.root.children) > 0)
    tree.focus()
    for name in [node.data.group for node in tree.root.children if node.data is not None]:
        panel._opened[name] = True
    panel._draw()
    panel.look()
    await until(pilot, lambda: all(node.children or not _more(node) for node in tree.root.children))
    await pilot.pause()


def _more(node: TreeNode[Row]) -> bool:
    return node.data is not None and node.data.more


async def stand_on(app: MunimentApp, pilot: Pilot[int], kind: str, text: str) -> Item:
    """Put the cursor on the first item of a kind whose id or title holds a text."""
    tree = app.session_screen.panel.records_tree

    def found() -> TreeNode[Row] | None:
        for node in nodes(app):
            item = None if node.data is None else node.data.item
            if item is not None and item.kind == kind and (text in item.id or text in item.title):
                return node
        return None

    await until(pilot, found)
    node = found()
    assert node is not None
    assert node.data is not None
    assert node.data.item is not None
    tree.move_cursor(node)
    tree.focus()
    await pilot.pause()
    return node.data.item


@contextmanager
def an_editor(
    app: MunimentApp, monkeypatch: pytest.MonkeyPatch, directory: Path, *scripts: str
) -> Iterator[None]:
    """Let $EDITOR be a program that runs one Python line after the other, one each time it is called.

    Each line has the file as `path`. The terminal of a test cannot be lent, so lending it does nothing.
    """
    from contextlib import nullcontext

    turn = directory / "turn"
    turn.write_text("0")
    program = directory / "editor.py"
    lines = "\n".join(
        [
            "import sys, pathlib",
            "path = pathlib.Path(sys.argv[1])",
            f"turn = pathlib.Path({str(turn)!r})",
            "at = int(turn.read_text())",
            "turn.write_text(str(at + 1))",
            f"scripts = {list(scripts)!r}",
            "exec(scripts[min(at, len(scripts) - 1)])",
        ]
    )
    program.write_text(lines)
    monkeypatch.setattr(app, "suspend", nullcontext)
    environ = {**app.boot.environ, "EDITOR": f"{sys.executable} {program}"}
    monkeypatch.setattr(
        app,
        "boot",
        type(app.boot)(app.boot.paths, app.boot.cwd, environ, app.boot.settings, app.boot.options),
    )
    yield
