"""What a keymap may say: ids that there are, keys that there are, and no key for two things in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from muniment.safety.schema import INVALID, Report, Text
from muniment.safety.strict_yaml import KeyPath, Value
from muniment.settings.bindings import AROUND, BINDINGS

KEYS_ABOUT = "keys such as ctrl+f, f7, slash or x, several with commas"
_MODIFIERS = frozenset({"ctrl", "shift", "alt", "meta", "super", "hyper"})
_NAMED = frozenset(
    (
        *("backspace", "delete", "enter", "escape", "insert", "return", "space", "tab"),
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("at", "backslash", "minus", "plus", "slash", "underscore"),
    )
)
_RENAMED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The shape of `tui.keymap`: binding ids to keys."""

    def allowed(self) -> str:
        return "a mapping from binding ids to keys"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if value is None:
            return {}
        if not isinstance(value, dict):
            report.at_value(path, "is not a mapping", allowed=self.allowed())
            return INVALID
        checked = {id_: self._keys(id_, keys, (*path, id_), report) for id_, keys in value.items()}
        return INVALID if any(each is INVALID for each in checked.values()) else checked

    def _keys(self, id_: str, keys: Value, path: KeyPath, report: Report) -> Any:
        if id_ not in BINDINGS:
            about = "a binding id; the page of keys in the guide lists them"
            report.at_key(path, "names no binding", allowed=about, suggestion=nearest_id(id_))
            return INVALID
        text = Text(one_line=True).check(keys, path, report)
        if text is INVALID:
            return INVALID
        for each in split(text):
            if not is_key(each):
                report.at_value(path, f"{_shown(each)} is no key", allowed=KEYS_ABOUT)
                return INVALID
        return text

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": Text(one_line=True).json_schema()}


def split(keys: str) -> list[str]:
    """Return the keys of an entry one by one."""
    return [each.strip() for each in keys.split(",")]


def fault_of(id_: str, keys: str) -> str:
    """Return why these keys cannot be those of this id, whatever else has which; empty where they can."""
    if id_ not in BINDINGS:
        near = nearest_id(id_)
        return f"{_shown(id_)} names no binding{f' (did you mean {near}?)' if near else ''}"
    for each in split(keys):
        if not is_key(each):
            return f"{_shown(id_)} has {_shown(each)}, which is no key"
    return ""


def clash_of(id_: str, keymap: Mapping[str, str]) -> str:
    """Return which other binding of the same place has one of an id's new keys; empty where none has.

    Both count in one place where they belong to it together, or where one belongs to what lies around the
    other. What they share by themselves is meant so.
    """
    mine, by_itself = _names(keymap[id_]), _names(BINDINGS[id_])
    for other in _beside(id_):
        shared = mine & _names(keymap.get(other, BINDINGS[other]))
        if shared - (by_itself & _names(BINDINGS[other])):
            key = min(shared)
            return f"{id_} takes {key}, which {other} has in the same place"
    return ""


def usable(keymap: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the entries of a keymap that can be used, and one sentence about the others, or nothing."""
    if not keymap:
        return {}, ""
    bad = {id_: fault for id_, keys in keymap.items() if (fault := fault_of(id_, keys))}
    good = {id_: ",".join(split(keys)) for id_, keys in keymap.items() if id_ not in bad}
    for id_ in list(good):
        fault = clash_of(id_, good)
        if fault:
            del good[id_]
            bad[id_] = fault
    if not bad:
        return good, ""
    several = len(bad) > 1
    ignored = f"{len(bad)} {'entries are' if several else 'entry is'} ignored in tui.keymap"
    kept, give = ("They keep their", "give each") if several else ("It keeps its", "give it")
    what_to_do = f"{kept} own keys; {give} others under keymap in the settings (/settings)."
    return good, f"{ignored}: {'; '.join(bad.values())}. {what_to_do}"


def nearest_id(id_: str) -> str:
    """Return the id that a misspelt one most likely means, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(id_.lower(), list(BINDINGS), n=1, cutoff=0.6)
    return close[0] if close else ""


def is_key(text: str) -> bool:
    """Tell whether a text names a key as the keymap writes it: `ctrl+f`, `f7`, `slash`, `x`."""
    *modifiers, last = text.split("+") if text != "+" else ["+"]
    if not last or not set(modifiers) <= _MODIFIERS or len(set(modifiers)) != len(modifiers):
        return False
    if len(last) == 1:
        return last.isprintable() and not last.isspace()
    return (
        last in _NAMED
        or last in _character_names()
        or re.fullmatch(r"f(?:[1-9]|1\d|2[0-4])", last) is not None
    )


@cache
def _character_names() -> frozenset[str]:
    """Return the names that keys of single characters have, such as `less_than_sign`."""
    return frozenset(name for code in range(33, 0x180) if (name := _name(chr(code))))


def _name(character: str) -> str:
    import unicodedata

    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


@cache
def _names(keys: str) -> frozenset[str]:
    """Return keys in one spelling: a sign by its name, letters and digits as they are."""
    found = set()
    for each in split(keys):
        *modifiers, last = each.split("+") if each != "+" else ["+"]
        if len(last) == 1 and not last.isalnum():
            last = _name(last) or last
        found.add("+".join([*sorted(modifiers), last]))
    return frozenset(found)


@cache
def _beside(id_: str) -> tuple[str, ...]:
    """Return the other ids whose keys count in a place where this one's do."""
    group = group_of(id_)
    return tuple(
        other
        for other in BINDINGS
        if other != id_
        and (group_of(other) == group or _is_around(other, group) or _is_around(id_, group_of(other)))
    )


def _is_around(id_: str, group: str) -> bool:
    outside = _outside(group)
    return id_ in outside or group_of(id_) in outside


def group_of(id_: str) -> str:
    """Return the group that an id belongs to."""
    return id_.rpartition(".")[0]


@cache
def _outside(group: str) -> frozenset[str]:
    """Return the groups and single ids that lie around a group, near and far."""
    near = AROUND.get(group, ())
    return frozenset(near).union(*(_outside(each) for each in near))


def _shown(text: str) -> str:
    from muniment.safety.visible import exact_line

    return exact_line(text).text
