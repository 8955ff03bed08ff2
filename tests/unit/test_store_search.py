"""The store over its search indexes: the same answers with, without and despite them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from muniment.memory.records.listing_store import INDEX_WORTH_BYTES
from muniment.memory.records.plans import StoreRequest
from muniment.memory.records.store import READ_ALL_BELOW, RecordStore
from support.records import AGENT, World, delete, put, store, tree_digest


def found(records: RecordStore, query: str) -> list[str]:
    return [hit.meta.id for hit in records.search(query).hits]


def held_in_cache(world: World, word: bytes) -> bool:
    return any(word in path.read_bytes() for path in world.paths.memindex.rglob("*") if path.is_file())


def test_text_that_is_gone_leaves_the_index_with_the_next_search(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    path = store(records, "One", "zanzibar is a word").path
    store(records, "Two", "quagmire is another", scope="global")
    assert found(records, "zanzibar") == ["one"]
    records.close()
    assert held_in_cache(world, b"zanzibar")
    path.unlink()
    delete(records, "two")
    assert found(records, "zanzibar quagmire") == []
    records.close()
    assert not held_in_cache(world, b"zanzibar")
    assert not held_in_cache(world, b"quagmire")


def test_purged_text_leaves_the_index_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "One", "zanzibar")
    found(records, "zanzibar")
    delete(records, "one")
    records.forget_removed()
    records.close()
    assert not held_in_cache(world, b"zanzibar")


def test_the_cache_may_vanish_or_turn_into_a_file_and_the_answers_stay(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    store(records, "One", "zanzibar")
    before = tree_digest(tmp_path / "work")
    assert found(records, "zanzibar") == ["one"]
    shutil.rmtree(world.paths.memindex)
    assert found(records, "zanzibar") == ["one"]
    records.close()
    shutil.rmtree(world.paths.cache)
    world.paths.cache.write_text("in the way")
    result = records.search("zanzibar")
    assert [hit.meta.id for hit in result.hits] == ["one"]
    assert result.notice is not None
    assert "read directly" in result.notice
    assert tree_digest(tmp_path / "work") == before


def test_an_index_made_anew_gives_the_same_answers(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = world.store()
    for number in range(5):
        store(records, f"Note {number}", f"zanzibar {'again ' * number}")
    first = records.search("zanzibar")
    assert records.reindex().distinct == 5
    assert records.search("zanzibar").hits == first.hits
    records.close()


def test_a_large_chain_is_listed_from_its_index_with_the_same_result(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    for number in range(120):
        put(cwd / ".muniment", f"r-{number}", content=" ".join(f"word{number}x{n}" for n in range(900)))
    put(cwd / ".muniment", "bad", "id: [")
    put(cwd / ".muniment", "late", expires_at="2020-01-01")
    put(world.global_dir, "r-1", tags="[a, b]", category="rule")
    searched = world.store(cwd)
    searched.search("anything")
    searched.close()
    sizes = [path.stat().st_size for path in world.paths.memindex.glob("*.db")]
    assert max(sizes) >= INDEX_WORTH_BYTES
    listed = world.store(cwd).snapshot(all=True)
    told = world.store(cwd).skipped()
    shutil.rmtree(world.paths.memindex)
    read = world.store(cwd).snapshot(all=True)
    assert listed == read
    assert len(listed.entries) == 122
    assert told == world.store(cwd).skipped() == read.skipped != ()


def test_similar_records_are_found_in_a_large_store_too(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    for number in range(READ_ALL_BELOW + 5):
        put(cwd / ".muniment", f"r-{number}", content=f"plain words about thing {number}")
    put(cwd / ".muniment", "nightly", content="Do not run the nightly build.")
    records = world.store(cwd)
    plan = records.plan_store(StoreRequest("Builds", "Do not run the nightly build"), origin=AGENT)
    assert [warning.text.split(" in ")[0] for warning in plan.warnings if warning.kind == "similar"] == [
        "A similar record exists: nightly"
    ]
    records.close()


@pytest.mark.parametrize("query", ["naive", "CAFÉ", "café", "strasse", "abc", "nightly", "中文", "v2"])
def test_words_are_found_whatever_their_form(query: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    put(cwd / ".muniment", "a", content="nai\u0308ve cafe\u0301 Stra\u00dfe ＡＢＣ 中文字nightly中文v2字")
    records = world.store(cwd)
    assert found(records, query) == ["a"]
    records.close()


def test_an_edit_of_the_same_size_and_time_is_found_by_its_new_word_only(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r", content="alpha")
    records = world.store(cwd)
    assert found(records, "alpha") == ["r"]
    seen = path.stat()
    put(cwd / ".muniment", "r", content="gamma")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert (found(records, "gamma"), found(records, "alpha")) == (["r"], [])
    records.close()
