"""A store or a deletion is bound to what was shown, whatever came in between."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from muniment.memory.records.plans import ChangedAfterApproval, DeleteRequest, StoreRequest
from muniment.memory.records.record import Record
from muniment.memory.records.scope import Scope
from muniment.memory.records.store import RecordStore
from muniment.memory.records.writing import commit_plan
from support.records import AGENT, World, put, store, tree_digest


@pytest.mark.parametrize("change", ["edited", "deleted", "linked", "hard-linked", "replaced"])
def test_a_file_changed_after_approval_is_not_written(change: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "shown", id="r").path
    plan = records.plan_store(StoreRequest("R", "approved", id="r"), origin=AGENT)
    other = tmp_path / "other.yaml"
    other.write_bytes(path.read_bytes())
    match change:
        case "edited":
            path.write_bytes(path.read_bytes().replace(b"shown", b"hands"))
        case "deleted":
            path.unlink()
        case "linked":
            path.unlink()
            path.symlink_to(other)
        case "hard-linked":
            os.link(path, tmp_path / "second-name")
        case "replaced":
            path.unlink()
            path.mkdir()
    before = tree_digest(tmp_path / "work")
    with pytest.raises(ChangedAfterApproval, match="changed after approval, nothing written"):
        records.commit(plan, AGENT)
    assert tree_digest(tmp_path / "work") == before
    assert b"approved" not in other.read_bytes()


def test_a_file_that_appeared_after_approval_is_not_overwritten(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    plan = records.plan_store(StoreRequest("R", "approved", id="r"), origin=AGENT)
    path = put(tmp_path / "work" / ".muniment", "r", content="by hand")
    before = path.read_bytes()
    with pytest.raises(ChangedAfterApproval):
        records.commit(plan, AGENT)
    assert path.read_bytes() == before


def test_a_free_id_that_another_process_takes_before_it_is_looked_at_again_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    really = RecordStore._taken

    def overtaken(self: RecordStore, scopes: Iterable[Scope], record_id: str) -> bool:
        taken = really(self, scopes, record_id)
        if record_id == "rule" and not taken:
            put(cwd / ".muniment", "rule", title="Rule", content="of another")
        return taken

    monkeypatch.setattr(RecordStore, "_taken", overtaken)
    outcome = store(world.store(cwd), "Rule", "mine")
    assert (outcome.id, outcome.created) == ("rule-2", True)
    assert world.store(cwd).get("rule").record.content == "of another"


def test_a_free_id_is_looked_for_in_a_scope_that_another_process_makes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    cwd = world.directory("work")
    really = RecordStore._current
    looks: list[str] = []

    def overtaken(self: RecordStore, scope: Scope, record_id: str) -> tuple[Record | None, bytes | None]:
        if not looks:
            put(cwd / ".muniment", "rule", title="Rule", content="of another")
        looks.append(record_id)
        assert len(looks) < 10, looks
        return really(self, scope, record_id)

    monkeypatch.setattr(RecordStore, "_current", overtaken)
    plan = world.store(cwd).plan_store(StoreRequest("Rule", "mine"), origin=AGENT)
    assert plan.path == cwd / ".muniment" / "memory" / "rule-2.yaml"
    assert looks == ["rule", "rule-2"]


def test_a_file_that_appears_while_its_directory_is_made_is_not_overwritten(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory(scope=True)
    records = world.store(cwd)
    plan = records.plan_store(StoreRequest("Plum rule", "new", id="plum", scope="project"), origin=AGENT)
    appeared: list[Path] = []

    class Tidied(set[Path]):
        """Told when a directory has been made ready: then somebody else is quicker."""

        def add(self, directory: Path) -> None:
            super().add(directory)
            appeared.append(put(directory.parent, "plum", content="theirs"))

    with pytest.raises(ChangedAfterApproval):
        commit_plan(records.journal, plan, AGENT, world.paths.data, Tidied())
    assert "theirs" in appeared[0].read_text()
    assert list(records.journal.entries()) == []


def test_a_deletion_is_bound_to_the_text_that_was_shown(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "shown", id="r").path
    plan = records.plan_delete(DeleteRequest("r"))
    path.write_bytes(path.read_bytes().replace(b"shown", b"hands"))
    with pytest.raises(ChangedAfterApproval):
        records.commit(plan, AGENT)
    assert b"hands" in path.read_bytes()


def test_a_touched_file_with_the_same_text_may_proceed(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "R", "shown", id="r").path
    plan = records.plan_store(StoreRequest("R", "approved", id="r"), origin=AGENT)
    os.utime(path, (1, 1))
    assert not records.commit(plan, AGENT).created
    assert records.get("r").record.content == "approved"


@pytest.mark.parametrize("swapped", ["memory", "."])
def test_a_scope_swapped_for_a_link_after_approval_is_not_written_through(
    swapped: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    outside = world.directory("outside", scope=True) / ".muniment"
    records = world.store(cwd)
    store(records, "Before", id="before")
    plan = records.plan_store(StoreRequest("R", "approved"), origin=AGENT)
    place = cwd / ".muniment" / swapped
    place.rename(tmp_path / "aside")
    place.symlink_to(outside / swapped)
    with pytest.raises(ChangedAfterApproval):
        records.commit(plan, AGENT)
    assert list((outside / "memory").iterdir()) == []


def test_a_scope_that_became_the_data_directory_after_approval_is_not_written_to(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    records = world.store(cwd)
    plan = records.plan_store(StoreRequest("R", "approved"), origin=AGENT)
    world.global_dir.parent.mkdir()
    world.global_dir.symlink_to(cwd / ".muniment")
    with pytest.raises(ChangedAfterApproval):
        records.commit(plan, AGENT)
    assert not list((cwd / ".muniment" / "memory").iterdir())
