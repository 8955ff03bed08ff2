"""Every fault of a file is told at once, with its place, its key, what is allowed and the nearest key."""

from __future__ import annotations

import pytest

from muniment.safety.schema import (
    AnyKeys,
    Choice,
    Fault,
    Fields,
    FileFaults,
    Flag,
    Items,
    Key,
    Number,
    Text,
    check_text,
    nearest,
)

SHAPE = Fields(
    {
        "name": Key(Text(r"[a-z]+", "lower-case letters"), "its name", required=True),
        "note": Key(Text(one_line=True, max_bytes=10)),
        "count": Key(Number(1, 5)),
        "ratio": Key(Number(0.5, 5, decimal=True)),
        "on": Key(Flag()),
        "colour": Key(Choice(("red", "green"))),
        "tags": Key(Items(Text(), most=3, unique=True)),
        "inner": Key(Fields({"deep": Key(Number(0, 9)), "must": Key(Flag(), required=True)})),
        "free": Key(AnyKeys(Text())),
    },
    instead={"mode": "cannot be set here"},
)


def faults(text: str) -> list[Fault]:
    return check_text(text, SHAPE, file="f.yaml")[2].faults


def checked(text: str) -> dict[str, object]:
    result, _, report = check_text(text, SHAPE)
    assert report.faults == []
    return result


def test_a_right_file_gives_typed_values() -> None:
    assert checked(
        "name: abc\ncount: 5\nratio: 0.5\non: yes\ncolour: red\ntags: [a, '1']\n"
        "inner: {deep: 0, must: off}\nfree: {a.b: x}\n"
    ) == {
        "name": "abc",
        "count": 5,
        "ratio": 0.5,
        "on": True,
        "colour": "red",
        "tags": ("a", "1"),
        "inner": {"deep": 0, "must": False},
        "free": {"a.b": "x"},
    }


def test_all_faults_are_told_in_the_order_of_the_file() -> None:
    found = faults("nmae: x\ncount: 6\ncolour: gren\ninner:\n  dep: 1\nmode: x\n")
    assert [(each.line, each.column, each.key) for each in found] == [
        (1, 1, "name"),
        (1, 1, "nmae"),
        (2, 8, "count"),
        (3, 9, "colour"),
        (5, 3, "inner.dep"),
        (5, 3, "inner.must"),
        (6, 1, "mode"),
    ]
    by_key = {each.key: each for each in found}
    assert by_key["nmae"].suggestion == "name"
    assert by_key["colour"].suggestion == "green"
    assert by_key["inner.dep"].suggestion == "deep"
    assert by_key["count"].allowed == "a whole number from 1 to 5"
    assert by_key["mode"].problem == "cannot be set here"
    assert by_key["name"].problem == "is required and missing"


@pytest.mark.parametrize(
    "line",
    [
        "count: 0",
        "count: 6",
        "count: '3'",
        "count: 1.5",
        "count: three",
        "count: [1]",
        "count: ١",
        "count: 99999999999999999999",
        "ratio: 0.49",
        "ratio: 5.01",
        "ratio: nan",
        "ratio: 1e0",
        'on: "true"',
        "on: maybe",
        "on:",
        "colour: Red",
        "colour: ''",
        "tags: a",
        "tags: [a, [b]]",
        "tags: [a, a]",
        "tags: [a, b, c, d]",
        "tags: ['']",
        "note: ''",
        "note: ' '",
        "note: {a: b}",
        'note: "a\\nb"',
        'note: "a\\0"',
        "note: eleven-char",
        "inner: 3",
        "free: x",
        "free: {a: [b]}",
    ],
)
def test_each_wrong_value_is_one_fault_at_its_own_line(line: str) -> None:
    found = faults(f"name: abc\n{line}\n")
    assert len(found) == 1
    assert found[0].line == 2
    assert found[0].key.split("[")[0].split(".")[0] == line.split(":")[0]


def test_limits_hold_at_the_limit_and_one_past_it() -> None:
    assert checked("name: a\nnote: ten-chars-\ncount: 1\nratio: 5\n")
    assert checked("name: a\ntags: [a, b, c]\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "empty"), ("- a", "not a mapping"), ("x", "not a mapping"), ("a: [", "cannot be read")],
)
def test_a_file_of_another_kind_is_one_fault(text: str, says: str) -> None:
    (found,) = faults(text)
    assert says in found.problem
    assert found.sentence.startswith("f.yaml:")


def test_the_sentence_names_file_place_key_problem_hint_and_what_is_allowed() -> None:
    fault = Fault(3, 5, "memory.top_k", '"21" does not fit', "a whole number from 1 to 20", file="r.yaml")
    assert (
        fault.sentence == 'r.yaml:3:5: memory.top_k: "21" does not fit; allowed: a whole number from 1 to 20'
    )
    hinted = Fault(1, 1, "promt", "unknown key", "", "prompt", "r.yaml")
    assert hinted.sentence == "r.yaml:1:1: promt: unknown key (did you mean prompt?)"
    assert hinted.as_dict()["suggestion"] == "prompt"
    assert str(FileFaults([fault, hinted])).count("\n") == 1


def test_hidden_characters_in_a_value_are_escaped_in_its_fault() -> None:
    (found,) = faults('name: abc\ncolour: "r\\u202eed"\n')
    assert "\\u202e" in found.problem
    assert "\u202e" not in found.problem


def test_the_nearest_key_is_found_or_none() -> None:
    assert nearest("Top-K", {"top_k": 1}) == "top_k"
    assert nearest("memmory", ("memory", "model")) == "memory"
    assert nearest("zzz", ("memory", "model")) == ""


def test_the_json_schema_names_types_bounds_and_required_keys() -> None:
    schema = SHAPE.json_schema()
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert schema["properties"]["colour"] == {"enum": ["red", "green"]}
    assert schema["properties"]["inner"]["required"] == ["must"]
