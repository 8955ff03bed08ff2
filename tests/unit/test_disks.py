"""Disks that are full, cannot be written or may not be entered: what fails, what it says, and what stays."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from muniment.memory.origin import Origin
from muniment.memory.records.store import RecordStore
from muniment.memory.user.plans import SaveRequest
from muniment.safety.errors import MunimentError
from support.faults import fill, full_disk, read_only, small_disk
from support.records import USER, World, delete, put, store, tree_digest


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def no_strays(directory: Path) -> bool:
    return not list(directory.rglob("*.tmp"))


def _tried(records: RecordStore, number: int) -> str:
    """Store one more record and return what kept it from being stored, or nothing."""
    try:
        store(records, f"Number {number}", id=f"n-{number}")
    except MunimentError as error:
        return error.sentence
    return ""


def refused(records: RecordStore, text: str) -> str:
    with pytest.raises(MunimentError) as caught:
        store(records, "R", text, id="r")
    assert "\n" not in caught.value.sentence
    return caught.value.sentence


@pytest.mark.parametrize("which", ["data", "project"])
def test_a_full_disk_refuses_a_write_keeps_the_old_record_and_heals(which: str, world: World) -> None:
    cwd = world.directory(scope=True)
    place = world.global_dir if which == "data" else cwd / ".muniment"
    scope = "global" if which == "data" else "project"
    with small_disk(place):
        records = world.store(cwd)
        path = store(records, "R", "old", id="r", scope=scope).path
        before = path.read_bytes()
        filler = fill(place)
        with pytest.raises(MunimentError, match=r"[Nn]o space"):
            store(records, "R", "x" * 200_000, id="r", scope=scope)
        assert path.read_bytes() == before
        assert no_strays(world.root)
        assert records.search("old").searched == 1
        assert records.get("r").record.content == "old"
        filler.unlink()
        store(records, "R", "new", id="r", scope=scope)
        assert records.get("r").record.content == "new"
        records.commit_undo(records.plan_undo(), USER)
        assert path.read_bytes() == before
        records.close()


def test_a_disk_without_room_for_another_file_refuses_new_ones_only(world: World) -> None:
    cwd = world.directory(scope=True)
    with small_disk(cwd / ".muniment", files=40):
        records = world.store(cwd)
        store(records, "R", "old", id="r")
        made = 0
        while (said := _tried(records, made)) == "":
            made += 1
        assert made > 5
        assert "o space" in said
        assert no_strays(world.root)
        assert {each.meta.id for each in records.snapshot().effective} == {
            "r",
            *(f"n-{number}" for number in range(made)),
        }
        delete(records, "n-0")
        store(records, "Again", id="again")


def test_without_room_for_the_journal_nothing_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = world.store(world.directory(scope=True))
    path = store(records, "R", "old", id="r").path
    before = tree_digest(world.root)
    with full_disk(monkeypatch, world.paths.journal):
        assert "journal" in refused(records, "new")
        with pytest.raises(MunimentError, match="Nothing was written"):
            delete(records, "r")
        with pytest.raises(MunimentError, match="Nothing was written"):
            records.commit_undo(records.plan_undo(), USER)
    assert tree_digest(world.root) == before
    assert path.exists()
    store(records, "R", "new", id="r")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_whatever_the_disk_fails_with_the_old_text_stays_and_the_entry_counts_as_failed(
    code: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = world.directory(scope=True)
    records = world.store(cwd)
    path = store(records, "R", "old", id="r").path
    before = path.read_bytes()
    with full_disk(monkeypatch, cwd, code):
        assert os.strerror(code).lower() in refused(records, "new").lower()
    assert path.read_bytes() == before
    assert [line.failed for line in records.history("r")] == [True, False]
    assert records.plan_undo().entry.action == "create"


def test_a_full_disk_keeps_user_memory_whole(world: World) -> None:
    world.global_dir.mkdir(parents=True)
    with small_disk(world.global_dir):
        user = world.desk().context.surfaces.user
        request = SaveRequest("create", "tea", "user", "Green", "x" * 16_000)
        path = user.commit(user.plan_save(request), USER).path
        before = path.read_bytes()
        filler = fill(world.global_dir)
        with pytest.raises(MunimentError, match=r"[Nn]o space"):
            user.commit(user.plan_save(SaveRequest("overwrite", "tea", "user", "Black", "y" * 16_000)), USER)
        assert path.read_bytes() == before
        filler.unlink()


def test_a_directory_that_cannot_be_written_is_read_all_the_same(world: World) -> None:
    cwd = world.directory(scope=True)
    records = world.store(cwd)
    store(records, "R", "old words", id="r")
    before = tree_digest(cwd)
    with read_only(cwd / ".muniment"):
        assert records.get("r").record.content == "old words"
        assert [hit.meta.id for hit in records.search("words").hits] == ["r"]
        refused(records, "new")
        with pytest.raises(MunimentError):
            delete(records, "r")
        with pytest.raises(MunimentError):
            records.commit_undo(records.plan_undo(), USER)
    assert tree_digest(cwd) == before
    store(records, "R", "new", id="r")
    records.close()


def test_a_cache_that_cannot_be_written_costs_a_notice_and_no_answer(world: World) -> None:
    cwd = world.directory(scope=True)
    put(cwd / ".muniment", "r", content="old words")
    world.paths.cache.mkdir(parents=True)
    with read_only(world.paths.cache):
        records = world.store(cwd)
        result = records.search("words")
        assert [hit.meta.id for hit in result.hits] == ["r"]
        assert result.notice is not None
        assert "read directly" in result.notice
        store(records, "R", "new words", id="r")
        assert records.search("new").hits
        records.close()
    assert world.store(cwd).search("new").notice is None


def test_an_index_on_a_disk_that_became_full_gives_right_answers(world: World) -> None:
    cwd = world.directory(scope=True)
    for number in range(20):
        put(cwd / ".muniment", f"r-{number}", content=f"word{number} " * 200)
    with small_disk(world.paths.cache):
        records = world.store(cwd)
        assert [hit.meta.id for hit in records.search("word7").hits] == ["r-7"]
        filler = fill(world.paths.cache)
        for number in range(20):
            put(cwd / ".muniment", f"r-{number}", content=f"other{number} " * 2_000)
        assert records.search("word7").hits == ()
        result = records.search("other7")
        assert [hit.meta.id for hit in result.hits] == ["r-7"]
        assert result.notice is not None
        filler.unlink()
        assert records.search("other8").hits[0].meta.id == "r-8"
        records.close()


_AS_STRANGER = """
import json, os, sys, tempfile
from pathlib import Path
from muniment.safety.errors import MunimentError
from support.records import World, store

