"""What an export leaves when it is killed: the doctor and a later export clear it, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from muniment.memory.records.carry.export import export_directory
from muniment.memory.records.carry.export_left import is_half_export
from support.command import Inside
from support.environment import isolated
from support.records import World, put

HOUR = 3_600
KILLED = """
import os, signal, sys

os.sync = lambda: os.kill(os.getpid(), signal.SIGKILL)
from muniment.cli.main import run

run(["memory", "export", sys.argv[1]])
"""


def killed_export(cwd: Path, target: Path, user: Path) -> Path:
    """Kill a real export just before it gets its name, and return what it left."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(target)],
        env=isolated(user),
        cwd=cwd,
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    (left,) = target.parent.glob(f".{target.name}.*.tmp")
    assert (left / "manifest.json").is_file()
    return left


def age(directory: Path, seconds: float) -> None:
    at = time.time() - seconds
    for path in [*directory.rglob("*"), directory]:
        os.utime(path, (at, at))


def test_the_doctor_names_what_a_killed_export_left_and_removes_it(
    cli: Inside, tmp_path: Path, user: Path
) -> None:
    cli("memory", "store", "--title", "Tea", "--content", "Green only", "--id", "tea")
    left = killed_export(tmp_path, tmp_path / "backup", user)
    age(left, 2 * 60)
    found = [each for each in cli("memory", "doctor", "--json").json["findings"] if each["name"] == "strays"]
    assert [str(left) in each["text"] and each["fixable"] for each in found] == [True]
    assert left.exists()
    cli("memory", "doctor", "--fix")
    assert not left.exists()
    assert cli("memory", "show", "tea").code == 0


def test_a_later_export_to_the_same_place_clears_away_what_is_an_hour_old(
    cli: Inside, tmp_path: Path, user: Path
) -> None:
    cli("memory", "store", "--title", "Tea", "--content", "Green only", "--id", "tea")
    left = killed_export(tmp_path, tmp_path / "backup", user)
    assert cli("memory", "export", str(tmp_path / "one")).code == 0
    assert left.exists()  # it may be at work still
    age(left, HOUR + 60)
    assert cli("memory", "export", str(tmp_path / "two")).code == 0
    assert not left.exists()


@pytest.mark.parametrize(
    "alien", ["notes.txt", "global/photo.jpg", "other/x.yaml", "global/sub/x.yaml", "link"]
)
def test_a_directory_with_anything_else_in_it_is_somebodys_own(tmp_path: Path, alien: str) -> None:
    world = World(tmp_path)
    cwd = world.directory("work", scope=True)
    put(cwd / ".muniment", "tea")
    half = tmp_path / ".backup.0123456789ab.tmp"
    export_directory(world.store(cwd), tmp_path / "made")
    (tmp_path / "made").rename(half)
    age(half, HOUR)
    assert is_half_export(half, border=time.time())
    path = half / alien
    path.parent.mkdir(parents=True, exist_ok=True)
    if alien == "link":
        path.symlink_to(tmp_path)
    else:
        path.write_text("mine")
    age(half, HOUR) if alien != "link" else os.utime(half, (1, 1))
    assert not is_half_export(half, border=time.time())


def test_neither_another_name_nor_a_young_one_nor_a_link_is_taken_for_a_half_export(tmp_path: Path) -> None:
    for name in ("backup", ".backup.tmp", ".backup.0123456789ab.tmp.old", ".backup.xyz.tmp"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1, 1))
        assert not is_half_export(tmp_path / name, border=time.time())
    young = tmp_path / ".backup.0123456789ab.tmp"
    young.mkdir()
    assert not is_half_export(young, border=time.time() - 60)
    link = tmp_path / ".link.0123456789ab.tmp"
    link.symlink_to(tmp_path / "backup")
    assert not is_half_export(link, border=time.time() + 60)
