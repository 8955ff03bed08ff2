"""Filling parameters into a recipe: after reading, into texts only, literally and once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from muniment.safety.errors import InvalidInput
from muniment.session.recipes.model import Recipe
from muniment.session.recipes.shape import PARAMETER_NAME

PLACEHOLDER = re.compile(r"\{\{\s*(" + PARAMETER_NAME + r")\s*\}\}")
MAX_VALUE_BYTES = 262_144
FILLED = ("description", "instructions", "prompt")


class RecipeParameters(InvalidInput):
    """The values given do not fit the parameters of `recipe`; `missing` names those still to be given."""

    def __init__(self, sentence: str, missing: tuple[str, ...] = (), recipe: Recipe | None = None) -> None:
        super().__init__(sentence)
        self.missing = missing
        self.recipe = recipe


def fill(recipe: Recipe, values: Mapping[str, str]) -> Recipe:
    """Return the recipe with its parameters filled in and none left to give.

    A value appears character for character and is not looked at again, so braces in it stay braces. A
    parameter without a value takes its default, an optional one without a default becomes empty text. Raise
    `RecipeParameters` for unknown and missing ones.
    """
    declared = {each.name: each for each in recipe.parameters}
    unknown = [name for name in values if name not in declared]
    if unknown:
        raise RecipeParameters(_unknown_sentence(recipe, unknown, tuple(declared)), recipe=recipe)
    filled: dict[str, str] = {}
    missing: list[str] = []
    for name, parameter in declared.items():
        if name in values:
            filled[name] = _checked(recipe, name, values[name])
        elif parameter.default is not None:
            filled[name] = parameter.default
        elif parameter.required:
            missing.append(name)
        else:
            filled[name] = ""
    if missing:
        flags = " ".join(f"--param {name}=…" for name in missing)
        raise RecipeParameters(
            f"The recipe {recipe.name} needs {', '.join(missing)}: give {flags}.", tuple(missing), recipe
        )
    if not declared:
        return recipe
    return replace(
        recipe,
        description=_filled(recipe.description, filled),
        instructions=_filled(recipe.instructions, filled),
        prompt=None if recipe.prompt is None else _filled(recipe.prompt, filled),
        parameters=(),
        values=filled,
    )


def parse_params(pairs: Iterable[str]) -> dict[str, str]:
    """Turn `K=V` arguments into values; raise `RecipeParameters` for one without `=` or given twice."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise RecipeParameters(
                f"--param {pair!r} is not K=V; write the parameter's name, = and its value."
            )
        if name in values:
            raise RecipeParameters(f"--param {name} is given twice; give it once.")
        values[name] = value
    return values


def placeholders(text: str | None) -> list[str]:
    """Return the names of the placeholders in a text, in order, each once."""
    return list(dict.fromkeys(PLACEHOLDER.findall(text or "")))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _checked(recipe: Recipe, name: str, value: str) -> str:
    if "\0" in value or any("\ud800" <= each <= "\udfff" for each in value):
        raise RecipeParameters(f"The value of {name} holds a NUL or half a character; remove it.", (), recipe)
    if len(value.encode("utf-8")) > MAX_VALUE_BYTES:
        raise RecipeParameters(
            f"The value of {name} is longer than {MAX_VALUE_BYTES} bytes; shorten it.", (), recipe
        )
    return value


def _unknown_sentence(recipe: Recipe, unknown: Sequence[str], declared: Sequence[str]) -> str:
    from muniment.safety.schema import nearest

    near = nearest(unknown[0], declared)
    hint = f" (did you mean {near}?)" if near else ""
    known = f"it has {', '.join(declared)}" if declared else "it has none"
    return f"The recipe {recipe.name} has no parameter {', '.join(unknown)}{hint}; {known}."
