"""The API key is in no file that a run leaves behind, however the server, the user or an error spelled it."""

from __future__ import annotations

import json
from pathlib import Path

from support.command import run
from support.server import Reply, serve
from support.server_wire import Call

KEY = "sk-live-Zq81/LmPv+30XyTr=9"


def left_behind(*places: Path) -> list[Path]:
    return [each for place in places for each in place.rglob("*") if each.is_file()]


def test_no_file_of_a_run_holds_the_key_and_neither_does_what_is_given_away(tmp_path: Path) -> None:
    base, project = tmp_path / "user", tmp_path / "project"
    (project / ".muniment").mkdir(parents=True)
    echo = Call("memory_search", {"query": f"key {KEY}"}, id="c1")
    store = Call("memory_store", {"id": "rule", "title": "A rule", "content": "Cite both notes."}, id="c2")
    replies = [
        Reply(text=(f"You sent {KEY[:9]}", f"{KEY[9:]} and it works"), calls=(echo, store)),
        Reply(text="Saved."),
        Reply(status=401, body=json.dumps({"error": {"message": f"wrong key Bearer {KEY}"}})),
    ]
    with serve(replies) as server:
        env = {"OPENAI_API_KEY": f' "{KEY}" '}
        options = ["--provider", "openai", "--model", "m", "--base-url", server.base_url, "--json"]
        first = run(
            "run",
            "--prompt",
            f"my key is {KEY}",
            "--mode",
            "bypass",
            *options,
            cwd=project,
            base=base,
            env=env,
        )
        assert first.code == 0
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        session = first.events[0]["id"]
        again = run(
            "run", "--prompt", "go on", "--resume", session, *options, cwd=project, base=base, env=env
        )
        assert again.code == 1
    assert KEY not in again.out + again.err
    files = left_behind(base, project)
    names = {path.name for path in files}
    assert {f"{session}.jsonl", "rule.yaml"} <= names
    assert len([path for path in files if path.name == f"{session}.jsonl"]) == 2, "a log and a trace"
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert [path for path in files if json.dumps(KEY)[1:-1].encode() in path.read_bytes()] == []
    for command in (("session", "show"), ("session", "export"), ("session", "export", "--json")):
        shown = run(*command[:2], session, *command[2:], cwd=project, base=base, env=env)
        assert shown.code == 0
        assert KEY not in shown.out + shown.err


def test_without_a_trace_none_is_left(tmp_path: Path) -> None:
    base = tmp_path / "user"
    done = run("run", "--prompt", "hello", "--provider", "rehearsal", "--no-trace", cwd=tmp_path, base=base)
    assert done.code == 0
    assert [path for path in left_behind(base) if "traces" in path.parts] == []


PLAIN_KEY = "skliveabcdef0123456789zyxwvu"


def test_no_mode_writes_the_key_into_memory_and_no_word_of_it_is_noted(tmp_path: Path) -> None:
    base, project = tmp_path / "user", tmp_path / "project"
    (project / ".muniment").mkdir(parents=True)
    calls = (
        Call("memory_store", {"title": "The key", "content": f"It is {PLAIN_KEY}."}, id="c1"),
        Call("note_add", {"title": "Key", "body": PLAIN_KEY}, id="c2"),
        Call("write_file", {"mode": "create", "path": "key.txt", "content": PLAIN_KEY}, id="c3"),
    )
    note = project / ".muniment" / "memory" / "rule.yaml"
    note.parent.mkdir()
    note.write_text("id: rule\ntitle: A rule\ncontent: cite both notes\n")
    with serve([Reply(text="I try.", calls=calls), Reply(text="Refused.")]) as server:
        options = ["--provider", "openai", "--model", "m", "--base-url", server.base_url, "--json"]
        words = ["run", "--prompt", f"my rule and key is {PLAIN_KEY}", "--mode", "bypass", *options]
        done = run(*words, cwd=project, base=base, env={"OPENAI_API_KEY": PLAIN_KEY})
    results = [event for event in done.events if event["event"] == "tool_result"]
    assert [(event["tool"], event["status"]) for event in results] == [
        ("memory_store", "invalid_arguments"),
        ("note_add", "invalid_arguments"),
        ("write_file", "invalid_arguments"),
    ]
    assert "API key" in results[0]["text"]
    files = left_behind(base, project)
    assert [path for path in files if PLAIN_KEY.encode() in path.read_bytes()] == []
