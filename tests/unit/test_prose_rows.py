"""Tables and lists of Markdown as rows: nothing of a text is lost at any width, and nothing is too wide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from muniment.tui.widgets.prose_rows import Laid, ListText, Point, TableText, shares
from muniment.tui.widgets.prose_tokens import LIST, TABLE, parser, read_list, read_table

WORDS = st.text(st.sampled_from("ab -漢é"), max_size=30)


def table(markdown: str) -> TableText:
    """Return the only table of a text."""
    (token,) = parser().parse(markdown)
    assert token.type == TABLE
    return read_table(token, lambda each: Content(each.content))


def points(markdown: str) -> list[str]:
    """Return the lines of the only list of a text."""
    (token,) = parser().parse(markdown)
    assert token.type == LIST
    return read_list(token, lambda each: Content(each.content)).lay_out(80).text.split("\n")


def lines(laid: Laid) -> list[str]:
    """Return what would be drawn, line by line."""
    drawn: list[str] = []
    for number in range(laid.height):
        line = Content("")
        for piece in laid.line(number)[1]:
            line = line.pad_right(piece.at - line.cell_length) + piece.text
        drawn.append(line.plain)
    return drawn


TABLE_TEXT = "| key | what it does |\n|---|--:|\n| `a` | allow it |\n| d | |\n"


def test_columns_are_as_wide_as_their_texts_and_a_number_stands_at_the_right() -> None:
    assert lines(table(TABLE_TEXT).lay_out(60)) == [
        "key  what it does",
        "`a`      allow it",
        "d",
    ]


def test_a_text_that_does_not_fit_goes_on_below_in_its_own_column() -> None:
    assert lines(table(TABLE_TEXT.replace("--:", "---")).lay_out(12)) == [
        "key  what it",
        "     does",
        "`a`  allow",
        "     it",
        "d",
    ]


def test_cells_stand_below_each_other_where_words_would_be_broken() -> None:
    assert lines(table(TABLE_TEXT).lay_out(7)) == [
        "key",
        "  what",
        "  it",
        "  does",
        "`a`",
        "  allow",
        "  it",
        "d",
        "  –",
    ]


def test_a_line_that_goes_on_remembers_the_characters_before_it() -> None:
    laid = table(TABLE_TEXT.replace("--:", "---")).lay_out(12)
    row, (piece,) = laid.line(3)
    text = laid.text.split("\n")[row]
    assert text[piece.offset :] == piece.text.plain == "it"


def test_a_long_text_is_broken_once_and_not_for_each_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    laid = ListText((Point(Content("• "), Content("word " * 2_000)),)).lay_out(40)
    broken: list[int] = []
    really = Content.wrap

    def counted(self: Content, width: int) -> list[Content]:
        broken.append(width)
        return really(self, width)

    monkeypatch.setattr(Content, "wrap", counted)
    assert len([piece for number in range(laid.height) for piece in laid.line(number)[1]]) > 200
    assert len(broken) <= 2


def test_lists_in_lists_are_indented_and_numbers_stand_below_each_other() -> None:
    numbers = "\n".join(f"{number}. n{number}" for number in range(1, 11))
    assert points(numbers)[0] == "  1. n1"
    assert points(numbers)[-1] == " 10. n10"
    assert points("- a\n  - b\n\n    more of b\n  - c\n- d") == [
        "• a",
        "  ▪ b",
        "    more of b",
        "  ▪ c",
        "• d",
    ]
    assert points("- \n- x") == ["• ", "• x"]
    assert points("3. a\n   - b") == [" 3. a", "    • b"]


@pytest.mark.parametrize("inner", ["```\n  code\n  ```", "> said", "| a |\n  |---|"])
def test_a_list_with_more_than_text_in_it_is_not_drawn_in_one_piece(inner: str) -> None:
    kinds = [each.type for each in parser().parse(f"- a\n\n  {inner}\n\n  - b")]
    assert kinds[0] == "bullet_list_open"
    assert LIST in kinds


def test_a_list_inside_another_that_is_not_plain_has_the_bullet_of_its_depth() -> None:
    (inner,) = (each for each in parser().parse("- a\n\n  ---\n\n  - b") if each.type == LIST)
    assert read_list(inner, lambda each: Content(each.content)).points[0].mark.plain == "▪ "


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=6), st.data())
def test_shares_fill_the_room_and_give_nobody_less_than_its_longest_word(
    columns: list[tuple[int, int]], data: st.DataObject
) -> None:
    wished = [max(pair) for pair in columns]
    least = [min(pair) for pair in columns]
    room = data.draw(st.integers(sum(least), sum(wished)))
    widths = shares(wished, least, room)
    assert sum(widths) == room
    assert all(few <= width <= most for few, width, most in zip(least, widths, wished, strict=True))


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=5), st.integers(4, 90))
def test_at_every_width_every_character_of_a_table_is_drawn_within_it(
    cells: list[list[str]], width: int
) -> None:
    head, *rows = [tuple(Content(cell.strip()) for cell in line) for line in cells]
    laid = TableText(head, tuple(rows), ("left", "center", "right")).lay_out(width)
    for number in range(laid.height):
        end = 0
        for piece in laid.line(number)[1]:
            assert piece.at >= end
            end = piece.at + piece.text.cell_length
        assert end <= width
    told = "".join("".join(lines(laid)).replace("–", "").split())
    assert sorted(told) == sorted("".join("".join(cell.plain for cell in (*head, *sum(rows, ()))).split()))


@given(st.lists(st.tuples(st.sampled_from(["• ", "    ▪ ", " 10. "]), WORDS), max_size=5), st.integers(4, 90))
def test_at_every_width_every_character_of_a_list_is_drawn_within_it(
    said: list[tuple[str, str]], width: int
) -> None:
    laid = ListText(tuple(Point(Content(mark), Content(text)) for mark, text in said)).lay_out(width)
    drawn = [piece for number in range(laid.height) for piece in laid.line(number)[1]]
    assert all(piece.at + piece.text.cell_length <= width for piece in drawn)
    texts = "".join(piece.text.plain for piece in drawn if piece.offset or piece.at)
    assert "".join(texts.split()) == "".join("".join(text.split()) for _, text in said)
