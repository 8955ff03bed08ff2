"""Every binding of every place with its words: for the page of keys, and for the list to change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from textual.binding import Binding
from textual.dom import DOMNode

from muniment.settings.bindings import BINDINGS
from muniment.tui.keynames import cell, key_name

_HEAD = """\
# Keys

Each line gives the keys, what they do and the id. In the settings, `tui.keymap` gives a binding other keys
by its id, several with commas between them:

    tui:
      keymap:
        session.search: ctrl+f

Keys of lists and of the composer count only while the focus is there. `Tab` and `Shift+Tab` move the focus,
`Ctrl+P` finds every command by name.
"""
_OFFERS = {
    "delete": "Delete what is read; a note is archived, an entry unpinned, a row retracted, then purged",
    "edit": "Edit what is read, in your editor",
    "move": "Move the record that is read to another scope",
    "hold": "Hold back what is read, or release it",
    "promote": "Promote the note that is read to knowledge, or pin the row",
    "copy": "Copy the id of what is read",
}


@dataclass(frozen=True, slots=True)
class Known:
    """A binding as it is declared: where, and with which keys."""

    id: str
    keys: str
    word: str
    about: str
    place: str
    """Title of the group that it belongs to."""
    owner: type[DOMNode]


@cache
def known_bindings() -> tuple[Known, ...]:
    """Return every described binding of the screen's own classes, place by place; loads all of them."""
    return tuple(
        Known(
            each.id,
            each.key,
            each.description,
            each.tooltip or each.description,
            _title(owner),
            owner,
        )
        for owner in _owners()
        for each in owner.__dict__["BINDINGS"]
        if isinstance(each, Binding) and each.id
    ) + tuple(_offers())


def _offers() -> Iterator[Known]:
    """Yield what a page that is read offers: it depends on what is read, and is bound when it opens."""
    from muniment.tui.screens.reader import Reader

    for verb, about in _OFFERS.items():
        id_ = f"reader.{verb}"
        yield Known(id_, BINDINGS[id_], verb.capitalize(), about, _title(Reader), Reader)


def _title(owner: type[DOMNode]) -> str:
    from textual.app import App

    if issubclass(owner, App):
        return "Everywhere"
    return str(getattr(owner, "BINDING_GROUP_TITLE", None) or owner.__name__)


def _owners() -> list[type[DOMNode]]:
    import pkgutil
    from importlib import import_module

    import muniment.tui

    found: dict[str, type[DOMNode]] = {}
    for module in pkgutil.walk_packages(muniment.tui.__path__, "muniment.tui."):
        for each in vars(import_module(module.name)).values():
            mine = isinstance(each, type) and issubclass(each, DOMNode) and each.__module__ == module.name
            if mine and each.__dict__.get("BINDINGS"):
                found[f"{each.__module__}.{each.__name__}"] = each
    return list(found.values())


def keys_page(keymap: Mapping[str, str]) -> str:
    """Return the guide's page of keys as Markdown, with the user's own keys where there are some."""
    lines = [_HEAD]
    place = ""
    seen: set[str] = set()
    for each in sorted(known_bindings(), key=lambda one: (one.place != "Everywhere", one.place)):
        if each.id in seen:
            continue
        seen.add(each.id)
        if each.place != place:
            place = each.place
            lines += ["", f"## {place}", "", "| keys | what they do | id |", "|---|---|---|"]
        keys = keymap.get(each.id, each.keys)
        shown = cell([key_name(key.strip()) for key in keys.split(",")])
        lines.append(f"| {shown} | {each.about} | `{each.id}` |")
    return "\n".join(lines) + "\n"
