"""Pinned text: cut in UTF-16 units, entries by title, written by the user alone, never through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team.pinned import MAX_UNITS, Level, PinnedEntry, cut, parse, units
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, NotFound
from support.session import full_disk
from support.team import AGENT, USER, Workspace, tree


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def write(place: Workspace, text: str) -> Path:
    path = place.directory / "pinned.md"
    path.write_text(text, encoding="utf-8")
    return path


def pin(place: Workspace, title: str, content: str = "Text.", level: Level = "info") -> None:
    pinned = place.team.pinned
    pinned.commit(pinned.plan_add(title, content, level), USER)


def test_4096_units_are_whole_and_4097_are_cut_with_a_notice(place: Workspace) -> None:
    write(place, "a" * MAX_UNITS)
    assert place.team.pinned.read().text == "a" * MAX_UNITS
    write(place, "a" * (MAX_UNITS + 1))
    read = place.team.pinned.read()
    assert read.cut
    assert read.units == MAX_UNITS + 1
    assert read.text.startswith("a" * MAX_UNITS + "\n[cut here")


def test_a_character_of_two_units_across_the_cut_is_left_out_whole(place: Workspace) -> None:
    write(place, "a" * (MAX_UNITS - 1) + "\U0001f600 and more")
    assert place.team.pinned.read().text.startswith("a" * (MAX_UNITS - 1) + "\n[cut here")
    write(place, "a" * (MAX_UNITS - 2) + "\U0001f600")
    assert place.team.pinned.read().text == "a" * (MAX_UNITS - 2) + "\U0001f600"


@given(st.text(alphabet="aé\U0001f600\n ", max_size=40), st.integers(0, 30))
def test_a_cut_text_is_a_beginning_of_at_most_so_many_units(text: str, limit: int) -> None:
    shown = cut(text, limit)
    if units(text) <= limit:
        assert shown == text
    else:
        kept = shown.rpartition("\n[cut here")[0]
        assert text.startswith(kept)
        assert limit - 1 <= units(kept) <= limit


def test_nothing_parses_to_no_entry_and_a_plain_heading_to_information() -> None:
    assert parse("") == []
    assert parse("### Rule\n\nText.\n") == [PinnedEntry("Rule", "Text.")]


@pytest.mark.parametrize(("dot", "level"), [("\U0001f534", "critical"), ("\U0001f7e1", "warning")])
def test_a_dot_before_the_title_is_its_level(dot: str, level: str) -> None:
    (entry,) = parse(f"### {dot} Rule\n\nText.\n")
    assert (entry.title, entry.level) == ("Rule", level)


def test_the_signature_is_no_content_and_gives_the_date() -> None:
    (entry,) = parse("### Rule\n\nOne.\n\nTwo.\n\n_Pinned by user on 2026-11-30_\n")
    assert entry == PinnedEntry("Rule", "One.\n\nTwo.", "info", "2026-11-30")


@pytest.mark.parametrize("line", ["_Pinned by human on 2026-11-30_", "*pinned by ada on 2026-11-30*  "])
def test_a_signature_in_other_words_is_no_content_either(line: str) -> None:
    assert parse(f"### Rule\n\nOne.\n\n{line}\n") == [PinnedEntry("Rule", "One.", date="2026-11-30")]


@pytest.mark.parametrize(
    "line", ["_Pinned by ada on 2026-11-30*", "Pinned by ada on 2026-11-30", "_Pinned by ada_"]
)
def test_a_line_that_only_resembles_a_signature_is_content(line: str) -> None:
    assert parse(f"### Rule\n\nOne.\n{line}\n") == [PinnedEntry("Rule", f"One.\n{line}")]


def test_two_entries_are_two_and_a_heading_without_an_empty_line_is_none() -> None:
    text = "# Pinned\n\n### One\n\na\n\n### Two\n\nb\n"
    assert [(each.title, each.content) for each in parse(text)] == [("One", "a"), ("Two", "b")]
    assert parse("### One\ntext\n") == []


def test_what_is_pinned_is_read_back_and_marked_with_level_and_date(place: Workspace) -> None:
    pin(place, "Release  rule", "First line.\n\nSecond {{agent}} line.", "critical")
    pin(place, "Other")
    assert place.team.pinned.entries() == [
        PinnedEntry("Release rule", "First line.\n\nSecond {{agent}} line.", "critical", "2026-11-30"),
        PinnedEntry("Other", "Text.", "info", "2026-11-30"),
    ]
    assert (place.directory / "pinned.md").stat().st_mode & 0o777 == 0o600


def test_an_entry_is_removed_by_its_title_and_only_that_one(place: Workspace) -> None:
    for title in ("a.*(b)", "aXX(b)", "last"):
        pin(place, title)
    pinned = place.team.pinned
    pinned.commit(pinned.plan_remove("A.*(B)"), USER)
    assert [each.title for each in pinned.entries()] == ["aXX(b)", "last"]


def test_what_is_not_pinned_cannot_be_removed(place: Workspace) -> None:
    with pytest.raises(NotFound, match="Nothing with this title"):
        place.team.pinned.plan_remove("x")


def test_without_entries_the_file_is_not_carried(place: Workspace) -> None:
    pin(place, "Rule")
    pinned = place.team.pinned
    pinned.commit(pinned.plan_remove("rule"), USER)
    assert pinned.read().text == ""


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("", "x"),
        ("x", "  \n"),
        ("x", "a\n### Forged\n\nb"),
        ("x", "a\n_Pinned by user on 2026-01-01_\nb"),
        ("\U0001f534 x", "a"),
        ("x", "a\x00b"),
        ("x", "a\ud800b"),
    ],
)
def test_what_would_be_read_back_otherwise_is_refused(place: Workspace, title: str, content: str) -> None:
    with pytest.raises(InvalidInput):
        place.team.pinned.plan_add(title, content)
    assert not (place.directory / "pinned.md").exists()


def test_a_title_that_is_pinned_already_is_refused(place: Workspace) -> None:
    pin(place, "Rule")
    with pytest.raises(InvalidInput, match="already"):
        place.team.pinned.plan_add("RULE", "other")


@pytest.mark.parametrize("origin", [AGENT, Origin("engine"), Origin("import")])
def test_nobody_but_the_user_pins(place: Workspace, origin: Origin) -> None:
    plan = place.team.pinned.plan_add("Rule", "Text.")
    with pytest.raises(TeamRefused, match="only the user"):
        place.team.pinned.commit(plan, origin)
    assert not (place.directory / "pinned.md").exists()


def test_a_file_that_changed_since_it_was_seen_is_left_as_it_is(place: Workspace) -> None:
    plan = place.team.pinned.plan_add("Rule", "Text.")
    path = write(place, "by hand\n")
    with pytest.raises(ChangedAfterApproval, match="changed"):
        place.team.pinned.commit(plan, USER)
    assert path.read_text() == "by hand\n"


def test_a_failed_write_leaves_the_old_text_and_no_other_file(place: Workspace) -> None:
    pin(place, "Rule")
    before = tree(place.directory)
    plan = place.team.pinned.plan_add("Other", "x" * 100_000)
    with full_disk(50_000), pytest.raises(TeamRefused, match="was not written"):
        place.team.pinned.commit(plan, USER)
    assert tree(place.directory) == before


def test_a_linked_special_or_foreign_file_is_neither_read_nor_written(
    place: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret text")
    path = place.directory / "pinned.md"
    for make, reason in (
        (lambda: path.symlink_to(outside), "symbolic link"),
        (lambda: path.hardlink_to(outside), "several hard links"),
        (lambda: os.mkfifo(path), "not a regular file"),
        (lambda: path.write_bytes(b"\xff\xfe"), "not UTF-8"),
    ):
        make()
        read = place.team.pinned.read()
        assert read.text == ""
        assert read.problem is not None
        assert reason in read.problem.reason
        with pytest.raises(TeamRefused, match="left alone"):
            place.team.pinned.plan_add("Rule", "Text.")
        path.unlink()
    assert outside.read_text() == "secret text"


def test_a_write_can_be_taken_back_and_brought_back(place: Workspace) -> None:
    pin(place, "Rule", "Old text.")
    records = place.surfaces.records
    records.commit_undo(records.plan_undo(), USER)
    assert not (place.directory / "pinned.md").exists()


def test_without_a_project_the_text_stands_in_the_data_directory(place: Workspace, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    team = place.at(elsewhere).team
    team.pinned.commit(team.pinned.plan_add("Rule", "Text."), USER)
    assert (place.paths.data / "pinned.md").exists()
    assert team.scope == "global"
    assert place.team.pinned.read().text == ""


def test_an_untrusted_directory_here_gets_no_write_and_nothing_is_written_elsewhere(
    place: Workspace, tmp_path: Path
) -> None:
    here = tmp_path / "linked"
    here.mkdir()
    (here / ".muniment").symlink_to(place.directory)
    team = place.at(here).team
    plan = team.pinned.plan_add("Rule", "Text.")
    with pytest.raises(TeamRefused, match="symbolic link"):
        team.pinned.commit(plan, USER)
    assert not (place.directory / "pinned.md").exists()
    assert not (place.paths.data / "pinned.md").exists()
