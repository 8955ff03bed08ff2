"""The help of a place: its keys, read from the bindings that are in force, then the guide."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.content import Content
from textual.screen import Screen

from muniment.tui.screens.reader import Reader
from muniment.tui.slash import COMMANDS
from muniment.tui.text import safe
from muniment.tui.views import GUIDE, Sections
from muniment.tui.widgets.key_bar import key_name


def help_reader(screen: Screen[Any], app: App[Any]) -> Reader:
    """Return the help for what is on the screen now."""
    groups: dict[str, list[tuple[str, str]]] = {}
    about: list[str] = []
    for node, bindings in screen._modal_binding_chain:
        title = getattr(node, "BINDING_GROUP_TITLE", None) or type(node).__name__
        if getattr(node, "HELP", None):
            about.append(str(node.HELP))
        for _, binding in bindings:
            if binding.id and binding.description:
                key = key_name(app.get_key_display(binding))
                groups.setdefault(str(title), []).append((key, binding.tooltip or binding.description))
    sections: Sections = [("This place", safe("\n".join(dict.fromkeys(about))))]
    for title, rows in groups.items():
        width = max(len(key) for key, _ in rows) + 2
        lines = [Content.assemble((key.ljust(width), "bold"), text) for key, text in dict(rows).items()]
        sections.append((f"Keys: {title}", Content("\n").join(lines)))
    width = max(len(each.name) for each in COMMANDS) + 2
    lines = [Content.assemble((each.name.ljust(width), "bold"), each.summary) for each in COMMANDS]
    sections.append(("Slash commands", Content("\n").join(lines)))
    sections.append(("How memory works here", safe(GUIDE)))
    return Reader("Help", sections)
