"""`muniment tool`, `context`, `recipe`, `session`, `config` and `doctor`: their shapes and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import Inside
from support.environment import REPOSITORY

STORE = {"id": "rule", "title": "A rule", "content": "Cite Notes A and B."}


def files_below(*bases: Path) -> set[str]:
    return {str(path) for base in bases for path in base.rglob("*") if path.is_file()}


# Tools


def test_tools_are_listed_with_their_schemas_and_none_runs_commands(cli: Inside) -> None:
    tools = {each["name"]: each for each in cli("tool", "list", "--json").json["tools"]}
    assert {"memory_store", "memory_retrieve", "memory_list", "memory_search", "memory_delete"} <= set(tools)
    assert all(each["parameters"]["type"] == "object" for each in tools.values())
    assert not any(word in name for name in tools for word in ("shell", "exec", "bash", "run", "agent"))


def test_the_list_of_tools_takes_the_options_of_every_list(cli: Inside) -> None:
    every = cli("tool", "list", "--all", "--scope", "project", "--json").json["tools"]
    assert every == cli("tool", "list", "--json").json["tools"]
    assert cli("tool", "list", "--limit", "2", "--json").json["tools"] == every[:2]
    assert cli("tool", "list", "--limit", "0").code == 2


def test_a_call_without_a_terminal_is_denied_and_changes_nothing(cli: Inside, tmp_path: Path) -> None:
    done = cli("tool", "call", "memory_store", "--args", json.dumps(STORE), "--json")
    assert done.code == 1
    assert list(done.json) == ["tool", "status", "result", "text"]
    assert (done.json["tool"], done.json["status"]) == ("memory_store", "denied")
    assert not (tmp_path / ".muniment").exists()


def test_a_call_with_yes_runs_and_reads_its_arguments_from_stdin(cli: Inside, tmp_path: Path) -> None:
    done = cli("tool", "call", "memory_store", "--args", "-", "--yes", "--json", text=json.dumps(STORE))
    assert done.code == 0
    assert done.json["status"] == "completed"
    assert done.json["result"]["id"] == "rule"
    assert done.json["result"]["created"] is True
    assert str(tmp_path / ".muniment") in done.json["text"]
    read = cli("tool", "call", "memory_retrieve", "--args", '{"id": "rule"}', "--json").json
    assert read["status"] == "completed"
    assert "Cite Notes A and B." in read["text"]
    assert cli("memory", "show", "rule", "--json").json["record"]["source"] == "agent"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "[]",
        "{",
        '{"title": "a"}',
        '{"title": "a", "content": "b", "colour": "red"}',
        '{"title": "a", "title": "b", "content": "c"}',
        '{"title": 1, "content": "b"}',
        '{"title": "a\\u0000", "content": "b"}',
        '{"title": "a", "content": "b", "scope": "everywhere"}',
        '{"title": "a", "content": "b", "tags": "x"}',
    ],
)
def test_arguments_that_are_not_exact_are_invalid_before_anything_is_asked(
    cli: Inside, tmp_path: Path, arguments: str
) -> None:
    done = cli("tool", "call", "memory_store", "--yes", "--json", "--args", arguments)
    assert done.code == 2
    assert done.json["status"] == "invalid_arguments"
    assert not (tmp_path / ".muniment").exists()


def test_an_unknown_tool_is_a_usage_error_that_names_those_there_are(cli: Inside) -> None:
    done = cli("tool", "call", "bash", "--args", "{}", "--json")
    assert done.code == 2
    assert done.json["status"] == "unknown_tool"
    assert "memory_list" in done.json["text"]


def test_a_call_that_fails_is_exit_1(cli: Inside) -> None:
    done = cli("tool", "call", "memory_retrieve", "--args", '{"id": "nothing-here"}', "--json")
    assert done.code == 1
    assert done.json["status"] == "failed"


# Context


def test_context_shows_the_digest_of_a_session_and_none_of_a_run_in_a_pipe(
    cli: Inside, tmp_path: Path, user: Path
) -> None:
    cli("memory", "store", "--title", "A rule", "--content", "BODYTEXT", "--id", "rule")
    before = files_below(tmp_path, user)
    shown = cli("context", "--prompt", "Hello?", "--json").json
    assert set(shown) == {"instructions", "input", "blocks", "estimate", "budget"}
    assert [each["name"] for each in shown["blocks"]] == ["digest"]
    assert shown["blocks"][0]["items"] == 1
    assert set(shown["blocks"][0]) >= {"name", "bytes", "items", "source"}
    assert [each["role"] for each in shown["input"]] == ["assistant", "user"]
    assert "rule" in shown["input"][0]["content"]
    assert "BODYTEXT" not in shown["input"][0]["content"]
    assert shown["input"][1]["content"] == "Hello?"
    assert 0 < shown["estimate"] < shown["budget"]

    headless = cli("context", "--headless", "--prompt", "Hello?", "--json").json
    assert headless["blocks"] == []
    assert [each["role"] for each in headless["input"]] == ["user"]
    assert files_below(tmp_path, user) == before


@pytest.mark.parametrize(
    ("value", "digest", "noticed"),
    [
        (None, True, False),
        ("", True, False),
        ("0", True, False),
        ("false", True, False),
        ("No", True, False),
        ("off", True, False),
        ("1", False, False),
        ("TRUE", False, False),
        ("yes", False, False),
        ("on", False, False),
        (" 1 ", False, False),
        ("maybe", True, True),
        ("2", True, True),
    ],
)
def test_the_switch_for_the_digest_means_what_it_says(
    cli: Inside, monkeypatch: pytest.MonkeyPatch, value: str | None, digest: bool, noticed: bool
) -> None:
    cli("memory", "store", "--title", "A rule", "--content", "x")
    if value is not None:
        monkeypatch.setenv("MUNIMENT_NO_MEMORY_INJECT", value)
    done = cli("context", "--json")
    assert [each["name"] for each in done.json["blocks"]] == (["digest"] if digest else [])
    assert done.err.count("MUNIMENT_NO_MEMORY_INJECT") == (1 if noticed else 0)
    ran = cli("run", "--prompt", "hello", "--provider", "rehearsal", "--json").events
    told = [each for each in ran if "MUNIMENT_NO_MEMORY_INJECT" in each.get("text", "")]
    assert [each["event"] for each in told] == (["notice"] if noticed else [])
    assert cli("tool", "call", "memory_list", "--json").json["status"] == "completed"


def test_context_says_the_first_message_of_a_recipe(cli: Inside) -> None:
    recipe = str(REPOSITORY / "recipes" / "code-review.yaml")
    shown = cli("context", "--file", recipe, "--param", "target=app.py", "--json").json
    assert "app.py" in shown["input"][-1]["content"]
    piped = cli(
        "context", "--file", recipe, "--param", "target=app.py", "--headless", "--prompt", "Go on", "--json"
    )
    assert piped.json["input"][-1]["content"].startswith("Please review: app.py")
    assert piped.json["input"][-1]["content"].endswith("Go on")


def test_a_recipe_parameter_that_is_missing_is_named(cli: Inside) -> None:
    done = cli("context", "--file", str(REPOSITORY / "recipes" / "code-review.yaml"))
    assert done.code == 2
    assert "target" in done.err


# Recipes


def test_every_sample_recipe_is_valid(cli: Inside) -> None:
    names = [str(path) for path in sorted((REPOSITORY / "recipes").glob("*.yaml"))]
    done = cli("recipe", "validate", *names, "--json")
    assert done.code == 0, done.out
    assert [each["valid"] for each in done.json["results"]] == [True] * len(names)
    assert {"review-work", "research-notes", "code-review"} <= {
        each["name"] for each in cli("recipe", "list", "--json").json["recipes"]
    }


BROKEN = {
    "empty": ("", "name"),
    "list": ("- name: t\n", "mapping"),
    "misspelt": ("name: t\ndescription: d\npromt: x\n", "prompt"),
    "no-name": ("description: d\nprompt: x\n", "name"),
    "no-description": ("name: t\n", "description"),
    "quote": ('name: "t\ndescription: d\n', "line"),
    "tab": ("name: t\ndescription: d\nparameters:\n\t- name: a\n", "4"),
    "param": ("name: t\ndescription: d\nparameters:\n  - nme: a\n", "name"),
    "mode": ("name: t\ndescription: d\nmode: bypass\n", "mode"),
    "key": ("name: t\ndescription: d\nmodel: {api_key_env: HOME}\n", "api_key_env"),
    "top-k": ("name: t\ndescription: d\nmemory: {top_k: 21}\n", "20"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_faulty_recipe_gets_the_same_verdict_on_every_path(cli: Inside, tmp_path: Path, name: str) -> None:
    text, word = BROKEN[name]
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    checked = cli("recipe", "validate", str(path))
    assert checked.code == 2
    assert word in checked.err
    assert f"{name}.yaml" in checked.err
    assert checked.out == ""
    faults = cli("recipe", "validate", str(path), "--json").json["results"][0]["faults"]
    assert faults
    for arguments in (("run", "--prompt", "x"), ("context",)):
        refused = cli(*arguments, "--file", str(path))
        assert refused.code == 2
        assert checked.err.splitlines()[0].removeprefix("muniment: ").split(";")[0] in refused.err


def test_a_recipe_file_in_json_is_a_recipe(cli: Inside, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"name":"t","description":"d","prompt":"x"}')
    assert cli("recipe", "validate", "r.json").code == 0


VALUES = [
    "x: y",
    '"',
    "- a",
    "#c",
    "{{ other }}",
    "a\ninstructions: ignore\nb",
    "",
    "\u202e",
    "[/]",
    "ä" * 50_000,
]


@pytest.mark.parametrize("value", VALUES, ids=[ascii(each)[:20] for each in VALUES])
def test_a_parameter_stands_verbatim_and_changes_nothing_else(
    cli: Inside, tmp_path: Path, value: str
) -> None:
    (tmp_path / "r.yaml").write_text(
        "name: r\ndescription: d\n"
        "parameters: [{name: topic, description: Topic, required: true},\n"
        "  {name: other, description: O, default: OTHER}]\n"
        'instructions: "Review <{{ topic }}> and stop."\nprompt: "Start <{{ topic }}> {{ other }}"\n'
    )
    shown = cli("context", "--file", "r.yaml", "--param", f"topic={value}", "--json").json
    assert f"Review <{value}> and stop." in shown["instructions"]
    assert shown["input"][-1]["content"] == f"Start <{value}> OTHER"
    plain = cli("context", "--file", "r.yaml", "--param", "topic=PLAIN", "--json").json
    assert shown["instructions"].replace(f"<{value}>", "<PLAIN>") == plain["instructions"]


def test_a_recipe_with_its_own_server_is_refused_in_a_pipe_and_says_the_flag(
    cli: Inside, tmp_path: Path
) -> None:
    (tmp_path / "r.yaml").write_text(
        "name: r\ndescription: d\nmodel: {provider: openai, name: m, base_url: http://127.0.0.1:9/v1}\n"
    )
    done = cli("run", "--file", "r.yaml", "--prompt", "Hello")
    assert done.code == 2
    assert "--base-url http://127.0.0.1:9/v1" in done.err
    assert "OPENAI_API_KEY" in done.err


def test_the_schema_is_json_and_show_prints_the_text(cli: Inside) -> None:
    assert cli("recipe", "schema").json["type"] == "object"
    assert cli("recipe", "show", "review-work").out.startswith("# Review a small pilot study")
    assert cli("recipe", "show", "no-such-recipe").code == 1


# Sessions


def test_a_session_is_listed_shown_exported_resumed_and_deleted(cli: Inside, user: Path) -> None:
    opened = cli("run", "--prompt", "Use memory_retrieve to fetch rule.", "--json")
    assert opened.code == 0
    name = opened.events[0]["id"]
    cli("run", "--prompt", "second", "--json")
    listed = cli("session", "list", "--json").json["sessions"]
    assert len(listed) == 2
    assert listed[1]["id"] == name
    assert listed[1]["title"].startswith("Use memory_retrieve")
    assert len(cli("session", "list", "--limit", "1", "--json").json["sessions"]) == 1
    assert name in cli("session", "list").out

    again = cli("run", "--resume", name, "--prompt", "And now?", "--json")
    assert again.events[0]["id"] == name
    shown = cli("session", "show", name, "--json").json
    assert "And now?" in json.dumps(shown)
    assert "And now?" in cli("session", "show", name).out
    assert "And now?" in cli("session", "export", name).out

    assert cli("session", "delete", name).code == 1
    assert cli("session", "delete", name, "--yes", "--json").json["id"] == name
    assert cli("session", "show", name).code == 1
    assert not any(name in path for path in files_below(user))


def test_a_session_id_that_cannot_be_one_is_invalid(cli: Inside) -> None:
    assert cli("run", "--resume", "../../etc/passwd", "--prompt", "x").code == 2
    assert cli("session", "show", "short").code in (1, 2)
    assert cli("run", "--resume", "0" * 32, "--prompt", "x").code == 1


def test_no_trace_leaves_no_trace(cli: Inside, user: Path) -> None:
    cli("run", "--prompt", "hello", "--no-trace")
    assert not any("/traces/" in path for path in files_below(user))
    cli("run", "--prompt", "hello")
    assert any("/traces/" in path for path in files_below(user))


# Settings and doctor


def test_config_names_the_places_shows_the_values_and_begins_a_file(cli: Inside, user: Path) -> None:
    places = cli("config", "path", "--json").json
    assert places["config"] == str(user / "config" / "config.yaml")
    assert places["records"] == str(user / "data" / "memory")
    assert places["sessions"] == str(user / "state" / "sessions")
    assert places["index"] == str(user / "cache" / "memindex")

    assert cli("config", "init").code == 0
    assert cli("config", "init").code == 1
    assert (user / "config" / "config.yaml").stat().st_mode & 0o777 == 0o600
    shown = cli("config", "show", "--json").json
    assert shown["settings"]["model.provider"] == {"value": "rehearsal", "origin": "default"}
    assert shown["provider"] == "rehearsal"
    assert shown["settings"]["approval.quiet_seconds"] == {"value": 0.8, "origin": "default"}

    (user / "config" / "config.yaml").write_text("retrieval: {top_k: 5}\n")
    lines = cli("config", "show").out.splitlines()
    line = next(each for each in lines if each.startswith("retrieval.top_k"))
    assert " = 5 " in line
    assert "config.yaml" in line
    assert any(each.startswith("retrieval.max_bytes = 8192") and "default" in each for each in lines)


def test_keys_that_mean_two_things_in_one_place_are_said_and_ids_that_there_are_not_refused(
    cli: Inside, user: Path
) -> None:
    (user / "config").mkdir(mode=0o700)
    (user / "config" / "config.yaml").write_text("tui: {keymap: {session.search: f2, memory.edit: f9}}\n")
    for options in ((), ("--json",)):
        shown = cli("config", "show", *options)
        assert shown.code == 0
        assert "session.search takes f2, which session.memory has in the same place" in shown.err
        assert "memory.edit takes f9" in shown.err
    finding = next(each for each in cli("doctor", "--json").json["findings"] if each["name"] == "settings")
    assert not finding["ok"]
    assert "session.search takes f2" in finding["text"]

    (user / "config" / "config.yaml").write_text("tui:\n  keymap:\n    session.serch: f2\n")
    refused = cli("config", "show")
    assert refused.code == 2
    assert refused.out == ""
    assert "config.yaml:3:5: tui.keymap.session.serch: names no binding" in refused.err
    assert "did you mean session.search?" in refused.err


def test_the_key_is_never_shown(cli: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-doNotShowThis")
    for arguments in (("config", "show"), ("config", "show", "--json"), ("doctor",), ("context", "--json")):
        shown = cli(*arguments)
        assert "doNotShowThis" not in shown.out + shown.err


def test_doctor_is_content_here_and_names_a_directory_that_others_can_read(cli: Inside, user: Path) -> None:
    assert cli("doctor").code == 0
    (user / "data").mkdir(mode=0o755)
    (user / "data").chmod(0o755)
    found = cli("doctor", "--json")
    assert found.code == 1
    assert found.json["ok"] is False
    wrong = [each for each in found.json["findings"] if not each["ok"]]
    assert [each["name"] for each in wrong] == ["data"]
    assert "chmod 700" in wrong[0]["text"]


def test_isolation_doctor_says_that_there_is_no_sandbox(cli: Inside) -> None:
    shown = cli("isolation", "doctor")
    assert shown.code == 0
    assert "No sandbox" in shown.out
    assert "No tool runs commands" in shown.out


def test_an_editor_that_is_not_there_is_told_in_words(cli: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor --wait")
    cli("memory", "store", "--title", "Tea", "--content", "Green only", "--id", "tea", "--scope", "global")
    done = cli("memory", "edit", "tea")
    assert done.code == 1
    assert "The editor no-such-editor --wait could not be started: No such file or directory." in done.err
    assert "Errno" not in done.err


def test_what_recall_did_is_listed_of_the_project_here_or_of_every_place(
    cli: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        place = tmp_path / name
        (place / ".muniment").mkdir(parents=True)
        monkeypatch.chdir(place)
        assert cli("memory", "store", "--title", f"Quince {name}", "--content", f"quince of {name}").code == 0
        assert cli("run", "--prompt", "quince", "--provider", "rehearsal").code == 0
    (row,) = cli("ledger", "telemetry", "--scope", "project", "--json").json["rows"]
    assert row["ids"] == ["quince-two"]
    for arguments in ((), ("--scope", "global"), ("--all",)):
        rows = cli("ledger", "telemetry", *arguments, "--json").json["rows"]
        assert [row["ids"] for row in rows] == [["quince-two"], ["quince-one"]]
