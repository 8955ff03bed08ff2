"""A message without a telling word asks for nothing: recall does not fail over it and alerts nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import run


@pytest.mark.parametrize("message", ["the", "…", "🙂", "\u202e", "_", "''"])
def test_a_message_without_a_telling_word_recalls_nothing_and_says_nothing(
    tmp_path: Path, message: str
) -> None:
    place = tmp_path / "p"
    place.mkdir()
    store = ("memory", "store", "--title", "Denominators", "--content", "Show both.", "--json")
    assert run(*store, cwd=place, base=tmp_path).code == 0
    assert run("memory", "search", "both", cwd=place, base=tmp_path).code == 0

    turn = run("run", "--prompt", message, "--json", cwd=place, base=tmp_path)

    assert turn.code == 0
    notices = [event["text"] for event in turn.events if event["event"] == "notice"]
    assert [each for each in notices if "ecall" in each] == []
    assert run("note", "list", "--json", cwd=place, base=tmp_path).json["notes"] == []
