"""A difference tells both texts whole, finds the fewest edits, and gives up instead of freezing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muniment.approval.difference import changed_words, common_pairs, difference

LINES = st.lists(st.sampled_from(["a", "b", "c", "the rule", "the rules", ""]), max_size=14)


def longest_common(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for a in old:
        before = row[:]
        for n, b in enumerate(new):
            row[n + 1] = before[n] + 1 if a == b else max(row[n], before[n + 1])
    return row[-1]


@given(LINES, LINES)
def test_both_texts_can_be_read_from_the_difference(old: list[str], new: list[str]) -> None:
    found = difference(old, new)
    assert found is not None
    assert [line.text for line in found.lines if line.kind != "new"] == old
    assert [line.text for line in found.lines if line.kind != "old"] == new
    assert [line.old for line in found.lines if line.old] == list(range(1, len(old) + 1))
    assert [line.new for line in found.lines if line.new] == list(range(1, len(new) + 1))


@given(LINES, LINES)
def test_as_many_lines_as_possible_are_kept(old: list[str], new: list[str]) -> None:
    pairs = common_pairs(old, new, max_steps=10**6, max_edits=10**6)
    assert pairs is not None
    assert len(pairs) == longest_common(old, new)
    assert all(old[a] == new[b] for a, b in pairs)
    assert pairs == sorted(set(pairs))
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


def test_equal_texts_have_no_changed_line() -> None:
    found = difference(["one", "two"], ["one", "two"])
    assert found is not None
    assert (found.removed, found.added) == (0, 0)


def test_a_changed_word_is_marked_on_both_sides() -> None:
    found = difference(["Use GPT-4 for drafts."], ["Use GPT-5 for drafts."])
    assert found is not None
    old, new = found.lines
    assert [old.text[a:b] for a, b in old.changed] == ["4"]
    assert [new.text[a:b] for a, b in new.changed] == ["5"]


def test_ideographs_are_compared_one_by_one() -> None:
    marked = changed_words("引用注释甲和乙", "引用注释甲和丙")
    assert marked == (((6, 7),), ((6, 7),))


def test_changed_words_that_touch_are_one_mark() -> None:
    assert changed_words("引用注释甲和乙丙", "引用注释甲和丁戊") == (((6, 8),), ((6, 8),))


def test_unlike_and_long_lines_are_not_marked_by_word() -> None:
    assert changed_words("alpha beta gamma", "one two three") is None
    assert changed_words("x " * 300, "x " * 299 + "y ") is None


def test_a_replaced_run_shows_old_lines_before_new_lines() -> None:
    found = difference(["keep", "a", "b", "end"], ["keep", "c", "d", "e", "end"])
    assert found is not None
    assert [line.kind for line in found.lines] == ["same", "old", "old", "new", "new", "new", "same"]


def test_too_much_work_is_refused() -> None:
    old = [str(n) for n in range(20_000)]
    new = [str(-n) for n in range(20_000)]
    assert difference(old, new) is None


def test_the_steps_along_equal_lines_are_counted_as_work() -> None:
    equal = [str(n) for n in range(500)]
    old, new = ["a", *equal, "b"], ["c", *equal, "d"]
    assert common_pairs(old, new, max_steps=100, max_edits=100) is None
    assert common_pairs(old, new, max_steps=10_000, max_edits=100) == [(n, n) for n in range(1, 501)]


def test_thousands_of_equal_lines_around_one_change_show_that_change() -> None:
    old = ["same"] * 50_000
    new = ["same"] * 25_000 + ["other"] + ["same"] * 25_000
    found = difference(old, new)
    assert found is not None
    assert (found.removed, found.added) == (0, 1)


def test_one_text_empty_needs_no_work_at_all() -> None:
    found = difference([], [str(n) for n in range(100_000)], max_edits=1)
    assert found is not None
    assert found.added == 100_000
