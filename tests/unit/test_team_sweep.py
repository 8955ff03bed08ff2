"""The sweep: it proposes, moves only what was approved, and deletes nothing before its time."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team.entry import Entry, NewEntry
from muniment.memory.team.pending import Work
from muniment.memory.team.rows import entry_row, rebuild_rows
from support.consolidation import rows
from support.team import USER, Workspace, tree


def add(made: Workspace, title: str, content: str, category: str = "conventions", **more: Any) -> Entry:
    return made.team.knowledge.add(NewEntry(title, content, category, **more), USER).entry


def proposals(made: Workspace) -> list[tuple[str, str, str | None]]:
    return [(each.kind, each.entry.name, each.target) for each in made.team.sweep.propose()]


def swept(made: Workspace) -> list[Path]:
    return sorted((made.directory / "knowledge" / "_swept").glob("*.md"))


def test_an_empty_and_a_tidy_knowledge_base_need_no_sweep(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    assert made.team.sweep.propose() == ()
    add(made, "A", "a convention")
    assert made.team.sweep.propose() == ()
    assert made.team.sweep.apply((), USER).swept == ()


def test_of_entries_that_say_the_same_the_newest_stays(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    old = add(made, "A", "Take the lock   first.")
    made.clock.move(days=1)
    add(made, "A", "Take the\nlock first.", "reviews")
    assert proposals(made) == [("duplicate", old.name, None)]
    before = old.path.read_text()
    outcome = made.team.sweep.apply(made.team.sweep.propose(), USER)
    assert outcome.swept == (old.name,)
    assert not old.path.exists()
    (kept,) = swept(made)
    assert kept.read_text().endswith(before)
    assert "reason: says the same as reviews/2026-12-01-user-a.md" in kept.read_text()
    assert sorted((row.source, row.status) for row in rows(made.surfaces)) == [
        (f"knowledge/conventions/{old.name}.md", "retracted"),
        ("knowledge/reviews/2026-12-01-user-a.md", "active"),
    ]
    assert proposals(made) == []


def test_an_undo_says_that_it_passes_over_a_sweep_and_takes_back_what_was_before_it(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    add(made, "A", "Take the lock   first.")
    made.clock.move(days=1)
    newer = add(made, "A", "Take the\nlock first.", "reviews")
    assert made.surfaces.records.plan_undo().passed_over == ""
    made.team.sweep.apply(made.team.sweep.propose(), USER)
    plan = made.surfaces.records.plan_undo()
    assert plan.entry.item == newer.name
    assert plan.passed_over.startswith("The sweep that wrote ")
    assert "is newer and stays" in plan.passed_over
    late = made.note("Late", "One more.")
    assert made.surfaces.records.plan_undo().entry.item == late.name
    assert made.surfaces.records.plan_undo().passed_over == ""


def test_an_entry_is_stale_from_its_expiry_on(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made, "A", "soon over", expires_at=datetime(2026, 12, 1, 23, 59, 59, tzinfo=UTC))
    made.clock.move(days=1)
    assert proposals(made) == []
    made.clock.move(days=1)
    assert proposals(made) == [("stale", entry.name, None)]
    made.team.sweep.apply(made.team.sweep.propose(), USER)
    assert [each.key for each in made.team.knowledge.list()] == []
    assert [row.status for row in rows(made.surfaces)] == ["expired"]


def test_an_entry_that_reads_like_another_category_is_filed_there_as_it_is(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made, "A", "How it works: the data flow", "project-notes")
    os.utime(entry.path, (1_000_000_000, 1_000_000_000))
    data = entry.path.read_bytes()
    assert proposals(made) == [("refile", entry.name, "architecture")]
    made.team.sweep.apply(made.team.sweep.propose(), USER)
    moved = made.directory / "knowledge" / "architecture" / entry.path.name
    assert moved.read_bytes() == data
    assert moved.stat().st_mtime == 1_000_000_000
    assert swept(made) == []
    (row,) = rows(made.surfaces)
    assert row.status == "active"
    assert made.directory / row.source == moved  # what is shown can be opened
    assert proposals(made) == []


def test_a_refiled_entry_keeps_its_row_and_what_comes_after_takes_its_place(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made, "A", "How it works: the data flow", "project-notes")
    (before,) = rows(made.surfaces)
    assert before.source == f"knowledge/project-notes/{entry.name}.md"
    made.clock.move(days=1)
    made.team.sweep.apply(made.team.sweep.propose(), USER)
    (after,) = rows(made.surfaces)
    assert after.source == f"knowledge/architecture/{entry.name}.md"
    assert replace(after, source=before.source) == before  # as old, as trusted, under the same key
    moved = made.team.knowledge.read(entry.name)
    newer = entry_row(made.team, replace(moved, text="How it works: no data flow"), "human")
    made.surfaces.ledger.upsert([newer], USER)
    assert sorted((row.source, row.status) for row in rows(made.surfaces)) == [
        (f"knowledge/architecture/{entry.name}.md", "active"),
        (f"knowledge/architecture/{entry.name}.md", "superseded"),
    ]


def test_refiling_that_is_cut_off_before_the_ledger_is_finished_by_the_next_run(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made, "A", "How it works: the data flow", "project-notes")
    item = made.team.sweep.propose()[0]
    steps = tuple(made.team.sweep._file(item, "architecture"))
    made.team.pending._write(Work("sweep", USER, steps))
    with made.team.guard():
        made.team.pending._do(steps[0], USER, [], again=False)
    assert rows(made.surfaces)[0].source == f"knowledge/project-notes/{entry.name}.md"
    assert made.team.pending.recover()
    assert rows(made.surfaces)[0].source == f"knowledge/architecture/{entry.name}.md"


def test_an_entry_moved_by_hand_is_shown_where_it_stands_once_the_rows_are_made_again(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made, "A", "A thing")
    target = made.directory / "knowledge" / "reviews" / entry.path.name
    target.parent.mkdir()
    entry.path.rename(target)
    made.surfaces.ledger.upsert(rebuild_rows(made.team), USER)
    (row,) = rows(made.surfaces)
    assert (row.source, row.status) == (f"knowledge/reviews/{entry.name}.md", "active")


def test_an_entry_that_no_rule_fits_stays_where_you_filed_it(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    add(made, "A preview of the build", "The service has three layers.", "architecture")
    assert proposals(made) == []


def test_held_entries_are_never_proposed_and_stay_before_newer_ones(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    old = add(made, "A", "Take the lock first.", expires_at=datetime(2026, 12, 1, tzinfo=UTC))
    made.team.knowledge.hold(old.name, USER)
    made.clock.move(days=3)
    new = add(made, "A", "Take the lock first.")
    assert proposals(made) == [("duplicate", new.name, None)]


def test_an_entry_that_changed_or_was_held_after_approval_stops_the_sweep(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    old = add(made, "A", "same")
    made.clock.move(days=1)
    add(made, "A", "same")
    items = made.team.sweep.propose()
    for spoil in (
        lambda: old.path.write_text(old.path.read_text() + "more"),
        lambda: made.team.knowledge.hold(old.name, USER),
        lambda: old.path.unlink(),
    ):
        spoil()
        before = tree(made.directory)
        with pytest.raises(ChangedAfterApproval, match="nothing moved"):
            made.team.sweep.apply(items, USER)
        assert tree(made.directory) == before


def test_swept_entries_are_kept_30_days_and_then_removed_with_their_text_in_the_journal(
    tmp_path: Path,
) -> None:
    made = Workspace(tmp_path)
    add(made, "A", "same")
    made.clock.move(days=1)
    add(made, "A", "same")
    made.team.sweep.apply(made.team.sweep.propose(), USER)
    (kept,) = swept(made)
    text = kept.read_text()
    made.clock.move(days=30)
    assert made.team.sweep.apply((), USER).pruned == ()
    made.clock.move(days=1)
    assert made.team.sweep.apply((), USER).pruned == (kept.name,)
    assert swept(made) == []
    assert any(entry.text_before == text for entry in made.surfaces.journal.entries())


def test_every_entry_has_at_most_one_proposal_and_one_sweep_does_all(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    for number in range(3):
        add(made, f"S{number}", "architecture, and stale", expires_at=datetime(2026, 12, 1, tzinfo=UTC))
        add(made, f"D{number}", f"same {number}")
    made.clock.move(days=2)
    for number in range(3):
        add(made, f"D{number}", f"same {number}")
    items = made.team.sweep.propose()
    assert sorted(each.kind for each in items) == ["duplicate"] * 3 + ["stale"] * 3
    outcome = made.team.sweep.apply(items, USER)
    assert len(outcome.swept) == len(swept(made)) == 6
    assert len(made.team.knowledge.list()) == 3
