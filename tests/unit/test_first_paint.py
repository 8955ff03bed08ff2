"""What is loaded when the first frame stands: the screen itself, and nothing that reads, thinks or writes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.environment import isolated

_PAINT = """
import sys
from pathlib import Path
from muniment.paths import resolve_paths
from muniment.session.options import StartOptions
from muniment.settings import load_settings
from muniment.tui.app import MunimentApp
from muniment.tui.boot import Boot

class Painted(MunimentApp):
    def _begin(self):  # called when the first frame is out
        Path(sys.argv[1]).write_text("\\n".join(sys.modules))
        self.exit(0)

paths = resolve_paths()
Painted(Boot(paths, Path.cwd(), {}, load_settings(paths, {}), StartOptions())).run(headless=True)
"""
ALLOWED = {"approval.gate", "approval.policy", "paths", "session.options"}
WHOLE = ("safety", "settings")
LATER = {"openai", "yaml", "sqlite3", "watchfiles", "markdown_it", "pygments", "hashlib", "secrets"}


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    place = tmp_path_factory.mktemp("painted")
    told = place / "modules"
    subprocess.run(
        [sys.executable, "-c", _PAINT, str(told)],
        cwd=place,
        env=isolated(place / "user"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return set(told.read_text().split())


def test_the_first_frame_is_painted_before_memory_models_and_tools_are_loaded(painted: set[str]) -> None:
    ours = {name.removeprefix("muniment.") for name in painted if name.startswith("muniment.")}
    packages = {name.partition(".")[0] for name in ours}
    assert {"tui.screens.session", "tui.widgets.composer"} <= ours
    assert {
        name for name in ours if "." in name and name.partition(".")[0] not in ("tui", *WHOLE)
    } <= ALLOWED, "load it where it is first needed"
    assert {"memory", "model", "tools", "cli"}.isdisjoint(packages)
    assert painted & LATER == set()


def test_the_first_frame_is_painted_before_any_other_screen_is_loaded(painted: set[str]) -> None:
    apart = [name for name in painted if name.startswith(("muniment.tui.screens.", "muniment.tui.modals"))]
    assert apart == ["muniment.tui.screens.session"]
    assert "muniment.tui.palette" not in painted
