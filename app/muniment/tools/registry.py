"""Which tools there are, and how the text a model sends becomes arguments that obey a tool's schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from muniment.approval.policy import matches
from muniment.memory.records.planning import has_lone_surrogate
from muniment.tools.base import InvalidArguments, Tool

FAMILIES = ("records", "user_memory", "team", "files", "skills")
"""Modules of this package with a `TOOLS` tuple, in the order in which a model sees them."""

_MAX_DEPTH = 16
_TYPE_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


class Registry:
    """A fixed set of tools by name."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def get(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def select(self, patterns: Sequence[str] = ()) -> tuple[Tool[Any], ...]:
        """Return the tools that a recipe's patterns name; all where there are no patterns."""
        return tuple(tool for name, tool in self._tools.items() if not patterns or matches(name, patterns))


def default_registry() -> Registry:
    """Return all tools of the product."""
    tools: list[Tool[Any]] = []
    for family in FAMILIES:
        tools.extend(import_module(f"muniment.tools.{family}").TOOLS)
    return Registry(tools)


def parse_arguments(tool: Tool[Any], raw: str) -> dict[str, Any]:
    """Turn the JSON text of a call into checked arguments; raise `InvalidArguments` with one clear sentence.

    Empty text counts as no arguments. Duplicate and unknown keys, wrong types, values out of range, NUL
    characters and lone surrogates are refused, at any depth.
    """
    name = tool.name
    try:
        value = json.loads(raw or "{}", object_pairs_hook=_object, parse_constant=_constant)
    except InvalidArguments as error:
        raise InvalidArguments(f"{name}: {error}") from error
    except RecursionError as error:
        raise InvalidArguments(f"{name}: the arguments are nested too deeply.") from error
    except ValueError as error:
        place = f" (character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidArguments(f"{name}: the arguments are not one JSON object{place}.") from error
    if not isinstance(value, dict):
        raise InvalidArguments(f"{name}: the arguments must be one JSON object.")
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    for key in value:
        if key not in properties:
            allowed = ", ".join(properties) or "none"
            raise InvalidArguments(f"{name}: there is no argument {_show(key)}; allowed: {allowed}.")
    for key in tool.parameters.get("required", ()):
        if key not in value:
            raise InvalidArguments(f"{name}: the argument {key} is missing.")
    for key, item in value.items():
        _check(name, key, item, properties[key])
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise InvalidArguments(f"the argument {_show(key)} is given twice.")
        result[key] = value
    return result


def _constant(word: str) -> Any:
    raise InvalidArguments(f"{word} is no JSON value.")


def _check(tool: str, key: str, value: Any, schema: dict[str, Any], depth: int = 0) -> None:
    kind = schema.get("type")
    if depth > _MAX_DEPTH:
        raise InvalidArguments(f"{tool}: {key} is nested too deeply.")
    if isinstance(kind, str) and not _is_a(kind, value):
        raise InvalidArguments(f"{tool}: {key} must be {_TYPE_WORDS.get(kind, kind)}.")
    if isinstance(value, str):
        _check_text(tool, key, value)
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(str(word) for word in schema["enum"])
        raise InvalidArguments(f"{tool}: {key} is {_show(value)}, which is not one of: {allowed}.")
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            span = f"from {low} to {high}" if low is not None and high is not None else f"at least {low}"
            raise InvalidArguments(f"{tool}: {key} must be {span}.")
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            raise InvalidArguments(f"{tool}: {key} has at most {schema['maxItems']} entries.")
        for number, item in enumerate(value, 1):
            _check(tool, f"{key}, entry {number},", item, schema.get("items", {}), depth + 1)
    if isinstance(value, dict):
        for inner, item in value.items():
            _check_text(tool, f"a key in {key}", inner)
            _check(tool, f"{key}.{inner}", item, schema.get("properties", {}).get(inner, {}), depth + 1)


def _check_text(tool: str, key: str, text: str) -> None:
    if "\x00" in text:
        raise InvalidArguments(f"{tool}: {key} holds a NUL character, which is not allowed.")
    if has_lone_surrogate(text):
        raise InvalidArguments(f"{tool}: {key} holds half of a character (a lone surrogate).")


def _is_a(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _show(value: Any) -> str:
    """Show a value from outside in a sentence: short, on one line, with escapes for all that is not plain."""
    text = ascii(str(value)[:60])
    return text + ("…" if len(str(value)) > 60 else "")
