"""The journal: the text before each write, what can be taken back, and what a crash leaves."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from muniment.memory.journal import Journal, JournalFault, Target, bytes_of, text_of
from muniment.memory.journal_undo import CannotUndo, commit_undo, plan_undo
from muniment.memory.origin import Origin
from muniment.memory.records.plans import StoreRequest
from muniment.memory.records.store import RecordStore
from muniment.memory.user.plans import SaveRequest
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.files import digest, write_atomic
from support.faults import full_disk
from support.records import AGENT, START, USER, Clock, World, delete, store


def undo(records: RecordStore, **options: str) -> str:
    plan = records.plan_undo(**options)
    records.commit_undo(plan, USER)
    return f"{plan.action} {plan.entry.item}"


def content(records: RecordStore, record_id: str = "r") -> str | None:
    try:
        return records.get(record_id).record.content
    except NotFound:
        return None


def test_each_write_keeps_who_what_where_and_the_text_before(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "one", id="r").path
    first = path.read_bytes()
    store(records, "R", "two", id="r")
    second = path.read_bytes()
    delete(records, "r")
    entries = list(records.journal.entries())
    assert [entry.action for entry in entries] == ["delete", "replace", "create"]
    assert [entry.text_before for entry in entries] == [second.decode(), first.decode(), None]
    assert [entry.digest_after for entry in entries] == [None, digest(second), digest(first)]
    assert [entry.digest_before for entry in entries] == [digest(second), digest(first), None]
    assert {(e.origin, e.surface, e.scope, e.item, e.path, e.time) for e in entries} == {
        (AGENT, "record", "project", "r", str(path), START)
    }
    assert [line.settled for line in records.journal.lines()] == [True, True, True]


def test_undo_takes_back_the_newest_write_and_twice_goes_two_back(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "R", "one", id="r")
    store(records, "R", "two", id="r")
    delete(records, "r")
    steps = [(undo(records), content(records)) for _ in range(3)]
    assert steps == [("create r", "two"), ("replace r", "one"), ("delete r", None)]
    with pytest.raises(NotFound, match="no write"):
        records.plan_undo()


def test_an_undo_brings_back_the_file_byte_for_byte(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "line one\n\u202e two", id="r", tags=("x",)).path
    before = path.read_bytes()
    delete(records, "r")
    undo(records)
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_write_after_an_undo_is_the_newest_again(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "A", "a", id="a")
    store(records, "B", "b", id="b")
    assert undo(records) == "delete b"
    store(records, "C", "c", id="c")
    assert [undo(records), undo(records)] == ["delete c", "delete a"]


def test_an_undo_of_what_was_changed_since_says_so_and_keeps_the_text_that_stood_there(
    tmp_path: Path,
) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "one", id="r").path
    assert records.plan_undo().changed == ""
    store(records, "R", "two", id="r")
    by_hand = path.read_bytes().replace(b"two", b"own")
    path.write_bytes(by_hand)
    plan = records.plan_undo()
    assert "was changed since" in plan.changed
    assert plan.text_now == by_hand.decode()
    assert path.read_bytes() == by_hand
    done = records.commit_undo(plan, USER)
    assert content(records) == "one"
    records.commit_undo(records.plan_restore(done.entry, "r"), USER)
    assert path.read_bytes() == by_hand


def test_an_undo_of_a_write_whose_file_is_gone_says_so(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "one", id="r").path
    store(records, "R", "two", id="r")
    path.unlink()
    plan = records.plan_undo()
    assert ("is gone since" in plan.changed, plan.action) == (True, "create")
    records.commit_undo(plan, USER)
    assert content(records) == "one"


def test_an_undo_of_a_new_file_that_is_gone_says_that_it_changes_no_file(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "one", id="r").path
    path.unlink()
    plan = records.plan_undo()
    assert plan.changed.endswith(
        "is gone already, moved or deleted since; taking the write back changes no file."
    )
    records.commit_undo(plan, USER)
    assert not path.exists()
    with pytest.raises(NotFound):
        records.plan_undo()


def test_an_undo_is_bound_to_the_state_it_was_shown_with(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "one", id="r").path
    plan = records.plan_undo()
    path.write_bytes(path.read_bytes().replace(b"one", b"own"))
    with pytest.raises(CannotUndo, match="nothing written"):
        records.commit_undo(plan, USER)
    assert path.exists()


def test_an_undo_reaches_this_chain_and_user_memory_only(tmp_path: Path) -> None:
    world = World(tmp_path)
    here, there = world.store(world.directory("here")), world.store(world.directory("there"))
    store(here, "Here", id="here")
    profile = world.global_dir / "user" / "profile.md"
    profile.parent.mkdir(parents=True)
    entry = here.journal.begin(
        Target(
            surface="user", action="create", scope="", directory=profile.parent, item="profile", path=profile
        ),
        AGENT,
        before=None,
        digest_before=None,
        digest_after=digest(b"text"),
    )
    write_atomic(profile, b"text")
    here.journal.settle(entry.id)
    store(there, "There", id="there")
    assert undo(here) == "delete profile"
    assert not profile.exists()
    assert undo(here) == "delete here"
    with pytest.raises(NotFound):
        here.plan_undo()
    assert undo(there) == "delete there"


def test_a_session_takes_back_its_own_newest_write_only(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    for session in ("one", "two"):
        origin = Origin("agent", surface="tool", session=session)
        plan = records.plan_store(StoreRequest("T", "C", id=session), origin=origin)
        records.commit(plan, origin)
    assert undo(records, session="one") == "delete one"
    with pytest.raises(NotFound):
        records.plan_undo(session="one")
    assert content(records, "two") == "C"


def test_an_announced_write_that_never_happened_is_passed_over(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    path = store(records, "R", "one", id="r").path
    now = path.read_bytes()
    records.journal.begin(
        Target(
            surface="record",
            action="replace",
            scope="project",
            directory=path.parent.parent,
            item="r",
            path=path,
        ),
        AGENT,
        before=now,
        digest_before=digest(now),
        digest_after=digest(b"never written"),
    )
    assert undo(records) == "delete r"


def test_a_write_whose_last_note_is_missing_is_taken_back_like_any_other(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "one", id="r")
    [segment] = world.paths.journal.glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    assert b"settled" in lines[-1]
    segment.write_bytes(b"".join(lines[:-1]))
    assert undo(records) == "delete r"


def test_an_undo_that_was_cut_off_can_be_done_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "one", id="r")
    plan = records.plan_undo()
    records.journal.begin(
        Target(
            surface="record",
            action="delete",
            scope="project",
            directory=Path(plan.entry.directory),
            item="r",
            path=plan.path,
        ),
        USER,
        before=b"x",
        digest_before=plan.digest_now,
        digest_after=None,
        undoes=plan.entry.id,
    )
    assert undo(records) == "delete r"
    assert content(records) is None


def test_a_torn_last_line_costs_nothing_else(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "A", id="a")
    [segment] = world.paths.journal.glob("*.jsonl")
    with segment.open("ab") as stream:
        stream.write(b'{"entry":{"id":"torn')
    store(records, "B", id="b")
    assert [entry.item for entry in records.journal.entries()] == ["b", "a"]
    assert [undo(records), undo(records)] == ["delete b", "delete a"]


@pytest.mark.parametrize(
    "line", ["{}", "[]", "null", "1", '{"entry":{}}', '{"entry":{"id":1}}', "[" * 5000, "\udcff"]
)
def test_a_line_that_is_no_entry_is_passed_over(line: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "A", id="a")
    [segment] = world.paths.journal.glob("*.jsonl")
    segment.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n" + segment.read_bytes())
    assert [entry.item for entry in records.journal.entries()] == ["a"]


def test_the_newest_write_stays_the_newest_where_the_clock_went_back_a_month(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "A", id="a")
    world.clock.move(days=40)
    store(records, "B", id="b")
    world.clock.now -= timedelta(days=45)
    store(records, "C", id="c")
    assert [entry.item for entry in records.journal.entries()] == ["c", "b", "a"]


def test_history_lists_the_writes_of_one_record_and_restore_brings_an_earlier_text_back(
    tmp_path: Path,
) -> None:
    records = World(tmp_path).store()
    for text in ("one", "two", "three"):
        store(records, "R", text, id="r")
    store(records, "S", "other", id="s")
    lines = records.history("r")
    assert [line.entry.action for line in lines] == ["replace", "replace", "create"]
    plan = records.plan_restore(lines[1].entry.id)
    assert plan.action == "replace"
    records.commit_undo(plan, USER)
    assert content(records) == "one"
    assert undo(records) == "replace r"
    assert content(records) == "three"


def test_restoring_what_never_was_says_so(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "R", "one", id="r")
    [line] = records.history("r")
    with pytest.raises(NotFound, match="created it"):
        records.plan_restore(line.entry.id)
    with pytest.raises(NotFound, match="no entry"):
        records.plan_restore("nothing\n")
    with pytest.raises(NotFound, match="a write of r and not of s"):
        records.plan_restore(line.entry.id, "s")


def test_a_restore_reaches_this_chain_and_user_memory_only(tmp_path: Path) -> None:
    world = World(tmp_path)
    here, there = world.store(world.directory("here")), world.store(world.directory("there"))
    for text in ("one", "two"):
        store(there, "R", text, id="r")
    entry = there.history("r")[0].entry.id
    with pytest.raises(NotFound, match="belongs to"):
        here.plan_restore(entry)
    assert here.history("r") == []
    there.commit_undo(there.plan_restore(entry), USER)
    assert content(there) == "one"


def test_history_of_all_surfaces_names_what_each_write_was_about(tmp_path: Path) -> None:
    world = World(tmp_path)
    surfaces = world.desk().context.surfaces
    records = surfaces.records
    store(records, "R", id="tea")
    surfaces.user.commit(surfaces.user.plan_save(SaveRequest("create", "tea", "user", "Green")), USER)
    assert [line.entry.surface for line in records.history("tea", surface=None)] == ["user", "record"]
    assert [line.entry.surface for line in records.history("tea")] == ["record"]
    assert len(records.history(surface=None)) == 2


def test_purging_removes_the_earlier_texts_of_one_item_from_the_disk(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "confidential", id="r")
    delete(records, "r")
    store(records, "S", "kept", id="s")
    delete(records, "s")
    assert records.journal.purge(lambda entry: entry.item == "r") == 1
    text = b"".join(path.read_bytes() for path in world.paths.journal.glob("*.jsonl"))
    assert b"confidential" not in text
    assert b"kept" in text
    assert [line.entry.action for line in records.history("r")] == ["delete", "create"]
    assert undo(records) == "create s"
    assert undo(records) == "delete s"
    with pytest.raises(CannotUndo, match="purged"):
        records.plan_undo()


def test_a_purge_keeps_no_older_write_from_being_taken_back_and_what_stays_is_said(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "S", "kept", id="s")
    store(records, "R", "confidential", id="r")
    store(records, "R", "confidential as well", id="r")
    delete(records, "r")
    records.journal.purge(lambda entry: entry.item == "r")
    plan = records.plan_undo()
    assert (plan.entry.item, plan.action) == ("s", "delete")
    assert "r.yaml before that write was purged" in plan.passed_over
    records.commit_undo(plan, USER)
    with pytest.raises(CannotUndo, match="purged"):
        records.plan_undo()


def test_purging_removes_what_a_purge_that_was_killed_left_beside_the_journal(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "confidential", id="r")
    delete(records, "r")
    (segment,) = world.paths.journal.glob("*.jsonl")
    half = segment.with_name(f".{segment.name}.0123456789ab.tmp")
    half.write_bytes(segment.read_bytes())
    records.journal.purge(lambda entry: entry.item == "r")
    assert not half.exists()


def test_bytes_that_are_no_utf_8_survive_the_journal(tmp_path: Path) -> None:
    data = b"caf\xe9 \x00 \xf0\x9f\x98\x80"
    journal = Journal(tmp_path / "journal", clock=Clock())
    path = tmp_path / "notes.md"
    path.write_bytes(data)
    entry = journal.begin(
        Target(
            surface="notes", action="replace", scope="project", directory=tmp_path, item="notes", path=path
        ),
        USER,
        before=data,
        digest_before=digest(data),
        digest_after=digest(b"new"),
    )
    path.write_bytes(b"new")
    journal.settle(entry.id)
    commit_undo(journal, plan_undo(journal, [tmp_path]), USER)
    assert path.read_bytes() == data
    assert bytes_of(text_of(data)) == data


def test_a_directory_swapped_for_a_link_is_not_written_through_by_an_undo(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "one", id="r").path
    plan = records.plan_undo()
    moved = path.parent.rename(tmp_path / "moved")
    path.parent.symlink_to(moved)
    with pytest.raises(CannotUndo):
        records.commit_undo(plan, USER)
    assert (moved / "r.yaml").exists()


def test_a_write_that_cannot_be_journalled_does_not_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "one", id="r").path
    with full_disk(monkeypatch, world.paths.journal), pytest.raises(MunimentError, match="no space left"):
        store(records, "R", "two", id="r")
    assert content(records) == "one"
    assert len(list(records.journal.entries())) == 1
    delete(records, "r")
    assert not path.exists()


def test_a_journal_whose_lock_cannot_be_taken_is_not_written(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "one", id="r")
    locks = world.paths.journal / ".locks"
    locks.rename(tmp_path / "moved")
    locks.write_text("in the way")
    with pytest.raises(MunimentError):
        records.journal.write(next(records.journal.entries()))
    assert len(list(records.journal.entries())) == 1


def test_every_line_of_the_journal_is_json_with_the_decision(tmp_path: Path) -> None:
    world = World(tmp_path)
    store(world.store(), "R", "one", id="r")
    [segment] = world.paths.journal.glob("*.jsonl")
    first, last = [json.loads(line) for line in segment.read_text().splitlines()]
    assert first["entry"]["origin"]["decided_by"] == "user"
    assert last == {"settled": first["entry"]["id"]}


def test_a_journal_that_is_a_link_is_not_written_through_and_nothing_else_is_written(tmp_path: Path) -> None:
    world = World(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    world.paths.data.mkdir(parents=True, mode=0o700, exist_ok=True)
    world.paths.journal.symlink_to(elsewhere)
    with pytest.raises(MunimentError, match="cannot be kept: it is a symbolic link"):
        store(world.store(), "R", "one", id="r")
    assert list(elsewhere.iterdir()) == []
    assert list(tmp_path.rglob("*.yaml")) == []

    # What lies above it may be a link: the whole data directory may live elsewhere.
    world.paths.journal.unlink()
    moved = world.paths.data.rename(tmp_path / "moved")
    world.paths.data.symlink_to(moved)
    store(world.store(), "R", "one", id="r")
    assert len(list((moved / "journal").glob("*.jsonl"))) == 1


@pytest.mark.parametrize(
    "name",
    ["real/a", "link/a", "real/to-a", "loop/a", "absent/a", "real/../link/a", "real/a/file/a", "", "/"],
)
def test_every_name_of_a_directory_takes_the_same_lock(name: str, tmp_path: Path) -> None:
    (tmp_path / "real" / "a").mkdir(parents=True)
    (tmp_path / "real" / "a" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "to-a").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    locks = tmp_path / "journal" / ".locks"
    journal = Journal(locks.parent)
    with journal.guard(tmp_path / name):
        pass
    with journal.guard(Path(os.path.realpath(tmp_path / name))):
        pass
    with journal.guard(Path(os.path.relpath(tmp_path / name))):
        pass
    key = hashlib.sha256(os.fsencode(os.path.realpath(tmp_path / name))).hexdigest()
    assert os.listdir(locks) == [f"{key[:32]}.lock"]


@pytest.mark.parametrize(("swapped", "why"), [("link", "it is a symbolic link"), ("file", "not a directory")])
def test_an_entry_goes_nowhere_where_the_journal_is_no_directory_any_more(
    swapped: str, why: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "one", id="r")
    entry = next(records.journal.entries())
    moved = world.paths.journal.rename(tmp_path / "moved")
    before = {each: each.read_bytes() for each in moved.rglob("*.*l*") if each.is_file()}
    if swapped == "link":
        world.paths.journal.symlink_to(moved)
    else:
        world.paths.journal.write_text("in the way")
    with pytest.raises(MunimentError, match=f"cannot be kept: {why}"):
        records.journal.write(entry)
    with pytest.raises(MunimentError, match=f"cannot be kept: {why}"):
        records.journal.purge(lambda _: True)
    assert {each: each.read_bytes() for each in moved.rglob("*.*l*") if each.is_file()} == before


def test_a_segment_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    world = World(tmp_path)
    store(world.store(), "R", "one", id="r")
    [segment] = world.paths.journal.glob("*.jsonl")
    elsewhere = segment.rename(tmp_path / "elsewhere.jsonl")
    before = elsewhere.read_bytes()
    segment.symlink_to(elsewhere)
    with pytest.raises(MunimentError):
        store(world.store(), "R", "two", id="r")
    assert elsewhere.read_bytes() == before
    assert content(world.store()) == "one"


def test_a_place_whose_name_no_file_system_takes_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(JournalFault, match="cannot be kept: file name too long"):
        Journal(tmp_path / ("x" * 300) / "journal").guard(tmp_path)
