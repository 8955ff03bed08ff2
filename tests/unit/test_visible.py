"""Nothing that hides reaches a screen, and two different texts never look the same where one is approved."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.visible import (
    clean_surrogates,
    exact_block,
    exact_line,
    is_hidden,
    reading,
    reading_line,
)

ALWAYS_HIDDEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2060, 0x2070)),
    *"\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffe\uffff",
    *"\U0001bca0\U0001bca3\U0001d173\U0001d17a\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef\U0010ffff",
    "\ud83d",
    "\ude00",
]
ODD_SPACES = [*"\u00a0\u1680\u2000\u2003\u200a\u202f\u205f\u3000\u2800"]

WHOLE_EMOJI = [
    "👩‍💻",
    "👨‍👩‍👧‍👦",
    "👩🏽‍🚀",
    "❤️",
    "☺️",
    "🏳️‍🌈",
    "👁️‍🗨️",
    "1️⃣",
    "🇩🇪",
    "🐻‍❄️",
    *(
        "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
        for region in ("gbeng", "gbsct", "gbwls")
    ),
]

# Texts made mostly of what is dangerous, so that the properties are tried where they could fail.
hostile = st.text(
    st.one_of(
        st.sampled_from(
            [*ALWAYS_HIDDEN, *ODD_SPACES, *' \n\t\\"n{}x4', *"aé中क्ا", "\u0301", "👩", "💻", "🏴", "❤"]
        ),
        st.characters(),
    ),
    max_size=40,
)


def decode_block(shown: str) -> str:
    """Undo `exact_block`; it can only be written because the form loses nothing."""
    shown = re.sub(
        r"((?:^|[^\\])(?:\\\\)*)\\\{(\d+) blank lines?\}\n", lambda m: m[1] + "\n" * int(m[2]), "\0" + shown
    )[1:]
    return _decode(shown)


def _decode(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        token = match[0]
        if token[1] == "{":
            return " " * int(token[2:].split(" ")[0])
        if token[1] in "xuU":
            return chr(int(token[2:], 16))
        return {"n": "\n", "t": "\t", "r": "\r"}.get(token[1], token[1])

    return re.sub(
        r"\\\{\d+ spaces?\}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\.", one, text, flags=re.DOTALL
    )


@given(hostile)
def test_exact_line_can_be_decoded_so_it_is_injective(text: str) -> None:
    shown = exact_line(text).text
    assert shown[0] == shown[-1] == '"'
    assert _decode(shown[1:-1]) == text


@given(hostile)
def test_exact_block_can_be_decoded_so_it_is_injective(text: str) -> None:
    assert decode_block(exact_block(text).text) == text


@given(hostile)
def test_no_form_lets_a_control_or_bidi_or_lone_invisible_through(text: str) -> None:
    for shown in (reading(text), exact_line(text).text, exact_block(text).text):
        for at, character in enumerate(shown):
            if character == "\n":
                continue
            category = unicodedata.category(character)
            assert category not in ("Cc", "Cs", "Zl", "Zp")
            assert not re.match(
                "[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\ufeff\u2060-\u2064]", character
            )
            if character in "\ufe0e\ufe0f\u200d" or "\U000e0000" <= character <= "\U000e007f":
                assert at > 0, "belongs to what stands before it"


@given(hostile)
def test_the_line_form_is_one_line_and_the_spans_cover_escapes_only(text: str) -> None:
    shown = exact_line(text)
    assert "\n" not in shown.text
    for start, end in shown.spans:
        assert shown.text[start] == "\\"
        assert start < end <= len(shown.text) - 1
    block = exact_block(text)
    assert all(block.text[start] == "\\" for start, _ in block.spans)
    assert list(block.spans) == sorted(block.spans)


@pytest.mark.parametrize("character", ALWAYS_HIDDEN, ids=lambda each: f"U+{ord(each):04X}")
def test_each_hidden_character_is_an_escape_in_every_form(character: str) -> None:
    code = ord(character)
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character)
    escape = short or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
    assert exact_line(f"a{character}b").text == f'"a{escape}b"'
    if character != "\n":
        assert exact_block(f"a{character}b").text == f"a{escape}b"
    if character not in "\n\t":
        assert reading(f"a{character}b") == f"a{escape}b"
        assert exact_line(f"a{character}b").hidden == 1
        assert is_hidden(character)


@pytest.mark.parametrize("space", ODD_SPACES, ids=lambda each: f"U+{ord(each):04X}")
def test_odd_spaces_are_escapes_in_the_exact_forms_only(space: str) -> None:
    assert space not in exact_line(f"a{space}b").text
    assert space not in exact_block(f"a{space}b").text
    assert reading(f"a{space}b") == f"a{space}b"


@pytest.mark.parametrize("emoji", WHOLE_EMOJI)
def test_whole_emoji_stay_whole_in_every_form(emoji: str) -> None:
    text = f"x {emoji} y"
    assert reading(text) == text
    assert exact_line(text).text == f'"{text}"'
    assert exact_block(text) == exact_block(text)
    assert exact_block(text).text == text
    assert exact_line(text).hidden == 0


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d",  # a joiner that joins nothing
        "👩\u200da",
        "👩\u200d\u200d💻",
        "a\ufe0f",
        "5\ufe0f",
        "❤\ufe0f\ufe0f",
        "🏴\U000e0068\U000e0069\U000e007f",  # a hidden word in the guise of a flag
        "😀\u200d😀",
    ],
)
def test_strays_of_emoji_are_hidden_characters(text: str) -> None:
    assert exact_line(text).hidden >= 1
    assert "\\" in reading(text)
    assert "\\" in exact_block(text).text


def test_words_keep_the_joiners_their_script_needs_in_the_reading_form_and_show_them_in_the_exact_one() -> (
    None
):
    for word in ("می\u200cخواهم", "क्\u200dष", "葛\U000e0100"):
        assert reading(word) == word
        assert "\\" in exact_line(word).text
    assert reading("pay\u200cpal") == "pay\\u200cpal"


def test_letters_of_all_scripts_are_shown_as_letters() -> None:
    for text in (
        "中文",
        "Ελληνικά",
        "кириллица",
        "القاعدة",
        "כלל",
        "日本語のテキスト",
        "한국어",
        "café",
        "e\u0301",
        "ไทย",
        "हिन्दी",
    ):
        assert exact_line(text).text == f'"{text}"'
        assert exact_block(text).hidden == 0


def test_pictographs_and_ideographs_newer_than_this_python_are_shown_and_what_is_nothing_is_not() -> None:
    newer = "\U0001fae8\U0001fac8 \U00031350\U0003347f"
    assert exact_line(newer).text == f'"{newer}"'
    assert exact_line("\u0378\U00040000").text == '"\\u0378\\U00040000"'


def test_combining_marks_without_a_letter_or_piled_up_are_shown() -> None:
    assert exact_line("\u0301a").text == '"\\u0301a"'
    assert exact_line("a \u0301").text == '"a \\u0301"'
    assert "\\u0301" in exact_line("a" + "\u0301" * 9).text
    assert exact_line('"\u0301').text == '"\\"\\u0301"'
    assert exact_line("a\u202e\u0301").text == '"a\\u202e\\u0301"'


def test_backslashes_quotes_and_breaks() -> None:
    assert exact_line('x\\u202ey \\n "q"').text == '"x\\\\u202ey \\\\n \\"q\\""'
    assert exact_block('say "q"\\\nnext').text == 'say "q"\\\\\nnext'
    assert exact_line("a\nb\tc\r").text == '"a\\nb\\tc\\r"'
    assert exact_line("x\u202ey").text != exact_line("x\\u202ey").text
    assert reading('say "q" \\u202e') == 'say "q" \\u202e'


def test_runs_of_blanks_are_counted_marks() -> None:
    assert exact_line("a   b").text == '"a   b"'
    assert exact_line("a    b").text == '"a\\{4 spaces}b"'
    assert exact_block("a    b\n     c").text == "a\\{4 spaces}b\n\\{5 spaces}c"
    assert exact_block("a  \n b").text == "a\\{2 spaces}\n b"
    assert exact_block("a" + "\n" * 300 + "LAST").text == "a\n\\{299 blank lines}\nLAST"
    assert exact_block("a\n\n\n\nb").text == "a\n\n\n\nb"
    assert exact_block("\n\n\n\nb").text == "\\{4 blank lines}\nb"
    assert exact_block("a\\{4 spaces}b").text == "a\\\\{4 spaces}b"


def test_escape_sequences_are_visible_text_in_the_reading_form() -> None:
    shown = reading("\x1b]0;PWNED\x07 \x1b[2J \x9b31m")
    assert shown == "\\x1b]0;PWNED\\x07 \\x1b[2J \\x9b31m"


def test_reading_keeps_lines_expands_tabs_and_takes_windows_line_ends_for_lines() -> None:
    assert reading("a\r\nb\tc") == "a\nb   c"
    assert reading("a\rb") == "a\\rb"
    assert reading_line("a\nb") == "a\\nb"
    assert reading("[/] [@click=app.quit]x[/]") == "[/] [@click=app.quit]x[/]"


def test_halves_of_a_pair_are_joined_and_lone_halves_replaced() -> None:
    assert clean_surrogates("\ud83d\ude00") == "😀"
    assert clean_surrogates("a\ud83db\ude00") == "a\ufffdb\ufffd"
    assert clean_surrogates("plain") == "plain"


@given(hostile)
def test_cleaned_text_can_always_be_encoded(text: str) -> None:
    assert clean_surrogates(text).encode("utf-8").decode("utf-8") == clean_surrogates(text)


def test_a_megabyte_is_shown_in_reasonable_time() -> None:
    text = "中文 text é \u200b line\n" * 60_000
    assert exact_block(text).hidden == 60_000
    assert reading(text).count("\\u200b") == 60_000
