"""What is installed: the wheel with its recipes, the lock, and the commands that set everything up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from muniment import __version__
from support.environment import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """Return the block of the lock for each distribution."""
    text = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    return {normal(re.split(r"[=\[ ]", block, maxsplit=1)[0]): block for block in blocks if block.strip()}


def test_the_lock_pins_every_dependency_with_hashes_and_names_no_address() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["dev"]]
    names = {normal(re.split(r"[<>=\[ ]", each, maxsplit=1)[0]) for each in wanted}
    lock = locked()
    assert names <= set(lock)
    assert all("==" in block and "--hash=sha256:" in block for block in lock.values())
    assert "://" not in "".join(lock.values())


def test_the_command_and_the_version_agree_with_the_project() -> None:
    assert PROJECT["project"]["scripts"] == {"muniment": "muniment.__main__:main"}
    assert PROJECT["project"].get("version", __version__) == __version__
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_the_wheel_holds_the_package_and_the_recipes_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "muniment/__main__.py" in names
    assert "muniment/py.typed" in names
    assert "muniment/tui/screens/session.tcss" in names
    assert {"muniment/memory/ledger/schema.sql", "muniment/memory/ledger/words.sql"} <= set(names)
    recipes = REPOSITORY / "recipes"
    for recipe in recipes.rglob("*.yaml"):
        assert f"muniment/_recipes/{recipe.relative_to(recipes)}" in names
    for page in (REPOSITORY / "app" / "muniment" / "guide").glob("*.md"):
        assert f"muniment/guide/{page.name}" in names
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"muniment", f"muniment-{__version__}.dist-info"}


def make(directory: Path, target: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run make with only the programs of `path` to be found, and nothing of the outer make."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["/usr/bin/env", "make", "-f", "Makefile", target],
        cwd=directory,
        env=env | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory with a blank in its name that holds what setting up needs, and no environment."""
    directory = tmp_path / "fresh clone"
    directory.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        (directory / name).write_bytes((REPOSITORY / name).read_bytes())
    return directory


def programs(tmp_path: Path, **scripts: str) -> str:
    """Return a search path with the everyday programs and these shell scripts, and no other Python."""
    directory = tmp_path / "programs"
    directory.mkdir()
    for name in ("make", "sh", "awk", "rm", "touch", "env", "git", "xargs", "wc", "find"):
        found = subprocess.run(["which", name], capture_output=True, text=True, check=False).stdout.strip()
        if found:
            (directory / name).symlink_to(found)
    for name, text in scripts.items():
        (directory / name).write_text(f"#!/bin/sh\n{text}\n")
        (directory / name).chmod(0o755)
    return str(directory)


def test_help_lists_the_commands_and_needs_nothing(checkout: Path, tmp_path: Path) -> None:
    shown = make(checkout, "help", programs(tmp_path))
    assert shown.returncode == 0
    for target in ("run", "test", "check", "bench", "screenshots", "clean", "help"):
        assert f"make {target} " in shown.stdout
    assert not (checkout / ".venv").exists()


def test_without_any_python_one_line_says_what_to_install(checkout: Path, tmp_path: Path) -> None:
    done = make(checkout, "test", programs(tmp_path))
    said = [line for line in done.stderr.splitlines() if line.startswith("muniment: ")]
    assert done.returncode != 0
    assert len(said) == 1
    assert "apt-get install" in said[0]
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_named_with_its_package_and_leaves_no_half_environment(
    checkout: Path, tmp_path: Path
) -> None:
    old = "exit 1"
    bare = 'case "$2" in *ensurepip*) exit 1;; *print*) echo 3.11;; esac'
    done = make(checkout, "test", programs(tmp_path, python3=old, **{"python3.11": bare}))
    said = [line for line in done.stderr.splitlines() if line.startswith("muniment: ")]
    assert done.returncode != 0
    assert len(said) == 1
    assert "python3.11-venv" in said[0]
    assert not (checkout / ".venv").exists()


def test_an_environment_whose_installation_failed_is_not_trusted(checkout: Path, tmp_path: Path) -> None:
    half = checkout / ".venv" / "bin"
    half.mkdir(parents=True)
    (half / "python").write_text('#!/bin/sh\ncase "$*" in *install*) exit 3;; esac\nexit 0\n')
    (half / "python").chmod(0o755)
    path = programs(tmp_path, **{"python3.11": "exit 0"})
    assert make(checkout, "test", path).returncode != 0
    assert not (checkout / ".venv" / ".muniment-ready").exists()


def test_the_commands_of_the_continuous_check_exist() -> None:
    text = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in text
    assert "make check" in text
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)
