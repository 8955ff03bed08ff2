"""Fields that are only carried along go back as they stood: a number stays a number for every reader."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from muniment.safety.strict_yaml import Value, YamlFault, as_written, dump, load


def again(text: str) -> bytes:
    """Read a mapping and write it as it was."""
    fields = load(text)
    assert isinstance(fields, dict)
    return dump(as_written(fields, text))


@pytest.mark.parametrize(
    "value",
    [
        "5",
        "-5",
        "1.50",
        ".5",
        "-.inf",
        "1e3",
        "0x1F",
        "007",
        "true",
        "No",
        "null",
        "~",
        "2026-01-05",
        "12:30",
    ],
)
def test_what_stood_without_quotes_stands_so_again(value: str) -> None:
    assert again(f"a: {value}\nb: [x, {value}]\nc: {{d: {value}}}\n") == (
        f"a: {value}\nb:\n- x\n- {value}\nc:\n  d: {value}\n".encode()
    )


@pytest.mark.parametrize("value", ['"5"', "'true'", '"~"', "|-\n  5", ">-\n  null"])
def test_what_was_text_stays_text(value: str) -> None:
    read = yaml.safe_load(again(f"a: {value}\n"))
    assert read == yaml.safe_load(f"a: {value}\n")
    assert isinstance(read["a"], str)


_SCALARS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.dates(),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8),
)
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1), inner)
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), _TREES, max_size=4), st.booleans())
def test_whatever_another_program_wrote_reads_the_same_after(tree: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True)
    try:
        load(text)
    except YamlFault:
        assume(False)  # a tag, such as that of a float that is written like text
    assert yaml.safe_load(again(text)) == yaml.safe_load(text)


@given(st.text(alphabet="-+.~?:#&!%@<=ae1 \"',", min_size=1, max_size=6))
@example("-")
@example("? a")
@example("a: b")
def test_odd_plain_text_is_read_back_as_it_was(piece: str) -> None:
    text = f"k: [{piece}]\n"
    try:
        fields: Value = load(text)
    except YamlFault:
        return
    assert load(again(text)) == fields
