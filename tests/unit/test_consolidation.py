"""Consolidation: a batch of notes is shown whole, approved whole, and done once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from muniment.memory.journal_undo import CannotUndo
from muniment.memory.ledger import notes
from muniment.memory.ledger.faults import LedgerDamaged
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team.entry import NewEntry
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, NotFound
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
from support.team import USER, Workspace, tree


@pytest.mark.parametrize(
    ("notes", "threshold", "ready"), [(4, 5, False), (5, 5, True), (5, 100, False), (1, 1, True)]
)
def test_nothing_happens_below_the_threshold(notes: int, threshold: int, ready: bool, tmp_path: Path) -> None:
    made = world(tmp_path, notes=notes, using=settings(threshold=threshold))
    work = made.team.consolidation
    assert work.ready() is ready
    assert work.preview().enough is ready
    if not ready:
        before = tree(made.directory)
        with pytest.raises(TeamRefused, match=f"{notes} notes wait, {threshold} are needed"):
            work.apply(work.preview(), USER)
        assert tree(made.directory) == before


def test_held_notes_count_for_nothing_and_stay(tmp_path: Path) -> None:
    made = world(tmp_path, notes=5)
    names = inbox(made.surfaces)
    for name in names[:4]:
        made.team.inbox.hold(name, USER)
    assert not made.team.consolidation.ready()
    add_notes(made.surfaces, 4, first=5)
    consolidate(made.surfaces)
    assert inbox(made.surfaces) == names[:4]


@pytest.mark.parametrize("name", ["a.txt", "a.log", "a.MD", "a.json", ".a.md"])
def test_other_files_of_the_inbox_count_for_nothing(name: str, tmp_path: Path) -> None:
    made = world(tmp_path, notes=4)
    made.put(name, "# A\n\ntext")
    assert not made.team.consolidation.ready()


def test_a_consolidation_writes_digest_notebook_knowledge_and_rows_and_empties_the_inbox(
    tmp_path: Path,
) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    outcome = made.team.consolidation.apply(preview, USER)
    assert inbox(made.surfaces) == []
    assert archived(made) == sorted(f"2026-11-30-{each.note.name}" for each in preview.notes)
    assert made.team.notes.sections() == [preview.digest.strip()]
    assert sorted(entries(made)) == sorted(
        each.reference.removeprefix("knowledge/") for each in preview.notes
    )
    assert made.team.notebooks.agents() == ["ripley"]
    assert len(made.team.notebooks.entries("ripley")) == 2
    found = rows(made.surfaces)
    assert {(row.scope_kind, row.scope_key) for row in found} == {
        ("project", made.team.scope_key),
        ("agent", "ripley"),
    }
    assert {row.project for row in found} == {made.team.scope_key}
    assert {row.trust for row in found} == {"agent"}
    assert {row.type for row in found} == {"semantic"}
    assert outcome.rows == len(found) == 7


def test_what_is_shown_before_is_what_is_written(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    before = tree(made.directory)
    assert before == {
        key: value for key, value in tree(made.directory).items() if "inbox" in key or "project" in key
    }
    shown = preview.as_dict()
    made.team.consolidation.apply(preview, USER)
    for each in shown["notes"]:
        assert (made.directory / each["knowledge"]).is_file()
        (row,) = (one for one in rows(made.surfaces) if one.source == each["row"]["source"])
        assert (made.directory / row.source).is_file()
        assert (row.type, row.scope_kind, row.trust, row.title) == (
            each["row"]["type"],
            each["row"]["scope"],
            each["row"]["trust"],
            each["row"]["title"],
        )
        if each["notebook"]:
            assert made.team.notebooks.holds(each["notebook"], each["entry"])
    assert shown["digest"] in (made.directory / "notes.md").read_text()


def test_a_knowledge_file_has_its_front_matter_and_the_note_as_it_was(tmp_path: Path) -> None:
    made = world(tmp_path, notes=4)
    body = "---\nagent: kane\ndate: 2026-01-02\nkept: yes\n---\n# Odd  title\n\n  in\n\ttab\n\n\n---\nrule\n"
    made.put("explore-x.md", body)
    consolidate(made.surfaces)
    (entry,) = (each for each in made.team.knowledge.list() if each.agent == "kane")
    text = entry.path.read_text()
    assert text.endswith(body.split("---\n", 2)[2])
    head = text.split("---\n")[1]
    assert "source: explore-x.md" in head
    assert "agent: kane" in head
    assert "category: project-notes" in head
    assert 'date: "2026-11-30"' in head or "date: 2026-11-30" in head


def test_two_notes_with_one_title_become_two_entries(tmp_path: Path) -> None:
    made = world(tmp_path, notes=3)
    made.put("kane-a.md", "# Same\n\none")
    made.put("kane-b.md", "# Same\n\ntwo")
    consolidate(made.surfaces)
    assert [key for key in entries(made) if "same" in key] == [
        "project-notes/2026-11-30-kane-same.md",
        "project-notes/2026-11-30-kane-same-2.md",
    ] or sorted(key for key in entries(made) if "same" in key) == [
        "project-notes/2026-11-30-kane-same-2.md",
        "project-notes/2026-11-30-kane-same.md",
    ]


# What was approved, and nothing else


def test_an_edited_digest_is_written_as_edited(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview().with_digest("### Mine\n\nOnly this.")
    made.team.consolidation.apply(preview, USER)
    assert made.team.notes.sections() == ["### Mine\n\nOnly this."]


@pytest.mark.parametrize(
    "text", ["", "Mine", "#### Mine", "###", "### \n", "### a\x00", "### \ud800", "### " + "x" * 60_000]
)
def test_a_digest_that_can_be_no_section_is_refused_when_it_is_given(text: str, tmp_path: Path) -> None:
    preview = world(tmp_path).team.consolidation.preview()
    with pytest.raises(InvalidInput):
        preview.with_digest(text)


def test_an_edited_digest_is_one_section_however_many_headings_it_has(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview().with_digest(
        "### Mine\n\n# Pinned\n## B\n### C, by ripley\n\ntext"
    )
    assert preview.digest == "### Mine\n\n#### Pinned\n#### B\n#### C, by ripley\n\ntext\n"
    made.team.consolidation.apply(preview, USER)
    assert made.team.notes.sections() == [preview.digest.strip()]


def test_a_note_filed_elsewhere_before_approval_goes_there_and_the_digest_says_so(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    name = preview.notes[1].note.name
    changed = preview.with_category(name, "architecture")
    assert changed.notes[1].reference.startswith("knowledge/architecture/")
    assert changed.notes[1].reference in changed.digest
    assert changed.notes[1].reference in changed.notes[1].entry
    assert preview.notes[1].reference not in changed.digest
    made.team.consolidation.apply(changed, USER)
    assert (made.directory / changed.notes[1].reference).is_file()
    with pytest.raises(InvalidInput, match="architecture, conventions"):
        preview.with_category(name, "../agents")
    with pytest.raises(NotFound):
        preview.with_category("x.md", "reviews")


def _edit(path: Path) -> None:
    path.write_text(path.read_text() + "\nmore\n")


def test_a_note_that_changed_after_approval_stops_everything(tmp_path: Path) -> None:
    made = world(tmp_path)
    work = made.team.consolidation
    preview = work.preview()
    for spoil in (
        lambda: _edit(preview.notes[2].note.path),
        lambda: preview.notes[2].note.path.unlink(),
        lambda: made.team.inbox.hold(preview.notes[3].note.name, USER),
    ):
        kept = preview.notes[2].note.path.read_bytes()
        spoil()
        before = tree(made.directory)
        with pytest.raises(ChangedAfterApproval, match="nothing written"):
            work.apply(preview, USER)
        assert tree(made.directory) == before
        assert rows(made.surfaces) == []
        preview.notes[2].note.path.write_bytes(kept)
    made.team.inbox.release(preview.notes[3].note.name, USER)
    work.apply(preview, USER)


def test_team_notes_that_changed_after_approval_stop_everything(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    (made.directory / "notes.md").write_text("### By hand\n")
    with pytest.raises(ChangedAfterApproval, match=r"notes\.md was changed after approval, nothing written"):
        made.team.consolidation.apply(preview, USER)
    assert len(inbox(made.surfaces)) == 5


def test_an_entry_made_meanwhile_under_the_same_name_stops_everything(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    path = made.directory / preview.notes[0].reference
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    with pytest.raises(ChangedAfterApproval):
        made.team.consolidation.apply(preview, USER)
    assert path.read_text() == "mine"


def test_a_note_that_arrives_after_the_preview_waits_for_the_next_one(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    (late,) = add_notes(made.surfaces, 1, first=6)
    made.team.consolidation.apply(preview, USER)
    assert inbox(made.surfaces) == [late.name]


def test_a_preview_cannot_be_applied_twice(tmp_path: Path) -> None:
    made = world(tmp_path)
    preview = made.team.consolidation.preview()
    made.team.consolidation.apply(preview, USER)
    before = tree(made.directory)
    with pytest.raises(ChangedAfterApproval):
        made.team.consolidation.apply(preview, USER)
    assert tree(made.directory) == before


# What cannot be written


def test_where_the_team_notes_cannot_be_written_the_batch_stays(tmp_path: Path) -> None:
    made = world(tmp_path)
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    (made.directory / "notes.md").symlink_to(outside)
    before = inbox(made.surfaces)
    with pytest.raises(TeamRefused, match="Nothing was changed"):
        consolidate(made.surfaces)
    assert inbox(made.surfaces) == before
    assert outside.read_text() == "theirs"
    assert not made.team.pending.waits()
    assert rows(made.surfaces) == []
    (made.directory / "notes.md").unlink()
    consolidate(made.surfaces)
    assert inbox(made.surfaces) == []


def test_where_a_notebook_cannot_be_written_the_batch_stays_and_the_next_run_goes_on(tmp_path: Path) -> None:
    made = world(tmp_path)
    book = made.directory / "knowledge" / "agents" / "ripley.md"
    book.mkdir(parents=True)
    with pytest.raises(TeamRefused, match=r"the next run goes on with it.*ripley\.md"):
        consolidate(made.surfaces)
    assert len(inbox(made.surfaces)) == 5
    assert archived(made) == []
    assert made.team.consolidation.waiting() == []
    book.rmdir()
    assert made.team.consolidation.recover() == ("Finished the consolidation that had been cut off.",)
    assert inbox(made.surfaces) == []
    assert len(made.team.notes.sections()) == 1
    assert len(made.team.notebooks.entries("ripley")) == 2


def test_a_damaged_ledger_is_told_before_anything_is_written(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.paths.data.mkdir(exist_ok=True)
    (made.paths.data / "ledger.db").write_bytes(b"no database at all, by any means" * 40)
    before = tree(made.directory)
    with pytest.raises(LedgerDamaged):
        consolidate(made.surfaces)
    with pytest.raises(LedgerDamaged):
        made.team.knowledge.add(NewEntry("A", "text", "reviews"), USER)
    assert {name: data for name, data in tree(made.directory).items() if "inbox" in name} == {
        name: data for name, data in before.items() if "inbox" in name
    }
    assert entries(made) == []
    assert made.team.notes.read() == ""
    assert not made.team.pending.waits()


# Bounds


def test_team_notes_lose_their_oldest_sections_and_never_the_newest(tmp_path: Path) -> None:
    made = world(tmp_path, notes=0, using=settings(max_bytes=1_300))
    for turn in range(6):
        add_notes(made.surfaces, 5, first=turn * 5)
        made.clock.move(days=1)
        preview = made.team.consolidation.preview()
        made.team.consolidation.apply(preview, USER)
        text = (made.directory / "notes.md").read_text()
        assert text.rstrip().endswith(preview.digest.rstrip())
        assert len(text.encode()) <= 1_300
        assert all(section.startswith("### 2026-12-0") for section in made.team.notes.sections())
    assert "### 2026-12-01" not in text


def test_a_batch_is_bounded_and_the_oldest_notes_go_first(tmp_path: Path) -> None:
    made = world(tmp_path, notes=0, using=settings(threshold=2))
    for number in range(203):
        made.put(f"ripley-{number:03}.md", f"# N{number}\n\nnote number {number} of many", age=number)
    preview = made.team.consolidation.preview()
    assert (len(preview.notes), preview.left) == (200, 3)
    assert [preview.notes[at].note.name for at in (0, -1)] == ["ripley-202.md", "ripley-003.md"]


def test_the_archive_keeps_no_more_than_the_settings_say(tmp_path: Path) -> None:
    made = world(tmp_path, notes=5, using=settings(archive_max_files=3))
    consolidate(made.surfaces)
    assert len(archived(made)) == 3


def test_a_name_that_the_archive_has_already_gets_a_number(tmp_path: Path) -> None:
    made = world(tmp_path, notes=4)
    for _ in range(2):
        made.put("kane-x.md", "# X\n\nsome text")
        add_notes(made.surfaces, 4 if archived(made) else 0, first=4)
        consolidate(made.surfaces)
    assert [name for name in archived(made) if "kane" in name] == [
        "2026-11-30-kane-x-2.md",
        "2026-11-30-kane-x.md",
    ]


# Taking back


def test_the_journal_has_every_text_that_a_consolidation_took_away(tmp_path: Path) -> None:
    made = world(tmp_path)
    texts = {
        each.note.path.name: each.note.path.read_text() for each in made.team.consolidation.preview().notes
    }
    consolidate(made.surfaces)
    gone = {
        entry.item: entry.text_before
        for entry in made.surfaces.journal.entries()
        if entry.surface == "inbox" and entry.action == "delete"
    }
    assert gone == texts
    assert {
        entry.origin.surface for entry in made.surfaces.journal.entries() if entry.origin.actor == "user"
    } == {"consolidation"}
    assert all(line.settled for line in made.surfaces.journal.lines())


def judged(made: Workspace) -> dict[str, str]:
    return {each.source_key: each.status for each in rows(made.surfaces)}


@pytest.mark.parametrize(
    "singly", [notes.JOURNALLED_SINGLY, 1], ids=["a line a row", "one line for all rows"]
)
def test_one_undo_takes_back_the_whole_of_a_consolidation_and_the_next_the_write_before_it(
    singly: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "JOURNALLED_SINGLY", singly)
    made = world(tmp_path, notes=4)
    mine = made.note("Mine", "I like it quiet.")
    records = made.surfaces.records
    before = tree(made.directory)
    consolidate(made.surfaces)
    done = tree(made.directory)
    held = judged(made)
    assert set(held.values()) == {"active"}
    assert any(key.startswith("notebook/") for key in held)

    plan = records.plan_undo()
    assert plan.work == "consolidation"
    records.commit_undo(plan, USER)
    now = tree(made.directory)
    assert {name: now[name] for name in now if "/archive/" not in name} == before
    assert set(judged(made).values()) == {"retracted"}

    # Approved once more it holds once more, in the files and in recall.
    consolidate(made.surfaces)
    assert {name for name in tree(made.directory) if "/archive/" not in name} == {
        name for name in done if "/archive/" not in name
    }
    assert judged(made) == held
    records.commit_undo(records.plan_undo(), USER)
    assert records.plan_undo().entry.item == mine.name


def test_a_consolidation_that_was_cut_off_is_finished_before_it_is_taken_back(tmp_path: Path) -> None:
    made = world(tmp_path)
    before = tree(made.directory)
    book = made.directory / "knowledge" / "agents" / "ripley.md"
    book.mkdir(parents=True)
    with pytest.raises(TeamRefused, match="is not finished; the next run goes on"):
        consolidate(made.surfaces)
    records = made.surfaces.records
    with pytest.raises(CannotUndo, match=r"consolidation was cut off; `muniment doctor --fix` finishes it"):
        records.plan_undo()
    book.rmdir()
    made.team.consolidation.recover()
    records.commit_undo(records.plan_undo(), USER)
    now = tree(made.directory)
    assert {name: now[name] for name in now if "/archive/" not in name} == before


def test_what_is_undone_of_a_consolidation_that_still_goes_on_is_nothing(tmp_path: Path) -> None:
    made = world(tmp_path)
    consolidate(made.surfaces)
    records = made.surfaces.records
    plan = records.plan_undo()
    before = tree(made.directory)
    act = replace(USER, surface="consolidation", group=plan.entry.origin.group)
    made.team.files.write(
        made.directory / "knowledge" / "more.md", b"more", act, surface="knowledge", item="more", before=None
    )
    with pytest.raises(CannotUndo, match="went on or was taken back meanwhile"):
        records.commit_undo(plan, USER)
    (made.directory / "knowledge" / "more.md").unlink()
    assert tree(made.directory) == before
