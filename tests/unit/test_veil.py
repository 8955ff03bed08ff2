"""What a draft holds is safe to draw, and what is sent is what was pasted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.visible import clean_surrogates, is_hidden
from muniment.tui.veil import Veil


@given(st.text())
def test_what_was_put_under_the_veil_comes_back_unchanged(text: str) -> None:
    veil = Veil()
    plain = clean_surrogates(text.replace("\r\n", "\n").replace("\r", "\n"))
    assert veil.off(veil.on(text)) == plain


@given(st.text(alphabet=st.sampled_from("a\x1b\x07\u202e\u200b\x9b\U000e0041\n\t \U000f0000")))
def test_no_controlling_character_reaches_the_drawing(text: str) -> None:
    veil = Veil()
    held = veil.on(text)
    drawn = veil.drawn(held)
    assert len(drawn) == len(held)
    assert not any(is_hidden(ch) for ch in drawn if ch not in "\n\t")


def test_emoji_and_joining_scripts_stay_as_they_are() -> None:
    text = "👩‍💻 ☺️ می‌خواهم café"
    veil = Veil()
    assert veil.on(text) == text
    assert veil.names(text) == []


def test_each_hidden_character_is_named_once() -> None:
    veil = Veil()
    held = veil.on("a\u202eb\x1bc\u202e")
    assert veil.names(held) == ["\\u202e", "\\x1b"]
