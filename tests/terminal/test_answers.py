"""What counts as a yes on a plain terminal, that a pipe is nobody, and that long text is shown whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.command import run
from support.server import Reply, serve
from support.server_wire import Call
from support.terminal import Terminal

SAVE = "Use memory_store to save a project memory:\nid: rule\ntitle: A rule\ncontent: Cite both."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "study"
    directory.mkdir()
    return directory


@pytest.mark.parametrize("answer", ["y", " YES ", "Yes"])
def test_yes_in_any_case_and_with_blanks_allows_once(project: Path, user: Path, answer: str) -> None:
    with Terminal(["run", "--prompt", SAVE], cwd=project, base=user, columns=100, rows=40) as terminal:
        terminal.wait_for("Allow this once?")
        terminal.send(f"{answer}\r")
        assert terminal.exit_code() == 0
    assert (project / ".muniment" / "memory" / "rule.yaml").is_file()


def test_a_yes_in_a_pipe_is_nobodys_and_changes_nothing(project: Path, user: Path) -> None:
    done = run("run", "--json", "--prompt", SAVE, cwd=project, base=user, text="y\nyes\n")
    assert done.code == 0
    (decision,) = [each for each in done.events if each["event"] == "decision"]
    assert (decision["decision"], decision["by"]) == ("denied", "headless")
    assert not (project / ".muniment").exists()


def test_details_of_many_lines_and_bytes_are_asked_about_whole_and_stored_whole(
    project: Path, user: Path
) -> None:
    details = "".join(f"Line {number} of what was agreed on, {'x' * 90}\n" for number in range(1, 41))
    assert len(details.encode()) > 4_096
    arguments = {"mode": "create", "name": "agreed", "type": "user", "summary": "Agreed", "details": details}
    replies = [Reply(calls=(Call("memory_save", json.dumps(arguments), "call_1"),)), Reply(text="Saved.")]
    with serve(replies) as server:
        options = ("--provider", "openai", "--model", "m", "--base-url", server.base_url)
        with Terminal(
            ["run", "--prompt", "Save it", *options], cwd=project, base=user, columns=140, rows=80
        ) as terminal:
            shown = terminal.wait_for("Allow this once?")
            terminal.send("y\r")
            assert terminal.exit_code() == 0
    assert [int(each) for each in re.findall(r"Line (\d+) of what", shown)] == list(range(1, 41))
    assert details in (user / "data" / "user" / "agreed.md").read_text(encoding="utf-8")
