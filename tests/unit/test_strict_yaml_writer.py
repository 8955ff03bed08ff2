"""What is written reads back the same, in our reader and in readers of YAML 1.1 that convert words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.errors import InvalidInput
from muniment.safety.strict_yaml import dump, load
from muniment.safety.yaml_writer import scalar

HAZARDS = [
    "no", "on", "YES", "~", "null", "true", "08063075", "0017", "1e3", "0o17", "1_000", "1.10", "12:30",
    "0x1F", ".inf", "2026-01-05", "2026-10-25T03:07:29Z", "=", "<<", "-", "?", ":", "- a", "? b",
    "a: b", "a:", ":a", "a #b", "#a", "*important* step", "&anchor", "!tag", "@team",
    "`make test` first", "%TAG", "C:\\data\\notes", "{a: b}", "[a]", "'quoted'", '"quoted"', "|", ">",
    "---", "...", "--- a", " leading", "trailing ", "\ttab", "a\tb", "", " ", "\n", "\n\n", "a\n",
    "a\n\n", "\na", "\n\na\n\n", "  a\nb", "\ta\nb", "a\n  b\n c", "a \nb", "a\n \nb", "a\n\n\n",
    "a\r\nb", "a\rb", "a\u0085b", "a\u2028b\nc", "a\u2029b", "\ufeffa", "a\ufeff\nb", "\x1b[31m",
    "a\x00b", "\x7f", "\x9b", "\ufffe", "\U0001f600 whole", "中文", "# a\nb", "- a\n- b", "---\na\n...\n",
    "%YAML\nx", "a\n\t\n", "y", "N", "x" * 2000, "word " * 400, "\u00a0a", "a\u00a0", "\u3000", "a\n  ",
    "  \na", "a\n\u2003", "é\n", "_1", "+1", "-1", "1:2:3",
]  # fmt: skip

keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
texts = st.one_of(
    st.sampled_from(HAZARDS),
    st.text(
        st.one_of(
            st.sampled_from(" \n\t\r:#-?|>&*!%@`'\"{}[],\\ab01\u0085\u2028\ufeff\x1b"),
            st.characters(exclude_categories=["Cs"]),
        ),
        max_size=30,
    ),
)
values = st.recursive(
    st.one_of(texts, st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=10,
)


def as_strings(value: Any) -> Any:
    """The same value as another reader would give it; only a missing value may differ, and not here."""
    if isinstance(value, dict):
        return {key: as_strings(each) for key, each in value.items()}
    return [as_strings(each) for each in value] if isinstance(value, list) else value


@given(st.dictionaries(keys, values, max_size=5))
def test_what_is_written_is_read_back_by_us_and_by_a_converting_reader(fields: dict[str, Any]) -> None:
    data = dump(fields)
    assert load(data) == fields
    assert yaml.safe_load(data) == as_strings(fields)
    assert yaml.load(data, Loader=yaml.CSafeLoader) == as_strings(fields)


@pytest.mark.parametrize("text", HAZARDS, ids=ascii)
def test_each_hazard_survives_as_a_field_as_a_key_and_in_a_list(text: str) -> None:
    fields: dict[str, Any] = {"a": text, "list": [text, [text], {"k": text}], "nested": {"k": text}}
    if text:
        fields[text] = "v"
    data = dump(fields)
    assert load(data) == fields
    assert yaml.safe_load(data) == fields


@given(st.lists(texts, max_size=4))
def test_a_scalar_inside_brackets_is_read_back(items: list[str]) -> None:
    text = f"a: [{', '.join(scalar(each, inside_brackets=True) for each in items)}]"
    assert load(text) == {"a": items}


def test_a_record_looks_as_people_would_write_it() -> None:
    fields = {
        "id": "pilot-review-rule",
        "category": "decision",
        "title": "Pilot comparison review rule",
        "content": "Cite Notes A and B; show both denominators.\n\n  - indented\n",
        "tags": ["pilot", "0017"],
        "source": "agent",
        "created_at": "2026-10-25T03:07:29Z",
    }
    assert dump(fields, plain=("created_at",)).decode() == (
        "id: pilot-review-rule\n"
        "category: decision\n"
        "title: Pilot comparison review rule\n"
        "content: |\n"
        "  Cite Notes A and B; show both denominators.\n"
        "\n"
        "    - indented\n"
        "tags:\n"
        "- pilot\n"
        '- "0017"\n'
        "source: agent\n"
        "created_at: 2026-10-25T03:07:29Z\n"
    )


def test_only_times_stand_without_quotes_by_name() -> None:
    assert dump({"t": "2026-10-25T03:07:29Z"}) == b't: "2026-10-25T03:07:29Z"\n'
    assert dump({"t": "no"}, plain=("t",)) == b't: "no"\n'


def test_control_characters_are_escaped_not_written() -> None:
    data = dump({"c": "a\x1b[31m\u0085\u2028\ufeff"})
    assert data == b'c: "a\\x1b[31m\\x85\\u2028\\ufeff"\n'


def test_half_a_character_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="surrogate"):
        dump({"c": "a\ud83d"})


def test_an_empty_mapping_and_empty_values() -> None:
    assert load(dump({})) == {}
    assert dump({"a": None, "b": [], "c": {}, "d": ""}) == b'a:\nb: []\nc: {}\nd: ""\n'
