"""Wrapping loses no character, splits no grapheme and keeps to the width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes

from muniment.safety.visible import exact_block
from muniment.tui.widgets.difference_view import (
    compare,
    difference_lines,
    exact_source,
    side_by_side,
    text_lines,
)
from muniment.tui.widgets.exact_lines import Line, lay_out, pieces, row_of_line, wrap

TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("  ab漢👩‍💻é\n\\")), max_size=120)
SHOWN = TEXTS.map(lambda text: exact_block(text).text.replace("\n", " "))


@given(SHOWN, st.integers(1, 40))
def test_the_slices_join_to_the_text(text: str, width: int) -> None:
    slices = wrap(text, width)
    assert "".join(text[a:b] for a, b in slices) == text
    assert [b for _, b in slices[:-1]] == [a for a, _ in slices[1:]]


@given(SHOWN, st.integers(2, 40))
def test_no_row_is_wider_than_allowed(text: str, width: int) -> None:
    assert all(cell_len(text[a:b]) <= width for a, b in wrap(text, width))


@given(SHOWN, st.integers(2, 40))
def test_rows_end_between_graphemes(text: str, width: int) -> None:
    borders = {0, len(text), *(end for _, end, _ in split_graphemes(text)[0])}
    assert all(b in borders for _, b in wrap(text, width))


def test_lines_break_behind_a_blank_where_one_is_near() -> None:
    text = "one two three four"
    assert [text[a:b] for a, b in wrap(text, 10)] == ["one two ", "three four"]
    wide = "漢字 漢字 漢字"
    assert [wide[a:b] for a, b in wrap(wide, 11)] == ["漢字 漢字 ", "漢字"]


def test_a_word_longer_than_the_row_is_cut() -> None:
    assert wrap("x" * 25, 10) == [(0, 10), (10, 20), (20, 25)]


def test_a_gutter_takes_its_cells_from_the_text() -> None:
    rows = lay_out([Line("abcdefghij", gutter="1│ ", onward=" ┆ ")], 8)
    assert [row.part for row in rows] == [(0, 5), (5, 10)]


def test_two_columns_are_as_high_as_the_higher_one() -> None:
    rows = lay_out([Line("a" * 9, beside=Line("b"))], 9)
    assert [(row.part, row.beside) for row in rows] == [((0, 4), (0, 1)), ((4, 8), None), ((8, 9), None)]


def test_later_marks_win_and_no_text_is_lost() -> None:
    line = Line("abcdef", "tone", marks=((1, 5, "changed"), (2, 3, "warning")))
    assert pieces(line, (0, 6)) == [
        ("a", "tone"),
        ("b", "changed"),
        ("c", "warning"),
        ("de", "changed"),
        ("f", "tone"),
    ]
    assert pieces(line, (2, 4)) == [("c", "warning"), ("d", "changed")]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(0, 35))
def test_the_first_row_of_a_line_is_found(lengths: list[int], wanted: int) -> None:
    rows = lay_out([Line("x" * length) for length in lengths], 10)
    row = rows[row_of_line(rows, wanted)]
    assert row.line == min(wanted, len(lengths) - 1)
    assert row.first or wanted >= len(lengths)


@given(TEXTS)
def test_a_text_stands_whole_in_its_numbered_lines(text: str) -> None:
    source = exact_source(text)
    assert "\n".join(line.text for line in text_lines(source)) == exact_block(text).text
    assert source.numbers[-1] <= source.line_count == text.count("\n") + 1


@given(TEXTS, TEXTS)
def test_texts_that_differ_have_a_difference(old: str, new: str) -> None:
    found = compare(exact_source(old), exact_source(new))
    assert found is not None
    assert (found.added + found.removed == 0) is (old == new)


def test_a_counted_run_of_blank_lines_keeps_the_numbers_true() -> None:
    source = exact_source("a\n\n\n\n\n\nb")
    lines = text_lines(source)
    assert lines[0].gutter == "1 │ "
    assert lines[-1].text == "b"
    assert lines[-1].gutter == "7 │ "


def test_escapes_are_marked_where_they_stand() -> None:
    source = exact_source("plain\nx\u202ey\n\x1b[2J")
    marked = [
        [line.text[a:b] for a, b, tone in line.marks if tone == "warning"] for line in text_lines(source)
    ]
    assert marked == [[], ["\\u202e"], ["\\x1b"]]
    assert source.hidden == 2


def test_long_unchanged_stretches_are_folded_and_counted() -> None:
    old = "\n".join(f"line {n}" for n in range(1, 41))
    new = old.replace("line 20\n", "line twenty\n")
    sources = exact_source(old), exact_source(new)
    found = compare(*sources)
    assert found is not None
    lines = difference_lines(found, *sources)
    shown = [line.text for line in lines]
    assert shown[0] == "⋯ 16 unchanged lines; v shows them in the new text ⋯"
    assert shown[1:4] == ["line 17", "line 18", "line 19"]
    assert [(line.gutter, line.text) for line in lines[4:6]] == [
        ("20-│ ", "line 20"),
        ("20+│ ", "line twenty"),
    ]
    assert shown[-1] == "⋯ 17 unchanged lines; v shows them in the new text ⋯"


def test_an_escape_inside_a_changed_word_keeps_the_warning_colour() -> None:
    sources = exact_source("pay to abc"), exact_source("pay to ab\u200bc")
    found = compare(*sources)
    assert found is not None
    new = difference_lines(found, *sources)[-1]
    assert new.marks[-1][2] == "warning"
    assert new.text[slice(*new.marks[-1][:2])] == "\\u200b"


def test_side_by_side_shows_both_texts_whole() -> None:
    lines = side_by_side(exact_source("a\nb\nc"), exact_source("x"))
    assert [line.text for line in lines] == ["a", "b", "c"]
    assert [line.beside.text for line in lines if line.beside] == ["x", "", ""]
