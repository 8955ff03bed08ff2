"""Code is copied as the model wrote it, and nothing that is copied acts in a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.visible import copyable, reading
from muniment.tui.code import code_as_written, hidden_in
from muniment.tui.veil import pictured

MAKEFILE = "all:\n\tcc -o all all.c\n\n\t@echo\tdone"


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("a\tb\n", "a\tb\n"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\rb"),
        ("\x1b]0;x\x07\x9b31m\x7f\x00", "\\x1b]0;x\\x07\\x9b31m\\x7f\\x00"),
        ("\\x1b[31m stays", "\\x1b[31m stays"),
        ("\u202eabc\u200b\u00a0", "\u202eabc\u200b\u00a0"),
        ("half \ud800 of one", "half \ufffd of one"),
    ],
)
def test_what_acts_in_a_terminal_leaves_as_an_escape_and_all_else_as_it_is(text: str, copied: str) -> None:
    assert copyable(text) == copied


@given(st.text())
def test_no_control_code_ever_leaves(text: str) -> None:
    copied = copyable(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", copied)
    assert copied.encode("utf-8").decode("utf-8") == copied
    assert copyable(copied) == copied


@pytest.mark.parametrize(
    ("reply", "at", "code"),
    [
        (f"Look:\n\n```make\n{MAKEFILE}\n```\n", 0, MAKEFILE),
        (f"```\nfirst\n```\n\n~~~~make\n{MAKEFILE}\n~~~~\n", 1, MAKEFILE),
        ("1. So:\n\n   ```sh\n   if x\n   \tthen\ty\n   ```\n", 0, "if x\n\tthen\ty"),
        ("> ```\n> a\tb\n> ```\n", 0, "a\tb"),
        ("text\n\n    indented\tcode\n", 0, "indented\tcode"),
        ("```\nprint('\u202e\u200b')\n```", 0, "print('\u202e\u200b')"),
        ("```\nclear\x1b[2J\n```", 0, "clear\\x1b[2J"),
        ("```\nnever ended\n\tso far", 0, "never ended\n\tso far"),
    ],
)
def test_a_block_is_found_in_the_reply_by_its_place(reply: str, at: int, code: str) -> None:
    assert code_as_written(reply, at, reading(code)) == code


@pytest.mark.parametrize("at", [0, 1, 7])
def test_where_another_block_stands_in_its_place_the_shown_one_is_copied(at: int) -> None:
    assert code_as_written("```\none\n```\n\ntext", at, "another") == "another"


@given(st.text(alphabet=st.sampled_from("ab \t\n\u202e\u00e9\U0001f468\u200d\x1b\r"), max_size=40))
def test_whatever_a_block_holds_copying_gives_all_of_it_or_what_is_shown(code: str) -> None:
    shown = reading(code)
    copied = code_as_written(f"```\n{code}\n```\n", 0, shown)
    assert copied in (copyable(code).rstrip(), shown)


def test_hidden_characters_of_a_code_are_counted() -> None:
    assert hidden_in(MAKEFILE) == 0
    assert hidden_in("a \U0001f468\u200d\U0001f469 b") == 0
    assert hidden_in("x\u202ey\u200bz") == 2


@given(st.text())
def test_a_field_draws_as_many_characters_as_it_holds_and_none_that_acts(text: str) -> None:
    drawn = pictured(text)
    assert len(drawn) == len(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", drawn)
