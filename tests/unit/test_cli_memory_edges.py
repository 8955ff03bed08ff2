"""Memory by hand where the place or the file is unlike others: odd names, links, fields of other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from support.command import Inside


def test_a_directory_whose_name_is_no_utf8_keeps_memory_like_any_other(
    cli: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/p\xff"))
    place.mkdir()
    monkeypatch.chdir(place)
    assert cli("memory", "store", "--title", "Odd place", "--content", "quince").code == 0
    assert (place / ".muniment" / "project.yaml").read_text(encoding="utf-8").endswith("name: p\ufffd\n")
    assert [hit["id"] for hit in cli("memory", "search", "quince", "--json").json["hits"]] == ["odd-place"]
    assert cli("note", "add", "--title", "n", "--body", "b").code == 0
    assert cli("memory", "export", "out").code == 0
    assert cli("memory", "undo", "--yes").code == 0
    assert cli("memory", "delete", "odd-place", "--yes").code == 0


def test_a_list_without_a_scope_says_that_it_takes_no_part_and_why(cli: Inside, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "leak.yaml").write_text("id: leak\ntitle: T\ncontent: C\n")
    (tmp_path / ".muniment").mkdir()
    (tmp_path / ".muniment" / "memory").symlink_to(elsewhere)
    listed = cli("memory", "list")
    assert (listed.code, listed.out) == (0, "")
    assert f"excluded {tmp_path / '.muniment'}: holds a memory/ that is a symbolic link" in listed.err


def test_an_update_keeps_unknown_fields_as_what_they_are_to_other_readers(
    cli: Inside, tmp_path: Path
) -> None:
    place = tmp_path / ".muniment" / "memory"
    place.mkdir(parents=True)
    extras = "priority: 3\nreviewed: true\ndue: 2026-12-01\nowner: ada\nversion: '3'\nlinks: [1, {n: null}]\n"
    (place / "r.yaml").write_text(f"id: r\ntitle: T\ncontent: C\n{extras}")
    for title in ("Once", "Twice"):
        assert cli("memory", "store", "--id", "r", "--title", title, "--content", "New").code == 0
        written = yaml.safe_load((place / "r.yaml").read_text())
        assert written["title"] == title
        assert {key: written[key] for key in yaml.safe_load(extras)} == yaml.safe_load(extras)
