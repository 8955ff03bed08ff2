"""What is loaded when the first frame stands: the screen itself, and nothing that reads, thinks or writes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

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
    told = None

    def post_display_hook(self):  # called when a frame is out
        super().post_display_hook()
        if self.told is None and not self._batch_count:
            parts = [part.id for part in self.session_screen.panel.children]
            self.told = {"screens": len(self.screen_stack), "panel": parts}

    def _begin(self):  # called when the first frame is out
        loaded = list(sys.modules)
        import json

        Path(sys.argv[1]).write_text(json.dumps({**self.told, "modules": loaded}))
        self.exit(0)

paths = resolve_paths()
Painted(Boot(paths, Path.cwd(), {}, load_settings(paths, {}), StartOptions())).run(headless=True)
"""
ALLOWED = {"approval.gate", "approval.policy", "paths", "session.options"}
WHOLE = ("safety", "settings")
LATER = {"openai", "yaml", "sqlite3", "watchfiles", "markdown_it", "pygments", "hashlib", "secrets"}
LATER |= {"json", "rich._emoji_codes"}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
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
    found: dict[str, Any] = json.loads(told.read_text())
    return found


@pytest.fixture
def painted(frame: dict[str, Any]) -> set[str]:
    return set(frame["modules"])


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


def test_the_first_frame_holds_one_screen_and_no_parts_of_a_closed_panel(frame: dict[str, Any]) -> None:
    assert frame["screens"] == 1
    assert frame["panel"] == []
