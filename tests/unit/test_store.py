"""The record store: which copy counts, what a write does, and what never happens."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.records.plans import StoreRefused, StoreRequest
from muniment.memory.records.record import encode
from muniment.memory.records.store import RecordStore
from muniment.safety.errors import InvalidInput, NotFound
from support.poll import PATIENCE
from support.records import AGENT, START, USER, World, delete, put, store, tree_digest

PAST = "2026-10-25T03:07:29Z"
FUTURE = "2026-10-25T03:07:30Z"


def three_levels(world: World) -> tuple[RecordStore, list[Path]]:
    """Put a copy of `r` into the global scope, a parent and its child; return the child's store."""
    parent = world.directory("p", scope=True)
    child = world.directory("p/c", scope=True)
    directories = [world.global_dir, parent / ".muniment", child / ".muniment"]
    for number, directory in enumerate(directories):
        put(directory, "r", content=f"copy {number}")
    return world.store(child), directories


def ids(records: RecordStore) -> list[str]:
    return [each.meta.id for each in records.snapshot().entries]


def test_a_store_into_a_project_makes_one_file_with_eight_fields(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    outcome = store(world.store(cwd), "Review rule", "Cite both")
    assert outcome.created
    assert outcome.path == cwd / ".muniment" / "memory" / "review-rule.yaml"
    assert outcome.path.read_text() == (
        "id: review-rule\ncategory: fact\ntitle: Review rule\ncontent: Cite both\ntags: []\nsource: agent\n"
        "created_at: 2026-10-25T03:07:29Z\nupdated_at: 2026-10-25T03:07:29Z\n"
    )
    assert outcome.path.stat().st_mode & 0o777 == 0o600


def test_the_deepest_copy_counts_and_each_deletion_uncovers_the_next(tmp_path: Path) -> None:
    records, directories = three_levels(World(tmp_path))
    found = records.get("r")
    assert found.record.content == "copy 2"
    assert [scope.directory for scope in found.overrides] == [directories[1], directories[0]]
    first = delete(records, "r")
    assert (first.scope.directory, first.now_effective.directory) == (directories[2], directories[1])
    second = delete(records, "r", "project")
    assert (second.scope.directory, second.now_effective.directory) == (directories[1], directories[0])
    assert records.get("r").record.content == "copy 0"
    with pytest.raises(NotFound, match="project scope"):
        delete(records, "r", "project")
    assert delete(records, "r").now_effective is None
    with pytest.raises(NotFound):
        records.get("r")


def test_deleting_the_global_copy_leaves_the_project_copies(tmp_path: Path) -> None:
    records, directories = three_levels(World(tmp_path))
    outcome = delete(records, "r", "global")
    assert outcome.scope.directory == directories[0]
    assert outcome.now_effective.directory == directories[2]
    assert [(each / "memory" / "r.yaml").exists() for each in directories] == [False, True, True]


@pytest.mark.parametrize("word", [None, "project", "global"])
def test_what_is_stored_under_a_scope_word_is_reached_under_it(word: str | None, tmp_path: Path) -> None:
    records = World(tmp_path).store()
    kind = word or "project"
    stored = store(records, "One", "unusual words", scope=word)
    assert stored.scope.kind == kind
    assert records.get("one", word).scope.kind == kind  # type: ignore[arg-type]
    assert [hit.meta.id for hit in records.search("unusual", scope=word).hits] == ["one"]  # type: ignore[arg-type]
    assert [each.meta.scope.kind for each in records.snapshot().entries] == [kind]
    assert delete(records, "one", word).scope.kind == kind
    assert ids(records) == []


@pytest.mark.parametrize("field", ["title", "content", "category", "tags"])
@pytest.mark.parametrize(("bad", "says"), [("a\0b", "NUL"), ("a\ud800b", "half of a character")])
def test_what_no_record_can_hold_is_refused_by_the_name_of_its_field(
    tmp_path: Path, field: str, bad: str, says: str
) -> None:
    fields: dict[str, Any] = {"title": "T", "content": "C"} | {field: [bad] if field == "tags" else bad}
    name = "tag 1" if field == "tags" else field
    with pytest.raises(InvalidInput, match=f"The {name} holds .*{says}"):
        World(tmp_path).store().plan_store(StoreRequest(**fields), origin=AGENT)


def test_no_other_word_is_taken_for_a_scope(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    for act in (
        lambda: store(records, "One", scope="everywhere"),
        lambda: delete(records, "one", "Global"),
        lambda: records.get("one", "everywhere"),  # type: ignore[arg-type]
        lambda: records.search("one", scope="everywhere"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput, match="only project and global"):
            act()
    assert list(tmp_path.rglob("*.yaml")) == []


def test_an_update_keeps_what_was_omitted_and_its_creation_time(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    expires = START.replace(year=2030)
    first = store(records, "R", "one", id="r", category="rule", tags=("a",), expires_at=expires)
    world.clock.move(hours=1)
    plan = records.plan_store(StoreRequest("R2", "two", id="r", category="", tags=()), origin=USER)
    second = records.commit(plan, USER)
    assert (first.created, second.created) == (True, False)
    after = records.get("r").record
    assert (after.category, after.tags, after.expires_at) == ("rule", ("a",), expires)
    assert (after.created_at, after.updated_at) == (START, world.clock.now)
    assert (after.title, after.content, after.source) == ("R2", "two", "user")


def test_clear_removes_on_purpose(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "R", "one", id="r", category="rule", tags=("a",), expires_at=START.replace(year=2030))
    store(records, "R", "two", id="r", clear=("tags", "category", "expires_at"))
    after = records.get("r").record
    assert (after.category, after.tags, after.expires_at) == ("fact", (), None)


def test_created_is_told_from_the_file_and_not_from_equal_times(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    assert [store(records, "R", str(n), id="r").created for n in range(3)] == [True, False, False]


def test_a_deeper_copy_inherits_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    put(world.global_dir, "r", category="rule", tags="[a]", created_at="2020-01-01T00:00:00Z")
    outcome = store(world.store(), "R", "new", id="r")
    after = world.store().get("r").record
    assert outcome.created
    assert (after.category, after.tags, after.created_at) == ("fact", (), START)


def test_a_clock_that_went_back_never_dates_an_update_before_its_record(tmp_path: Path) -> None:
    world = World(tmp_path)
    store(world.store(), "R", "one", id="r")
    world.clock.move(hours=-1)
    store(world.store(), "R", "two", id="r")
    after = world.store().get("r").record
    assert after.updated_at == after.created_at == START


def test_unknown_fields_of_a_hand_written_file_survive_an_update(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r", reviewer="Ana")
    store(world.store(cwd), "New title", "new", id="r")
    assert "reviewer: Ana\n" in path.read_text()
    assert world.store(cwd).get("r").record.extras == {"reviewer": "Ana"}


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Apia"])
def test_an_expired_copy_does_not_hide_a_shallower_one_under_any_local_time(
    zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    cases = {
        "now": PAST,
        "soon": FUTURE,
        "east": "2026-10-25T17:07:30+14:00",
        "west": "2026-10-24T16:07:29-11:00",
        "today": "2026-10-25",
        "yesterday": "2026-10-24",
    }
    for name, when in cases.items():
        put(world.global_dir, name, content="shallow")
        put(cwd / ".muniment", name, content="deep", expires_at=when)
    records = world.store(cwd)
    deep = {each.meta.id for each in records.snapshot().entries if each.meta.scope.kind == "project"}
    assert deep == {"soon", "east", "today"}
    assert {name for name in cases if records.get(name).record.content == "deep"} == deep
    assert {hit.meta.id for hit in records.search("deep").hits} == deep
    assert {hit.meta.id for hit in records.search("shallow").hits} == set(cases) - deep
    monkeypatch.undo()
    time.tzset()


def test_a_malformed_or_mismatched_deeper_copy_hides_nothing_and_stays_as_it_is(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    put(world.global_dir, "r", content="friday")
    put(world.global_dir, "s", content="friday")
    put(cwd / ".muniment", "r", 'id: r\ntitle: "unbalanced\ncontent: x\n')
    put(cwd / ".muniment", "s", "id: other\ntitle: T\ncontent: C\n")
    before = tree_digest(cwd)
    records = world.store(cwd)
    assert records.get("r").scope.kind == "global"
    assert [hit.meta.scope.kind for hit in records.search("friday").hits] == ["global", "global"]
    skipped = {each.path.name: each.reason for each in records.snapshot().skipped}
    assert "line" in skipped["r.yaml"]
    assert "other" in skipped["s.yaml"]
    assert tree_digest(cwd) == before


def test_bad_files_never_block_good_ones_and_each_is_named(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    directory = cwd / ".muniment"
    for name, word in (("good-1", "alpha"), ("good-2", "beta"), ("good-3", "gamma")):
        put(directory, name, content=word)
    bad: dict[str, str | bytes] = {
        "empty": "",
        "list": "- id: list\n",
        "multi": "---\nid: multi\ntitle: a\ncontent: b\n---\nid: multi\ntitle: c\ncontent: d\n",
        "null-title": "id: null-title\ntitle:\ncontent: x\n",
        "scalar": "just words\n",
        "wrong-name": "id: other-name\ntitle: x\ncontent: x\n",
        "colon": "id: colon\ntitle: Deploy: blue lane\ncontent: x\n",
        "nested": "id: nested\ntitle: x\ncontent: " + "[" * 3000 + "]" * 3000,
        "bomb": "id: bomb\na: &a [x]\ntitle: x\ncontent: *a\n",
        "latin": "id: latin\ntitle: x\ncontent: x\n".encode("utf-16"),
        "raw-nul": b"id: raw-nul\ntitle: a\0b\ncontent: x\n",
        "raw-esc": b"id: raw-esc\ntitle: a\x1b[31mb\ncontent: x\n",
    }
    for name, text in bad.items():
        put(directory, name, text)
    before = tree_digest(directory)
    records = world.store(cwd)
    assert sorted(ids(records)) == ["good-1", "good-2", "good-3"]
    assert [hit.meta.id for hit in records.search("beta").hits] == ["good-2"]
    stats = records.stats()
    assert (stats.chain[1].records, stats.chain[1].skipped) == (3, len(bad))
    assert sorted(each.path.stem for each in stats.skipped) == sorted(bad)
    assert all(each.reason for each in stats.skipped)
    assert tree_digest(directory) == before


def test_odd_entries_neither_block_nor_count(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    memory = cwd / ".muniment" / "memory"
    put(cwd / ".muniment", "r")
    os.mkfifo(memory / "pipe.yaml")
    (memory / "dir.yaml").mkdir()
    linked = put(cwd / ".muniment", "linked")
    os.link(linked, tmp_path / "second-name")
    (memory / "big.yaml").write_bytes(b"x" * (1_048_576 + 1))
    (memory / "node_modules").mkdir()
    (memory / "node_modules" / "deep.yaml").write_text("id: deep\ntitle: x\ncontent: x\n")
    for name in (".r.yaml.swp", "r.yaml~", "#r.yaml#", "r.yaml.tmp.123", "4913", ".r.yaml.abc.tmp", "r.yml"):
        (memory / name).write_text("id: r\ntitle: wrong\ncontent: wrong\n")
    snapshot = world.store(cwd).snapshot()
    assert [each.meta.id for each in snapshot.entries] == ["r"]
    assert {each.path.name: each.reason for each in snapshot.skipped} == {
        "big.yaml": "is larger than 1048576 bytes",
        "dir.yaml": "is a directory",
        "linked.yaml": "has several hard links",
        "pipe.yaml": "is not a regular file",
    }


def test_a_store_onto_an_unreadable_file_is_refused_and_the_file_left_alone(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "broken", 'id: broken\ntitle: "unbalanced\ncontent: typed by hand\n')
    before = path.read_bytes()
    with pytest.raises(StoreRefused, match="repair or move it first"):
        store(world.store(cwd), "New", id="broken")
    assert path.read_bytes() == before
    with pytest.raises(NotFound, match=r"broken\.yaml"):
        delete(world.store(cwd), "broken")
    assert path.read_bytes() == before


def test_stats_count_a_repeated_id_in_each_scope(tmp_path: Path) -> None:
    records, directories = three_levels(World(tmp_path))
    stats = records.stats()
    assert [(each.scope.directory, each.records) for each in stats.chain] == [
        (each, 1) for each in directories
    ]
    assert stats.distinct == 1


def test_every_refresh_keeps_all_levels(tmp_path: Path) -> None:
    world = World(tmp_path)
    records, directories = three_levels(world)
    for number, directory in enumerate(directories):
        put(directory, f"own-{number}")
    assert sorted(ids(records)) == ["own-0", "own-1", "own-2", "r"]
    (directories[1] / "memory" / "own-1.yaml").unlink()
    assert sorted(ids(records)) == ["own-0", "own-2", "r"]
    store(records, "Another")
    assert sorted(ids(records)) == ["another", "own-0", "own-2", "r"]


def test_an_edit_of_the_same_size_with_its_old_time_is_seen(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r", title="alpha")
    records = world.store(cwd)
    seen = path.stat()
    assert records.snapshot().entries[0].meta.title == "alpha"
    put(cwd / ".muniment", "r", title="gamma")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert records.snapshot().entries[0].meta.title == "gamma"
    replacement = path.with_name("4913")
    replacement.write_text(path.read_text().replace("gamma", "delta"))
    replacement.rename(path)
    assert records.snapshot().entries[0].meta.title == "delta"


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r")
    records = world.store(cwd)
    deadline = time.monotonic() + PATIENCE
    # Until the file is older than the border of coarse clocks each look reads it anew.
    while records.snapshot().entries[0].meta is not records.snapshot().entries[0].meta:
        assert time.monotonic() < deadline
    path.chmod(0o600)
    assert records.snapshot().entries[0].meta.id == "r"


def test_search_never_gives_an_overridden_copy_as_the_truth(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    put(world.global_dir, "r", content="ship on friday")
    put(cwd / ".muniment", "r", content="never ship late")
    records = world.store(cwd)
    assert records.search("friday").hits == ()
    [hit] = records.search("friday", include_overridden=True).hits
    assert (hit.effective, hit.overridden_by and hit.overridden_by.directory) == (False, cwd / ".muniment")


def test_a_deleted_record_is_gone_from_every_answer_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    outcome = store(records, "Gone", "rareword")
    assert len(records.search("rareword").hits) == 1
    outcome.path.unlink()
    assert records.search("rareword").hits == ()
    store(records, "Gone too", "rareword")
    delete(records, "gone-too")
    assert records.search("rareword").hits == ()
    assert ids(records) == []


def test_a_restored_backup_has_its_original_times(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    outcome = store(records, "Kept", "text")
    backup = outcome.path.read_bytes()
    world.clock.move(days=3)
    delete(records, "kept")
    outcome.path.write_bytes(backup)
    found = records.get("kept").record
    assert (found.created_at, found.updated_at) == (START, START)


def test_what_is_missing_between_two_stores_of_one_process_is_made_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work")
    records = world.store(cwd)
    directory = store(records, "One", id="one").path.parent.parent
    (directory / "project.yaml").unlink()
    store(records, "Two", id="two")
    assert (directory / "project.yaml").exists()
    shutil.rmtree(directory / "memory")
    store(records, "Three", id="three")
    shutil.rmtree(directory)
    store(records, "Four", id="four")
    assert ids(records) == ["four"]
    assert (directory / "project.yaml").exists()


def test_a_new_process_puts_the_modes_of_a_scope_right_with_its_first_store(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    directory = cwd / ".muniment"
    for each in (directory, directory / "memory"):
        each.chmod(0o755)
    store(world.store(cwd), "R", id="r")
    assert [each.stat().st_mode & 0o777 for each in (directory, directory / "memory")] == [0o700, 0o700]


def test_a_copy_that_stays_expired_is_said_in_plan_and_outcome(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    put(cwd / ".muniment", "r", expires_at=PAST)
    records = world.store(cwd)
    plan = records.plan_store(StoreRequest("R", "new", id="r"), origin=AGENT)
    assert "expired" in [warning.kind for warning in plan.warnings]
    [note] = records.commit(plan, AGENT).notes
    assert "stays expired" in note
    with pytest.raises(NotFound, match="expired"):
        records.get("r")
    again = StoreRequest("R", "new", id="r", expires_at=START.replace(year=2001))
    assert "expired from the start" in records.plan_store(again, origin=AGENT).notes[0]
    assert delete(records, "r").id == "r"


def test_an_update_of_the_title_leaves_a_secret_looking_content_as_it_is(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    secret = "token ghp_" + "A1b2" * 9
    put(cwd / ".muniment", "r", content=secret)
    records = world.store(cwd)
    before = records.get("r").record
    store(records, "Another title", before.content, id="r")
    assert records.get("r").record.content == secret


def test_a_hand_edit_of_the_whole_file_is_planned_and_bound_like_any_write(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "R", "old", id="r", tags=("a",))
    found = records.get("r")
    world.clock.move(hours=2)
    plan = records.plan_edit(found, found.data.replace(b"old", b"new").replace(b"- a", b"- b"))
    records.commit(plan, USER)
    after = records.get("r").record
    assert (after.content, after.tags, after.source) == ("new", ("b",), "user")
    assert (after.created_at, after.updated_at) == (START, world.clock.now)


def test_a_hand_edit_that_is_no_record_any_more_is_refused(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "R", "old", id="r")
    found = records.get("r")
    for text in (b"", b"id: other\ntitle: x\ncontent: y\n", b"title: ["):
        with pytest.raises(Exception, match="no record"):
            records.plan_edit(found, text)


def test_future_times_neither_crash_nor_lead_the_list_for_ever(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    directory = cwd / ".muniment"
    put(directory, "skewed", created_at="2026-10-20T00:00:00Z", updated_at="2026-10-26T03:07:29Z")
    put(directory, "odd", created_at="9999-12-31T00:00:00Z", updated_at="9999-12-31T00:00:00Z")
    put(directory, "new", created_at="2026-10-24T00:00:00Z", updated_at="2026-10-24T00:00:00Z")
    assert ids(world.store(cwd)) == ["new", "skewed", "odd"]


def test_the_written_file_is_the_plan_byte_for_byte(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    plan = records.plan_store(StoreRequest("R", "line\n\u202e\x1b end\u2028", tags=("ü",)), origin=AGENT)
    outcome = records.commit(plan, AGENT)
    assert outcome.path.read_bytes() == plan.data == encode(plan.after)
    assert records.get(outcome.id).record == plan.after


def test_a_store_clears_away_what_a_killed_writer_left_long_ago_and_nothing_else(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    memory = cwd / ".muniment" / "memory"
    names = (".r.yaml.0123456789ab.tmp", ".r.yaml.ba9876543210.tmp", ".r.yaml.swp", "notes.tmp")
    for name in names:
        (memory / name).write_text("half")
    for name in names[1:]:
        os.utime(memory / name, (1, 1))
    store(world.store(cwd), "R", id="r")
    assert {path.name for path in memory.iterdir()} == {names[0], names[2], names[3], "r.yaml"}
