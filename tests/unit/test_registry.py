"""Arguments as a model sends them: what is accepted, and that everything else is refused in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.tools.base import RESULT_MAX_BYTES, InvalidArguments, cut_text
from muniment.tools.records import TOOLS
from muniment.tools.registry import Registry, parse_arguments

REGISTRY = Registry(TOOLS)


def parse(name: str, raw: str) -> dict[str, Any]:
    tool = REGISTRY.get(name)
    assert tool is not None
    return parse_arguments(tool, raw)


def test_arguments_within_the_schema_are_handed_on_unchanged() -> None:
    raw = '{"title": "é\\ud83d\\ude00", "content": "a\\nb", "tags": ["x", ""], "clear": ["category"]}'
    assert parse("memory_store", raw) == {
        "title": "é😀",
        "content": "a\nb",
        "tags": ["x", ""],
        "clear": ["category"],
    }


@pytest.mark.parametrize("raw", ["", "{}", " {} "])
def test_a_tool_without_required_arguments_takes_none(raw: str) -> None:
    assert parse("memory_stats", raw or "") == {}


@pytest.mark.parametrize(
    ("name", "raw", "word"),
    [
        ("memory_retrieve", '{"id": "a", "id": "b"}', "twice"),
        ("memory_retrieve", '{"id": "a", "path": "b"}', "'path'"),
        ("memory_retrieve", "{}", "id is missing"),
        ("memory_retrieve", "", "id is missing"),
        ("memory_retrieve", '{"id": 1}', "text"),
        ("memory_retrieve", '{"id": null}', "text"),
        ("memory_retrieve", '{"id": "a", "offset": -1}', "at least 0"),
        ("memory_retrieve", '{"id": "a", "offset": true}', "whole number"),
        ("memory_retrieve", '{"id": "a", "offset": 1.0}', "whole number"),
        ("memory_retrieve", '{"id": "a", "offset": NaN}', "NaN"),
        ("memory_retrieve", '{"id": "a", "scope": "team"}', "project, global"),
        ("memory_retrieve", '{"id": "a\\u0000"}', "NUL"),
        ("memory_retrieve", '{"id": "\\ud83d"}', "surrogate"),
        ("memory_retrieve", '["a"]', "one JSON object"),
        ("memory_retrieve", '"a"', "one JSON object"),
        ("memory_retrieve", '{"id": "a"', "JSON object"),
        ("memory_retrieve", '{"id": "a"}{"id": "b"}', "JSON object"),
        ("memory_retrieve", "[" * 100_000, "nested"),
        ("memory_retrieve", '{"id": "a", "offset": ' + "9" * 5000 + "}", "JSON object"),
        ("memory_search", '{"query": "a", "limit": 0}', "from 1 to 50"),
        ("memory_search", '{"query": "a", "limit": 51}', "from 1 to 50"),
        ("memory_search", '{"query": "a", "limit": 1000000000}', "from 1 to 50"),
        ("memory_search", '{"query": "a", "limit": "ten"}', "whole number"),
        ("memory_search", '{"query": "a", "include_overridden": "yes"}', "true or false"),
        ("memory_list", '{"limit": -1}', "at least 1"),
        ("memory_stats", '{"x": 1}', "none"),
        ("memory_store", '{"title": "a", "content": "b", "tags": "c"}', "a list"),
        ("memory_store", '{"title": "a", "content": "b", "tags": ["c", 1]}', "entry 2"),
        ("memory_store", '{"title": "a", "content": "b", "tags": ["\\u0000"]}', "NUL"),
        ("memory_store", '{"title": "a", "content": "b", "clear": ["title"]}', "tags, category, expires_at"),
    ],
)
def test_everything_else_is_refused_in_one_plain_line(name: str, raw: str, word: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        parse(name, raw)
    sentence = str(refused.value)
    assert word in sentence
    assert sentence.startswith(f"{name}: ")
    assert sentence.isascii()
    assert sentence.isprintable()


@pytest.mark.parametrize("limit", [1, 50])
def test_a_search_limit_at_its_border_is_accepted(limit: int) -> None:
    assert parse("memory_search", json.dumps({"query": "a", "limit": limit}))["limit"] == limit


def test_a_recipes_patterns_narrow_what_is_offered() -> None:
    assert [tool.name for tool in REGISTRY.select(["memory_l*", "memory_stats"])] == [
        "memory_list",
        "memory_stats",
    ]
    assert [tool.name for tool in REGISTRY.select()] == [
        "memory_store",
        "memory_retrieve",
        "memory_list",
        "memory_search",
        "memory_delete",
        "memory_stats",
    ]
    assert REGISTRY.get("run_shell") is None


def test_every_schema_is_closed_and_names_each_argument() -> None:
    for tool in REGISTRY.select():
        spec = tool.spec()
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
    store = REGISTRY.get("memory_store")
    assert store is not None
    assert "secrets" in store.description


@given(
    st.text(max_size=300) | st.binary(max_size=100).map(lambda data: data.decode("utf-8", "surrogateescape"))
)
def test_any_text_is_arguments_or_one_refusal(raw: str) -> None:
    try:
        parse("memory_list", raw)
    except InvalidArguments as refused:
        sentence = str(refused)
        assert sentence.isprintable()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), st.integers(60, 200))
def test_a_cut_text_stays_within_its_bound_and_ends_with_the_notice(text: str, bound: int) -> None:
    cut = cut_text(text, "the rest elsewhere", max_bytes=bound)
    assert len(cut.encode()) <= bound
    if cut != text:
        assert cut.endswith("\n[the rest elsewhere]")
        assert text.startswith(cut.removesuffix("\n[the rest elsewhere]"))
    assert RESULT_MAX_BYTES == 65_536
