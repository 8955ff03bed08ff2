"""What the product promises of its commands and tools to programs: names, options, keys and codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from muniment.tools.registry import default_registry
from support.command import Inside

TOOLS: dict[str, tuple[str, str]] = {
    "memory_store": ("title content", "id category tags scope expires_at clear"),
    "memory_retrieve": ("id", "scope offset"),
    "memory_list": ("", "scope category tag limit offset"),
    "memory_search": ("query", "scope limit include_overridden"),
    "memory_delete": ("id", "scope"),
    "memory_stats": ("", ""),
    "memory_save": ("mode name type summary", "details"),
    "memory_view": ("name", ""),
    "note_add": ("title body", ""),
    "task_report": ("outcome summary nonce", "findings files tests failure_class pr"),
    "read_file": ("path", "offset limit"),
    "list_files": ("", "path pattern"),
    "write_file": ("mode path content", ""),
    "edit_file": ("path old new", ""),
    "skill_view": ("name", ""),
}
"""Each tool with the arguments that it needs and those that it also takes."""


def test_there_are_exactly_the_promised_tools_with_the_promised_arguments(cli: Inside) -> None:
    listed = {each["name"]: each["parameters"] for each in cli("tool", "list", "--json").json["tools"]}
    assert set(listed) == set(TOOLS) == set(default_registry().names())
    for name, (needed, taken) in TOOLS.items():
        schema = listed[name]
        assert set(schema["required"]) == set(needed.split()), name
        assert set(schema["properties"]) == {*needed.split(), *taken.split()}, name
        assert schema["additionalProperties"] is False, name


def test_the_types_and_words_that_arguments_may_have() -> None:
    kinds = {
        (name, key): schema
        for name in TOOLS
        if (tool := default_registry().get(name)) is not None
        for key, schema in tool.parameters["properties"].items()
    }
    lists = {("memory_store", "tags"), ("memory_store", "clear"), ("task_report", "files")}
    assert {place for place, each in kinds.items() if each["type"] == "array"} == lists | {
        ("task_report", "tests")
    }
    assert {key for (_, key), each in kinds.items() if each["type"] == "integer"} == {"limit", "offset"}
    assert [place for place, each in kinds.items() if each["type"] == "boolean"] == [
        ("memory_search", "include_overridden")
    ]
    words = {place: each["enum"] for place, each in kinds.items() if "enum" in each}
    assert {key: tuple(each) for (_, key), each in words.items()} == {
        "scope": ("project", "global"),
        "mode": ("create", "overwrite"),
        "type": ("user", "feedback", "project", "reference"),
        "outcome": ("success", "partial", "failure"),
    }
    limits = kinds["memory_search", "limit"]
    assert (limits["minimum"], limits["maximum"]) == (1, 50)


@pytest.mark.parametrize(("limit", "status"), [(0, "invalid_arguments"), (1, "completed"), (50, "completed")])
def test_a_search_takes_1_to_50_hits(cli: Inside, limit: int, status: str) -> None:
    arguments = json.dumps({"query": "word", "limit": limit})
    assert cli("tool", "call", "memory_search", "--args", arguments, "--json").json["status"] == status
    past = json.dumps({"query": "word", "limit": 51})
    refused = cli("tool", "call", "memory_search", "--args", past, "--json")
    assert (refused.code, refused.json["status"]) == (2, "invalid_arguments")


def test_a_report_outside_a_task_fails_and_writes_nothing(cli: Inside, tmp_path: Path) -> None:
    report = json.dumps({"outcome": "success", "summary": "done", "nonce": "guessed"})
    done = cli("tool", "call", "task_report", "--args", report, "--yes", "--json")
    assert (done.code, done.json["status"]) == (1, "failed")
    wrong = cli("tool", "call", "task_report", "--args", '{"outcome": "fine"}', "--json")
    assert (wrong.code, wrong.json["status"]) == (2, "invalid_arguments")
    assert not (tmp_path / ".muniment").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("memory", "list"),
        ("memory", "search", "word"),
        ("memory", "history"),
        ("user", "list"),
        ("note", "list"),
        ("pin", "show"),
        ("knowledge", "list"),
        ("ledger", "search"),
        ("session", "list"),
        ("recipe", "list"),
    ],
)
@pytest.mark.parametrize("scope", ["project", "global"])
def test_what_lists_takes_scope_limit_and_all_and_an_empty_list_is_no_failure(
    cli: Inside, command: tuple[str, ...], scope: str
) -> None:
    done = cli(*command, "--scope", scope, "--limit", "3", "--all", "--json")
    assert done.code == 0
    assert isinstance(done.json, dict)
    assert cli(*command, "--limit", "0").code == 2
    assert cli(*command, "--scope", "everything").code == 2


KEYS: dict[str, str] = {
    "records": "id title category tags scope directory effective overridden_by expires_at",
    "hits": "id title scope directory snippet score effective overridden_by",
    "record": "id category title content tags source created_at updated_at expires_at",
    "entries": "entry time id surface action scope directory actor session recipe mode decision decided_by "
    "digest_before digest_after text_before",
}


def _keys(kind: str) -> set[str]:
    return set(KEYS[kind].split())


def _store(cli: Inside, content: str, *more: str) -> Any:
    return cli(
        *("memory", "store", "--id", "rule", "--title", "A rule", "--content", content, "--json"), *more
    ).json


def test_the_keys_of_what_is_printed_about_records(cli: Inside, tmp_path: Path) -> None:
    stored = _store(cli, "one", "--scope", "project")
    project = str(tmp_path / ".muniment")
    assert (stored["id"], stored["created"], stored["scope"], stored["directory"]) == (
        *("rule", True, "project", project),
    )
    everywhere = _store(cli, "two", "--scope", "global")["directory"]
    listed = cli("memory", "list", "--all", "--json").json
    assert set(listed) >= {"records", "skipped"}
    deep, shallow = listed["records"]
    assert set(deep) >= _keys("records") <= set(shallow)
    assert (deep["effective"], deep["overridden_by"]) == (True, None)
    above = {"scope": "project", "directory": project}
    assert (shallow["effective"], shallow["overridden_by"]) == (False, above)
    shown = cli("memory", "show", "rule", "--json").json
    assert set(shown["record"]) == _keys("record")
    assert shown["overrides"] == [{"scope": "global", "directory": everywhere}]
    found = cli("memory", "search", "one", "--json").json
    assert found["hits"][0].keys() >= _keys("hits")
    assert (found["searched"], found["truncated"]) == (1, False)
    counted = cli("memory", "stats", "--json").json
    assert [each["records"] for each in counted["chain"]] == [1, 1]
    assert (counted["excluded"], counted["distinct"]) == ([], 1)
    gone = cli("memory", "delete", "rule", "--yes", "--json").json
    assert (gone["id"], gone["scope"], gone["directory"]) == ("rule", "project", project)
    assert gone["now_effective"] == {"scope": "global", "directory": everywhere}
    assert cli("memory", "delete", "rule", "--yes", "--json").json["now_effective"] is None


def test_history_tells_who_wrote_when_where_by_which_decision_and_what_stood_there(cli: Inside) -> None:
    _store(cli, "one")
    arguments = json.dumps({"id": "rule", "title": "A rule", "content": "two"})
    cli("tool", "call", "memory_store", "--args", arguments, "--yes")
    newest, oldest = cli("memory", "history", "rule", "--json").json["entries"]
    assert newest.keys() >= _keys("entries") <= oldest.keys()
    assert (newest["actor"], newest["door"], newest["mode"]) == ("agent", "tool", "manual")
    assert (oldest["actor"], oldest["door"], oldest["mode"]) == ("user", "cli", "")
    assert newest["decision"] == oldest["decision"] == "allowed"
    assert newest["digest_before"] == oldest["digest_after"] != newest["digest_after"]
    assert oldest["digest_before"] is None
    assert "content: one" in newest["text_before"]
    assert oldest["text_before"] is None


def test_history_of_one_scope_leaves_the_other_out(cli: Inside) -> None:
    _store(cli, "here", "--scope", "project")
    _store(cli, "everywhere", "--scope", "global")
    cli("user", "save", "--name", "plum", "--type", "user", "--summary", "Likes plums")
    for scope, items in (("project", ["rule"]), ("global", ["plum", "rule"])):
        entries = cli("memory", "history", "--scope", scope, "--json").json["entries"]
        assert [each["id"] for each in entries] == items
        assert {each["scope"] for each in entries} == {scope}


def test_an_expired_record_can_be_shown_and_given_more_time_by_hand(cli: Inside) -> None:
    _store(cli, "one", "--tag", "old", "--expires-at", "2020-01-01")
    _store(cli, "two", "--expires-at", "")
    assert cli("memory", "show", "rule").code == 1
    shown = cli("memory", "show", "rule", "--all", "--json").json
    assert (shown["expired"], shown["record"]["content"]) == (True, "two")
    assert shown["record"]["expires_at"] == "2020-01-01T23:59:59Z"
    assert "has expired" in cli("memory", "show", "rule", "--all").out
    assert cli("memory", "edit", "rule", "--clear", "expires_at").code == 0
    record = cli("memory", "show", "rule", "--json").json["record"]
    assert (record["content"], record["tags"], record["expires_at"]) == ("two", ["old"], None)


def test_sessions_of_one_project_are_listed_without_those_of_others(
    cli: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for place in (here, there):
        place.mkdir()
        monkeypatch.chdir(place)
        assert cli("run", "--prompt", "hello", "--provider", "rehearsal", "--json").code == 0
    both = cli("session", "list", "--json").json["sessions"]
    assert [each["project"] for each in both] == [str(there), str(here)]
    assert cli("session", "list", "--scope", "global", "--json").json["sessions"] == both
    assert cli("session", "list", "--scope", "project", "--json").json == {"sessions": both[:1], "more": 0}


def test_recipes_of_the_project_are_told_from_all_others(cli: Inside, tmp_path: Path) -> None:
    recipes = tmp_path / ".muniment" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "own.yaml").write_text("name: own\ndescription: A recipe of this project\n")
    listed = {
        scope: [each["name"] for each in cli("recipe", "list", "--scope", scope, "--json").json["recipes"]]
        for scope in ("project", "global")
    }
    assert listed["project"] == ["own"]
    assert listed["global"][0] == "assistant"
    assert "own" not in listed["global"]
    assert len(cli("recipe", "list", "--limit", "2", "--json").json["recipes"]) == 2


def test_an_entry_of_knowledge_is_filed_by_what_it_says_where_no_category_is_given(cli: Inside) -> None:
    add = ("knowledge", "add", "--json", "--title", "Locks", "--content")
    assert cli(*add, "Always use one lock a file.").json["category"] == "conventions"
    assert cli(*add, "The system design has two halves.").json["category"] == "architecture"
    assert cli(*add, "Seen on Monday.").json["category"] == "project-notes"


EVENTS: dict[str, str] = {
    "session": "id recipe provider model mode",
    "text": "delta",
    "tool_call": "id tool arguments",
    "decision": "id decision by reason",
    "tool_result": "id tool status result text",
    "turn_end": "status usage",
}


def test_the_keys_of_the_events_of_a_run_in_a_pipe(cli: Inside) -> None:
    prompt = "Use memory_store to save a project memory:\nid: rule\ntitle: A rule\ncontent: Cite both."
    done = cli("run", "--prompt", prompt, "--provider", "rehearsal", "--json")
    assert done.code == 0
    names = {each["event"] for each in done.events}
    assert names >= {*EVENTS, "proposal"}
    for each in done.events:
        assert each.keys() >= {"event", "session", *EVENTS.get(each["event"], "").split()}
    proposal = next(each for each in done.events if each["event"] == "proposal")
    assert proposal.keys() >= {"id", "tool", "title", "fields", "warnings"}
    decision = next(each for each in done.events if each["event"] == "decision")
    assert decision["decision"] == "denied"
    result = next(each for each in done.events if each["event"] == "tool_result")
    assert result["status"] == "denied"
    assert done.events[-1]["status"] == "completed"


def test_the_keys_of_the_next_request(cli: Inside) -> None:
    _store(cli, "one")
    shown = cli("context", "--prompt", "hello", "--json").json
    assert shown.keys() >= {"instructions", "input", "blocks", "estimate", "budget"}
    assert all(set(each) == {"role", "content"} for each in shown["input"])
    (digest,) = [each for each in shown["blocks"] if each["name"] == "digest"]
    assert digest.keys() >= {"name", "bytes", "items", "source"}
    body = shown["input"][0]["content"].split(">\n", 1)[1].split("\n</UNTRUSTED-INPUT>")[0]
    assert digest["bytes"] == len(body.encode())
    assert digest["items"] == 1
