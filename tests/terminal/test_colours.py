"""What reaches a terminal that has fewer colours than the themes: grounds stay grey, or are its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.color import Color

from support.terminal import Terminal


def grounds(raw: bytes) -> set[bytes]:
    """Return the grounds that were drawn, as the terminal was told them."""
    return set(re.findall(rb"48;[25];[\d;]+?(?=[m;])|(?<=[\[;])(?:4[0-7]|10[0-7])(?=[m;])", raw))


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("term", ["xterm-256color", "linux"])
def test_no_ground_is_of_another_colour_than_the_theme_has(tmp_path: Path, term: str, theme: str) -> None:
    project, base = tmp_path / "project", tmp_path / "base"
    project.mkdir()
    (base / "config").mkdir(parents=True)
    (base / "config" / "config.yaml").write_text(f"tui: {{theme: {theme}}}\n")
    command = ["run", "--new", "--provider", "rehearsal"]
    with Terminal(command, cwd=project, base=base, env={"TERM": term, "COLORTERM": ""}) as terminal:
        terminal.wait_for("The rehearsal model answers", "MANUAL", "F1 Help")
        drawn = grounds(terminal.raw)
    if term == "linux":
        assert drawn <= {b"104", b"100"}
    else:
        colours = [Color.from_ansi(int(each.split(b";")[2])).get_truecolor() for each in drawn]
        assert len(colours) > 1
        assert all(each.red == each.green == each.blue for each in colours)
