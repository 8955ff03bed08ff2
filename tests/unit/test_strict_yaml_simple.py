"""The quick way through simple YAML says what the parser says, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from muniment.safety.strict_yaml import Value, YamlFault, dump, load, load_marked
from muniment.safety.yaml_simple import read_simple


def parsed(raw: bytes) -> Value:
    """Read by the parser; with marks nothing takes the quick way."""
    return load_marked(raw)[0]


def agree(raw: bytes) -> bool:
    """Hold the quick way against the parser, and tell whether it took it."""
    quick = read_simple(raw)
    if quick is None:
        return False
    try:
        assert quick == parsed(raw), raw
    except YamlFault as fault:
        raise AssertionError(f"the parser refuses what the quick way reads: {raw!r}: {fault}") from fault
    return True


FRAGMENTS = st.sampled_from(
    [
        *(
            "a: b\n",
            "key: ",
            "b:\n",
            "tags:\n",
            "- ",
            "- x\n",
            "- \n",
            "  ",
            "    ",
            "\n",
            "|\n",
            "|-\n",
            "|+\n",
            "|2-\n",
        ),
        *(
            ">\n",
            '"',
            '""',
            "'",
            '"a b"',
            "a: [] \n",
            "a: []\n",
            "[",
            "]",
            "{}",
            "{a: b}",
            ",",
            "#",
            " #",
            "# c\n",
        ),
        *(
            ":",
            ": ",
            ":x",
            " :",
            "?",
            "? ",
            "!",
            "!t ",
            "&a ",
            "*a",
            "@",
            "`",
            "%",
            "%YAML 1.2\n",
            "---\n",
            "...\n",
        ),
        *(
            "---",
            "...",
            "\t",
            "\r",
            "\r\n",
            "\\",
            "\\n",
            "~",
            "null",
            "-",
            "--",
            "- - ",
            "0x1",
            "1.5",
            "no",
            "é",
            "日本",
        ),
        *(
            "\u2028",
            "\u0085",
            "\ufeff",
            "\u00a0",
            "\x00",
            "\x1b",
            "\x7f",
            "👩‍💻",
            "word word",
            " ",
            "<<: ",
            "=",
            "id: x\n",
        ),
    ]
)


@settings(max_examples=1500)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
@example("a: |-\n  x\n   \nb: c\n")
@example("a: |\n  x\n  \n  \n")
@example("a: |\n  x\n   \n  \n")
@example("a: |\n  x\n\n\n")
@example("a: |\n  x\n \nb: c\n")
@example("a: |-\n  x\n  \ty\n")
@example("a: b\na: c\n")
@example("a: b ")
@example("a:\n- b\n- c: d\n")
@example("a: b\n  c\n")
@example("a: |-\n  x\n# c\n")
@example('a: "b" \n')
@example("a:\n- b\n\n")
@example("---: x\n")
def test_whatever_the_pieces_it_agrees_with_the_parser_or_is_silent(text: str) -> None:
    agree(text.encode("utf-8", "surrogatepass"))


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@settings(max_examples=400)
@given(
    st.dictionaries(
        st.sampled_from(["id", "title", "content", "tags", "source", "note"]),
        st.one_of(TEXT, st.lists(TEXT, max_size=4)),
        max_size=6,
    )
)
def test_what_is_written_here_is_read_back_by_either_way(fields: dict[str, Value]) -> None:
    raw = dump(fields)
    agree(raw)
    assert load(raw) == fields


def test_records_as_they_are_written_and_as_people_write_them_take_the_quick_way() -> None:
    assert agree(
        dump(
            {
                "id": "tea-rule",
                "category": "fact",
                "title": "Tea: green only, said Ana",
                "content": "One line.\n\n  indented: line # two\n- and a list\n",
                "tags": ["tea", "no", "日本"],
                "source": "agent",
                "created_at": "2026-10-25T03:07:29Z",
            },
            plain=("created_at",),
        )
    )
    assert agree(b"id: r\ntitle: Use tabs, not spaces\ncontent: |\n  a\n  b\n\ntags: []\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b",
        "a: b # c\n",
        "a: 'b'\n",
        "a: >\n  b\n",
        "a: {b: c}\n",
        "a:\n",
        "a: b\n\nc: d\n",
        "a: b\na: c\n",
        "A: b\n",
        "- a\n",
        "a: b\r\n",
        'a: "\\n"\n',
        "a: b\n---\nc: d\n",
        "a: *b\n",
        "a: b\x00\n",
    ],
)
def test_everything_else_is_left_to_the_parser(text: str) -> None:
    assert read_simple(text.encode()) is None


def test_bytes_that_are_no_utf_8_are_left_to_the_parser() -> None:
    assert read_simple(b"a: \xff\n") is None


def test_a_giant_text_is_read_as_the_parser_reads_it(tmp_path: Path) -> None:
    for body in ("x " * 500_000, "x:x" * 300_000, '"' + "y" * 900_000 + '"', "|-\n  " + "z\n  " * 200_000):
        raw = f"a: {body}\n".encode()
        assert read_simple(raw) in (None, load(raw))
