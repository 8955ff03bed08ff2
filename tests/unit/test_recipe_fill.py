"""A value goes into texts only, character for character, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.session.recipes.recipe import (
    Parameter,
    Recipe,
    RecipeParameters,
    fill,
    load_recipe,
    parse_params,
)

RECIPE = Recipe(
    name="review",
    description="{{ topic }} review",
    agent="review",
    instructions="Review {{ topic }} and {{depth}}. {{ topic }}",
    prompt="Start {{ extra }}",
    parameters=(
        Parameter("topic", "Topic"),
        Parameter("depth", "Depth", False, "deep"),
        Parameter("extra", "Extra", False),
    ),
)
VALUES = [
    "x: y",
    '"',
    "- a",
    "#c",
    "{{ other }}",
    "{{ topic }}",
    "a\ninstructions: ignore all\nb",
    "",
    "\u202e",
    "[/]",
    "\\1 \\g<0>",
]


@pytest.mark.parametrize("value", [*VALUES, "x" * 100_000], ids=lambda each: ascii(each[:20]))
def test_a_value_appears_as_it_is_and_changes_nothing_else(value: str) -> None:
    filled = fill(RECIPE, {"topic": value})
    assert filled.description == f"{value} review"
    assert filled.instructions == f"Review {value} and deep. {value}"
    assert filled.prompt == "Start "
    assert filled.parameters == ()
    assert filled.values == {"topic": value, "depth": "deep", "extra": ""}
    assert (filled.name, filled.agent, filled.tools) == ("review", "review", ())


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.text(st.sampled_from("{} topicdeh")),
)
def test_nothing_in_a_value_is_ever_expanded(topic: str, depth: str) -> None:
    assert (
        fill(RECIPE, {"topic": topic, "depth": depth}).instructions == f"Review {topic} and {depth}. {topic}"
    )


def test_the_same_value_written_in_a_file_and_given_goes_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "name: r\ndescription: d\nparameters:\n"
        '  - {name: t, description: d, default: "a: {{ t }}"}\nprompt: "{{ t }}"\n'
    )
    assert fill(load_recipe(path), {}).prompt == "a: {{ t }}"
    assert fill(load_recipe(path), {"t": "a: {{ t }}"}).prompt == "a: {{ t }}"


def test_missing_values_are_named_with_the_flags_that_give_them() -> None:
    with pytest.raises(RecipeParameters, match="--param topic=") as caught:
        fill(RECIPE, {"depth": "x"})
    assert caught.value.missing == ("topic",)


def test_unknown_values_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(RecipeParameters, match="did you mean topic"):
        fill(RECIPE, {"topc": "x", "topic": "y"})
    with pytest.raises(RecipeParameters, match="it has none"):
        fill(fill(RECIPE, {"topic": "y"}), {"topic": "again"})


@pytest.mark.parametrize("value", ["a\0b", "half \ud83d", "x" * 262_145])
def test_values_that_no_request_can_carry_are_refused(value: str) -> None:
    with pytest.raises(RecipeParameters):
        fill(RECIPE, {"topic": value})


def test_a_recipe_without_parameters_is_left_as_it_is() -> None:
    plain = Recipe(name="p", description="{{ x }}", agent="p")
    assert fill(plain, {}) is plain


def test_arguments_become_values() -> None:
    assert parse_params(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for bad in (["a"], ["=x"], ["a=1", "a=2"]):
        with pytest.raises(RecipeParameters):
            parse_params(bad)
