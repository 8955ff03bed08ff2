"""The knowledge base: entries written and promoted by hand, with rows that are trusted as yours."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team.entry import EntryFault, NewEntry, decode, encode, fields_of, stem_for
from muniment.memory.team.knowledge import Added
from muniment.memory.team.rows import paths_in, rebuild_rows
from muniment.safety.errors import InvalidInput, MunimentError, NotFound
from support.consolidation import inbox, rows
from support.team import USER, Workspace, tree


def add(made: Workspace, title: str = "Locks", content: str = "Take the lock first.", **more: Any) -> Added:
    return made.team.knowledge.add(NewEntry(title, content, **({"category": "conventions"} | more)), USER)


def test_an_entry_by_hand_is_a_file_and_a_row_that_is_trusted_as_yours(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    added = add(made, content="Take the lock in src/memory/store.py first.")
    assert added.entry.path == made.directory / "knowledge/conventions/2026-11-30-user-locks.md"
    assert added.entry.path.read_text().endswith("\n# Locks\n\nTake the lock in src/memory/store.py first.\n")
    (row,) = rows(made.surfaces)
    assert added.row == row
    assert (row.trust, row.type, row.scope_kind, row.scope_key) == (
        "human",
        "semantic",
        "project",
        made.team.scope_key,
    )
    assert (row.title, row.body) == ("Locks", "Take the lock in src/memory/store.py first.")
    assert row.paths == ("src/memory/store.py",)
    assert made.directory / row.source == added.entry.path


def test_only_what_you_say_is_a_procedure_is_one(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    expiry = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    added = add(made, type="procedural", expires_at=expiry)
    (row,) = rows(made.surfaces)
    assert (row.type, row.expires_at) == ("procedural", expiry)
    assert (added.entry.type, added.entry.expires_at) == ("procedural", expiry)
    assert [(each.type, each.trust, each.expires_at) for each in rebuild_rows(made.team)] == [
        ("procedural", "human", expiry)
    ]


def test_without_a_project_the_row_is_global(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    surfaces = made.at(elsewhere)
    surfaces.team.knowledge.add(NewEntry("A", "text", "reviews"), USER)
    (row,) = rows(surfaces)
    assert (row.scope_kind, row.scope_key, row.project) == ("global", None, None)
    assert (made.paths.data / "knowledge/reviews/2026-11-30-user-a.md").is_file()


@pytest.mark.parametrize(
    "word",
    [
        "2026-11-30-user-the-locks",
        "2026-11-30-user-the-locks.md",
        "conventions/2026-11-30-user-the-locks",
        "The Locks: a/b",
        "  the  LOCKS: A/B ",
        "user-the-locks",
        "User-The-Locks.md",
    ],
)
def test_an_entry_is_found_by_its_name_its_title_or_its_name_without_the_date(
    tmp_path: Path, word: str
) -> None:
    made = Workspace(tmp_path)
    add(made, title="The locks: a/b")
    path = made.directory / "knowledge/conventions/2026-11-30-user-the-locks-a-b.md"
    path.rename(path.with_name("2026-11-30-user-the-locks.md"))
    add(made, title="Other")
    assert made.team.knowledge.find(word).title == "The locks: a/b"


def test_a_word_that_means_several_entries_or_none_names_those_near(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    for _ in range(2):
        add(made, title="Locks")
        made.clock.move(days=1)
    add(made, title="Something else")
    with pytest.raises(
        NotFound, match=r"2 entries are called 'locks'; name one of them: conv.*locks.md, conv"
    ):
        made.team.knowledge.find("locks")
    with pytest.raises(NotFound, match=r"near it: conventions/2026-12-02-user-something-else\.md\.$"):
        made.team.knowledge.find("somethin els")
    with pytest.raises(NotFound, match=r"has no entry 'zebra' in [^;]*$"):
        made.team.knowledge.find("zebra")
    with pytest.raises(InvalidInput):
        made.team.knowledge.find("../../x")


def test_a_promoted_note_becomes_your_entry_and_leaves_the_inbox(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    made.put("ripley-review-x.md", "---\nagent: ripley\n---\n# What I saw\n\nA thing.\n")
    added = made.team.knowledge.promote(made.team.inbox.read("ripley-review-x"), USER)
    assert added.entry.key == "reviews/2026-11-30-ripley-what-i-saw.md"
    assert inbox(made.surfaces) == []
    assert (made.directory / "notes/archive/kb-reviews-ripley-review-x.md").is_file()
    (row,) = rows(made.surfaces)
    assert (row.trust, row.type, row.body) == ("human", "semantic", "A thing.")


def test_promoting_a_note_that_changed_since_writes_nothing(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    path = made.put("ripley-x.md", "# X\n\nA thing.\n")
    plan = made.team.knowledge.plan_promote(made.team.inbox.read("ripley-x"))
    path.write_text("# X\n\nAnother thing.\n")
    before = tree(made.directory)
    with pytest.raises(ChangedAfterApproval, match="nothing written"):
        made.team.knowledge.commit(plan, USER)
    assert tree(made.directory) == before
    assert rows(made.surfaces) == []


def test_an_entry_made_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    knowledge = made.team.knowledge
    first, second = (knowledge.plan_add(NewEntry("Locks", f"text {n}", "conventions")) for n in (1, 2))
    knowledge.commit(first, USER)
    with pytest.raises(ChangedAfterApproval):
        knowledge.commit(second, USER)
    assert len(knowledge.list()) == 1


def test_the_same_title_again_is_another_entry_even_in_another_category(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    names = [add(made, category=each).entry.name for each in ("conventions", "conventions", "reviews")]
    assert names == ["2026-11-30-user-locks", "2026-11-30-user-locks-2", "2026-11-30-user-locks-3"]
    assert len(rows(made.surfaces)) == 3


@pytest.mark.parametrize(
    "new",
    [
        NewEntry("", "text", "reviews"),
        NewEntry("A", " \n", "reviews"),
        NewEntry("A\x00", "text", "reviews"),
        NewEntry("A", "\ud800", "reviews"),
        NewEntry("A", "x" * 524_289, "reviews"),
        NewEntry("A" * 1_025, "x", "reviews"),
        NewEntry("A", "x", "nonsense"),
        NewEntry("A", "x", "../reviews"),
        NewEntry("A", "x", "_swept"),
        NewEntry("A", "x", "agents"),
        NewEntry("A", "x", "reviews", type="episodic"),  # type: ignore[arg-type]
    ],
)
def test_what_can_be_no_entry_is_refused_before_anything_is_written(new: NewEntry, tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    with pytest.raises(InvalidInput):
        made.team.knowledge.add(new, USER)
    assert tree(made.directory) == {}


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "reviews/../x", ".x", "a\x00", "a\\b", "/etc/passwd", "a/b/c"]
)
def test_a_path_names_no_entry(name: str, tmp_path: Path) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        Workspace(tmp_path).team.knowledge.read(name)


def test_an_entry_is_found_by_its_name_with_or_without_category_and_suffix(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    name = add(made).entry.name
    for each in (name, f"{name}.md", f"conventions/{name}", f"conventions/{name}.md"):
        assert made.team.knowledge.read(each).title == "Locks"
    with pytest.raises(NotFound):
        made.team.knowledge.read(f"reviews/{name}")


def test_the_list_has_held_entries_first_and_then_the_newest(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    for title in ("One", "Two", "Three"):
        add(made, title)
        made.clock.move(days=1)
    made.team.knowledge.hold("2026-11-30-user-one", USER)
    assert [each.title for each in made.team.knowledge.list()] == ["One", "Three", "Two"]
    assert made.team.knowledge.list()[0].held
    made.team.knowledge.release("2026-11-30-user-one", USER)
    assert [each.title for each in made.team.knowledge.list()] == ["Three", "Two", "One"]
    assert [each.title for each in made.team.knowledge.list("reviews")] == []


def test_files_from_elsewhere_are_entries_and_what_is_none_is_said(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    place = made.directory / "knowledge" / "runbooks"
    place.mkdir(parents=True)
    (place / "deploy.md").write_text("# Deploy\n\nPush the button.\n")
    (place / "bad.md").write_bytes(b"\xff\xfe")
    (place / "link.md").symlink_to(tmp_path / "secret")
    (place / "other.txt").write_text("no")
    (made.directory / "knowledge" / "linked").symlink_to(place)
    entries, problems = made.team.knowledge.scan()
    assert [(each.key, each.title, each.agent, each.type) for each in entries] == [
        ("runbooks/deploy.md", "Deploy", "unknown", "semantic")
    ]
    assert [(each.path.name, each.reason) for each in problems] == [
        ("bad.md", "is not UTF-8 text"),
        ("link.md", "is a symbolic link"),
    ]


def test_a_knowledge_directory_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (made.directory / "knowledge").mkdir()
    (made.directory / "knowledge" / "conventions").symlink_to(outside)
    with pytest.raises(MunimentError, match="symbolic link"):
        add(made)
    assert list(outside.iterdir()) == []
    assert rows(made.surfaces) == []


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=80)


@given(TEXT.filter(str.strip), TEXT)
def test_an_entry_reads_back_as_it_was_written(title: str, text: str) -> None:
    shown = " ".join(title.split())
    new = NewEntry(shown, text, "reviews", agent="ripley", source="x.md", note="N-1")
    data = encode(fields_of(new, date="2026-11-30", trust="human"), text).encode()
    entry = decode(data, Path("/x/a.md"), category="reviews", mtime=0.0)
    assert (entry.title, entry.agent, entry.date, entry.claimed_trust) == (
        shown,
        "ripley",
        "2026-11-30",
        "human",
    )
    assert entry.text == text.lstrip("\r\n")


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_name_of_a_file_is_safe_whatever_the_title_says(agent: str, title: str) -> None:
    stem = stem_for("2026-11-30", agent, title)
    assert stem.isascii()
    assert stem.replace("-", "").isalnum()
    assert len(stem) <= 160


def test_bytes_that_are_no_text_are_no_entry() -> None:
    for data in (b"\xff", b"a\x00"):
        with pytest.raises(EntryFault):
            decode(data, Path("/x/a.md"), category="reviews", mtime=0.0)


def test_the_paths_that_a_text_names_are_found() -> None:
    assert paths_in("see src/a/b.py, `docs/x.md` and src/a/b.py; not a/b nor http://x.org/a") == (
        "src/a/b.py",
        "docs/x.md",
    )


def test_taking_an_entry_back_takes_its_row_out_of_recall_and_bringing_it_back_brings_both(
    tmp_path: Path,
) -> None:
    made = Workspace(tmp_path)
    entry = add(made).entry
    records = made.surfaces.records
    undo = records.plan_undo()
    done = records.commit_undo(undo, USER)
    assert not entry.path.exists()
    assert [row.status for row in rows(made.surfaces)] == ["retracted"]
    records.commit_undo(records.plan_restore(done.entry), USER)
    assert made.team.knowledge.read(entry.name).title == "Locks"
    assert [(row.status, row.trust) for row in rows(made.surfaces)] == [("active", "human")]
