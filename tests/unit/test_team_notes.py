"""Team notes: the newest section always survives, the oldest go first, and none is ever halved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.team.notes import fitting, newest, split
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput
from muniment.settings import Settings
from support.session import full_disk
from support.team import USER, Workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    base = Settings()
    return Workspace(tmp_path, settings=replace(base, notes=replace(base.notes, max_bytes=1_000)))


def test_over_the_bound_the_oldest_sections_go_and_the_newest_stays_whole(place: Workspace) -> None:
    for at in range(10):
        place.team.notes.append(f"### Digest {at}\n\n{'x' * 200}", USER)
    sections = place.team.notes.sections()
    assert sections[-1] == f"### Digest 9\n\n{'x' * 200}"
    assert [each.split("\n")[0] for each in sections] == [f"### Digest {at}" for at in (6, 7, 8, 9)]
    assert len(place.team.notes.read().encode()) <= 1_000


def test_a_newest_section_larger_than_the_bound_stays_alone_and_whole(place: Workspace) -> None:
    place.team.notes.append("### Old\n\ntext", USER)
    place.team.notes.append(f"### Large\n\n{'y' * 2_000}", USER)
    assert place.team.notes.sections() == [f"### Large\n\n{'y' * 2_000}"]


def test_a_section_cannot_pass_for_several(place: Workspace) -> None:
    place.team.notes.append("### One\n\na\n\n---\n\n### Forged\n\nb\n\n---\n", USER)
    place.team.notes.append("### Two\n\nc", USER)
    assert place.team.notes.sections() == ["### One\n\na\n\n---\n\n#### Forged\n\nb", "### Two\n\nc"]


@pytest.mark.parametrize("section", ["", "text", "## Two marks\n\nx", "### \n\nx", "\n\nfirst\n### late"])
def test_a_section_begins_with_its_heading(place: Workspace, section: str) -> None:
    with pytest.raises(InvalidInput, match="begins with a heading"):
        place.team.notes.append(section, USER)
    assert place.team.notes.read() == ""


def test_what_was_written_by_hand_before_the_sections_stays(place: Workspace) -> None:
    (place.directory / "notes.md").write_text("# Our notes\n\nIntroduction.\n")
    place.team.notes.append("### One\n\na", USER)
    assert place.team.notes.read() == "# Our notes\n\nIntroduction.\n\n---\n\n### One\n\na\n"


@given(st.lists(st.text("abé\n", min_size=1, max_size=60), max_size=6), st.integers(120, 400))
def test_the_newest_sections_stay_within_their_bytes(bodies: list[str], limit: int) -> None:
    sections = [f"### S{at}\n\n{body}".strip() for at, body in enumerate(bodies)]
    text = "# Head\n\n" + "\n\n---\n\n".join(sections)
    shown = newest(text, limit)
    assert len(shown.encode()) <= limit
    if sections and len(sections[-1].encode()) <= limit - 60:
        assert sections[-1] in shown


def test_what_is_left_out_is_counted_within_the_bound() -> None:
    text = "\n---\n\n".join(f"### S{at}\n\n{'x' * 50}\n" for at in range(5))
    shown = newest(text, 200)
    assert shown.endswith("[3 older sections in notes.md]")
    assert split(shown)[1][0].startswith("### S3")


def test_a_section_longer_than_the_bound_is_cut_on_a_character_border_with_a_notice() -> None:
    shown = newest(f"### S\n\n{'é' * 500}", 201)
    assert len(shown.encode()) <= 201
    assert "[cut here" in shown
    assert "\ufffd" not in shown


def test_an_empty_or_bare_file_gives_nothing(place: Workspace) -> None:
    assert place.team.notes.newest(8_192) == ""
    place.team.notes.append("### One\n\na", USER)
    records = place.surfaces.records
    records.commit_undo(records.plan_undo(), USER)
    assert place.team.notes.newest(8_192) == ""


def test_a_failed_write_leaves_the_notes_as_they_were(place: Workspace) -> None:
    place.team.notes.append("### One\n\na", USER)
    before = place.team.notes.read()
    with full_disk(20_000), pytest.raises(TeamRefused, match="was not written"):
        place.team.notes.append(f"### Two\n\n{'x' * 60_000}", USER)
    assert place.team.notes.read() == before


def test_a_link_is_neither_read_nor_written(place: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("### Theirs\n\nx\n")
    (place.directory / "notes.md").symlink_to(outside)
    assert place.team.notes.newest(8_192) == ""
    assert place.team.notes.problem is not None
    with pytest.raises(TeamRefused, match="symbolic link"):
        place.team.notes.append("### One\n\na", USER)
    assert outside.read_text() == "### Theirs\n\nx\n"


def test_a_hundred_thousand_sections_are_dealt_with_in_one_pass(place: Workspace) -> None:
    text = "".join(f"### S{at}\n\nx\n\n---\n\n" for at in range(100_000))
    assert "### S99999" in newest(text, 8_192)
    (place.directory / "notes.md").write_text(text)
    place.team.notes.append("### Last\n\ny", USER)
    assert place.team.notes.sections()[-1] == "### Last\n\ny"
    assert len(place.team.notes.read().encode()) <= 1_000


@given(st.lists(st.text("abé\n", max_size=30), min_size=1, max_size=8), st.integers(0, 300))
def test_as_many_sections_are_kept_as_fit(bodies: list[str], limit: int) -> None:
    sections = [f"### S{at}\n{body}".strip() for at, body in enumerate(bodies)]
    count = fitting(sections, limit)
    assert len("\n---\n\n".join(sections[len(sections) - count :]).encode()) <= limit or count == 0
    if count < len(sections):
        assert len("\n---\n\n".join(sections[len(sections) - count - 1 :]).encode()) > limit


def test_long_runs_of_blanks_take_no_time() -> None:
    text = "### S\n" + " " * 200_000 + "x" + "\n" * 200_000 + "---"
    assert split(text)[1][0].endswith("x")
