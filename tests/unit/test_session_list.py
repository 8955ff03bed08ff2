"""The list of sessions for a person: pieces, filter with snippets, age and facts, and the two presses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.paths import Paths, resolve_paths
from muniment.session.logs.browsing import PIECE, WINDOW, Doom, Found, age, facts, pieces, spans_of
from support.session_logs import write_session

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def last(paths: Paths, words: str = "", *, cwd: str | None = None) -> Found:
    return list(pieces(paths, words, cwd=cwd))[-1]


def test_sessions_come_newest_first_in_pieces_and_end_at_the_window() -> None:
    paths = resolve_paths()
    for number in range(WINDOW + 80):
        write_session(paths, number, f"message {number}")
    steps = list(pieces(paths, ""))
    assert [step.looked for step in steps[:2]] == [PIECE, 2 * PIECE]
    assert len(steps[-1].sessions) == WINDOW
    assert not steps[-1].done
    assert steps[-1].total == WINDOW + 80
    assert steps[0].sessions[0].info.title == f"message {WINDOW + 79}"


def test_a_filter_reaches_sessions_beyond_the_window() -> None:
    paths = resolve_paths()
    for number in range(WINDOW + 80):
        write_session(paths, number, "the heron" if number == 3 else f"message {number}")
    found = last(paths, "heron")
    assert [each.info.title for each in found.sessions] == ["the heron"]
    assert found.done


def test_words_count_in_title_project_recipe_and_text_and_all_are_wanted() -> None:
    paths = resolve_paths()
    write_session(paths, 1, "first words", "Later about a Heron in the reeds", title="My title")
    write_session(paths, 2, "something else", cwd="/work/other")
    for words in ("my title", "study", "review heron", "HERON reeds", f"{1:032x}"):
        assert [each.info.id for each in last(paths, words).sessions] == [f"{1:032x}"], words
    assert last(paths, "heron missing").sessions == ()
    assert last(paths, "", cwd="/work/other").sessions[0].info.id == f"{2:032x}"


def test_the_snippet_shows_the_place_and_marks_the_words() -> None:
    paths = resolve_paths()
    write_session(paths, 1, "start", f"{'far ' * 60}the Heron stands {'away ' * 60}")
    one = last(paths, "heron").sessions[0]
    assert one.snippet.startswith("…")
    assert one.snippet.endswith("…")
    assert [one.snippet[start:end] for start, end in one.spans] == ["Heron"]


@pytest.mark.parametrize("words", ["übung", "漢字", 'say "hi"', "a\\b", "[/]", "tab there"])
def test_words_that_a_log_writes_otherwise_are_found_as_well(words: str) -> None:
    paths = resolve_paths()
    write_session(paths, 1, 'An Übung with 漢字, say "hi" to a\\b and [/], a tab\tthere')
    assert len(last(paths, words).sessions) == 1


def test_a_damaged_log_is_listed_with_its_problem_and_none_is_a_fault() -> None:
    paths = resolve_paths()
    write_session(paths, 1, "fine")
    (paths.sessions / f"{2:032x}.jsonl").write_bytes(b"\xff\x00 no log")
    (paths.sessions / f"{3:032x}.jsonl").symlink_to(paths.sessions / f"{1:032x}.jsonl")
    problems = {each.info.id: each.info.problem for each in last(paths).sessions}
    assert problems[f"{1:032x}"] == ""
    assert problems[f"{2:032x}"]
    assert [each.info.title for each in last(paths, "fine").sessions] == ["fine"]


def test_without_any_session_there_is_one_empty_piece(tmp_path: Path) -> None:
    assert list(pieces(resolve_paths(), "")) == [Found((), 0, 0)]


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=29), "29 d ago"),
        (timedelta(days=30), "2026-10-31"),
    ],
)
def test_an_age_is_said_in_the_unit_that_fits(gone: timedelta, said: str) -> None:
    assert age(NOW - gone, NOW) == said


def test_facts_say_one_turn_and_keep_the_end_of_a_long_path() -> None:
    paths = resolve_paths()
    write_session(paths, 1, "one", cwd="/a/very/long/path/to/some/project/study")
    write_session(paths, 2, "one", "two")
    by_id = {each.info.id: facts(each.info, NOW) for each in last(paths).sessions}
    assert "1 turn ·" in by_id[f"{1:032x}"]
    assert by_id[f"{1:032x}"].endswith("· …to/some/project/study") or "…" in by_id[f"{1:032x}"]
    assert "2 turns ·" in by_id[f"{2:032x}"]


def test_only_the_second_press_on_the_same_session_deletes() -> None:
    doom = Doom()
    assert [doom.press("a"), doom.press("a")] == [False, True]
    assert [doom.press("a"), doom.press("b"), doom.press("b")] == [False, False, True]
    assert doom.press("a") is False
    assert doom.forget() is True
    assert doom.forget() is False
    assert doom.press("a") is False


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=4).map(str.casefold), max_size=4))
def test_marked_places_are_in_order_inside_and_apart(text: str, words: list[str]) -> None:
    at = 0
    for start, end in spans_of(text, words):
        assert at <= start < end <= len(text)
        assert text.lower()[start:end] in words
        at = end