def tried(work):
    try: return work()
    except MunimentError as error: return error.sentence

def all_of_it(root):
    records = World(root).store(root / "work")
    told = {
        "skipped": [each.reason for each in records.snapshot().skipped],
        "found": [hit.meta.id for hit in records.search("words").hits],
        "store": tried(lambda: store(records, "R", "new", id="r") and "written"),
    }
    records.close()
    return told

# Done once as root, so that everything is imported: this machine's Python may not be readable for others.
with tempfile.TemporaryDirectory() as directory:
    (Path(directory) / "work").mkdir()
    all_of_it(Path(directory))
os.setgid(12345); os.setuid(12345)
print(json.dumps(all_of_it(Path(sys.argv[1]))))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_may_not_be_read_is_named_and_what_may_not_be_written_refused() -> None:
    # Root's files are trusted; what another user may not read of them is skipped by itself.
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        world = World(root)
        cwd = world.directory("work", scope=True)
        put(cwd / ".muniment", "open", content="words")
        put(cwd / ".muniment", "closed", content="words")
        (root / "home").mkdir()
        for path in [root, *root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        (cwd / ".muniment" / "memory" / "closed.yaml").chmod(0o600)
        os.chown(root / "home", 12345, 12345)
        done = subprocess.run(
            [sys.executable, "-c", _AS_STRANGER, str(root)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["skipped"] == ["cannot be read: permission denied"]
        assert told["found"] == ["open"]
        assert "not writable for you" in told["store"]
    finally:
        shutil.rmtree(root)


def test_an_import_that_runs_out_of_room_says_which_records_were_not_written(
    world: World, tmp_path: Path
) -> None:
    from muniment.memory.records.carry.sources import read_source
    from muniment.memory.records.carry.transfer import plan_import

    source = tmp_path / "source"
    source.mkdir()
    for number in range(8):
        (source / f"note-{number}.md").write_text("word " * 50_000)
    cwd = world.directory(scope=True)
    with small_disk(cwd / ".muniment"):
        records = world.store(cwd)
        origin = Origin("import", surface="import", decided_by="user")
        written = failed = 0
        for item in plan_import(records, read_source(source)):
            assert item.plan is not None
            try:
                records.commit(item.plan, origin)
                written += 1
            except MunimentError as error:
                failed += "o space" in error.sentence
        assert written + failed == 8
        assert written >= 2
        assert failed >= 2
        assert len(records.snapshot().effective) == written
        assert records.snapshot().skipped == ()
        assert no_strays(cwd)
