"""Records written by hand, odd and hostile ones among them: what the commands make of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.command import Inside
from support.records import World, put, tree_digest

ODD_WORDS = """id: no
category: on
title: no
content: yes
tags: [no, on, 1.10, 12:30, 2026-01-05, 0123, ~]
source: agent
created_at: 2026-10-25T03:07:29Z
updated_at: 2026-10-25T03:07:29Z
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir(mode=0o700)
    return directory


def shown(cli: Inside, record_id: str) -> Any:
    return cli("memory", "show", record_id, "--json").json["record"]


def listed(cli: Inside) -> tuple[list[str], dict[str, str]]:
    found = cli("memory", "list", "--json").json
    reasons = {Path(each["path"]).stem: each["reason"] for each in found["skipped"]}
    return sorted(each["id"] for each in found["records"]), reasons


def test_words_that_look_like_something_else_are_text_everywhere(cli: Inside, project: Path) -> None:
    path = put(project, "no", ODD_WORDS)
    record = shown(cli, "no")
    assert (record["id"], record["title"], record["content"], record["category"]) == (
        "no",
        "no",
        "yes",
        "on",
    )
    assert record["tags"] == ["no", "on", "1.10", "12:30", "2026-01-05", "0123", "~"]
    assert listed(cli) == (["no"], {})
    assert [hit["title"] for hit in cli("memory", "search", "no", "--json").json["hits"]] == ["no"]
    assert cli("memory", "edit", "no", "--title", "off").code == 0
    assert shown(cli, "no")["tags"] == record["tags"]
    assert shown(cli, "no")["content"] == "yes"
    assert yaml.safe_load(path.read_bytes())["tags"] == record["tags"]


def test_text_that_looks_like_a_number_keeps_its_zeros_through_updates(cli: Inside, project: Path) -> None:
    given = (
        "--title",
        "08063075",
        "--content",
        "0o17",
        "--category",
        "1_000",
        "--tag",
        "0017",
        "--tag",
        "1e3",
    )
    assert cli("memory", "store", "--id", "number", *given).code == 0
    for content in ("1.10", "0x1F"):
        assert cli("memory", "edit", "number", "--content", content).code == 0
        record = shown(cli, "number")
        assert (record["title"], record["content"], record["category"]) == ("08063075", content, "1_000")
        assert record["tags"] == ["0017", "1e3"]
        read = yaml.safe_load((project / "memory" / "number.yaml").read_bytes())
        assert (read["title"], read["content"], read["tags"]) == ("08063075", content, ["0017", "1e3"])


HAZARDS = {
    "colon": ("title: Deploy: use the blue lane", None),
    "star": ("title: *important* step", None),
    "at": ("title: @team uses trunk", None),
    "backtick": ("title: `make test` first", None),
    "hash": ("title: Use tabs # not spaces", "Use tabs"),
    "winpath": ('title: "C:\\\\data\\\\notes"', "C:\\data\\notes"),
    "winpath-plain": ("title: C:\\data: notes", None),
    "good": ("title: Good neighbour", "Good neighbour"),
}


def test_signs_that_mean_something_in_yaml_are_read_as_yaml_or_named_with_their_line(
    cli: Inside, project: Path
) -> None:
    for name, (title, _) in HAZARDS.items():
        put(project, name, f"id: {name}\n{title}\ncontent: x\n")
    before = tree_digest(project)
    records, skipped = listed(cli)
    assert records == sorted(name for name, (_, read) in HAZARDS.items() if read is not None)
    assert set(skipped) == {name for name, (_, read) in HAZARDS.items() if read is None}
    assert all("line 2" in reason for reason in skipped.values())
    for name, (_, read) in HAZARDS.items():
        if read is not None:
            assert shown(cli, name)["title"] == read
    assert tree_digest(project) == before


@pytest.mark.parametrize("title", [given.partition(" ")[2] for given, _ in HAZARDS.values()])
def test_the_same_signs_are_stored_by_a_command_and_come_back(title: str, cli: Inside, project: Path) -> None:
    assert cli("memory", "store", "--id", "r", "--title", title, "--content", title).code == 0
    assert (shown(cli, "r")["title"], shown(cli, "r")["content"]) == (title, title)


HOSTILE = {
    "raw-nul": b"id: raw-nul\ntitle: a\x00b\ncontent: x\n",
    "raw-esc": b"id: raw-esc\ntitle: a\x1b[31mb\ncontent: x\n",
    "raw-c1": "id: raw-c1\ntitle: a\u0085\u009bb\ncontent: x\n".encode(),
    "half": b'id: half\ntitle: "\\ud83d"\ncontent: x\n',
    "latin": "id: latin\ntitle: Käse\ncontent: x\n".encode("latin-1"),
    "utf-16": "id: utf-16\ntitle: x\ncontent: x\n".encode("utf-16"),
    "bomb": b"a: &a [x,x]\nb: &b [*a,*a]\nid: bomb\ntitle: t\ncontent: [*b,*b]\n",
    "deep": b"id: deep\ntitle: t\ncontent: " + b"[" * 3000 + b"]" * 3000 + b"\n",
    "broken": b'id: broken\ntitle: "never closed\ncontent: x\n',
    "two": b"id: two\ntitle: t\ncontent: c\n---\nid: two\n",
    "twice": b"id: twice\ntitle: t\ntitle: u\ncontent: c\n",
    "tagged": b"id: tagged\ntitle: !!python/object:os.system t\ncontent: c\n",
}


