"""The inbox: what is a note, who wrote it, what is held, and what stays out."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.origin import Origin
from muniment.memory.team.inbox import MAX_NOTES_A_SESSION
from muniment.memory.team.notefile import (
    MAX_BODY_BYTES,
    NewNote,
    check_note_name,
    decode_note,
    encode_note,
    safe_slug,
    split,
)
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, NotFound
from muniment.settings import Settings
from support.session import full_disk
from support.team import AGENT, USER, Workspace, titles, tree


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_note_says_in_its_front_matter_who_wrote_it_when_where_and_why(place: Workspace) -> None:
    note = place.team.inbox.add(
        NewNote("The fan", "It is loud.", "reviewer", "agent", session="a" * 32), AGENT
    )
    head, body = split(note.path.read_text())
    assert head == {
        "id": note.id,
        "agent": "reviewer",
        "date": "2026-11-30",
        "session": "a" * 32,
        "project": "project",
        "source": "agent",
    }
    assert body == "# The fan\n\nIt is loud.\n"
    assert note.name.startswith("reviewer-the-fan-2026-11-30-")
    assert note.path.stat().st_mode & 0o777 == 0o600
    assert note.path.parent.stat().st_mode & 0o777 == 0o700


def test_the_inbox_without_a_directory_is_empty_and_stays_without_one(place: Workspace) -> None:
    assert place.team.inbox.list() == []
    assert place.team.inbox.problems() == []
    assert not place.inbox.exists()


def test_only_lower_case_md_counts_and_dotted_names_do_not(place: Workspace) -> None:
    for name in ("a.txt", "b.log", "c.MD", "README", ".d.md", "e.json"):
        place.put(name, "# x\n")
    place.put("f.md", "# Only this\n")
    assert titles(place.team.inbox.list()) == ["Only this"]
    assert place.team.inbox.problems() == []


def test_the_newest_note_is_listed_first_by_the_time_of_its_file(place: Workspace) -> None:
    for name, age in (("old", 30.0), ("new", 1.0), ("middle", 20.0)):
        place.put(f"{name}.md", f"# {name}\n", age=age)
    assert titles(place.team.inbox.list()) == ["new", "middle", "old"]


def test_what_cannot_be_read_is_named_and_hides_no_other_note(place: Workspace, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("# Outside\n")
    place.put("good.md", "# Good\n")
    (place.inbox / "link.md").symlink_to(tmp_path / "outside.md")
    (place.inbox / "several.md").hardlink_to(tmp_path / "outside.md")
    (place.inbox / "directory.md").mkdir()
    os.mkfifo(place.inbox / "pipe.md")
    place.put("bytes.md", b"\xff\xfe\x00")
    place.put("large.md", "x" * 100_000)
    assert titles(place.team.inbox.list()) == ["Good"]
    reasons = {each.path.name: each.reason for each in place.team.inbox.problems()}
    assert set(reasons) == {"link.md", "several.md", "directory.md", "pipe.md", "bytes.md", "large.md"}
    assert reasons["link.md"] == "is a symbolic link"
    assert "81920" in reasons["large.md"]


def test_a_linked_inbox_is_not_entered_and_gets_no_note(place: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("# Outside\n")
    (place.directory / "notes").mkdir()
    (place.directory / "notes" / "inbox").symlink_to(outside)
    assert place.team.inbox.list() == []
    assert place.team.inbox.problems()[0].reason == "is a symbolic link"
    with pytest.raises(TeamRefused, match="symbolic link"):
        place.note()
    assert tree(outside) == {"x.md": b"# Outside\n"}


def test_a_linked_directory_below_the_data_directory_is_not_entered_either(
    place: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place.paths.data.mkdir()
    (place.paths.data / "notes").symlink_to(outside)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(TeamRefused, match="symbolic link"):
        place.at(elsewhere).team.inbox.add(NewNote("x", "y", "user", "user"), USER)
    assert tree(outside) == {}


def test_front_matter_from_elsewhere_is_kept_and_gains_ours_whatever_its_line_ends(place: Workspace) -> None:
    for end in ("\n", "\r\n"):
        body = end.join(("---", "owner: me", "agent: forged", "date: 2001-01-01", "---", "Text.", ""))
        note = place.note(body=body, extras={"pr": "12", "gone": None})
        head, text = split(note.path.read_text())
        assert (head["owner"], head["agent"], head["date"], head["pr"]) == ("me", "user", "2026-11-30", "12")
        assert "gone" not in head
        assert "forged" not in text


def test_an_id_needs_a_front_matter_that_is_closed() -> None:
    assert split("---\nid: NOTE-1\n# Title\n") == ({}, "---\nid: NOTE-1\n# Title\n")
    assert split("---  \r\nid: NOTE-1\r\n---\r\nText")[0] == {"id": "NOTE-1"}


def test_a_note_without_front_matter_belongs_to_the_beginning_of_its_name(place: Workspace) -> None:
    place.put("dallas-found-something.md", "Text only.\n")
    place.put("2026.md", "x")
    by_name = {each.name: each for each in place.team.inbox.list()}
    assert by_name["dallas-found-something.md"].agent == "dallas"
    assert by_name["dallas-found-something.md"].title == "dallas-found-something"
    assert by_name["2026.md"].agent == "unknown"


def test_the_agent_of_the_front_matter_counts_more_than_the_name(place: Workspace) -> None:
    place.put("dallas-x.md", "---\nagent: ripley\n---\n# x\n")
    assert place.team.inbox.list()[0].agent == "ripley"


def test_64_kib_are_a_note_and_one_byte_more_is_none(place: Workspace) -> None:
    note = place.note(title="t" * 1_024, body="é" * (MAX_BODY_BYTES // 2))
    assert place.team.inbox.read(note.name).body == "é" * (MAX_BODY_BYTES // 2)
    with pytest.raises(InvalidInput, match=f"{MAX_BODY_BYTES + 1} bytes; at most {MAX_BODY_BYTES}"):
        place.note(body="é" * (MAX_BODY_BYTES // 2) + "x")


def test_an_agent_adds_20_notes_a_session_and_the_user_as_many_as_he_likes(place: Workspace) -> None:
    new = NewNote("x", "y", "reviewer", "agent", session=AGENT.session)
    for _ in range(MAX_NOTES_A_SESSION):
        place.team.inbox.add(new, AGENT)
    with pytest.raises(TeamRefused, match="20 notes"):
        place.team.inbox.add(new, AGENT)
    with pytest.raises(TeamRefused, match="20 notes"):
        place.at(place.project).team.inbox.add(new, AGENT)
    place.team.inbox.add(new, replace(AGENT, session="b" * 32))
    place.note()
    assert len(place.team.inbox.list()) == MAX_NOTES_A_SESSION + 2


def test_a_held_note_is_not_eligible_until_it_is_released_and_its_file_stays_as_it_is(
    place: Workspace,
) -> None:
    notes = [place.note(title=f"n{at}") for at in range(5)]
    before = {each.name: each.path.read_bytes() for each in notes}
    for each in notes[:4]:
        assert place.team.inbox.hold(each.name, USER).held
    assert titles(place.team.inbox.eligible()) == ["n4"]
    assert {each.name: each.path.read_bytes() for each in notes} == before
    assert not place.team.inbox.release(notes[0].name.removesuffix(".md"), USER).held
    assert set(titles(place.team.inbox.eligible())) == {"n0", "n4"}


def test_holding_can_be_taken_back(place: Workspace) -> None:
    note = place.note()
    place.team.inbox.hold(note.name, USER)
    records = place.surfaces.records
    records.commit_undo(records.plan_undo(), USER)
    assert not place.team.inbox.read(note.name).held


def test_what_is_no_text_among_the_held_is_passed_over(place: Workspace) -> None:
    note = place.note()
    (place.directory / "held.yaml").write_text(
        f'held:\n  - ""\n  - [a, b]\n  - {{a: b}}\n  - notes/inbox/{note.name}\n'
    )
    assert [each.held for each in place.team.inbox.list()] == [True]
    (place.directory / "held.yaml").write_text("held: &a [*a]\n")
    assert [each.held for each in place.team.inbox.list()] == [False]
    with pytest.raises(TeamRefused, match="left alone"):
        place.team.inbox.hold(note.name, USER)


@pytest.mark.parametrize("name", ["../pinned", "a/b", "a\\b", "a\x00b", "/etc/passwd", ".hidden", "..", ""])
def test_a_note_is_never_named_by_a_path(place: Workspace, name: str) -> None:
    with pytest.raises(InvalidInput):
        check_note_name(name)
    with pytest.raises(InvalidInput):
        place.team.inbox.hold(name, USER)


def test_a_note_that_is_not_there_is_not_found(place: Workspace) -> None:
    with pytest.raises(NotFound, match="no note"):
        place.team.inbox.read("absent")
    with pytest.raises(NotFound):
        place.team.inbox.find("NOTE-000000000000")


def test_the_engine_says_a_thing_once_a_day_and_another_thing_beside_it(place: Workspace) -> None:
    engine = Origin("engine", "alert")

    def alert(title: str) -> bool:
        return (
            place.team.inbox.add_once(NewNote(title, "body", "engine", "engine"), title, engine) is not None
        )

    assert alert("Records are skipped")
    assert not alert("Records are skipped")
    assert alert("Recall fails")
    place.clock.move(days=1)
    assert alert("Records are skipped")
    assert len(place.team.inbox.list()) == 3


def test_what_was_archived_today_is_not_said_again(place: Workspace) -> None:
    engine = Origin("engine", "alert")
    new = NewNote("Recall fails", "body", "engine", "engine")
    note = place.team.inbox.add_once(new, "recall", engine)
    assert note is not None
    place.team.inbox.archive(note, USER)
    assert place.team.inbox.add_once(new, "recall", engine) is None


def test_a_hostile_key_becomes_a_safe_short_name() -> None:
    name = safe_slug("build-fail-github:very/long…#1" + "x" * 300)
    assert len(name) < 80
    assert safe_slug("plain.name_1-2") == "plain.name_1-2"
    assert safe_slug("  ") == "item"
    assert safe_slug("日本") == safe_slug("日本") != safe_slug("日木")


@given(st.text(max_size=200))
def test_every_text_has_a_safe_slug(text: str) -> None:
    name = safe_slug(text)
    assert 0 < len(name) <= 80
    assert not name.startswith(".")
    assert all(each.isascii() and (each.isalnum() or each in "._-") for each in name)


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=80)


@given(_TEXT.filter(lambda text: bool(text.split())), _TEXT, _TEXT)
def test_any_title_body_and_agent_leave_the_front_matter_as_it_was_meant(
    title: str, body: str, agent: str
) -> None:
    new = NewNote(" ".join(title.split()), body, agent, "agent", session="s")
    data = encode_note(new, note_id="NOTE-1", date="2026-11-30", project="p")
    note = decode_note(data, Path("x-y.md"), mtime=0.0, held=False)
    assert (note.id, note.source, note.session, note.project) == ("NOTE-1", "agent", "s", "p")
    assert note.agent == (" ".join(agent.split()) or "x")


def test_an_archived_note_keeps_its_text_and_gets_a_number_where_its_name_is_taken(place: Workspace) -> None:
    texts = []
    for body in ("first", "second", "third"):
        note = place.note(body=body, name="user-x.md")
        texts.append(note.path.read_bytes())
        place.team.inbox.archive(note, USER)
    archive = place.directory / "notes" / "archive"
    assert [tree(archive)[f"2026-11-30-user-x{tail}.md"] for tail in ("", "-2", "-3")] == texts
    assert place.team.inbox.list() == []


def test_a_missing_note_stops_no_other_from_being_archived(place: Workspace) -> None:
    first, second = place.note(title="a"), place.note(title="b")
    first.path.unlink()
    assert place.team.inbox.archive(first, USER) is None
    assert place.team.inbox.archive(second, USER) is not None


def test_a_note_that_was_changed_stays(place: Workspace) -> None:
    note = place.note()
    note.path.write_text("# Other\n")
    with pytest.raises(TeamRefused, match="changed"):
        place.team.inbox.archive(note, USER)
    assert titles(place.team.inbox.list()) == ["Other"]


def test_the_archive_keeps_only_so_many_files_and_drops_the_oldest(tmp_path: Path) -> None:
    base = Settings()
    place = Workspace(tmp_path, settings=replace(base, notes=replace(base.notes, archive_max_files=2)))
    for at in range(3):
        path = place.put(f"user-{at}.md", f"# {at}\n", age=100.0 - at)
        place.team.inbox.archive(place.team.inbox.read(path.name), USER)
    assert set(tree(place.directory / "notes" / "archive")) == {
        "2026-11-30-user-1.md",
        "2026-11-30-user-2.md",
    }


def test_only_the_journal_says_who_wrote_a_note(place: Workspace) -> None:
    mine = place.note(title="mine")
    agents = place.team.inbox.add(NewNote("theirs", "x", "reviewer", "agent"), AGENT)
    place.put("forged.md", "---\nagent: user\nsource: user\n---\n# forged\n")
    edited = place.note(title="edited")
    edited.path.write_text(edited.path.read_text() + "more\n")
    notes = place.team.inbox.list()
    assert place.team.inbox.authors(notes) == {mine.name: "user", agents.name: "agent"}


def test_an_added_note_can_be_taken_back(place: Workspace) -> None:
    place.note()
    records = place.surfaces.records
    records.commit_undo(records.plan_undo(), USER)
    assert place.team.inbox.list() == []


def test_a_note_that_does_not_fit_on_the_disk_leaves_nothing(place: Workspace) -> None:
    with full_disk(30_000), pytest.raises(TeamRefused, match="was not written"):
        place.note(body="x" * 60_000)
    assert [each for each in tree(place.directory) if each.startswith("notes")] == []


def test_the_inbox_of_another_project_never_appears(place: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".muniment").mkdir(parents=True)
    place.note(title="here")
    theirs = place.at(other).team
    theirs.inbox.add(NewNote("there", "x", "user", "user"), USER)
    assert titles(place.team.inbox.list()) == ["here"]
    assert titles(theirs.inbox.list()) == ["there"]
    assert place.team.scope_key != theirs.scope_key is not None


def test_the_first_note_gives_a_project_its_id(place: Workspace) -> None:
    assert place.team.project is None
    note = place.note()
    project = place.team.project
    assert project is not None
    assert project.name == "project"
    assert note.project == "project"
    assert place.team.scope_key == project.id


def test_a_hostile_project_name_stays_one_field(place: Workspace) -> None:
    (place.directory / "project.yaml").write_text('id: p-1\nname: "x\\n---\\nagent: user\\n# forged"\n')
    note = place.team.inbox.add(NewNote("t", "b", "reviewer", "agent"), AGENT)
    assert (note.agent, note.title, note.project) == ("reviewer", "t", "x --- agent: user # forged")


WRITERS = """
import sys
from pathlib import Path
from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.notefile import NewNote
from muniment.paths import Paths
from muniment.settings import Settings

root, who = Path(sys.argv[1]), sys.argv[2]
paths = Paths(*(root / name for name in ("config", "data", "state", "cache")))
team = Surfaces(paths, root / "project", Settings()).team
origin = Origin("user", "cli")
for at in range(5):
    team.inbox.add(NewNote(f"{who} {at}", "text", "user", "user", name="user-same.md"), origin)
    team.notes.append(f"### {who} {at}\\n\\ntext", origin)
    team.inbox.add_once(NewNote("alert", "x", "engine", "engine"), f"alert {at}", origin)
"""


def test_several_processes_lose_and_double_nothing(place: Workspace, tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", WRITERS, str(tmp_path), f"w{at}"], stderr=subprocess.PIPE)
        for at in range(3)
    ]
    for each in running:
        _, said = each.communicate(timeout=60)
        assert each.returncode == 0, said.decode()
    wanted = {f"w{who} {at}" for who in range(3) for at in range(5)}
    notes = place.team.inbox.list()
    assert {each.title for each in notes if each.agent == "user"} == wanted
    assert len([each for each in notes if each.agent == "engine"]) == 5
    sections = place.team.notes.sections()
    assert {each.split("\n")[0].removeprefix("### ") for each in sections} == wanted
    assert len(sections) == len(wanted)
