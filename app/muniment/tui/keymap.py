"""Every binding of every place, by its id: for the page of keys, and for checking a keymap."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from textual.binding import Binding
from textual.dom import DOMNode

from muniment.safety.visible import exact_line
from muniment.tui.keynames import cell, key_name

_MODIFIERS = frozenset({"ctrl", "shift", "alt", "meta", "super", "hyper"})
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
    )


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


def usable(keymap: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the entries of a keymap that can be used, and one sentence about the others, or nothing."""
    if not keymap:
        return {}, ""
    bad = {id_: fault for id_, keys in keymap.items() if (fault := fault_of(id_, keys))}
    good = {
        id_: ",".join(each.strip() for each in keys.split(","))
        for id_, keys in keymap.items()
        if id_ not in bad
    }
    for id_ in list(good):
        fault = clash_of(id_, good)
        if fault:
            del good[id_]
            bad[id_] = fault
    if not bad:
        return good, ""
    plural = "entries are" if len(bad) > 1 else "entry is"
    return good, f"{len(bad)} {plural} ignored in tui.keymap: {'; '.join(bad.values())}."


def fault_of(id_: str, keys: str) -> str:
    """Return why these keys cannot be those of this id, whatever else has which; empty where they can."""
    known = _by_id()
    if id_ not in known:
        return f"{exact_line(id_).text} names no binding{_near(id_, known)}"
    for each in keys.split(","):
        if not is_key(each.strip()):
            return f"{exact_line(id_).text} has {exact_line(each.strip()).text}, which is no key"
    return ""


def clash_of(id_: str, keymap: Mapping[str, str]) -> str:
    """Return which other binding of the same place has one of an id's keys; empty where none has."""
    known = _by_id()
    wanted = set(keymap[id_].split(","))
    for other in known.values():
        if other.owner is known[id_].owner and other.id != id_:
            theirs = keymap.get(other.id, other.keys)
            if wanted & {each.strip() for each in theirs.split(",")}:
                return f"{exact_line(id_).text} takes a key that {other.id} has in the same place"
    return ""


def _by_id() -> dict[str, Known]:
    return {each.id: each for each in known_bindings()}


def _near(id_: str, known: Mapping[str, Known]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(id_, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""


def is_key(text: str) -> bool:
    """Tell whether a text names a key as the keymap writes it: `ctrl+f`, `f7`, `slash`, `x`."""
    from textual.keys import KEY_NAME_REPLACEMENTS, Keys

    *modifiers, last = text.split("+") if text != "+" else ["+"]
    if not last or not set(modifiers) <= _MODIFIERS or len(set(modifiers)) != len(modifiers):
        return False
    if len(last) == 1:
        return last.isprintable() and not last.isspace()
    return (
        last in {each.value for each in Keys}
        or last in KEY_NAME_REPLACEMENTS.values()
        or last in _character_names()
        or re.fullmatch(r"f(?:[1-9]|1\d|2[0-4])", last) is not None
    )


@cache
def _character_names() -> frozenset[str]:
    """Return the names that keys of single characters have, such as `less_than_sign`."""
    names = (unicodedata.name(chr(code), "") for code in range(33, 0x180))
    return frozenset(name.lower().replace("-", "_").replace(" ", "_") for name in names if name)


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
