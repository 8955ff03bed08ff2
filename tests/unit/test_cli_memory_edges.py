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


@pytest.mark.parametrize("word", ["null", "~", "Null", "NULL"])
def test_an_unquoted_null_of_another_program_is_a_field_that_is_missing(
    cli: Inside, tmp_path: Path, word: str
) -> None:
    place = tmp_path / ".muniment" / "memory"
    place.mkdir(parents=True)
    optional = ("category", "tags", "source", "created_at", "updated_at", "expires_at")
    written = "id: r\ntitle: T\ncontent: C\n" + "".join(f"{name}: {word}\n" for name in optional)
    (place / "r.yaml").write_text(written)
    os.utime(place / "r.yaml", (1_700_000_000, 1_700_000_000))
    record = cli("memory", "show", "r", "--json").json["record"]
    assert (record["category"], record["tags"], record["source"]) == ("fact", [], "user")
    assert (record["created_at"], record["updated_at"]) == ("2023-11-14T22:13:20Z",) * 2
    assert record["expires_at"] is None
    assert (place / "r.yaml").read_text() == written
    assert cli("memory", "list", "--json").json["skipped"] == []


def test_a_null_in_quotes_or_where_text_must_stand_is_the_word(cli: Inside, tmp_path: Path) -> None:
    place = tmp_path / ".muniment" / "memory"
    place.mkdir(parents=True)
    (place / "r.yaml").write_text('id: r\ntitle: null\ncontent: "~"\ncategory: "null"\ntags: [null]\n')
    record = cli("memory", "show", "r", "--json").json["record"]
    assert (record["title"], record["content"]) == ("null", "~")
    assert (record["category"], record["tags"]) == ("null", ["null"])
    (place / "q.yaml").write_text("id: q\ntitle: T\ncontent: C\nexpires_at: 'null'\n")
    (skipped,) = cli("memory", "list", "--json").json["skipped"]
    assert "expires_at" in skipped["reason"]
