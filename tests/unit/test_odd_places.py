"""Odd things in the place of Muniment's own files: no write waits for ever, goes astray or hides another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.command import run


def _project(base: Path, name: str = "p") -> Path:
    place = base / name
    place.mkdir()
    stored = run("memory", "store", "--title", "First", "--content", "words", cwd=place, base=base)
    assert stored.code == 0
    return place


def test_a_named_pipe_in_the_place_of_the_journal_refuses_a_write_at_once(tmp_path: Path) -> None:
    place = _project(tmp_path)
    (segment,) = (tmp_path / "data" / "journal").glob("*.jsonl")
    segment.unlink()
    os.mkfifo(segment)

    done = run(
        "memory", "store", "--id", "second", "--title", "t", "--content", "c", cwd=place, base=tmp_path
    )

    assert done.code == 1
    assert "not a regular file" in done.err
    assert not (place / ".muniment" / "memory" / "second.yaml").exists()


@pytest.mark.parametrize("broken", [b"\xff", b"", b"id: [1]\n", b"name: p\n"])
def test_a_project_whose_own_file_is_broken_writes_no_team_memory_that_would_count_everywhere(
    tmp_path: Path, broken: bytes
) -> None:
    place = _project(tmp_path)
    own = place / ".muniment" / "project.yaml"
    own.write_bytes(broken)

    added = run(
        *("knowledge", "add", "--category", "reviews", "--title", "k", "--content", "leakword"),
        cwd=place,
        base=tmp_path,
    )

    assert added.code == 1
    assert str(own) in added.err
    assert own.read_bytes() == broken
    assert not (place / ".muniment" / "knowledge").exists()
    other = _project(tmp_path, "other")
    assert run("ledger", "search", "--json", cwd=other, base=tmp_path).json["hits"] == []
    # Records need no id of the project, so that they can be written all the same.
    assert run("memory", "store", "--title", "t", "--content", "c", cwd=place, base=tmp_path).code == 0


def test_an_entry_of_the_knowledge_base_is_shown_although_the_ledger_is_damaged(tmp_path: Path) -> None:
    place = _project(tmp_path)
    add = ("knowledge", "add", "--category", "reviews", "--title", "k", "--content", "kept text", "--json")
    name = run(*add, cwd=place, base=tmp_path).json["name"]
    (tmp_path / "data" / "ledger.db").write_bytes(b"no database" * 1000)

    shown = run("knowledge", "show", name, cwd=place, base=tmp_path)

    assert shown.code == 0
    assert "kept text" in shown.out
    assert "is damaged" in shown.err


def test_a_record_that_is_expired_from_the_start_is_told_about_once(tmp_path: Path) -> None:
    store = ("memory", "store", "--title", "t", "--content", "c", "--expires-at", "2020-01-01")

    done = run(*store, cwd=tmp_path, base=tmp_path)

    assert done.code == 0
    assert done.err.count("expired from the start") == 1
