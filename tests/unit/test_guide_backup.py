"""The guide's page about backups: its commands run as they are written and give back what was lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from support.environment import isolated
from support.records import tree_digest
from support.terminal import COMMAND

PAGE = (files("muniment") / "guide" / "backup.md").read_text(encoding="utf-8")


def commands(heading: str) -> str:
    """Return the commands of one section, as written."""
    section = PAGE[PAGE.index(f"## {heading}\n") :].split("\n## ")[0]
    found = re.findall(r"^    (.+)$", section, re.MULTILINE)
    assert found, heading
    return "\n".join(found)


class Person:
    """Somebody at a shell, in a project."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.project.mkdir()
        self.env = isolated(root / "user with blanks")
        self.data = Path(self.env["MUNIMENT_DATA_DIR"])
        self.env["PATH"] = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"

    def types(self, text: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.project,
            env=self.env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def person(tmp_path: Path) -> Person:
    somebody = Person(tmp_path)
    somebody.types(
        "muniment memory store --title Tea --content 'Green only' --id tea\n"
        "muniment memory store --title Everywhere --content 'Tabs' --id tabs --scope global\n"
        "muniment user save --mode create --name me --type user --summary 'Likes tea'\n"
    )
    return somebody


def test_exported_records_come_back_after_a_loss(person: Person) -> None:
    person.types(commands("Export the records"))
    assert (person.project / "records-backup.jsonl").read_text().count("\n") == 2
    tea = person.project / ".muniment" / "memory" / "tea.yaml"
    before = tea.read_text()
    shutil.rmtree(person.project / ".muniment")
    (person.data / "memory" / "tabs.yaml").unlink()
    shown, written = person.types(commands("Bring records in").rpartition("\n")[0]).split("create", 1)
    assert shown == ""
    assert "tabs" in written
    assert tea.read_text() == before.replace("source: user", "source: import")
    tea.write_text(tea.read_text().replace("Green", "Black"))
    kept = person.types(commands("Bring records in").splitlines()[1])
    assert "differs" in kept
    assert "Black" in tea.read_text()
    person.types(commands("Bring records in").splitlines()[-1])
    assert "Green" in tea.read_text()


def test_notes_and_lists_of_elsewhere_are_shown(person: Person) -> None:
    (person.project / "notes").mkdir()
    (person.project / "notes" / "pilot.md").write_text("---\ntags: [study]\n---\n# Pilot\n\nBoth.\n")
    (person.project / "MEMORY.md").write_text("# Rules\n- Use tabs\n- Sign commits\n")
    shown = person.types(commands("Bring in what you have elsewhere"))
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("create")] == [
        "pilot",
        "use-tabs",
        "sign-commits",
    ]
    assert "pilot" not in person.types("muniment memory list")


def test_a_copy_of_everything_puts_everything_back(person: Person) -> None:
    person.types(commands("Copy everything"))
    held = tree_digest(person.data) | tree_digest(person.project / ".muniment")
    shutil.rmtree(person.data)
    shutil.rmtree(person.project / ".muniment")
    shutil.rmtree(person.env["MUNIMENT_CACHE_DIR"], ignore_errors=True)
    said = person.types(commands("Put everything back"))
    assert "WRONG" not in said
    now = tree_digest(person.data) | tree_digest(person.project / ".muniment")
    assert {path: data for path, data in now.items() if path in held} == held
    assert person.data.stat().st_mode & 0o777 == 0o700
    assert "Green only" in person.types("muniment memory search green")
    assert "Likes tea" in person.types("muniment user list")
    person.types("muniment memory undo --yes")
    assert "Likes tea" not in person.types("muniment user list")


def test_the_commands_in_the_text_exist(person: Person) -> None:
    for words in set(re.findall(r"`muniment ([a-z]+ [a-z]+)", PAGE)):
        assert "usage" in person.types(f"muniment {words} --help").lower()
