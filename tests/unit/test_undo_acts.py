"""Several writes of one act, such as a move between scopes, are taken back by one undo, or not at all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.approval.proposal import Change
from muniment.memory.journal_undo import CannotUndo
from muniment.memory.records.plans import DeleteRequest, StoreRequest
from muniment.memory.records.store import RecordStore
from muniment.safety.errors import NotFound
from muniment.tui.by_hand.undo import change_of
from support.command import Inside
from support.environment import isolated
from support.records import USER, World, store

ACT = replace(USER, reason="move", group="0123456789abcdef")


def move(records: RecordStore, record_id: str = "r") -> tuple[Path, Path]:
    """Move a record from the project to the global scope as the screen does; return both places."""
    found = records.get(record_id)
    copy = records.plan_store(
        StoreRequest(found.record.title, found.record.content, id=record_id, scope="global"), origin=ACT
    )
    records.commit(copy, ACT)
    gone = records.plan_delete(DeleteRequest(record_id, "project"))
    records.commit(gone, ACT)
    return gone.path, copy.path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_one_undo_takes_back_both_writes_and_the_next_what_was_before(world: World) -> None:
    records = world.store()
    store(records, "R", "text", id="r")
    here, there = move(records)
    assert [here.exists(), there.exists()] == [False, True]
    plan = records.plan_undo()
    assert [(part.action, part.path) for part in plan.parts] == [("create", here), ("delete", there)]
    done = records.commit_undo(plan, USER)
    assert [here.exists(), there.exists()] == [True, False]
    undone = {line.entry.id: line.undone_by for line in records.journal.lines()}
    assert [undone[str(part.undoes)] for part in plan.parts] == [done.entry, *done.also]
    assert records.plan_undo().parts == (records.plan_undo(),)
    records.commit_undo(records.plan_undo(), USER)
    assert not here.exists()
    with pytest.raises(NotFound):
        records.plan_undo()


def test_writes_without_a_group_stay_single_and_so_do_those_of_an_older_journal(world: World) -> None:
    records = world.store()
    store(records, "A", id="a")
    store(records, "B", id="b")
    (segment,) = world.paths.journal.glob("*.jsonl")
    kept = []
    for line in segment.read_text().splitlines():
        item = json.loads(line)
        if "entry" in item:
            del item["entry"]["origin"]["group"]
        kept.append(json.dumps(item))
    segment.write_text("\n".join(kept) + "\n")
    assert records.journal.unreadable() == 0
    plan = records.plan_undo()
    assert (plan.entry.item, plan.also, plan.entry.origin.group) == ("b", (), "")


def test_the_dialog_shows_the_texts_of_all_files_and_first_those_that_nobody_has_seen(world: World) -> None:
    records = world.store()
    store(records, "R", "the text", id="r")
    alone = records.plan_undo()
    assert change_of(alone) == Change("file", alone.text_now, None)
    here, there = move(records)
    moved = change_of(records.plan_undo())
    assert moved.before is not None
    assert moved.after is not None
    assert moved.before.startswith(f"── {there}\n")
    assert "the text" in moved.before
    assert moved.after.startswith(f"── {here}\n")
    assert "the text" in moved.after
    here.write_text("one by hand\n")
    there.write_text("another by hand\n")
    changed = change_of(records.plan_undo())
    assert changed.before == f"── {here}\none by hand\n\n── {there}\nanother by hand\n"
    here.unlink()
    assert str(change_of(records.plan_undo()).before).startswith(f"── {there}\nanother by hand")


def test_where_one_of_the_files_changed_since_all_of_it_is_told_and_bound(world: World) -> None:
    records = world.store()
    store(records, "R", "text", id="r")
    here, there = move(records)
    there.write_text(there.read_text().replace("text", "other"))
    plan = records.plan_undo()
    assert ["was changed" in part.changed for part in plan.parts] == [False, True]
    there.write_text(there.read_text().replace("other", "third"))
    with pytest.raises(CannotUndo, match="changed after approval"):
        records.commit_undo(plan, USER)
    assert not here.exists()  # nothing of it was done
    assert "third" in there.read_text()


def test_an_act_that_reaches_beyond_this_chain_is_not_taken_back_by_halves(world: World) -> None:
    records = world.store()
    store(records, "R", "text", id="r")
    _, there = move(records)
    elsewhere = world.store(world.directory("elsewhere", scope=True))
    with pytest.raises(CannotUndo, match="undo it where that is in the chain"):
        elsewhere.plan_undo()
    assert there.exists()
    assert len(records.plan_undo().parts) == 2


KILLED = """
import sys
from pathlib import Path
from support.kill_loop import die_at
from support.records import USER, World

base = Path(sys.argv[1])
records = World(base).store()
plan = records.plan_undo()
die_at(int(sys.argv[2]), base)
records.commit_undo(plan, USER)
"""


def test_killed_anywhere_no_moment_is_without_a_copy_and_the_next_undo_ends_it(tmp_path: Path) -> None:
    seen = set()
    for number in range(1, 80):
        base = tmp_path / str(number)
        world = World(base)
        records = world.store()
        store(records, "R", "text", id="r")
        here, there = move(records)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(base), str(number)],
            env=isolated(base) | {"PYTHONPATH": str(Path(__file__).parents[1])},
            check=False,
            timeout=60,
        )
        assert done.returncode in (0, -signal.SIGKILL)
        state = (here.exists(), there.exists())
        seen.add(state)
        assert state in {(False, True), (True, True), (True, False)}
        records = world.store()
        if there.exists():
            records.commit_undo(records.plan_undo(), USER)
        assert (here.exists(), there.exists()) == (True, False)
        assert records.plan_undo().entry.action == "create"
        if done.returncode == 0:
            break
    assert done.returncode == 0
    assert seen == {(False, True), (True, True), (True, False)}


def test_the_command_takes_back_both_and_names_both(cli: Inside, tmp_path: Path, user: Path) -> None:
    from muniment.memory.surfaces import Surfaces
    from muniment.paths import resolve_paths
    from muniment.settings import Settings

    cli("memory", "store", "--title", "R", "--content", "text", "--id", "r")
    here, there = move(Surfaces(resolve_paths(), tmp_path, Settings()).records)
    assert cli("memory", "undo").code == 1
    assert (here.exists(), there.exists()) == (False, True)
    done = cli("memory", "undo", "--yes", "--json").json
    assert (done["path"], done["action"]) == (str(here), "create")
    assert [(each["path"], each["action"]) for each in done["also"]] == [(str(there), "delete")]
    assert (here.exists(), there.exists()) == (True, False)


def test_nothing_of_an_act_is_taken_back_where_a_later_write_to_one_of_its_files_was_purged(
    world: World,
) -> None:
    records = world.store()
    store(records, "Before", id="before")
    for name in ("a", "b"):
        records.commit(records.plan_store(StoreRequest(name, "one", id=name), origin=ACT), ACT)
    later = store(records, "a", "two", id="a").path
    store(records, "a", "three", id="a")
    records.journal.purge(lambda entry: entry.item == "a")
    plan = records.plan_undo()
    assert (plan.entry.item, plan.also) == ("before", ())
    assert f"{later} before that write was purged" in plan.passed_over
