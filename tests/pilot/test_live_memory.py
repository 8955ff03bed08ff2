"""The session screen keeps in step with memory on disk, whoever writes it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import watchfiles._rust_notify

from support.app import boot_for, opened, project_at, screen_text, until, write_record


def watchers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "watch memory"]


async def test_an_edit_from_outside_comes_to_the_panel_and_is_found(tmp_path: Path) -> None:
    project = project_at(tmp_path)
    write_record(project / ".muniment", "tea", "Tea rule")
    async with opened(boot_for(project), size=(140, 40)) as (app, pilot):
        await until(pilot, lambda: "tea" in screen_text(app))
        assert watchers() == ["watch memory"]
        assert app.engine is not None
        records = app.engine.surfaces.records
        await until(pilot, lambda: records.watched is not None and records.watched() is not None)
        write_record(project / ".muniment", "milk", "Milk rule")
        await until(pilot, lambda: "milk" in screen_text(app))
        assert [hit.meta.id for hit in records.search("milk").hits] == ["milk"]
    assert watchers() == []


async def test_another_session_is_watched_in_place_of_the_first(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path)), size=(140, 40)) as (app, pilot):
        first = app.engine
        app.open(app.options)
        await until(pilot, lambda: app.engine is not first and watchers() == ["watch memory"])
    assert watchers() == []


async def test_a_watcher_that_cannot_watch_is_one_notice_and_the_panel_stays_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", fails)
    project = project_at(tmp_path)
    write_record(project / ".muniment", "tea", "Tea rule")
    async with opened(boot_for(project), size=(140, 40)) as (app, pilot):
        await until(pilot, lambda: "watch limit reached" in screen_text(app))
        write_record(project / ".muniment", "milk", "Milk rule")
        await until(pilot, lambda: "milk" in screen_text(app))
        assert screen_text(app).count("watch limit") == 1


async def test_a_look_that_comes_back_while_the_parts_go_draws_nothing(tmp_path: Path) -> None:
    project = project_at(tmp_path)
    async with opened(boot_for(project), size=(140, 40)) as (app, pilot):
        assert app.engine is not None
        panel = app.session_screen.panel
        await until(pilot, lambda: panel.title_text == "Memory  0 records")
        await panel.records_tree.remove()
        write_record(project / ".muniment", "tea", "Tea rule")
        panel.attach(app.engine.surfaces)
        await until(pilot, lambda: not panel._looking)
        assert panel.title_text == "Memory  0 records"
