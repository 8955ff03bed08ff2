"""What a killed write of a file tool leaves in a project, and who clears it away."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from muniment.paths import Paths
from muniment.tools.workspace import TEMP_MARK, Workspace
from support.environment import isolated

HOUR = 3_600
KILLED = """
import os, signal, sys
from pathlib import Path
from muniment.paths import Paths
from muniment.tools.workspace import Workspace

os.replace = lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL)
root = Path(sys.argv[1])
Workspace(root, Paths(*(root.parent / name for name in "abcd"))).write(("sub", "plan.md"), b"new", 0o644)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    (directory / "sub").mkdir(parents=True)
    (directory / "sub" / "plan.md").write_text("old")
    return directory


def workspace(root: Path) -> Workspace:
    return Workspace(root, Paths(*(root.parent / name for name in "abcd")))


def left(root: Path) -> list[str]:
    return sorted(each.name for each in (root / "sub").iterdir() if each.name != "plan.md")


def age(path: Path, seconds: float) -> None:
    at = time.time() - seconds
    os.utime(path, (at, at))


def test_what_a_kill_leaves_is_named_as_ours_and_goes_with_a_later_write(root: Path, user: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root)], env=isolated(user), check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    assert (root / "sub" / "plan.md").read_text() == "old"
    (name,) = left(root)
    assert re.fullmatch(rf"\.{TEMP_MARK}plan\.md\.[0-9a-f]{{12}}\.tmp", name)
    workspace(root).write(("sub", "other.md"), b"x", 0o644)
    assert name in left(root), "it may still be written by another process"
    age(root / "sub" / name, HOUR + 60)
    workspace(root).write(("sub", "plan.md"), b"new", 0o644)
    assert left(root) == ["other.md"]


def test_nothing_that_another_program_left_is_taken_away(root: Path) -> None:
    names = (".plan.md.0123456789ab.tmp", ".plan.md.swp", "muniment-notes.tmp", ".muniment-notes", "x.tmp")
    for name in names:
        (root / "sub" / name).write_text("theirs")
        age(root / "sub" / name, 10 * HOUR)
    (root / "sub" / f".{TEMP_MARK}link.tmp").symlink_to(root / "sub" / "plan.md")
    workspace(root).write(("sub", "plan.md"), b"new", 0o644)
    assert left(root) == sorted((*names, f".{TEMP_MARK}link.tmp"))


def test_a_directory_that_cannot_be_read_is_written_to_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    workspace(root).write(("sub", "plan.md"), b"new", 0o644)
    assert (root / "sub" / "plan.md").read_text() == "new"
