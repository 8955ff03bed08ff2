"""The circuit breaker: a storm of one text is put away, and nothing else ever is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.team.consolidate_plan import tripped
from support.consolidation import (
    add_notes,
    archived,
    consolidate,
    entries,
    inbox,
    rows,
    settings,
    world,
)
from support.team import USER


@pytest.mark.parametrize(
    ("same", "others", "trips"),
    [
        (4, 1, False),
        (5, 1, True),
        (9, 1, True),
        (9, 2, True),
        (7, 0, True),
        (1, 0, False),
        (0, 0, False),
        (2, 0, True),
    ],
)
def test_the_breaker_trips_where_more_than_80_percent_are_the_same(
    same: int, others: int, trips: bool
) -> None:
    contents = ["again"] * same + [f"other {number}" for number in range(others)]
    assert tripped(contents) is trips


def test_the_breaker_takes_a_missing_text_for_empty_and_the_length_for_a_difference() -> None:
    assert tripped([None, "", "", "", "", "real"])
    start = "x" * 200
    assert not tripped([start + "y" * number for number in range(9)])
    assert tripped([start + "yz", start + "zy", start + "xx"])


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=40))
def test_the_breaker_is_exactly_a_count(contents: list[str]) -> None:
    assert tripped(contents) is (max(map(contents.count, contents)) * 10 > 8 * len(contents))


def test_a_tripped_breaker_archives_the_whole_batch_and_writes_nothing_else(tmp_path: Path) -> None:
    made = world(tmp_path, notes=1)
    for number in range(6):
        made.put(f"ripley-storm-{number}.md", "# Storm\n\n- **Key**: the same thing always happens here")
    preview = made.team.consolidation.preview()
    assert preview.breaker
    assert preview.digest == ""
    outcome = made.team.consolidation.apply(preview, USER)
    assert outcome.breaker
    assert inbox(made.surfaces) == []
    assert len(archived(made)) == 7
    assert all(name.startswith("2026-11-30-") for name in archived(made))
    assert not (made.directory / "notes.md").exists()
    assert not (made.directory / "knowledge").exists()
    assert rows(made.surfaces) == []
    add_notes(made.surfaces, 5)
    consolidate(made.surfaces)
    assert len(entries(made)) == 5


def test_one_note_alone_is_consolidated_and_not_thrown_away(tmp_path: Path) -> None:
    made = world(tmp_path, notes=1, using=settings(threshold=1))
    consolidate(made.surfaces)
    assert len(entries(made)) == 1


def test_notes_that_the_engine_named_apart_are_still_the_same_to_the_breaker(tmp_path: Path) -> None:
    made = world(tmp_path, notes=0)
    for _ in range(6):
        made.note("Retrieval fails", "The index is locked.")
    assert made.team.consolidation.preview().breaker
