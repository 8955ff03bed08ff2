"""What a run in a pipe refuses before anything is sent, and how it says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import run


def _session(place: Path, base: Path) -> str:
    place.mkdir()
    done = run("run", "--prompt", "hello", "--json", cwd=place, base=base)
    assert done.code == 0
    return str(json.loads(done.out.split("\n")[0])["id"])


@pytest.mark.parametrize("prompt", ["", " \n\t"])
def test_an_empty_prompt_is_invalid_input_and_leaves_no_session(tmp_path: Path, prompt: str) -> None:
    place = tmp_path / "p"
    place.mkdir()

    done = run("run", "--prompt", prompt, "--json", cwd=place, base=tmp_path)

    assert (done.code, done.out) == (2, "")
    assert "nothing to send" in done.err
    assert run("session", "list", "--json", cwd=place, base=tmp_path).json["sessions"] == []


@pytest.mark.parametrize("left", [b"", b"\n", b"\0" * 64])
def test_a_session_whose_log_is_empty_is_not_resumed_somewhere(tmp_path: Path, left: bytes) -> None:
    place = tmp_path / "p"
    session = _session(place, tmp_path)
    log = tmp_path / "state" / "sessions" / f"{session}.jsonl"
    log.write_bytes(left)

    done = run("run", "--resume", session, "--prompt", "again", cwd=place, base=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert "is empty" in done.err
    assert f"muniment session delete {session}" in done.err
    assert log.read_bytes() == left


def test_a_session_whose_directory_is_gone_says_in_a_pipe_where_the_yes_is_given(tmp_path: Path) -> None:
    place = tmp_path / "p"
    session = _session(place, tmp_path)
    place.rename(tmp_path / "elsewhere")

    done = run("run", "--resume", session, "--prompt", "again", cwd=tmp_path, base=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert "not there any more" in done.err
    assert "at a terminal" in done.err
