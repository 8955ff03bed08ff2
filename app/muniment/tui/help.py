"""The help of a place: its keys, read from the bindings that are in force, and the guide behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from textual.app import App
from textual.screen import Screen

from muniment.tui.keynames import cell, key_name
from muniment.tui.screens.guide import GuideScreen
from muniment.tui.slash import COMMANDS


def keys_here(screen: Screen[Any], app: App[Any]) -> str:
    """Return what this place is and its keys as Markdown: the focus first, then the slash commands."""
    groups: dict[str, dict[str, list[str]]] = {}
    about: list[str] = []
    for node, bindings in screen._modal_binding_chain:
        title = str(getattr(node, "BINDING_GROUP_TITLE", None) or type(node).__name__)
        rows = groups.setdefault("Everywhere" if isinstance(node, App) else title, {})
        if getattr(node, "HELP", None):
            about.append(str(node.HELP))
        for key, binding in bindings:
            if binding.id and binding.description:
                keys = rows.setdefault(binding.tooltip or binding.description, [])
                name = key_name(binding.key_display or key)
                if name not in keys:
                    keys.append(name)
    lines = ["# Keys of this place", "", *(f"{each}\n" for each in dict.fromkeys(about))]
    for title, rows in groups.items():
        if rows:
            lines += [f"## {title}", "", "| keys | what they do |", "|---|---|"]
            lines += [f"| {cell(keys)} | {text} |" for text, keys in rows.items()]
            lines.append("")
    lines += ["## Slash commands, in the composer", "", "| command | what it does |", "|---|---|"]
    lines += [f"| {cell([each.name])} | {each.summary} |" for each in COMMANDS]
    return "\n".join(lines) + "\n"


def guide_screen(
    screen: Screen[Any],
    app: App[Any],
    keymap: Mapping[str, str],
    go: Callable[[str], None],
    topic: str = "",
) -> GuideScreen:
    """Return the guide, opened at a topic, or at the keys of what is on the screen now."""

    def keys() -> str:
        from muniment.settings.keymap import usable
        from muniment.tui.keymap import keys_page

        return keys_page(usable(keymap)[0])

    return GuideScreen(keys_here(screen, app), keys, go, topic)
