"""What is printed for programs stays on its line, whatever a text holds and however lines are told apart."""

from __future__ import annotations

import json
from pathlib import Path

from support.command import run

TEXT = "one\u2028two\u2029three\x85four\x0bfive\x0csix\x1cseven"


def test_an_object_for_programs_is_one_line_by_every_rule_and_keeps_the_text(tmp_path: Path) -> None:
    stored = run(
        "memory", "store", "--id", "r", "--title", "t", "--content", TEXT, cwd=tmp_path, base=tmp_path
    )
    assert stored.code == 0

    shown = run("memory", "show", "r", "--json", cwd=tmp_path, base=tmp_path)

    (line,) = shown.out.splitlines()
    assert json.loads(line)["record"]["content"] == TEXT
