"""`muniment user` and the user memory tools from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import Result, run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path


def user(place: Path, *arguments: str, text: str | None = None, env: dict[str, str] | None = None) -> Result:
    return run("user", *arguments, cwd=place / "work", base=place, text=text, env=env)


def save(place: Path, name: str = "plum", summary: str = "Likes plums", *more: str) -> Result:
    return user(place, "save", "--name", name, "--type", "user", "--summary", summary, *more)


def test_an_entry_is_saved_listed_shown_changed_and_deleted(place: Path) -> None:
    made = save(place, "plum", "Likes plums", "--json")
    assert made.code == 0, made.err
    assert made.json["created"] is True
    directory = Path(made.json["directory"])
    assert (directory / "plum.md").is_file()
    assert user(place, "edit", "plum", "--details", "-", text="More.\n").code == 0
    shown = user(place, "show", "plum", "--json").json
    assert shown["entry"] == {
        "name": "plum",
        "type": "user",
        "summary": "Likes plums",
        "details": "More.\n",
    }
    listed = user(place, "list", "--json").json
    assert [each["name"] for each in listed["entries"]] == ["plum"]
    assert (listed["total"], listed["max_entries"], listed["max_bytes"]) == (1, 200, 16_384)
    assert user(place, "list").out == "- [user] plum: Likes plums (+details)\n"
    assert user(place, "delete", "plum").code == 1
    assert (directory / "plum.md").is_file()
    assert user(place, "delete", "plum", "--yes").code == 0
    assert not (directory / "plum.md").exists()
    assert user(place, "show", "plum").code == 1


def test_saving_again_replaces_and_keeps_the_details_unless_a_mode_forbids_it(place: Path) -> None:
    save(place, "plum", "Likes plums", "--details", "More.")
    again = save(place, "plum", "Is tired of plums", "--json")
    assert (again.code, again.json["created"]) == (0, False)
    entry = user(place, "show", "plum", "--json").json["entry"]
    assert (entry["summary"], entry["details"]) == ("Is tired of plums", "More.")
    assert save(place, "plum", "x", "--mode", "create").code == 2
    assert save(place, "pear", "x", "--mode", "overwrite").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--name", "Plum", "--type", "user", "--summary", "x"),
        ("--name", "plum", "--type", "other", "--summary", "x"),
        ("--name", "plum", "--type", "user", "--summary", ""),
        ("--name", "plum", "--type", "user", "--summary", "x" * 201),
        ("--name", "plum", "--type", "user"),
        ("--name", "../plum", "--type", "user", "--summary", "x"),
    ],
)
def test_what_can_never_be_an_entry_is_one_sentence_and_exit_2(
    place: Path, arguments: tuple[str, ...]
) -> None:
    result = user(place, "save", *arguments)
    assert result.code == 2
    assert result.err.startswith("muniment: ")
    assert result.err.count("\n") == 1
    assert not list(place.rglob("*.md"))


def test_what_is_left_out_is_named_beside_the_list(place: Path) -> None:
    directory = Path(save(place, "plum", "x", "--json").json["directory"])
    (directory / "bad.md").write_text("nothing")
    result = user(place, "list", "--json")
    assert result.code == 0
    assert [Path(each["path"]).name for each in result.json["skipped"]] == ["bad.md"]
    assert "bad.md" in user(place, "list").err


def test_the_whole_file_opens_in_the_editor(place: Path) -> None:
    save(place)
    editor = place / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/plums/figs/ "$1"\nprintf \'By hand.\\n\' >> "$1"\n')
    editor.chmod(0o700)
    assert user(place, "edit", "plum", env={"EDITOR": str(editor)}).code == 0
    entry = user(place, "show", "plum", "--json").json["entry"]
    assert (entry["summary"], entry["details"]) == ("Likes figs", "By hand.\n")
    editor.write_text('#!/bin/sh\necho broken > "$1"\n')
    broken = user(place, "edit", "plum", env={"EDITOR": str(editor)})
    assert broken.code == 2
    assert "no entry" in broken.err
    assert user(place, "show", "plum", "--json").json["entry"] == entry
    assert user(place, "edit", "plum", env={"EDITOR": "true"}).code == 1


def test_undo_takes_a_write_to_user_memory_back(place: Path) -> None:
    directory = Path(save(place, "plum", "Likes plums", "--json").json["directory"])
    before = (directory / "plum.md").read_bytes()
    user(place, "delete", "plum", "--yes")
    undone = run("memory", "undo", "--yes", "--json", cwd=place / "work", base=place)
    assert undone.code == 0, undone.err
    assert (undone.json["surface"], undone.json["id"]) == ("user", "plum")
    assert (directory / "plum.md").read_bytes() == before


def test_a_tool_call_without_a_person_is_denied_and_with_yes_it_saves(place: Path) -> None:
    arguments = json.dumps({"mode": "create", "name": "plum", "type": "user", "summary": "Likes plums"})
    call = ("tool", "call", "memory_save", "--args", arguments, "--json")
    denied = run(*call, cwd=place / "work", base=place)
    assert (denied.code, denied.json["status"]) == (1, "denied")
    assert not list(place.rglob("*.md"))
    done = run(*call, "--yes", cwd=place / "work", base=place)
    assert (done.code, done.json["status"], done.json["result"]["created"]) == (0, "completed", True)
    viewed = run("tool", "call", "memory_view", "--args", '{"name":"plum"}', cwd=place / "work", base=place)
    assert viewed.code == 0
    assert "Likes plums" in viewed.out


def test_the_next_request_is_shown_with_the_block(place: Path) -> None:
    save(place)
    shown = run("context", "--json", "--prompt", "hello", cwd=place / "work", base=place).json
    assert [(each["name"], each["items"]) for each in shown["blocks"]] == [("user_memory", 1)]
    assert "- [user] plum: Likes plums" in shown["input"][0]["content"]
    assert shown["input"][0]["role"] == "assistant"
