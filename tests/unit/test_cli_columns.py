"""The shell's lists stand in columns, however long a name is, and what is missing is said with a way on."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Inside

LONG = "a-name-that-is-longer-than-the-column-was-ever-made"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir()
    return directory


def column(text: str, *words: str) -> set[int]:
    """Return where in its line each word stands."""
    places = {line.find(word) for word in words for line in text.splitlines() if word in line}
    assert places
    return places


def test_records_counts_and_history_stand_in_columns(cli: Inside, project: Path) -> None:
    cli("memory", "store", "--id", LONG, "--title", "First of all", "--content", "One.")
    for scope, title in (("project", "Second of all"), ("global", "Third of all")):
        assert cli("memory", "store", "--scope", scope, "--title", title, "--content", "Two.").code == 0
    assert len(column(cli("memory", "list").out, "First of all", "Second of all", "Third of all")) == 1
    assert len(column(cli("memory", "stats").out, " records  ", " record   ")) == 1
    assert len(column(cli("memory", "history").out, "  create ")) == 1


def test_notes_stand_in_columns_and_are_found_by_name_and_by_title(cli: Inside, project: Path) -> None:
    for title in ("Drift", "A much longer title than that", "Twice", "Twice"):
        assert cli("note", "add", "--title", title, "--body", "Text.").code == 0
    assert len(column(cli("note", "list").out, "user: ")) == 1
    assert cli("note", "show", "a MUCH longer  title than that").out.count("Text.") == 1
    assert cli("note", "hold", "drift").code == 0
    twice = cli("note", "show", "Twice")
    assert twice.code == 1
    assert "2 notes are called 'Twice'; name one of them: user-twice-" in twice.err


@pytest.mark.parametrize(
    ("words", "way_on"),
    [
        (("note", "show", "nope"), "muniment note list"),
        (("memory", "show", "nope"), "muniment memory list"),
        (("memory", "delete", "nope", "--yes"), "muniment memory list"),
        (("user", "show", "nope"), "muniment user list"),
        (("pin", "remove", "nope"), "muniment pin show"),
        (("session", "delete", "0" * 32, "--yes"), "muniment session list"),
    ],
)
def test_what_is_missing_is_said_with_the_command_that_lists_what_there_is(
    cli: Inside, project: Path, words: tuple[str, ...], way_on: str
) -> None:
    done = cli(*words)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert way_on in done.err


def test_a_word_that_an_argument_cannot_be_is_answered_with_those_it_can(cli: Inside, project: Path) -> None:
    done = cli("session", "rate", "0" * 32, "good")
    assert done.code == 2
    assert "RATING cannot be 'good': it is one of up, down." in done.err


def test_the_context_counts_one_item_as_one(cli: Inside, project: Path) -> None:
    assert cli("pin", "add", "--title", "Rounding", "--content", "Last.").code == 0
    out = cli("context").out
    assert "1 item " in out
    assert "1 items" not in out
