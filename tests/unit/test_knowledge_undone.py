"""Taking back what was done to a knowledge entry: its ledger row is then as it was, whatever it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.journal_undo import CannotUndo
from muniment.memory.ledger import lifecycle
from muniment.memory.ledger.notes import row_bytes, row_of
from muniment.memory.ledger.row import InvalidRow, Row, checked
from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.entry import Entry, NewEntry
from muniment.memory.team.refusals import TeamRefused
from muniment.memory.team.rows import entry_row
from muniment.paths import resolve_paths
from muniment.safety.errors import NotFound
from muniment.settings import Settings
from support.command import Inside
from support.consolidation import rows
from support.ledger import row
from support.records import START
from support.team import USER, Workspace

HAND = Origin("user", "panel", "s1", decided_by="user")


def add(made: Workspace, content: str = "Take the lock first.") -> Entry:
    return made.team.knowledge.add(NewEntry("Locks", content, "conventions"), USER).entry


def rewrite(made: Workspace, entry: Entry, old: str, new: str, *, group: str) -> Entry:
    """Edit an entry as the screen does: file and row in one act."""
    act = replace(HAND, group=group)
    before = entry.path.read_bytes()
    made.team.files.write(
        entry.path,
        before.replace(old.encode(), new.encode()),
        act,
        surface="knowledge",
        item=entry.name,
        before=before,
    )
    edited = made.team.knowledge.read(entry.key)
    made.surfaces.ledger.upsert([entry_row(made.team, edited, "human")], act)
    return edited


def state(made: Workspace) -> list[Row]:
    return sorted(rows(made.surfaces), key=lambda each: each.id)


def undo(made: Workspace) -> None:
    records = made.surfaces.records
    records.commit_undo(records.plan_undo(), USER)


def pinned(made: Workspace) -> None:
    made.surfaces.ledger.pin(state(made)[0].id, HAND)


def retracted(made: Workspace) -> None:
    made.surfaces.ledger.retract(state(made)[0].id, HAND)


def edited(made: Workspace) -> None:
    rewrite(made, made.team.knowledge.list()[0], "first", "last", group="edit")


@pytest.mark.parametrize("judged", [lambda _: None, pinned, retracted, edited])
def test_a_deleted_entry_comes_back_with_its_rows_as_they_were(
    tmp_path: Path, judged: Callable[[Workspace], None]
) -> None:
    made = Workspace(tmp_path)
    add(made)
    made.clock.move(days=3)
    judged(made)
    made.clock.move(days=3)
    before = state(made)
    entry = made.team.knowledge.list()[0]

    made.team.knowledge.remove(entry, HAND)
    assert not entry.path.exists()
    assert "active" not in [each.status for each in state(made)]
    made.clock.move(days=3)
    undo(made)

    assert entry.path.exists()
    assert state(made) == before


def test_a_deletion_whose_row_cannot_follow_says_that_the_file_is_gone(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    ledger = made.surfaces.ledger
    ledger.close()
    ledger.path.write_bytes(b"no database at all " * 500)
    with pytest.raises(TeamRefused, match=r"is deleted, its ledger row is as it was: .*is damaged"):
        made.team.knowledge.remove(entry, HAND)
    assert not entry.path.exists()


def test_an_edit_that_is_taken_back_gives_the_earlier_text_to_recall_again(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    (before,) = state(made)
    made.clock.move(days=3)
    rewrite(made, entry, "first", "last", group="edit")
    made.clock.move(days=3)

    undo(made)

    after = {each.body: each for each in state(made)}
    assert after[before.body] == before
    assert after["Take the lock last."].status == "retracted"


def test_what_is_approved_again_after_an_undo_is_recalled_again(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    undo(made)
    assert [each.status for each in state(made)] == ["retracted"]
    again = made.team.knowledge.add(NewEntry("Locks", "Take the lock first.", "conventions"), USER)
    assert again.entry.path == entry.path
    assert again.row is not None
    assert [each.status for each in state(made)] == ["active"]
    undo(made)
    assert not entry.path.exists()
    assert [each.status for each in state(made)] == ["retracted"]


def test_an_entry_that_was_made_of_a_note_goes_and_gives_the_note_back_in_one_step(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    note = made.note("Locks", "Take the lock first.")
    before = note.path.read_bytes()
    entry = made.team.knowledge.promote(note, USER).entry
    undo(made)
    assert not entry.path.exists()
    assert note.path.read_bytes() == before
    assert [each.status for each in state(made)] == ["retracted"]


def test_an_undo_that_is_cut_off_between_row_and_file_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Workspace(tmp_path)
    entry = add(made)

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    for place in ("muniment.memory.team.follow.follow_undo", "muniment.memory.journal_undo.remove_file"):
        with monkeypatch.context() as patched:
            patched.setattr(place, cut_off)
            with pytest.raises(KeyboardInterrupt):
                undo(made)
    undo(made)
    assert not entry.path.exists()
    assert [each.status for each in state(made)] == ["retracted"]
    with pytest.raises(NotFound):
        made.surfaces.records.plan_undo()


@pytest.mark.parametrize("outer", ["project", "global"])
def test_an_undo_from_further_in_takes_the_row_along_too(outer: str, tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    place = made.project if outer == "project" else tmp_path / "elsewhere"
    place.mkdir(exist_ok=True)
    there = Surfaces(made.paths, place, Settings(), clock=made.clock)
    entry = there.team.knowledge.add(NewEntry("Locks", "Take the lock first.", "conventions"), USER).entry
    (place / "inner" / ".muniment").mkdir(parents=True)
    inner = Surfaces(made.paths, place / "inner", Settings(), clock=made.clock)
    assert inner.team.directory != there.team.directory
    inner.records.commit_undo(inner.records.plan_undo(), USER)
    assert not entry.path.exists()
    assert [each.status for each in state(made)] == ["retracted"]


def test_what_was_judged_between_deletion_and_undo_is_not_judged_again(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    made.team.knowledge.remove(entry, HAND)
    made.clock.move(days=1)
    pinned(made)
    mine = state(made)

    undo(made)

    assert entry.path.exists()
    assert state(made) == mine


def test_without_a_word_of_the_journal_the_row_that_says_what_the_file_says_comes_back(
    tmp_path: Path,
) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    edited(made)
    made.team.knowledge.remove(made.team.knowledge.read(entry.key), HAND)
    records = made.surfaces.records
    lines = [line for line in made.surfaces.journal.lines() if line.entry.surface == "knowledge"]

    # The journal's newest two texts: what stood before the deletion, and before the edit.
    records.commit_undo(records.plan_restore(lines[1].entry.id), USER)

    assert {each.body: each.status for each in state(made)} == {
        "Take the lock first.": "active",
        "Take the lock last.": "retracted",
    }


def test_an_entry_of_the_same_name_in_another_project_keeps_its_row(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    other = tmp_path / "other"
    (other / ".muniment").mkdir(parents=True, mode=0o700)
    theirs = made.at(other)
    theirs.team.knowledge.add(NewEntry("Locks", "Ours.", "conventions"), USER)

    made.team.knowledge.remove(entry, HAND)

    found = {each.body: each.status for each in state(made)}
    assert found == {"Take the lock first.": "retracted", "Ours.": "active"}


def test_the_command_takes_back_what_the_screen_deleted(tmp_path: Path, cli: Inside) -> None:
    (tmp_path / ".muniment").mkdir(mode=0o700)
    add_it = ("knowledge", "add", "--title", "Locks", "--content", "Take the lock first.", "--json")
    assert cli(*add_it).code == 0
    (shown,) = cli("ledger", "search", "lock", "--json").json["hits"]
    row_before = cli("ledger", "show", shown["id"], "--json").json
    surfaces = Surfaces(resolve_paths(), Path.cwd(), Settings())
    surfaces.team.knowledge.remove(surfaces.team.knowledge.list()[0], HAND)
    surfaces.close()
    assert cli("ledger", "show", shown["id"], "--json").json["row"]["status"] == "retracted"

    done = cli("memory", "undo", "--yes", "--json")

    assert done.code == 0, done.err
    assert cli("ledger", "show", shown["id"], "--json").json == row_before
    assert [each["title"] for each in cli("knowledge", "list", "--json").json["entries"]] == ["Locks"]


labels = st.lists(st.text("abcé/._", min_size=1, max_size=8), max_size=3).map(tuple)


@given(st.text(min_size=1, max_size=60).filter(str.strip), labels, st.floats(0, 1), st.booleans())
def test_the_journal_gives_back_the_very_row(
    body: str, tags: tuple[str, ...], importance: float, expires: bool
) -> None:
    try:
        new = checked(
            row(body, tags=tags, importance=importance, expires_at=START if expires else None, source="s")
        )
    except InvalidRow:
        return
    written = lifecycle.made(new, [], START)
    assert row_of(row_bytes(written).decode()) == written


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": "M-1"}', "nothing"])
def test_a_text_that_is_no_row_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"no row|Expecting value"):
        row_of(text)


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_cannot_be_taken_back_keeps_its_row(
    edited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Workspace(tmp_path)
    entry = add(made)
    if edited:
        rewrite(made, entry, "first", "last", group="edit")

    def holds() -> list[tuple[str, str]]:
        return [(each.id, each.body) for each in state(made) if each.status == "active"]

    before = holds()
    plan = made.surfaces.records.plan_undo()
    with monkeypatch.context() as broken:
        for name in ("unlink", "replace"):
            broken.setattr(os, name, _refusing(getattr(os, name), entry.path.name))
        with pytest.raises(CannotUndo, match="was not written"):
            made.surfaces.records.commit_undo(plan, USER)
    assert holds() == before
    undo(made)
    assert entry.path.exists() == edited
    assert [body for _, body in holds()] == (["Take the lock first."] if edited else [])


def _refusing(really: Callable[..., None], name: str) -> Callable[..., None]:
    """Return a call of the system that fails where it is about a file of this name."""

    def call(*paths: object, **options: Any) -> None:
        if name in paths:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        really(*paths, **options)

    return call
