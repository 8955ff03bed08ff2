"""The scope chain: what takes part, what is kept out and why, and where a write goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.memory.records.plans import ChangedAfterApproval, StoreRefused, StoreRequest
from muniment.memory.records.scan import read_bodies
from muniment.memory.records.scope import resolve_chain
from muniment.safety.errors import MunimentError, NotFound
from support.records import AGENT, World, put, store

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
STRANGER = 12345


def labels(world: World, cwd: Path) -> list[tuple[str, str]]:
    chain = world.store(cwd).chain()
    return [(scope.kind, str(scope.directory.relative_to(world.root))) for scope in chain.scopes]


def test_the_chain_runs_from_global_over_the_outermost_ancestor_to_the_working_directory(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.directory("a", scope=True)
    world.directory("a/b/c", scope=True)
    cwd = world.directory("a/b/c/d")
    assert labels(world, cwd) == [
        ("global", "home/data"),
        ("project", "a/.muniment"),
        ("project", "a/b/c/.muniment"),
    ]
    assert world.store(cwd).chain().workspace == tmp_path / "a/b/c/.muniment"


def test_resolving_the_chain_makes_nothing_and_without_a_project_the_workspace_is_the_data_directory(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    chain = world.store().chain()
    assert [scope.kind for scope in chain.scopes] == ["global"]
    assert chain.workspace == world.global_dir
    assert chain.root == tmp_path / "work"
    assert not world.global_dir.exists()


@pytest.mark.parametrize("part", [".muniment", ".muniment/memory"])
def test_a_link_in_place_of_a_scope_keeps_it_out_and_nothing_behind_it_is_reached(
    part: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    outside = world.directory("outside", scope=True) / ".muniment"
    leak = put(outside, "leak", content="secret words")
    cwd = world.directory("work")
    if part == ".muniment":
        (cwd / part).symlink_to(outside)
    else:
        (cwd / ".muniment").mkdir()
        (cwd / part).symlink_to(outside / "memory")
    records = world.store(cwd)
    stats = records.stats()
    assert [(each.directory, "symbolic link" in each.reason) for each in stats.excluded] == [
        (cwd / ".muniment", True)
    ]
    assert records.snapshot(all=True).entries == ()
    assert records.search("secret").hits == ()
    with pytest.raises(StoreRefused, match="symbolic link"):
        store(records, "New")
    assert leak.exists()
    assert sorted(path.name for path in (outside / "memory").iterdir()) == ["leak.yaml"]


def test_a_link_inside_memory_is_named_as_skipped_and_not_followed(tmp_path: Path) -> None:
    world = World(tmp_path)
    outside = world.directory("outside", scope=True) / ".muniment"
    leak = put(outside, "leak")
    cwd = world.directory("work", scope=True)
    memory = cwd / ".muniment" / "memory"
    (memory / "sub").symlink_to(outside / "memory")
    (memory / "leak.yaml").symlink_to(leak)
    put(cwd / ".muniment", "good")
    snapshot = world.store(cwd).snapshot(all=True)
    assert [each.meta.id for each in snapshot.entries] == ["good"]
    assert sorted((each.path.name, each.reason) for each in snapshot.skipped) == [
        ("leak.yaml", "is a symbolic link"),
        ("sub", "is a symbolic link"),
    ]


def test_where_the_global_store_is_a_link_no_project_takes_its_place(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    (tmp_path / "outside").mkdir()
    world.global_dir.mkdir(parents=True)
    (world.global_dir / "memory").symlink_to(tmp_path / "outside")
    records = world.store(cwd)
    with pytest.raises(StoreRefused, match=r"globally.*symbolic link"):
        store(records, "New", scope="global")
    put(cwd / ".muniment", "ours")
    with pytest.raises(NotFound):
        records.get("ours", "global")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_memory_swapped_for_a_link_after_it_was_looked_at_is_not_followed(tmp_path: Path) -> None:
    world = World(tmp_path)
    outside = world.directory("outside", scope=True) / ".muniment"
    leak = put(outside, "r", content="secret words")
    cwd = world.directory("work", scope=True)
    put(cwd / ".muniment", "r", content="our words")
    records = world.store(cwd)
    metas = [each.meta for each in records.snapshot().entries]
    update = records.plan_store(StoreRequest("New", "new words", id="r"), origin=AGENT)
    new = records.plan_store(StoreRequest("Another", "new words"), origin=AGENT)
    memory = cwd / ".muniment" / "memory"
    memory.rename(tmp_path / "moved")
    memory.symlink_to(outside / "memory")
    assert list(read_bodies(metas)) == []
    for plan in (update, new):
        with pytest.raises(MunimentError):
            records.commit(plan, AGENT)
    assert "secret words" in leak.read_text()
    assert [path.name for path in (outside / "memory").iterdir()] == ["r.yaml"]


def test_where_the_memory_is_gone_nothing_is_read_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r")
    metas = [each.meta for each in world.store(cwd).snapshot().entries]
    path.rename(cwd / "r.yaml")
    path.parent.rmdir()
    monkeypatch.chdir(cwd)
    assert len(metas) == 1
    assert list(read_bodies(metas)) == []
    records = world.store(cwd)
    assert records.snapshot(all=True).entries == ()
    assert records.search("content").hits == ()
    with pytest.raises(NotFound):
        records.get("r")


@AS_ROOT
def test_what_was_approved_is_not_written_into_a_scope_that_became_somebody_elses(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r", content="ours")
    before = path.read_bytes()
    records = world.store(cwd)
    plan = records.plan_store(StoreRequest("New", "new words", id="r"), origin=AGENT)
    os.chown(cwd / ".muniment", STRANGER, STRANGER)
    with pytest.raises(ChangedAfterApproval):
        records.commit(plan, AGENT)
    assert path.read_bytes() == before


def test_a_link_above_the_scope_is_fine(tmp_path: Path) -> None:
    world = World(tmp_path)
    real = world.directory("real/proj", scope=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "store").mkdir()
    world.global_dir.parent.mkdir(parents=True)
    world.global_dir.symlink_to(tmp_path / "store")
    records = world.store(tmp_path / "link" / "proj")
    here = store(records, "Here", "words of here")
    everywhere = store(records, "Everywhere", scope="global")
    assert here.path == real / ".muniment" / "memory" / "here.yaml"
    assert (tmp_path / "store" / "memory" / "everywhere.yaml").is_file()
    assert everywhere.scope.kind == "global"
    assert [hit.meta.id for hit in records.search("words").hits] == ["here"]


def test_a_file_in_place_of_a_scope_keeps_it_out(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory()
    (cwd / ".muniment").write_text("x")
    assert [each.reason for each in world.store(cwd).chain().excluded] == ["is not a directory"]


@AS_ROOT
@pytest.mark.parametrize("part", [".muniment", ".muniment/memory"])
def test_a_scope_of_somebody_else_takes_no_part_for_reading_searching_or_writing(
    part: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    parent = world.directory("shared", scope=True)
    put(parent / ".muniment", "planted", content="planted words")
    os.chown(parent / part, STRANGER, STRANGER)
    cwd = world.directory("shared/work")
    records = world.store(cwd)
    assert records.snapshot(all=True).entries == ()
    assert records.search("planted").hits == ()
    assert [str(STRANGER) in each.reason for each in records.stats().excluded] == [True]
    assert store(records, "Mine").path == cwd / ".muniment" / "memory" / "mine.yaml"


@AS_ROOT
def test_a_scope_of_root_takes_part_for_another_user() -> None:
    # Everything is imported while still root: this machine's Python may not be readable for others.
    script = (
        "import os, sys; from pathlib import Path; from support.records import AGENT, World;"
        "store = World(Path(sys.argv[1])).store(Path(sys.argv[1]) / 'work'); store.snapshot();"
        "os.seteuid(12345);"
        "print([str(s.directory) for s in store.chain().scopes][1:],"
        "[m.meta.id for m in store.snapshot().entries])"
    )
    open_root = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        put(World(open_root).directory("work", scope=True) / ".muniment", "ours")
        for path in [open_root, *open_root.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        run = subprocess.run(
            [sys.executable, "-c", script, str(open_root)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    finally:
        shutil.rmtree(open_root)
    assert run.stdout.strip() == f"['{open_root}/work/.muniment'] ['ours']"


def test_a_world_writable_scope_takes_part_with_a_warning_and_says_so_in_the_plan(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    (cwd / ".muniment" / "memory").chmod(0o777)
    records = world.store(cwd)
    [scope] = [each for each in records.chain().scopes if each.kind == "project"]
    assert [str(cwd / ".muniment" / "memory") in warning for warning in scope.warnings] == [True]
    proposal = world.desk(cwd).propose("memory_store", title="T", content="C")
    assert "world-writable" in [warning.kind for warning in proposal.warnings]


def test_a_project_directory_that_is_the_data_directory_counts_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    put(world.global_dir, "g")
    (tmp_path / ".muniment").symlink_to(world.global_dir)
    chain = world.store().chain()
    assert [scope.kind for scope in chain.scopes] == ["global"]
    assert [each.reason for each in chain.excluded] == ["is the global data directory"]


def test_a_first_store_makes_a_private_project_with_a_stable_id(tmp_path: Path) -> None:
    world = World(tmp_path)
    old = os.umask(0o000)
    try:
        records = world.store()
        first = store(records, "One")
        store(records, "Two")
    finally:
        os.umask(old)
    directory = tmp_path / "work" / ".muniment"
    assert first.scope.directory == directory
    written = (directory / "project.yaml").read_text()
    assert written.splitlines()[1] == "name: work"
    for path in (directory, directory / "memory"):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in (first.path, directory / "project.yaml"):
        assert path.stat().st_mode & 0o777 == 0o600
    for path in world.paths.journal.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert (directory / "project.yaml").read_text() == written


def test_a_write_from_a_child_goes_to_the_parents_scope_and_the_dialog_says_so(tmp_path: Path) -> None:
    world = World(tmp_path)
    parent = world.directory("p", scope=True)
    child = world.directory("p/child")
    proposal = world.desk(child).propose("memory_store", title="T", content="C")
    assert "ancestor" in [warning.kind for warning in proposal.warnings]
    assert store(world.store(child), "T").scope.directory == parent / ".muniment"
    assert not (child / ".muniment").exists()


def test_a_linked_work_tree_keeps_its_own_memory(tmp_path: Path) -> None:
    world = World(tmp_path)
    one = world.directory("one")
    for command in (
        ["git", "init", "-q"],
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x"],
        ["git", "worktree", "add", "-q", str(tmp_path / "two")],
    ):
        subprocess.run(command, cwd=one, check=True, capture_output=True)
    put(one / ".muniment", "theirs")
    two = world.directory("two", scope=True)
    desk = world.desk(two)
    stored = desk.call("memory_store", title="Rule", content="C")
    assert stored.data["directory"] == str(two / ".muniment")
    stats = desk.call("memory_stats")
    assert [each["directory"] for each in stats.data["chain"]] == [
        str(world.global_dir),
        str(two / ".muniment"),
    ]
    assert str(one / ".muniment") not in stats.text


def test_the_file_systems_root_is_no_project(tmp_path: Path) -> None:
    records = World(tmp_path).store(Path("/"))
    if Path("/.muniment").exists():
        pytest.skip("this machine has a scope at its root")
    with pytest.raises(StoreRefused) as refused:
        records.plan_store(StoreRequest("T", "C"), origin=AGENT)
    assert str(refused.value).startswith("/ is the file system's root")
    assert not Path("/.muniment").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_working_directory_that_cannot_be_written_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    cwd = world.directory()
    cwd.chmod(0o500)
    with pytest.raises(StoreRefused, match="not writable"):
        store(world.store(cwd), "T")


_LEVELS = ("", "a", "a/b", "a/b/c")
_TREES = st.fixed_dictionaries({name: st.sampled_from(["none", "dir", "file", "link"]) for name in _LEVELS})


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=_TREES, depth=st.integers(0, 3))
def test_the_chain_equals_a_plain_walk_over_the_ancestors(
    tree: dict[str, str], depth: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    world = World(tmp_path_factory.mktemp("tree"))
    elsewhere = world.directory("elsewhere")
    expected, excluded = [], []
    for at, name in enumerate(_LEVELS):
        place = world.directory(f"top/{name}") / ".muniment"
        match tree[name]:
            case "dir":
                place.mkdir()
            case "file":
                place.write_text("")
            case "link":
                place.symlink_to(elsewhere)
        if at <= depth and tree[name] == "dir":
            expected.append(place)
        elif at <= depth and tree[name] != "none":
            excluded.append(place)
    chain = resolve_chain(world.root / "top" / _LEVELS[depth], world.paths)
    assert [scope.directory for scope in chain.scopes if scope.kind == "project"] == expected
    assert [each.directory for each in chain.excluded] == excluded
