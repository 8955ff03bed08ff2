"""Changing one setting in the file by hand's standards: comments, order and everything else stay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from muniment.paths import Paths
from muniment.safety.errors import InvalidInput
from muniment.safety.files import ensure_private_dir, locked, write_atomic
from muniment.safety.strict_yaml import Marks, Span, Value, load_marked
from muniment.settings.load import parse, read_file
from muniment.settings.template import written
from muniment.settings.values import Settings

SECTION_DEPTH = 2
"""How many parts the path of a key right in a section has."""


def change(paths: Paths, key: str | Sequence[str], value: Any) -> Settings:
    """Set one key in the settings file, or take it out with None, and return what the file then says.

    `key` is dotted (`retrieval.top_k`) or a sequence where a part holds dots (`("tui", "keymap",
    "app.quit")`). The new text is checked before it replaces the old one whole. Raise `SettingsFault` where
    the value is not allowed or the file has faults already, `InvalidInput` where the file cannot be edited
    by a program.
    """
    path = tuple(key.split(".")) if isinstance(key, str) else tuple(key)
    ensure_private_dir(paths.state)
    with locked(paths.state / "config.lock"):
        data = read_file(paths.config_file) or b""
        parse(data, paths.config_file)
        text = data.decode("utf-8").removeprefix("\ufeff")
        new = edited(text, path, value)
        settings = parse(new.encode("utf-8"), paths.config_file)
        if _at(load_marked(new)[0], path) is None and value is not None:
            raise InvalidInput(f"{paths.config_file} is written in a way that only you can edit.")
        ensure_private_dir(paths.config)
        # A link to a file kept elsewhere stays a link.
        write_atomic(Path(os.path.realpath(paths.config_file)), new.encode("utf-8"))
    return settings


def edited(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return a settings text with one value set, or taken out with None."""
    root, marks = load_marked(text)
    if value is None:
        return _without(text, path, root, marks) if path in marks.keys else text
    span = marks.values.get(path)
    if span is not None:
        return _replaced(text, marks.keys[path], span, written(value))
    depth = len(path) - 1
    while depth and not isinstance(_at(root, path[:depth]), dict) and path[:depth] not in marks.keys:
        depth -= 1
    return _inserted(text, path[:depth], path[depth:], written(value), root, marks)


def _replaced(text: str, key: tuple[int, int], span: Span, new: str) -> str:
    """Put `new` where the old value stands; a value on lines of its own moves up behind its key."""
    start, end = span.start_index, span.end_index
    if span.style in ("plain", "quoted", "flow"):
        gap = " " if start == end and text[start - 1 : start] == ":" else ""
        return text[:start] + gap + new + text[end:]
    lines = text.split("\n")
    line, column = key
    head = lines[line - 1]
    colon = head.index(":", column - 1)
    last = _last_line(lines, span)
    return "\n".join([*lines[: line - 1], f"{head[: colon + 1]} {new}", *lines[last:]])


def _last_line(lines: list[str], span: Span) -> int:
    """Return how many lines there are up to the end of a value; its mark may stand before the next key."""
    last = min(span.end_line, len(lines))
    if last == span.end_line and not lines[last - 1][: span.end_column - 1].strip():
        last -= 1
    if span.style == "indented":
        while last > span.line and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
            last -= 1
    return last


def _inserted(
    text: str, parent: tuple[str, ...], rest: tuple[str, ...], new: str, root: Value, marks: Marks
) -> str:
    span = marks.values.get(parent)
    if span is not None and span.style == "flow":
        entry = "{".join(f"{written(each)}: " for each in rest) + new + "}" * (len(rest) - 1)
        end = span.end_index - 1
        filled = bool(_at(root, parent))
        return text[:end].rstrip() + (", " if filled else "") + entry + text[end:]
    lines = text.split("\n")
    if not parent:
        if not lines[-1].strip():
            lines.pop()
        return "\n".join([*lines, *_nested("", rest, new), ""])
    depth = len(parent) + 1
    children = [place for path, place in marks.keys.items() if len(path) == depth and path[:-1] == parent]
    if children:
        line, column = min(children)
        return "\n".join([*lines[: line - 1], *_nested(" " * (column - 1), rest, new), *lines[line - 1 :]])
    line, column = marks.keys[parent]
    return "\n".join([*lines[:line], *_nested(" " * (column + 1), rest, new), *lines[line:]])


def _nested(indent: str, rest: tuple[str, ...], new: str) -> list[str]:
    lines = [f"{indent}{'  ' * at}{written(each)}:" for at, each in enumerate(rest)]
    lines[-1] += f" {new}"
    return lines


def _without(text: str, path: tuple[str, ...], root: Value, marks: Marks) -> str:
    span = marks.values[path]
    line, column = marks.keys[path]
    around = marks.values[path[:-1]]
    lines = text.split("\n")
    if around.style != "flow":
        last = line if span.end_line == line else _last_line(lines, span)
        kept, held = lines[: line - 1], _at(root, path[:-1])
        if len(path) > SECTION_DEPTH and isinstance(held, dict) and len(held) == 1:
            # A section may stand there empty, a mapping inside of one may not: its key goes as well.
            del kept[marks.keys[path[:-1]][0] - 1]
        return "\n".join([*kept, *lines[last:]])
    start = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
    before, after = text[:start].rstrip(), text[span.end_index :].lstrip()
    if after.startswith(","):
        return before + ("" if before.endswith("{") else " ") + after[1:].lstrip()
    return before.removesuffix(",") + after


def _at(value: Value, path: tuple[str, ...]) -> Value:
    for each in path:
        if not isinstance(value, dict):
            return None
        value = value.get(each)
    return value
