"""The guide's page about cases says what is so: its example runs and its graders are all there are."""

from __future__ import annotations

import os
import re
import textwrap
from importlib.resources import files
from pathlib import Path

from muniment.evals.case import load_cases
from muniment.evals.graders import GRADERS
from muniment.evals.runner import run_case
from muniment.evals.shape import CASE, MEMORY

PAGE = (files("muniment") / "guide" / "evals.md").read_text(encoding="utf-8")


async def test_the_example_is_a_case_that_passes(tmp_path: Path) -> None:
    example = PAGE[PAGE.index("    name: no-gossip") : PAGE.index("**`turns`**")]
    path = tmp_path / "no-gossip.yaml"
    path.write_text(textwrap.dedent(example), encoding="utf-8")
    run = await run_case(load_cases(path)[0], os.environ)
    assert run.passed, (run.faults, run.checks)


def test_every_grader_and_every_key_is_named() -> None:
    table = PAGE[PAGE.index("## What can be demanded") : PAGE.index("A misspelt key")]
    assert set(re.findall(r"`([a-z_]+)`", table)) == set(GRADERS)
    words = set(re.findall(r"[a-z_]+", PAGE))
    assert set(CASE.keys) | set(MEMORY.keys) <= words