def test_hostile_files_cost_a_sentence_each_and_nothing_else(cli: Inside, project: Path) -> None:
    for name, data in HOSTILE.items():
        put(project, name, data)
    put(project, "good", content="fine words")
    before = tree_digest(project)
    records, skipped = listed(cli)
    assert records == ["good"]
    assert set(skipped) == set(HOSTILE)
    assert all(reason and "\n" not in reason and "\x1b" not in reason for reason in skipped.values())
    assert [hit["id"] for hit in cli("memory", "search", "fine", "--json").json["hits"]] == ["good"]
    assert cli("memory", "stats", "--json").json["chain"][-1]["skipped"] == len(HOSTILE)
    for name in HOSTILE:
        assert cli("memory", "show", name).code == 1
        refused = cli("memory", "store", "--id", name, "--title", "t", "--content", "c")
        assert refused.code == 1
        assert "repair or move" in refused.err
    assert tree_digest(project) == before


def test_escaped_controls_are_text_shown_as_escapes(cli: Inside, project: Path) -> None:
    put(project, "escaped", 'id: escaped\ntitle: "a \\e[31mc"\ncontent: "line\\u2028sep \\x85 end \\uFEFF"\n')
    assert shown(cli, "escaped")["content"] == "line\u2028sep \x85 end \ufeff"
    out = cli("memory", "show", "escaped").out
    assert "\\x1b[31mc" in out
    assert not {"\x1b", "\x85", "\u2028", "\ufeff"} & set(out)
    assert cli("memory", "search", "sep", "--json").json["hits"][0]["id"] == "escaped"
    assert cli("memory", "edit", "escaped", "--title", "t").code == 0
    assert shown(cli, "escaped")["content"] == "line\u2028sep \x85 end \ufeff"


def test_a_large_directory_beside_the_records_is_not_read_and_giant_files_are_skipped(
    cli: Inside, project: Path
) -> None:
    put(project, "good", content="words")
    nested = project / "memory" / "node_modules" / "package"
    nested.mkdir(parents=True)
    for number in range(3_000):
        (nested / f"file-{number}.yaml").write_text(f"id: file-{number}\ntitle: t\ncontent: c\n")
    big = project / "memory" / "big.yaml"
    with big.open("wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    edge = b"id: edge\ntitle: t\ncontent: "
    put(project, "edge", edge + b"x" * (1_048_576 - len(edge) - 1) + b"\n")
    put(project, "past", edge.replace(b"edge", b"past") + b"x" * (1_048_576 - len(edge)) + b"\n")
    records, skipped = listed(cli)
    assert records == ["edge", "good"]
    assert set(skipped) == {"big", "past"}
    assert all("1048576 bytes" in reason for reason in skipped.values())


def test_where_chmod_is_forbidden_everything_works(
    cli: Inside, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("memory", "store", "--title", "before", "--content", "c").code == 0

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", forbidden)
    monkeypatch.setattr(os, "fchmod", forbidden)
    assert cli("memory", "store", "--title", "after", "--content", "c").code == 0
    assert listed(cli)[0] == ["after", "before"]
    assert cli("memory", "search", "after", "--json").json["searched"] == 2


def test_a_home_behind_a_link_is_as_good_as_any(
    cli: Inside, tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real"
    (real / "project" / ".muniment").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path / "link" / "data"))
    monkeypatch.chdir(tmp_path / "link" / "project")
    for scope in ("project", "global"):
        assert cli("memory", "store", "--title", scope, "--content", "words", "--scope", scope).code == 0
    assert listed(cli) == (["global", "project"], {})
    assert len(cli("memory", "search", "words", "--json").json["hits"]) == 2
    assert cli("memory", "delete", "global", "--yes").code == 0
    assert (real / "project" / ".muniment" / "memory" / "project.yaml").exists()


def test_an_editor_that_saves_by_renaming_loses_nothing_and_its_companions_do_not_count(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    cwd = world.directory(scope=True)
    records = world.store(cwd)
    path = put(cwd / ".muniment", "r", content="before")
    assert records.search("before").hits
    for name in (".r.yaml.swp", "r.yaml~", "#r.yaml#", "r.yaml.tmp.123", "4913"):
        path.with_name(name).write_text("id: r\ntitle: t\ncontent: companion\n")
    path.with_name("new").write_text("id: r\ntitle: t\ncontent: afterwards\n")
    path.with_name("new").rename(path)
    assert [each.meta.id for each in records.snapshot().effective] == ["r"]
    assert records.snapshot().skipped == ()
    assert records.get("r").record.content == "afterwards"
    assert records.search("before companion").hits == ()
    assert len(records.search("afterwards").hits) == 1
    records.close()
