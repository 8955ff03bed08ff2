"""Whether a project's memory would enter version control, against what git itself says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from muniment.memory.records.gitignore import tracked_by_git
from support.records import World


@pytest.mark.parametrize(
    "lines",
    [
        "",
        ".muniment/",
        ".muniment",
        "/.muniment/",
        "/sub/.muniment/",
        "sub/.muniment",
        "sub/",
        "**/.muniment/",
        ".*",
        "*",
        ".muni*/",
        "# .muniment/",
        ".muniment/\n!.muniment/",
        "!.muniment/\n.muniment/",
        "other/",
        ".m?niment",
        "\\.muniment",
        "/.muniment/  ",
    ],
)
def test_the_answer_is_that_of_git(lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    tree = tmp_path / "tree"
    directory = tree / "sub" / ".muniment"
    (directory / "memory").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    (tree / ".gitignore").write_text(lines + "\n")
    asked = subprocess.run(
        ["git", "check-ignore", "-q", str(directory / "memory" / "x.yaml")], cwd=tree, check=False
    )
    assert (tracked_by_git(directory) is None) == (asked.returncode == 0)


def test_outside_a_work_tree_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert tracked_by_git(tmp_path / ".muniment") is None


@pytest.mark.parametrize("source", ["exclude", "user", "inner"])
def test_other_ignore_files_count_too(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    tree = tmp_path / "tree"
    directory = tree / ".muniment"
    directory.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    assert tracked_by_git(directory) == tree
    target, line = {
        "exclude": (tree / ".git" / "info" / "exclude", ".muniment/"),
        "user": (tmp_path / "config" / "git" / "ignore", ".muniment/"),
        "inner": (directory / ".gitignore", "*"),
    }[source]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(line + "\n")
    assert tracked_by_git(directory) is None


def test_a_first_write_into_a_work_tree_is_warned_of_and_nothing_is_changed(tmp_path: Path) -> None:
    world = World(tmp_path)
    cwd = world.directory()
    subprocess.run(["git", "init", "-q"], cwd=cwd, check=True)
    desk = world.desk(cwd)
    proposal = desk.propose("memory_store", title="T", content="C")
    assert [warning.kind for warning in proposal.warnings] == ["new-directory", "not-ignored"]
    desk.execute(proposal)
    assert not (cwd / ".gitignore").exists()
    (cwd / ".gitignore").write_text(".muniment/\n")
    assert desk.propose("memory_store", title="U", content="D").warnings == ()
