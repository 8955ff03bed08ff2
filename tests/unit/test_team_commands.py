"""`muniment note`, `pin` and `session rate`: shapes, exit codes, standard input, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command import Inside
from support.team import tree


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir()
    return directory


def added(cli: Inside, title: str = "The fan", body: str = "It is loud.", **options: str) -> dict[str, Any]:
    done = cli("note", "add", "--title", title, "--body", body, "--json", **options)
    assert done.code == 0, done.err
    fields: dict[str, Any] = done.json
    return fields


# Notes


def test_a_note_is_added_listed_and_shown(cli: Inside, project: Path) -> None:
    made = added(cli)
    assert (made["scope"], made["directory"]) == ("project", str(project))
    listed = cli("note", "list", "--json").json
    (row,) = listed["notes"]
    assert (row["id"], row["name"], row["title"], row["agent"], row["held"]) == (
        made["id"],
        made["name"],
        "The fan",
        "user",
        False,
    )
    assert (row["session"], row["source"], row["project"]) == (None, "user", project.parent.name)
    assert (listed["total"], listed["threshold"], listed["skipped"]) == (1, 5, [])
    for word in (made["id"], made["name"], made["name"].removesuffix(".md")):
        note = cli("note", "show", word, "--json").json["note"]
        assert (note["body"], note["title"]) == ("It is loud.", "The fan")
    assert "It is loud." in cli("note", "show", made["id"]).out


def test_a_body_is_read_from_standard_input(cli: Inside, project: Path) -> None:
    made = cli("note", "add", "--title", "x", "--body", "-", "--json", text="Näher betrachtet.\n").json
    assert cli("note", "show", made["name"], "--json").json["note"]["body"] == "Näher betrachtet."
    assert cli("note", "add", "--title", "x", "--body", "-", text=b"\xff").code == 2


def test_an_empty_inbox_is_listed_with_exit_0(cli: Inside, project: Path) -> None:
    done = cli("note", "list", "--json")
    assert (done.code, done.json["notes"]) == (0, [])
    assert tree(project) == {}


def test_without_a_project_a_note_stands_in_the_data_directory(cli: Inside, tmp_path: Path) -> None:
    made = added(cli)
    assert made["scope"] == "global"
    assert not (tmp_path / ".muniment").exists()
    assert Path(made["path"]).is_relative_to(made["directory"])


def test_a_list_is_limited_and_says_what_is_left_out(cli: Inside, project: Path) -> None:
    for at in range(3):
        added(cli, title=f"n{at}")
    (project / "notes" / "inbox" / "bad.md").write_bytes(b"\xff")
    listed = cli("note", "list", "--limit", "2", "--json").json
    assert (len(listed["notes"]), listed["total"]) == (2, 3)
    assert listed["skipped"] == [
        {"path": str(project / "notes" / "inbox" / "bad.md"), "reason": "is not UTF-8 text"}
    ]
    assert len(cli("note", "list", "--limit", "2", "--all", "--json").json["notes"]) == 3
    assert cli("note", "list", "--scope", "global", "--json").json["notes"] == []
    assert "bad.md is not UTF-8" in cli("note", "list").err


def test_a_note_is_held_and_released(cli: Inside, project: Path) -> None:
    made = added(cli)
    assert cli("note", "hold", made["id"], "--json").json["held"] is True
    assert cli("note", "list", "--json").json["notes"][0]["held"] is True
    assert cli("note", "hold", made["id"]).code == 0
    assert cli("note", "release", made["name"], "--json").json["held"] is False


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", "--title", " ", "--body", "x"), 2),
        (("add", "--body", "x"), 2),
        (("add", "--title", "x", "--body", "x" * 65_537), 2),
        (("show", "absent"), 1),
        (("show", "../pinned"), 2),
        (("hold", "absent"), 1),
        (("promote", "absent"), 1),
        (("list", "--limit", "0"), 2),
        (("drop", "x"), 2),
    ],
)
def test_what_cannot_be_done_says_so_in_one_sentence(
    cli: Inside, project: Path, arguments: tuple[str, ...], code: int
) -> None:
    done = cli("note", *arguments)
    assert done.code == code
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert tree(project) == {}


def test_a_promoted_note_is_an_entry_and_no_longer_waits(cli: Inside, project: Path) -> None:
    made = added(cli, "Rule", "We always oil the fan first.")
    done = cli("note", "promote", made["id"], "--category", "conventions", "--json")
    assert done.code == 0, done.err
    assert done.json["entry"]["category"] == "conventions"
    assert cli("note", "list", "--json").json["notes"] == []
    hits = cli("ledger", "search", "oil", "--json").json["hits"]
    assert [each["trust"] for each in hits] == ["human"]


def test_a_hostile_title_is_shown_harmless(cli: Inside, project: Path) -> None:
    added(cli, title="a\x1b[31m\u202eb\nc", body="\x1b]0;x\x07")
    for arguments in (("note", "list"), ("note", "show", "user-a-31m-b-c")):
        done = cli(*arguments)
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out + done.err


def test_a_note_that_looks_like_a_secret_is_said_so(cli: Inside, project: Path) -> None:
    done = cli("note", "add", "--title", "x", "--body", "AKIA" + "ABCDEFGHIJKLMNOP")
    assert done.code == 0
    assert "secret" in done.err


# Pins


def test_what_is_pinned_is_shown_and_carried_first(cli: Inside, project: Path) -> None:
    done = cli("pin", "add", "--title", "Friday", "--content", "No pushes.", "--level", "critical", "--json")
    assert (done.code, done.json["title"], done.json["scope"]) == (0, "Friday", "project")
    shown = cli("pin", "show", "--json").json
    assert shown["entries"] == [
        {"title": "Friday", "content": "No pushes.", "level": "critical", "date": shown["entries"][0]["date"]}
    ]
    assert (shown["cut"], shown["limit"], shown["units"] > 0) == (False, 4_096, True)
    assert "No pushes." in cli("pin", "show").out
    carried = cli("context", "--json", "--prompt", "hello").json
    (block,) = carried["blocks"]
    assert (block["name"], block["source"], block["items"]) == ("pinned", "pinned", 1)
    assert block["bytes"] == len((project / "pinned.md").read_bytes())
    assert "No pushes." in carried["input"][0]["content"]


def test_content_is_read_from_standard_input_and_a_pin_is_removed_by_its_title(
    cli: Inside, project: Path
) -> None:
    assert cli("pin", "add", "--title", "A.*", "--content", "-", text="From a pipe.").code == 0
    assert cli("pin", "add", "--title", "AB", "--content", "x").code == 0
    assert cli("pin", "remove", "a.*", "--json").json["title"] == "A.*"
    assert [each["title"] for each in cli("pin", "show", "--json").json["entries"]] == ["AB"]
    assert cli("pin", "remove", "--title", "ab").code == 0
    assert cli("pin", "remove", "ab").code == 1
    assert cli("pin", "remove").code == 2


def test_more_than_a_request_carries_is_said_when_it_is_pinned(cli: Inside, project: Path) -> None:
    done = cli("pin", "add", "--title", "Long", "--content", "x" * 5_000)
    assert done.code == 0
    assert "4096" in done.err
    shown = cli("pin", "show", "--json").json
    assert shown["cut"] is True
    assert "[cut here" in shown["text"]


def test_undo_takes_a_pin_back(cli: Inside, project: Path) -> None:
    cli("pin", "add", "--title", "A", "--content", "x")
    undone = cli("memory", "undo", "--yes", "--json")
    assert undone.code == 0, undone.err
    assert cli("pin", "show", "--json").json["entries"] == []
    assert not (project / "pinned.md").exists()


# Tasks and ratings


def finished(cli: Inside, prompt: str = "Finish the task: success\nfindings: Oil the fan.") -> str:
    done = cli("run", "--prompt", prompt, "--provider", "rehearsal", "--json")
    assert done.code == 0, done.err
    session: str = json.loads(done.out.split("\n")[0])["session"]
    return session


def test_a_headless_run_that_reports_success_leaves_one_note(cli: Inside, project: Path) -> None:
    session = finished(cli)
    (row,) = cli("note", "list", "--json").json["notes"]
    assert (row["session"], row["agent"], row["source"]) == (session, "assistant", "task")
    assert "Oil the fan." in cli("note", "show", row["id"], "--json").json["note"]["body"]


def test_a_finished_task_is_rated_once_by_a_note_to_its_agent(cli: Inside, project: Path) -> None:
    session = finished(cli)
    done = cli("session", "rate", session, "up", "--comment", "Well done.", "--json")
    assert done.code == 0, done.err
    assert (done.json["agent"], done.json["rating"]) == ("assistant", "up")
    note = cli("note", "show", done.json["note"], "--json").json["note"]
    assert (note["session"], note["agent"], note["source"]) == (session, "assistant", "feedback")
    assert "Well done." in note["body"]
    again = cli("session", "rate", session, "down")
    assert again.code == 1
    assert "already" in again.err
    assert len(cli("note", "list", "--json").json["notes"]) == 2


def test_a_rating_holds_nothing_of_another_task_of_the_same_day(cli: Inside, project: Path) -> None:
    finished(cli, "Finish the task: success\nfindings: ALPHA finding.")
    second = finished(cli, "Finish the task: success\nfindings: BETA finding.")
    rated = cli("session", "rate", second, "down", "--json").json
    text = cli("note", "show", rated["note"], "--json").json["note"]["text"]
    assert second in text
    assert "ALPHA" not in text
    assert rated["note"].startswith(f"assistant-feedback-{second}-")


def test_a_run_that_ended_without_a_report_can_be_rated(cli: Inside, project: Path) -> None:
    session = finished(cli, "hello")
    done = cli("session", "rate", session, "down", "--json")
    assert done.code == 0, done.err
    assert "not reported" in cli("note", "show", done.json["note"]).out


def test_what_is_no_finished_task_is_not_rated(cli: Inside, project: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.yaml").write_text("name: chat\ndescription: d\ntask: {capture: false}\n")
    done = cli("run", "--file", "chat.yaml", "--prompt", "hello", "--provider", "rehearsal", "--json")
    session = json.loads(done.out.split("\n")[0])["session"]
    refused = cli("session", "rate", session, "up")
    assert refused.code == 1
    assert "no finished task" in refused.err
    assert cli("session", "rate", "0" * 32, "up").code == 1
    assert cli("session", "rate", "abc", "up").code == 2
    assert cli("session", "rate", session, "sideways").code == 2
    assert cli("note", "list", "--json").json["notes"] == []


def test_the_help_names_the_new_commands(cli: Inside) -> None:
    out = cli("--help").out
    assert "note" in out
    assert "pin" in out
