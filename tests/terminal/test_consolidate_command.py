"""The questions of `muniment consolidate` on a terminal: what a model may see, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.consolidation import FACTS
from support.server import Reply, serve
from support.terminal import Terminal, flat

DIGEST = "### 2026-11-30: Locks\n\n#### Bugs and gotchas\n\n- **Locks**: take them before anything [ripley]\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "study" / ".muniment" / "notes" / "inbox"
    place.mkdir(parents=True)
    for number in range(5):
        (place / f"ripley-{number}.md").write_text(f"# Finding {number}\n\n{FACTS[number]}\n")
    return tmp_path / "study"


@pytest.mark.parametrize(("sees", "agrees"), [("y", "y"), ("n", "y"), ("n", "n"), ("y", "n")])
def test_a_model_sees_the_notes_and_the_notes_are_consolidated_only_on_a_yes_to_each(
    sees: str, agrees: str, project: Path, user: Path
) -> None:
    (user / "config").mkdir()
    notes = project / ".muniment" / "notes.md"
    with serve([Reply(text=DIGEST)]) as server:
        settings = f"model: {{provider: openai, name: scribe, base_url: '{server.base_url}'}}\n"
        (user / "config" / "config.yaml").write_text(settings)
        with Terminal(["consolidate"], cwd=project, base=user, columns=100, rows=60) as terminal:
            terminal.wait_for("Let scribe write the digest? It is sent the 5 notes. [y/N]")
            assert server.requests == []
            terminal.send(f"{sees}\r")
            screen = flat(terminal.wait_for("Consolidate these 5 notes? [y/N]"))
            assert len(server.requests) == (sees == "y")
            assert (flat("take them before anything") in screen) is (sees == "y")
            assert not notes.exists()
            terminal.send(f"{agrees}\r")
            assert terminal.exit_code() == (0 if agrees == "y" else 1)
    assert notes.exists() is (agrees == "y")
    if notes.exists():
        assert (DIGEST in notes.read_text()) is (sees == "y")
