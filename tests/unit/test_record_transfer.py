"""Export and import of records: nothing is lost on the way, and nothing is overwritten unasked."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.origin import Origin
from muniment.memory.records.carry.export import MANIFEST, export_directory, export_objects
from muniment.memory.records.carry.sources import Source, read_lines, read_source, read_text
from muniment.memory.records.carry.transfer import ImportItem, plan_import
from muniment.memory.records.plans import InvalidRecord
from muniment.memory.records.store import RecordStore
from muniment.safety.errors import MunimentError
from support.faults import full_disk
from support.records import START, World, put, store, tree_digest

IMPORT = Origin("import", surface="import", decided_by="user")


def line(**changes: Any) -> str:
    record = {
        "id": "r",
        "category": "fact",
        "title": "T",
        "content": "C",
        "tags": [],
        "source": "agent",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    return json.dumps(record | changes)


def lines(*texts: str) -> Source:
    return read_lines("x.jsonl", "\n".join(texts).encode(), START)


def write(records: RecordStore, items: list[ImportItem]) -> None:
    for item in items:
        assert item.plan is not None, item
        records.commit(item.plan, IMPORT)


def exported(records: RecordStore) -> Source:
    return lines(*(json.dumps(each) for each in export_objects(records)))


@pytest.mark.parametrize("by", ["lines", "directory"])
def test_an_export_read_elsewhere_gives_the_same_records_with_their_times(by: str, tmp_path: Path) -> None:
    here, there = World(tmp_path / "here"), World(tmp_path / "there")
    cwd = here.directory("work", scope=True)
    put(cwd / ".muniment", "hand", reviewer="Ana", tags="[a, b]", expires_at="2027-01-01")
    store(here.store(cwd), "Odd \u202e text", "line\nend\n\n", scope="global")
    if by == "lines":
        source = exported(here.store(cwd))
    else:
        export_directory(here.store(cwd), tmp_path / "out")
        source = read_source(tmp_path / "out")
    there.clock.move(days=30)
    records = there.store()
    items = plan_import(records, source)
    assert sorted((item.id, item.verdict) for item in items) == [("hand", "create"), ("odd-text", "create")]
    assert not there.global_dir.exists()
    write(records, items)
    for name in ("hand", "odd-text"):
        before, after = here.store(cwd).get(name), records.get(name)
        assert after.scope.kind == before.scope.kind
        assert after.record.source == "import"
        assert (after.record.title, after.record.content) == (before.record.title, before.record.content)
        assert (after.record.tags, after.record.extras) == (before.record.tags, before.record.extras)
        assert (after.record.created_at, after.record.updated_at, after.record.expires_at) == (
            before.record.created_at,
            before.record.updated_at,
            before.record.expires_at,
        )
    assert [item.verdict for item in plan_import(records, source)] == ["same", "same"]
    entries = [each.entry.origin.actor for each in records.history("hand")]
    assert entries == ["import"]


def test_an_exported_directory_has_the_files_as_they_are_and_appears_whole(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("top/work", scope=True)
    text = "# a comment of mine\nid: hand\ntitle: 'T'\ncontent: >\n  folded\n  text\nmood: fine\n"
    original = put(cwd / ".muniment", "hand", text)
    os.utime(original, (1_000_000, 1_000_000))
    put(world.directory("top", scope=True) / ".muniment", "upper")
    put(world.global_dir, "everywhere")
    put(cwd / ".muniment", "broken", "id: [")
    done = export_directory(world.store(cwd), tmp_path / "out")
    assert (tmp_path / "out" / "project-2" / "hand.yaml").read_text() == text
    assert (tmp_path / "out" / "project-2" / "hand.yaml").stat().st_mtime == 1_000_000
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.yaml")) == [
        "global/everywhere.yaml",
        "project-1/upper.yaml",
        "project-2/hand.yaml",
    ]
    modes = {path.stat().st_mode & 0o777 for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]}
    assert modes == {0o700, 0o600}
    assert [each.path.name for each in done.left] == ["broken.yaml"]
    assert done.records == 3
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert [(each["name"], each["records"]) for each in manifest["scopes"]] == [
        ("project-2", 1),
        ("project-1", 1),
        ("global", 1),
    ]


def test_an_export_goes_into_nothing_that_holds_something(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "T", id="r")
    full, file, link, empty = (tmp_path / name for name in ("full", "file", "link", "empty"))
    (full / "x").mkdir(parents=True)
    file.write_text("mine")
    link.symlink_to(full)
    empty.mkdir()
    for target in (full, file, link):
        with pytest.raises(MunimentError, match="name a new directory"):
            export_directory(records, target)
    assert (file.read_text(), os.listdir(full)) == ("mine", ["x"])
    assert export_directory(records, empty).records == 1


def test_an_export_that_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    records = world.store(world.directory())
    store(records, "T", id="r")
    place = tmp_path / "outside"
    place.mkdir()
    with full_disk(monkeypatch, place), pytest.raises(MunimentError, match="no space left"):
        export_directory(records, place / "out")
    assert os.listdir(place) == []


def test_a_copy_goes_back_to_the_scope_it_came_from(tmp_path: Path) -> None:
    world = World(tmp_path)
    top, deep = world.directory("top", scope=True), world.directory("top/deep", scope=True)
    for place, word in ((top, "upper"), (deep, "lower")):
        put(place / ".muniment", "rule", content=word)
    export_directory(world.store(deep), tmp_path / "out")
    for place in (top, deep):
        (place / ".muniment" / "memory" / "rule.yaml").unlink()
    records = world.store(deep)
    write(records, plan_import(records, read_source(tmp_path / "out")))
    assert "upper" in (top / ".muniment" / "memory" / "rule.yaml").read_text()
    assert "lower" in (deep / ".muniment" / "memory" / "rule.yaml").read_text()


def test_of_two_copies_that_meet_in_another_place_the_deeper_one_is_taken(tmp_path: Path) -> None:
    world = World(tmp_path)
    top, deep = world.directory("top", scope=True), world.directory("top/deep", scope=True)
    for place, word in ((top, "upper"), (deep, "lower")):
        put(place / ".muniment", "rule", content=word)
    export_directory(world.store(deep), tmp_path / "out")
    elsewhere = World(tmp_path / "elsewhere").store()
    first, second = plan_import(elsewhere, read_source(tmp_path / "out"))
    assert (first.verdict, second.verdict) == ("create", "refused")
    assert first.plan is not None
    assert first.plan.after.content == "lower"
    assert "twice" in second.reason


def test_a_record_that_differs_is_shown_and_left_alone_unless_replacing_is_asked_for(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "T", "own", id="r")
    [kept] = plan_import(records, lines(line()))
    assert (kept.verdict, kept.plan) == ("differs", None)
    changed = {each.field: (each.before, each.after) for each in kept.changes}
    assert changed["content"] == ("own", "C")
    assert "created_at" in changed
    [item] = plan_import(records, lines(line()), replace_others=True)
    assert item.verdict == "replace"
    write(records, [item])
    assert records.get("r").record.content == "C"
    records.commit_undo(records.plan_undo(), IMPORT)
    assert records.get("r").record.content == "own"


def test_a_scope_may_be_chosen_for_all(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    [item] = plan_import(records, lines(line(scope="project")), scope="global")
    assert item.plan is not None
    assert item.plan.scope.kind == "global"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"id": "../x"}, "identifier"),
        ({"id": "/etc/passwd"}, "identifier"),
        ({"id": "a/b"}, "identifier"),
        ({"id": "x\u0000"}, "identifier"),
        ({"id": 5}, "id"),
        ({"title": " "}, "title"),
        ({"content": None}, "content"),
        ({"tags": "a"}, "tags"),
        ({"created_at": "soon"}, "created_at"),
        ({"scope": "team"}, "scope"),
        ({"extras": {"id": "other"}}, "extra"),
        ({"extras": {"n": 1}}, "extras"),
        ({"content": "\ud83d"}, "surrogate"),
        ({"content": "x" * 1_048_577}, "bytes"),
    ],
)
def test_a_bad_record_is_refused_with_its_reason_and_the_others_are_planned(
    changes: dict[str, Any], word: str, tmp_path: Path
) -> None:
    bad, fine = plan_import(World(tmp_path).store(), lines(line(**changes), line(id="good")))
    assert bad.verdict == "refused"
    assert word in bad.reason
    assert "\n" not in bad.reason
    assert fine.verdict == "create"


def test_a_record_that_stands_twice_is_planned_once(tmp_path: Path) -> None:
    items = plan_import(World(tmp_path).store(), lines(line(), line()))
    assert [item.verdict for item in items] == ["create", "refused"]


def test_a_line_needs_no_more_than_a_file_by_hand(tmp_path: Path) -> None:
    [item] = plan_import(World(tmp_path).store(), lines('{"id": "r", "title": "T", "content": "C"}'))
    assert item.plan is not None
    assert item.plan.after.created_at == START


@pytest.mark.parametrize("text", ["[]", "[" * 99_999, '{"id": "r", "id": "s"}', "{", "1"])
def test_a_line_that_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    [item] = plan_import(World(tmp_path).store(), lines(text))
    assert item.verdict == "refused"


@pytest.mark.parametrize("data", [b"", b" \n", b"just words", b"\xff\xfe", b"a\x00b"])
def test_standard_input_without_records_is_refused_whole(data: bytes) -> None:
    with pytest.raises(InvalidRecord):
        read_text(data, START)


@pytest.mark.parametrize(
    ("manifest", "word"),
    [
        ("{", "no JSON"),
        ("[]", "no export"),
        ('{"format": "other"}', "no export"),
        ('{"format": "muniment-records", "version": 2}', "version"),
        ('{"format": "muniment-records", "version": 1, "scopes": 5}', "scopes"),
        (
            '{"format": "muniment-records", "version": 1, "scopes": [{"name": "../..", "scope": "global"}]}',
            "names a scope",
        ),
        (
            '{"format": "muniment-records", "version": 1, "scopes": [{"name": "global", "scope": "team"}]}',
            "names a scope",
        ),
    ],
)
def test_a_manifest_that_is_none_is_refused_whole(manifest: str, word: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(InvalidRecord, match=word):
        read_source(tmp_path)


def test_an_export_with_files_missing_or_added_says_so(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    for name in ("a", "b"):
        store(records, name, id=name, scope="global")
    export_directory(records, tmp_path / "out")
    (tmp_path / "out" / "global" / "a.yaml").unlink()
    (tmp_path / "out" / "global" / "note.md").write_text("hello")
    source = read_source(tmp_path / "out")
    assert [each.name for each in source.candidates] == ["global/b.yaml"]
    assert any("manifest says 2" in note for note in source.notes)
    assert any("note.md" in note for note in source.notes)


def hostile(directory: Path) -> None:
    (directory / "good.md").write_text("# Good\n\nText.")
    (directory / "link.md").symlink_to("/etc/passwd")
    (directory / "up").symlink_to("/etc")
    os.mkfifo(directory / "pipe.md")
    (directory / "big.md").write_bytes(b"x" * 1_048_577)
    (directory / "latin.md").write_bytes("Käse".encode("latin-1"))
    (directory / "binary.md").write_bytes(b"a\x00b")
    (directory / "open.md").write_text("---\ntitle: never closed\n")
    (directory / "odd.md").write_text("---\ntitle: [\n---\ntext\n")
    (directory / "trick.md").write_text("---\nid: ../../../etc/cron\ntitle: T\n---\ntext\n")
    (directory / "empty.md").write_text("")
    (directory / "bad.yaml").write_text("id: other\ntitle: T\ncontent: C\n")
    (directory / "bomb.yaml").write_text("id: &a bomb\ntitle: *a\ncontent: C\n")


def test_each_hostile_file_costs_one_sentence_and_nothing_else(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    hostile(inside)
    world = World(tmp_path)
    source = read_source(inside)
    assert source.notes == ["up is a symbolic link and is not followed."]
    items = plan_import(world.store(), source)
    verdicts = {item.name: item.verdict for item in items}
    assert verdicts.pop("good.md") == "create"
    assert set(verdicts.values()) == {"refused"}
    assert sorted(verdicts) == [
        "bad.yaml",
        "big.md",
        "binary.md",
        "bomb.yaml",
        "empty.md",
        "latin.md",
        "link.md",
        "odd.md",
        "open.md",
        "pipe.md",
        "trick.md",
    ]
    for item in items:
        assert "\n" not in item.reason
        assert item.verdict == "create" or item.reason.endswith((".", "?"))
    assert not world.global_dir.exists()


def test_a_source_that_is_a_link_or_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "note.bin").write_bytes(b"\x7fELF")
    (tmp_path / "void").mkdir()
    for name in ("link", "missing", "note.bin", "void"):
        with pytest.raises(MunimentError):
            read_source(tmp_path / name)


def test_importing_writes_nothing_to_where_it_reads(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "a.md").write_text("# A\n\nText.")
    before = tree_digest(inside)
    records = World(tmp_path / "world").store()
    write(records, plan_import(records, read_source(inside)))
    assert tree_digest(inside) == before
    changed = datetime.fromtimestamp(int((inside / "a.md").stat().st_mtime), UTC)
    assert records.get("a").record.created_at == changed
