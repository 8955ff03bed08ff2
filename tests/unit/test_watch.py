"""The watcher: what it tells, when a search believes it, and that its failing costs nothing but speed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles._rust_notify

from muniment.memory import watch as watching
from muniment.memory.records.store import RecordStore
from muniment.memory.watch import Watch, memory_directories, watch_memory
from support.poll import until
from support.records import World, put, store


class Ear:
    """What a watcher told, counted."""

    def __init__(self, records: RecordStore) -> None:
        self.changes = 0
        self.notices: list[str] = []
        self.watch = watch_memory(
            lambda: memory_directories(records.chain()), self._changed, self.notices.append
        )
        records.watched = self.watch.mark

    def _changed(self) -> None:
        self.changes += 1

    def settle(self) -> int:
        """Wait until it watches, and return what it has told so far."""
        until(lambda: self.watch.mark() is not None, what="the watcher")
        return self.changes


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def ears() -> Iterator[list[Watch]]:
    made: list[Watch] = []
    yield made
    for each in made:
        each.stop()
        assert not each.alive


def test_every_kind_of_change_from_outside_is_told(world: World, ears: list[Watch]) -> None:
    cwd = world.directory(scope=True)
    path = put(cwd / ".muniment", "tea")
    inbox = cwd / ".muniment" / "notes" / "inbox"
    inbox.mkdir(parents=True)
    ear = Ear(world.store(cwd))
    ears.append(ear.watch)

    def rename() -> None:
        other = path.with_name("new.yaml")
        path.rename(other)

    for change in (
        lambda: put(cwd / ".muniment", "milk"),
        lambda: path.write_text("id: tea\ntitle: T\ncontent: black\n"),
        rename,
        lambda: path.with_name("milk.yaml").unlink(),
        lambda: (inbox / "note.md").write_text("x"),
    ):
        told = ear.settle()
        change()
        until(lambda told=told: ear.changes > told, what="a change being told")


def test_a_project_made_while_watching_is_watched_too(world: World, ears: list[Watch]) -> None:
    cwd = world.directory()
    records = world.store(cwd)
    ear = Ear(records)
    ears.append(ear.watch)
    store(records, "Tea", "green", id="tea")
    until(lambda: ear.changes > 0, what="the new project being told")
    told = ear.settle()
    put(cwd / ".muniment", "milk")
    until(lambda: ear.changes > told, what="the second file being told")
    assert ear.notices == []


def test_what_passes_by_is_not_told(world: World, ears: list[Watch]) -> None:
    cwd = world.directory(scope=True)
    path = put(cwd / ".muniment", "tea")
    ear = Ear(world.store(cwd))
    ears.append(ear.watch)
    told = ear.settle()
    mark = ear.watch.mark()
    for name in (".tea.yaml.swp", ".tea.yaml.0123456789ab.tmp", "tea.yaml~", "x.lock"):
        path.with_name(name).write_text("x")
    (cwd / ".muniment" / "notes.md").write_text("x")
    until(lambda: ear.changes > told, what="the notes being told")
    assert ear.watch.mark() == mark


def test_a_search_looks_at_no_file_while_nothing_changed_and_at_all_when_something_did(
    world: World, ears: list[Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = world.directory(scope=True)
    path = put(cwd / ".muniment", "tea", content="green leaves")
    records = world.store(cwd)
    ear = Ear(records)
    ears.append(ear.watch)
    looks = 0
    real = os.scandir

    def counted(place: Any) -> Any:
        nonlocal looks
        looks += isinstance(place, int) and os.path.sameopenfile(place, memory)
        return real(place)

    memory = os.open(path.parent, os.O_RDONLY)
    monkeypatch.setattr(os, "scandir", counted)
    ear.settle()

    def trusted() -> bool:
        before = looks
        assert [hit.meta.id for hit in records.search("leaves").hits] == ["tea"]
        return looks == before

    until(trusted, what="a search that trusts the watcher")
    for _ in range(20):
        assert trusted()
    # Replaced as editors do it: seen by the directory's time, whether it was told already or not.
    other = path.with_name(".new")
    other.write_text("id: tea\ntitle: T\ncontent: black powder\n")
    other.rename(path)
    assert records.search("leaves").hits == ()
    assert [hit.meta.id for hit in records.search("powder").hits] == ["tea"]
    path.unlink()
    assert records.search("powder").hits == ()
    # Written over in place: seen when it is told.
    path.write_text("id: tea\ntitle: T\ncontent: white powder\n")
    until(lambda: records.search("white").hits, what="the new file")
    time_of = path.stat()
    with path.open("r+") as stream:
        stream.write("id: tea\ntitle: T\ncontent: black powder\n")
    os.utime(path, ns=(time_of.st_atime_ns, time_of.st_mtime_ns))
    until(lambda: records.search("black").hits, what="the edit in place")
    assert records.search("white").hits == ()
    assert looks > 2
    records.close()
    os.close(memory)


def test_nobody_watching_means_looking_every_time(world: World) -> None:
    cwd = world.directory(scope=True)
    records = world.store(cwd)
    path = put(cwd / ".muniment", "tea", content="green")
    assert records.search("green").hits
    path.unlink()
    assert records.search("green").hits == ()
    records.close()


@pytest.mark.parametrize("error", [OSError("OS file watch limit reached."), RuntimeError("no\nway")])
def test_where_nothing_is_told_it_is_looked_at_intervals_after_one_notice(
    error: Exception, world: World, ears: list[Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", fails)
    cwd = world.directory(scope=True)
    path = put(cwd / ".muniment", "tea", content="green")
    records = world.store(cwd)
    ear = Ear(records)
    ears.append(ear.watch)
    until(lambda: ear.notices, what="the notice")
    assert ear.watch.mark() is None
    until(lambda: ear.changes > 0, what="what changed before")
    path.write_text("id: tea\ntitle: T\ncontent: black\n")
    assert records.search("black").hits
    until(lambda: ear.changes > 1, what="the change being seen")
    put(cwd / ".muniment", "milk")
    until(lambda: ear.changes > 2, what="the second change being seen")
    [notice] = ear.notices
    assert "before each search" in notice
    assert "\n" not in notice
    records.close()


def test_a_disk_of_another_machine_is_looked_at(
    world: World, ears: list[Watch], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cwd = world.directory(scope=True)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"none / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(watching, "_MOUNTS", mounts)
    ear = Ear(world.store(cwd))
    ears.append(ear.watch)
    until(lambda: ear.notices, what="the notice")
    assert "another machine (nfs4)" in ear.notices[0]


def test_the_thread_ends_when_told_to(world: World) -> None:
    ear = Ear(world.store(world.directory(scope=True)))
    ear.settle()
    ear.watch.stop()
    assert not ear.watch.alive
    assert "watch memory" not in [thread.name for thread in threading.enumerate()]


def test_directories_that_vanish_while_watching_are_no_trouble(world: World, ears: list[Watch]) -> None:
    cwd = world.directory(scope=True)
    put(cwd / ".muniment", "tea")
    records = world.store(cwd)
    ear = Ear(records)
    ears.append(ear.watch)
    told = ear.settle()
    (cwd / ".muniment").rename(cwd / "away")
    until(lambda: ear.changes > told, what="the loss being told")
    (cwd / "away").rename(cwd / ".muniment")
    told = ear.settle()
    put(cwd / ".muniment", "milk")
    until(lambda: ear.changes > told, what="the return being told")
    assert ear.notices == []


def test_links_are_not_watched(world: World, tmp_path: Path) -> None:
    cwd = world.directory(scope=True)
    (cwd / ".muniment" / "knowledge").mkdir()
    (cwd / ".muniment" / "knowledge" / "out").symlink_to(tmp_path)
    (cwd / ".muniment" / "knowledge" / "in").mkdir()
    (cwd / ".muniment" / "notes").symlink_to(tmp_path)
    base = cwd / ".muniment"
    assert memory_directories(world.store(cwd).chain()) == [
        base,
        base / "memory",
        base / "knowledge",
        base / "knowledge" / "in",
    ]
