"""A conversation is dropped whole or not at all, and what is said about saving fits what is on the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from muniment.memory.records.plans import StoreRefused
from muniment.paths import Paths
from muniment.session.engine import TurnRefused
from muniment.session.logs.log import SessionLog
from support.faults import full_disk
from support.records import World
from support.session import Place, Say, StepModel, run


def begun(tmp_path: Path) -> SessionLog:
    paths = Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state", tmp_path / "cache")
    log = SessionLog.create(paths, cwd=tmp_path, recipe=None, provider="rehearsal", model="")
    assert log.append("user_message", "1" * 32, text="Hello")
    return log


def test_a_log_that_was_cut_outside_is_saved_again_once_its_conversation_is_dropped(tmp_path: Path) -> None:
    log = begun(tmp_path)
    log.path.write_bytes(log.path.read_bytes()[:-5])
    assert not log.append("turn_end", "1" * 32, status="completed")
    assert log.fault
    log.clear()
    assert log.fault is None
    assert [record.kind for record in log.replay()] == ["session"]
    log.close()


def test_a_disk_that_refuses_the_dropping_leaves_all_of_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = begun(tmp_path)
    before = log.path.read_bytes()
    with full_disk(monkeypatch, tmp_path), pytest.raises(OSError, match="No space"):
        log.clear()
    assert log.path.read_bytes() == before
    assert log.history.items()
    assert [record.kind for record in log.replay()] == ["session", "user_message"]
    assert log.append("turn_end", "1" * 32, status="completed")
    log.close()


def test_a_working_directory_that_is_gone_is_called_gone_and_not_read_only(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work")
    desk = world.desk(cwd)
    cwd.rmdir()
    with pytest.raises(StoreRefused, match="is gone"):
        desk.propose("memory_store", id="a", title="A", content="Text.")


async def test_while_a_turn_runs_nothing_is_dropped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    model = StepModel(Say(pieces=("thinking",), hang=True))
    engine = place.open(model)
    running = asyncio.create_task(run(engine))
    await model.waiting.wait()
    with pytest.raises(TurnRefused):
        engine.clear()
    assert "user_message" in place.kinds(engine.id)
    engine.interrupt()
    await running
    engine.clear()
    assert place.kinds(engine.id) == ["session"]
    await engine.close()
