"""Who loads the client library, and when: nobody before a request to a real server goes out."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("openai", "httpx2", "pydantic", "textual")


@pytest.mark.parametrize(
    "code",
    [
        "import muniment.model.factory, muniment.model.scripted, muniment.model.rehearsal",
        "import muniment.model.openai_chat, muniment.model.openai_responses, muniment.model.faults",
        """
from muniment.model.factory import build_model
from muniment.paths import resolve_paths
from muniment.settings import load_settings
settings = load_settings(resolve_paths({}), {}).with_overrides(model="m", base_url="http://127.0.0.1:1/v1")
assert build_model(settings, {}).name == "m"
""",
    ],
)
def test_building_a_model_loads_no_heavy_library(code: str) -> None:
    script = f"{code}\nimport sys\nprint(sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_check_sees_a_loaded_library() -> None:
    script = f"import openai, sys\nprint(sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert "openai" in done.stdout
