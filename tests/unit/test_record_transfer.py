"""Export and import of records: nothing is lost on the way, and nothing is overwritten unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.origin import Origin
from muniment.memory.records.plans import InvalidRecord
from muniment.memory.records.transfer import export_bundle, plan_import
from support.records import START, World, put, store

IMPORT = Origin("import", surface="import", decided_by="user")


def bundle(**changes: Any) -> str:
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
    return json.dumps({"format": "muniment-records", "version": 1, "records": [record | changes]})


def test_an_export_read_elsewhere_gives_the_same_records_with_their_times(tmp_path: Path) -> None:
    here, there = World(tmp_path / "here"), World(tmp_path / "there")
    cwd = here.directory("work", scope=True)
    put(cwd / ".muniment", "hand", reviewer="Ana", tags="[a, b]", expires_at="2027-01-01")
    store(here.store(cwd), "Odd \u202e text", "line\nend\n\n", scope="global")
    text = json.dumps(export_bundle(here.store(cwd)))
    there.clock.move(days=30)
    records = there.store()
    items = plan_import(records, text)
    assert sorted((item.id, item.verdict) for item in items) == [("hand", "create"), ("odd-text", "create")]
    assert not there.global_dir.exists()
    for item in items:
        assert item.plan is not None
        records.commit(item.plan, IMPORT)
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
    assert [item.verdict for item in plan_import(records, text)] == ["same", "same"]


def test_a_record_that_differs_is_left_alone_unless_overwriting_is_asked_for(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "T", "own", id="r")
    [kept] = plan_import(records, bundle())
    assert (kept.verdict, kept.plan) == ("differs", None)
    [item] = plan_import(records, bundle(), overwrite=True)
    assert item.verdict == "replace"
    assert item.plan is not None
    records.commit(item.plan, IMPORT)
    assert records.get("r").record.content == "C"
    records.commit_undo(records.plan_undo(), IMPORT)
    assert records.get("r").record.content == "own"


def test_a_scope_may_be_chosen_for_all(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    [item] = plan_import(records, bundle(scope="project"), scope="global")
    assert item.plan is not None
    assert item.plan.scope.kind == "global"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"id": "../x"}, "identifier"),
        ({"id": 5}, "id"),
        ({"title": " "}, "title"),
        ({"content": None}, "content"),
        ({"tags": "a"}, "tags"),
        ({"created_at": "soon"}, "created_at"),
        ({"updated_at": None}, "updated_at"),
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
    good = json.loads(bundle(id="good"))["records"]
    both = json.loads(bundle(**changes))
    both["records"] += good
    bad, fine = plan_import(World(tmp_path).store(), json.dumps(both))
    assert bad.verdict == "refused"
    assert word in bad.reason
    assert fine.verdict == "create"


def test_a_record_that_stands_twice_is_planned_once(tmp_path: Path) -> None:
    twice = json.loads(bundle())
    twice["records"] *= 2
    assert [item.verdict for item in plan_import(World(tmp_path).store(), json.dumps(twice))] == [
        "create",
        "refused",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "x"}',
        '{"format": "muniment-records", "version": 2, "records": []}',
        "[" * 9999,
        '{"format": "muniment-records", "version": 1, "records": [1]}',
    ],
)
def test_what_is_no_bundle_is_refused_whole(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord):
        plan_import(World(tmp_path).store(), text)


def test_an_export_of_one_kind_of_scope_holds_only_that(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    store(records, "Mine", id="mine")
    store(records, "All", id="all", scope="global")
    exported = export_bundle(records, scope="global")
    assert [(each["id"], each["scope"]) for each in exported["records"]] == [("all", "global")]
    assert exported["records"][0]["created_at"] == START.isoformat().replace("+00:00", "Z")
