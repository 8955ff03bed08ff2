"""Work that was approved and cut off: what the next run does with it, and with what changed meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.memory.team.pending import Work, move, new_file, notebook, remove, section
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.files import digest
from support.consolidation import archived, consolidate, inbox, rows, world
from support.team import USER, Workspace


def blocked(made: Workspace) -> Path:
    """Put a directory where the notebook of ripley would be and return it."""
    book = made.team.notebooks.path_of("ripley")
    book.mkdir(parents=True)
    return book


def begin(made: Workspace, *steps: dict[str, object]) -> Path:
    """Run work whose second step cannot be done yet; return what stands in the way."""
    book = blocked(made)
    first = section("### First\n\ntext")
    with made.team.guard(), pytest.raises(TeamRefused, match="the next run goes on with it"):
        made.team.pending.run(Work("work", USER, (first, notebook("ripley", ["### E\n\nx"]), *steps)))
    assert made.team.pending.waits()
    return book


def test_a_note_that_was_changed_meanwhile_stays_in_the_inbox_and_is_named(tmp_path: Path) -> None:
    made = world(tmp_path)
    book = blocked(made)
    preview = made.team.consolidation.preview()
    with pytest.raises(TeamRefused):
        made.team.consolidation.apply(preview, USER)
    edited, gone = preview.notes[0].note.path, preview.notes[1].note.path
    edited.write_text(edited.read_text() + "\nmore\n")
    gone.unlink()
    book.rmdir()
    finished, said = made.team.consolidation.recover()
    assert finished == "Finished the consolidation that had been cut off."
    assert said == f"{edited.name} stays in the inbox: it was changed meanwhile."
    assert inbox(made.surfaces) == [edited.name]
    assert len(archived(made)) == 3
    assert len(rows(made.surfaces)) == 7


def test_files_that_were_changed_meanwhile_are_neither_removed_nor_moved(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    files = [made.directory / name for name in ("a.md", "b.md", "c.md", "d.md")]
    for each in files:
        each.write_text("as approved")
    seen = digest(b"as approved")
    item = {"surface": "knowledge", "item": "x"}
    book = begin(
        made,
        remove("a.md", seen, **item),
        move("b.md", "moved/b.md", seen, **item),
        remove("c.md", seen, **item),
        move("d.md", "moved/d.md", seen, **item),
    )
    for each in files[:2]:
        each.write_text("changed")
    book.rmdir()
    said = made.team.pending.recover()
    assert said[1:] == tuple(f"{each} stays where it is: it was changed meanwhile." for each in files[:2])
    assert [each.exists() for each in files] == [True, True, False, False]
    assert (made.directory / "moved" / "d.md").read_text() == "as approved"


def test_a_section_that_you_edited_meanwhile_is_not_added_again(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    book = begin(made)
    path = made.directory / "notes.md"
    path.write_text(path.read_text().replace("First", "First, in my words"))
    book.rmdir()
    made.team.pending.recover()
    assert made.team.notes.sections() == ["### First, in my words\n\ntext"]
    assert made.team.notebooks.entries("ripley") == ["### E\n\nx"]


def test_a_file_with_another_text_is_not_written_over(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    book = begin(made, new_file("knowledge/reviews/a.md", "ours", surface="knowledge", item="a"))
    theirs = made.directory / "knowledge" / "reviews" / "a.md"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    book.rmdir()
    with pytest.raises(TeamRefused, match=r"a\.md exists already with another text; move it away"):
        made.team.pending.recover()
    assert theirs.read_text() == "theirs"
    theirs.unlink()
    made.team.pending.recover()
    assert theirs.read_text() == "ours"
    assert not made.team.pending.waits()


def test_where_the_first_step_fails_nothing_is_left_to_do(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    (made.directory / "notes.md").mkdir()
    with made.team.guard(), pytest.raises(TeamRefused, match=r"^Nothing was changed: .*notes\.md"):
        made.team.pending.run(Work("work", USER, (section("### First\n\ntext"),)))
    assert not made.team.pending.waits()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"what": 1}', b"\xff"])
def test_a_damaged_file_of_what_is_left_to_do_is_named_and_not_guessed_at(
    data: bytes, tmp_path: Path
) -> None:
    made = world(tmp_path)
    path = made.team.pending.path
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    for act in (made.team.pending.recover, lambda: consolidate(made.surfaces)):
        with pytest.raises(TeamRefused, match="look at it and remove it"):
            act()
    assert path.read_bytes() == data
    assert len(inbox(made.surfaces)) == 5
    path.unlink()
    consolidate(made.surfaces)


def test_each_workspace_has_work_of_its_own(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    begin(made)
    other = tmp_path / "other"
    (other / ".muniment").mkdir(parents=True)
    surfaces = made.at(other)
    assert not surfaces.team.pending.waits()
    assert surfaces.team.pending.recover() == ()
    assert made.team.pending.waits()
    assert oct(made.team.pending.path.stat().st_mode & 0o777) == "0o600"
