"""The strict reader keeps text as text and refuses what could surprise, each refusal with its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from muniment.safety import strict_yaml
from muniment.safety.strict_yaml import YamlFault, load, load_marked
from muniment.safety.yaml_fallback import python_events

BOMB = "id: bomb\nx0: &a0 [lol,lol,lol]\n" + "".join(
    f"x{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.fixture(params=["libyaml", "python"])
def both_parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a test with the C parser and again as where PyYAML was built without it."""
    if request.param == "python":
        monkeypatch.setattr(yaml, "__with_libyaml__", False)
    strict_yaml._parser.cache_clear()
    assert (strict_yaml._parser().events is python_events) is (request.param == "python")
    yield str(request.param)
    strict_yaml._parser.cache_clear()


def fault_of(text: str | bytes) -> YamlFault:
    with pytest.raises(YamlFault) as caught:
        load(text)
    return caught.value


@pytest.mark.usefixtures("both_parsers")
def test_words_that_resolvers_convert_stay_text() -> None:
    text = "id: no\ncategory: on\ncontent: yes\n"
    text += "tags: [no, on, 1.10, 12:30, 2026-01-05, 0123, ~, null, 0x1F, .inf]\n"
    assert load(text) == {
        "id": "no",
        "category": "on",
        "content": "yes",
        "tags": ["no", "on", "1.10", "12:30", "2026-01-05", "0123", "~", "null", "0x1F", ".inf"],
    }


@pytest.mark.usefixtures("both_parsers")
def test_only_an_unquoted_empty_value_is_missing() -> None:
    assert load("a:\nb: ''\nc: \"\"\nd: [ ]\ne: { }\n") == {"a": None, "b": "", "c": "", "d": [], "e": {}}
    assert load("") is None
    assert load("# only a remark\n") is None


@pytest.mark.usefixtures("both_parsers")
@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("a: &x 1", 1, 4, "anchor"),
        ("b: 1\na: *x", 2, 4, "alias"),
        ("a: !!python/object:os.system x", 1, 4, "tag"),
        ("a: ! x", 1, 4, "tag"),
        ("a: !!int 3", 1, 4, "tag"),
        ("a: 1\nb: 2\na: 3\n", 3, 1, "twice"),
        ("x:\n  a: 1\n  a: 2\n", 3, 3, "twice"),
        ("a: 1\n---\nb: 1\n", 2, 1, "second document"),
        ("? [a, b]\n: c\n", 1, 3, "key must be text"),
        ("? \n: x\n", 1, 2, "key is empty"),
    ],
)
def test_each_refusal_has_its_place(text: str, line: int, column: int, says: str) -> None:
    fault = fault_of(text)
    assert (fault.line, fault.column) == (line, column)
    assert says in fault.problem
    assert f"line {line}, column {column}" in str(fault)


@pytest.mark.usefixtures("both_parsers")
def test_depth_is_bounded_at_32_levels() -> None:
    assert load("a: " + "[" * 31 + "]" * 31) is not None
    assert "deeper than 32" in fault_of("a: " + "[" * 32 + "]" * 32).problem


def test_three_thousand_brackets_and_an_alias_bomb_are_refused_at_once() -> None:
    assert "nested" in fault_of("content: " + "[" * 3000 + "]" * 3000).problem
    assert "anchor" in fault_of(BOMB).problem


def test_size_is_bounded_at_the_limit_and_one_past_it() -> None:
    text = b"a: " + b"x" * (1_048_576 - 3)
    loaded = load(text)
    assert isinstance(loaded, dict)
    assert len(str(loaded["a"])) == 1_048_573
    assert "larger than 1048576" in fault_of(text + b"x").problem
    with pytest.raises(YamlFault):
        load("a: b", max_bytes=3)


@pytest.mark.usefixtures("both_parsers")
@pytest.mark.parametrize(
    ("raw", "line", "column", "says"),
    [
        (b"id: x\ntitle: a\0b\n", 2, 9, "U+0000"),
        (b"title: a\x1b[31mb\n", 1, 9, "U+001B"),
        ("é: 1\ntitle: aé\x9b[b\n".encode(), 2, 10, "U+009B"),
        (b"title: caf\xe9 x\n", 1, 11, "UTF-8"),
        (b"\xff\xfea\x00", 1, 1, "UTF-8"),
    ],
)
def test_raw_control_bytes_and_foreign_encodings_are_refused_with_line_and_column(
    raw: bytes, line: int, column: int, says: str
) -> None:
    fault = fault_of(raw)
    assert (fault.line, fault.column) == (line, column)
    assert says in fault.problem


@pytest.mark.usefixtures("both_parsers")
def test_escaped_control_characters_are_read() -> None:
    assert load('title: "a\\0b \\e[31mc"\ncontent: "line\\u2028sep \\x85 end \\uFEFF"\n') == {
        "title": "a\0b \x1b[31mc",
        "content": "line\u2028sep \x85 end \ufeff",
    }


@pytest.mark.usefixtures("both_parsers")
def test_half_an_emoji_written_as_an_escape_is_refused() -> None:
    assert "Unicode" in fault_of('title: "half \\ud83d emoji"\n').problem


@pytest.mark.usefixtures("both_parsers")
@pytest.mark.parametrize(
    "title",
    [
        "Deploy: use the blue lane",
        "*important* step",
        "@team uses trunk",
        "`make test` first",
        "C:\\data: notes",
    ],
)
def test_unquoted_text_that_is_no_yaml_is_refused_with_its_line(title: str) -> None:
    assert fault_of(f"id: x\ntitle: {title}\ncontent: x\n").line == 2


@pytest.mark.usefixtures("both_parsers")
def test_valid_oddities_load_as_yaml_says() -> None:
    assert load("title: Use tabs # not spaces\n") == {"title": "Use tabs"}
    assert load('title: "C:\\\\data\\\\notes"\n') == {"title": "C:\\data\\notes"}
    assert load("\ufefftitle: x\n") == {"title": "x"}
    assert load("a: b\r\nc: |\r\n  d\r\n") == {"a": "b", "c": "d\n"}
    assert load('{"a": ["b", {"c": ""}]}') == {"a": ["b", {"c": ""}]}


@pytest.mark.usefixtures("both_parsers")
def test_an_unbalanced_quote_says_where_it_begins() -> None:
    fault = fault_of('id: broken\ntitle: "unbalanced\ncontent: valuable text\n')
    assert "begins in line 2" in fault.problem


@pytest.mark.usefixtures("both_parsers")
def test_marks_say_where_keys_and_values_stand() -> None:
    value, marks = load_marked("name: x\nmemory:\n  top_k: 8\n  tags:\n    - one\n    - 'two'\n")
    assert value == {"name": "x", "memory": {"top_k": "8", "tags": ["one", "two"]}}
    assert marks["memory", "top_k"] == (3, 3)
    assert marks.value(("memory", "top_k")) == (3, 10)
    assert marks["memory", "tags", 1] == (6, 7)
    assert marks.is_quoted(("memory", "tags", 1))
    assert not marks.is_quoted(("memory", "tags", 0))
    assert marks["memory", "absent"] == (2, 1)
