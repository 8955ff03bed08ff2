"""No bytes from a keyboard end the reading of keys, and a key let go is no second press."""

from __future__ import annotations

import os
import pty
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events

from muniment.tui.key_wire import KeyDecoder, KeyParser, SteadyWriter


def keys(data: str) -> list[str]:
    parser = KeyParser()
    found = [*parser.feed(data), *parser.feed("")]
    return [each.key for each in found if isinstance(each, events.Key)]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("\x1b[97;1:1u", ["a"]),
        ("\x1b[97;1:2u", ["a"]),
        ("\x1b[97;1:3u", []),
        ("\x1b[97;5:1u", ["ctrl+a"]),
        ("\x1b[1;1:1A", ["up"]),
        ("\x1b[1;1:3A", []),
        ("\x1b[97;3u", ["alt+a"]),
        ("\x1b[A", ["up"]),
        ("a", ["a"]),
    ],
)
def test_an_extended_key_counts_when_it_goes_down_and_not_when_it_is_let_go(
    data: str, found: list[str]
) -> None:
    assert keys(data) == found


@pytest.mark.parametrize(
    "data", ["\x1b[1114112u", "\x1b[99999999999999999999u", "\x1b[55296u", "\x1b[97;1:9u", "\x1b[97;1;55296u"]
)
def test_what_is_no_key_is_passed_over(data: str) -> None:
    assert keys(data + "b")[-1:] == ["b"]
    assert not [key for key in keys(data) if "\ud800" <= key[:1] <= "\udfff"]


@given(
    st.lists(
        st.sampled_from(["\x1b[", "1", "97", ";", ":", "3", "u", "A", "~", "<", "M", "?", "$y", "é"]),
        min_size=1,
    )
)
def test_no_sequence_ends_the_reading(parts: list[str]) -> None:
    assert isinstance(keys("".join(parts)), list)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("\x1b\r", ["alt+enter"]),
        ("a\x1b\rb", ["a", "alt+enter", "b"]),
        ("\x1b\r\x1b\r\x1b\r", ["alt+enter"] * 3),
        ("\x1bx\x1bx", ["alt+x", "alt+x"]),
        ("\x1b\r" + "a" * 40 + "\r", ["alt+enter", *("a" * 40), "enter"]),
        ("\x1b[A\x1bOP\x1b\x7f", ["up", "f1", "ctrl+w"]),
    ],
)
def test_a_key_with_alt_is_one_however_fast_the_next_follows(data: str, found: list[str]) -> None:
    assert keys(data) == found


BEGIN, END = "\x1b[200~", "\x1b[201~"
pasted = st.lists(
    st.sampled_from(
        ["a", "y\r", "\x1b", "\x1b[", "\x1b[A", "\x1b[200~", "\x1b[<0;3;3M", "\x9b", "é\n", "20", "1~"]
    ),
    min_size=1,
).map("".join)


@given(pasted.filter(lambda text: END not in text + END[:-1]), st.lists(st.integers(1, 60), max_size=6))
@example("see \x1b[" + "x" * 40 + "a\r", [])
def test_a_paste_is_one_thing_whatever_stands_in_it_and_however_it_comes(text: str, cuts: list[int]) -> None:
    parser = KeyParser()
    data = f"b{BEGIN}{text}{END}c"
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    found = [each for start, end in pairwise(places) for each in parser.feed(data[start:end])]
    told = [each.text if isinstance(each, events.Paste) else getattr(each, "key", each) for each in found]
    assert told == ["b", text, "c"]


def test_an_escape_that_nothing_followed_in_time_begins_no_paste() -> None:
    parser = KeyParser()
    found = list(parser.feed("\x1b"))
    parser._timeout_time = 0.0
    found += [*parser.tick(), *parser.feed("[200~a")]
    pressed = [each.key for each in found if isinstance(each, events.Key)]
    assert (pressed[0], pressed[-1]) == ("escape", "a")


@given(st.lists(st.binary(min_size=1, max_size=6), max_size=6))
def test_any_bytes_become_the_text_that_they_hold(pieces: list[bytes]) -> None:
    decoder = KeyDecoder()
    read = "".join([*map(decoder.decode, pieces), decoder.decode(b"", final=True)])
    assert read == b"".join(pieces).decode("utf-8", "replace")


def test_a_keyboard_that_gives_nothing_has_ended() -> None:
    with pytest.raises(EOFError):
        KeyDecoder().decode(b"")


def test_an_output_that_does_not_wait_is_waited_for_and_gets_all_of_it() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    pieces = [f"{number} é {'x' * 99_991}\n" for number in range(10)]
    got = bytearray()
    with os.fdopen(write, "w") as end:
        writer = SteadyWriter(end)
        writer.start()
        for piece in pieces:
            writer.write(piece)
        while len(got) < len("".join(pieces).encode()):
            got += os.read(read, 65_536)
        writer.stop()
    os.close(read)
    assert got.decode() == "".join(pieces)


def test_an_output_that_is_gone_holds_nobody_up() -> None:
    keyboard, screen = pty.openpty()
    with os.fdopen(screen, "w") as end:
        os.close(keyboard)
        writer = SteadyWriter(end)
        writer.start()
        for _ in range(200):
            writer.write("x" * 10_000)
        writer.stop()
        assert not writer.is_alive()
