"""The store between processes: a kill at any step, several writers at once, and a disk that is full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from muniment.memory.records.record import decode
from muniment.safety.errors import NotFound
from support.records import AGENT, USER, World, put, store

_RUN = (
    "import sys; from pathlib import Path; from support.records import *;"
    "from muniment.memory.records.plans import *;"
    "world = World(Path(sys.argv[1])); records = world.store();"
)


def start(code: str, root: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(root), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


# The child kills itself before the n-th call that changes the disk, so that every step of a write is a place
# to die at.
_DIE = _RUN + (
    "import os, signal\n"
    "left = int(sys.argv[2])\n"
    "def step(*_):\n"
    "    global left\n"
    "    left -= 1\n"
    "    if left < 0: os.kill(os.getpid(), signal.SIGKILL)\n"
    "for name in ('write', 'fsync', 'replace', 'unlink', 'mkdir', 'ftruncate', 'fchmod'):\n"
    "    real = getattr(os, name)\n"
    "    def dying(*a, _real=real, **k):\n"
    "        step()\n"
    "        return _real(*a, **k)\n"
    "    setattr(os, name, dying)\n"
    "what = sys.argv[3]\n"
    "if what == 'store': store(records, 'R', 'new text', id='r')\n"
    "elif what == 'delete': delete(records, 'r')\n"
    "else: records.commit_undo(records.plan_undo(), USER)\n"
    "print(left)\n"
)


@pytest.mark.parametrize("what", ["first", "store", "delete", "undo"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_record_and_a_journal_that_fits(
    what: str, tmp_path: Path
) -> None:
    died = 0
    for step in range(200):
        world = World(tmp_path / str(step))
        path = world.directory() / ".muniment" / "memory" / "r.yaml"
        if what != "first":
            store(world.store(), "R", "oldest text", id="r")
            store(world.store(), "R", "old text", id="r")
        before = path.read_bytes() if path.exists() else None
        action = "store" if what == "first" else what
        child = start(_DIE, world.root, str(step), action)
        out, err = child.communicate(timeout=60)
        assert child.returncode in (0, -signal.SIGKILL), err
        records = world.store()
        after = path.read_bytes() if path.exists() else None
        if after is not None:
            assert decode(after, "r", 0.0).id == "r"
        assert [each.reason for each in records.stats().skipped] == []
        changed = after != before
        newest = next(iter(records.journal.entries()), None)
        if changed:
            assert newest is not None
            assert newest.text_before == (None if before is None else before.decode())
        _undo_to_the_start(world, what, changed)
        if child.returncode == 0:
            assert int(out) >= 0
            break
        died += 1
    else:
        pytest.fail("the write never came to its end")
    assert died >= 6


def _undo_to_the_start(world: World, what: str, changed: bool) -> None:
    """Take everything back: each undo leads to the text before, whatever the kill left."""
    records = world.store()
    texts: list[str | None] = []
    while True:
        try:
            plan = records.plan_undo()
        except NotFound:
            break
        records.commit_undo(plan, USER)
        texts.append(None if plan.text_then is None else plan.text_then.split("content: ")[1].split("\n")[0])
    expected: dict[str, list[str | None]] = {
        "first": [None] if changed else [],
        "store": ["old text", "oldest text", None] if changed else ["oldest text", None],
        "delete": ["old text", "oldest text", None] if changed else ["oldest text", None],
        "undo": [None] if changed else ["oldest text", None],
    }
    assert texts == expected[what]
    assert not (world.root / "work" / ".muniment" / "memory" / "r.yaml").exists()


_MANY = _RUN + (
    "import json\n"
    "name = sys.argv[2]; told = 0; done = 0\n"
    "print('ready', flush=True); sys.stdin.readline()\n"
    "for n in range(100):\n"
    "    store(records, f'{name} {n}', 'own', id=f'{name}-{n}')\n"
    "    if n % 5 == 0:\n"
    "        plan = records.plan_store(StoreRequest('Common', f'{name} {n}', id='common'), origin=AGENT)\n"
    "        try: records.commit(plan, AGENT); done += 1\n"
    "        except ChangedAfterApproval: told += 1\n"
    "print(json.dumps([done, told]))\n"
)


def test_two_processes_lose_nothing_and_the_later_writer_is_told(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.directory("work", scope=True)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _MANY, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for name in ("left", "right")
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    outcomes = []
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err
        outcomes.append(json.loads(out))
    records = world.store()
    expected = {f"{name}-{n}" for name in ("left", "right") for n in range(100)} | {"common"}
    snapshot = records.snapshot(all=True)
    assert {each.meta.id for each in snapshot.entries} == expected
    assert snapshot.skipped == ()
    assert sum(done + told for done, told in outcomes) == 40
    writes = [line for line in records.history("common") if line.settled]
    assert len(writes) == sum(done for done, _ in outcomes)
    memory = tmp_path / "work" / ".muniment" / "memory"
    assert {path.name for path in memory.iterdir()} == {f"{name}.yaml" for name in expected}
    # The journal is one unbroken line of states: no write went over another unseen.
    for newer, older in pairwise(writes):
        assert newer.entry.digest_before == older.entry.digest_after


_FULL = _RUN + (
    "import resource, signal\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "from muniment.safety.errors import MunimentError\n"
    "plan = records.plan_store(StoreRequest('R', 'y' * int(sys.argv[3]), id='r'), origin=AGENT)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))\n"
    "try: records.commit(plan, AGENT); print('written')\n"
    "except MunimentError as error: print(error)\n"
)


@pytest.mark.parametrize("before", [b"", b"x" * 20_000])
def test_a_disk_without_room_leaves_the_old_record_and_says_so(before: bytes, tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    path = put(cwd / ".muniment", "r", content=before.decode() or "short")
    old = path.read_bytes()
    for limit in (10, 8_192):
        child = start(_FULL, tmp_path, str(limit), "16000")
        out, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
        assert "Traceback" not in err
        assert out.startswith(("Nothing was written: ", f"{path} was not written: "))
        assert path.read_bytes() == old
        assert [each.name for each in path.parent.iterdir()] == ["r.yaml"]
    assert store(world.store(cwd), "R", "healed", id="r").created is False
    plan = world.store(cwd).plan_undo()
    assert plan.entry.origin == AGENT
    world.store(cwd).commit_undo(plan, USER)
    assert path.read_bytes() == old


_WAITING = _RUN + (
    "plan = records.plan_store(StoreRequest('R', 'approved', id='r'), origin=AGENT)\n"
    "print('planned', flush=True)\n"
    "try: print(records.commit(plan, AGENT).created)\n"
    "except ChangedAfterApproval: print('told')\n"
)


def test_a_writer_waits_for_the_lock_and_compares_only_then(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    records = world.store(cwd)
    with records.journal.guard(cwd / ".muniment"):
        child = start(_WAITING, tmp_path)
        assert child.stdout is not None
        assert child.stdout.readline() == "planned\n"
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            assert child.poll() is None
            assert not (cwd / ".muniment" / "memory" / "r.yaml").exists()
        put(cwd / ".muniment", "r", content="meanwhile by hand")
    out, err = child.communicate(timeout=60)
    assert (out, child.returncode) == ("told\n", 0), err
    assert records.get("r").record.content == "meanwhile by hand"
