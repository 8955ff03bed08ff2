"""Runs in a pipe and questions on a plain terminal: the installed command against a real loopback server."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.command import run, run_into
from support.environment import isolated
from support.poll import PATIENCE
from support.server import Reply, serve
from support.server_wire import Call
from support.terminal import COMMAND, Terminal, flat

RULE = {"id": "rule", "title": "A rule", "content": "Cite both."}
STORE = Call("memory_store", RULE, "call_1")
SAVE = "Use memory_store to save a project memory:\nid: rule\ntitle: A \u202e rule\ncontent: Cite both."
KEY = {"OPENAI_API_KEY": "sk-test-neverShown123"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "study"
    directory.mkdir()
    return directory


@pytest.fixture
def record(project: Path) -> Path:
    return project / ".muniment" / "memory" / "rule.yaml"


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_events_of_a_real_server_tell_the_whole_turn(
    project: Path, record: Path, user: Path, wire: str
) -> None:
    (user / "config").mkdir()
    (user / "config" / "config.yaml").write_text(f"model: {{api: {wire}}}\n")
    with serve([Reply(text="I ask.", calls=(STORE,)), Reply(text=("It was ", "refused."))]) as server:
        options = ("--provider", "openai", "--model", "m", "--base-url", server.base_url)
        done = run("run", "--json", "--prompt", "Save it", *options, cwd=project, base=user, env=KEY)
        assert server.faults == []
        sent = server.requests[0].json
    assert done.code == 0, done.err
    events = done.events
    names = [each["event"] for each in events if each["event"] != "text"]
    assert names == ["session", "tool_call", "proposal", "decision", "tool_result", "turn_end"]
    assert len({each["session"] for each in events}) == 1
    by_name = {each["event"]: each for each in events}
    assert by_name["session"]["provider"] == "openai"
    assert by_name["session"]["mode"] == "manual"
    assert by_name["tool_call"]["arguments"] == RULE
    assert {each["label"] for each in by_name["proposal"]["fields"]} >= {"identifier", "scope", "content"}
    assert (by_name["decision"]["decision"], by_name["decision"]["by"]) == ("denied", "headless")
    assert by_name["tool_result"]["status"] == "denied"
    assert by_name["turn_end"]["status"] == "completed"
    assert "".join(each["delta"] for each in events if each["event"] == "text").endswith("It was refused.")
    assert sent["model"] == "m"
    assert not record.exists()
    assert "neverShown" not in done.out + done.err
    kept = [path for path in user.rglob("*") if path.is_file() and b"neverShown" in path.read_bytes()]
    assert kept == []


def test_a_server_that_refuses_the_key_is_one_sentence_and_exit_1(project: Path, user: Path) -> None:
    with serve([Reply(status=401, body='{"error": {"message": "bad key"}}')]) as server:
        options = ("--provider", "openai", "--model", "m", "--base-url", server.base_url)
        done = run("run", "--prompt", "Hello", *options, cwd=project, base=user, env=KEY)
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.err
    assert "Traceback" not in done.err
    assert "neverShown" not in done.err
    assert done.out == ""


def test_an_interrupt_ends_the_turn_with_130_and_a_session_that_goes_on(project: Path, user: Path) -> None:
    with serve([Reply(text="Begin", ends="stall"), Reply(text="Again.")]) as server:
        options = ["--provider", "openai", "--model", "m", "--base-url", server.base_url, "--json"]
        child = subprocess.Popen(
            [str(COMMAND), "run", "--prompt", "Hello", *options],
            cwd=project,
            env=isolated(user, KEY),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        lines = []
        while '"text"' not in (line := child.stdout.readline()):
            assert line, "the command ended before its first word"
            lines.append(line)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
        assert child.returncode == 130, err
        assert json.loads(out.splitlines()[-1])["status"] == "cancelled"
        name = json.loads(lines[0])["id"]
        again = run("run", "--resume", name, "--prompt", "Go on", *options, cwd=project, base=user, env=KEY)
    assert again.code == 0, again.err
    assert again.events[-1]["status"] == "completed"


def asked(project: Path, user: Path, *options: str) -> Terminal:
    terminal = Terminal(["run", "--prompt", SAVE, *options], cwd=project, base=user, columns=100, rows=40)
    terminal.wait_for("Allow this once?")
    return terminal


def test_the_question_shows_every_field_in_its_exact_form(project: Path, record: Path, user: Path) -> None:
    with asked(project, user) as terminal:
        shown = terminal.text
        for text in (
            'identifier: "rule"',
            'title: "A \\u202e rule"',
            "| Cite both.",
            "hidden characters",
            "is new.",
            "[y/N",
        ):
            assert flat(text) in flat(shown)
        assert str(project / ".muniment") in "".join(shown.split("\n")).replace(" ", "")
        assert "\u202e".encode() not in terminal.raw
        terminal.send("y\r")
        assert terminal.exit_code() == 0
    assert record.exists()


@pytest.mark.parametrize(
    ("keys", "code"),
    [("\r", 0), ("n\r", 0), ("yep\r", 0), ("a\r", 0), (" \r", 0), ("\x04", 0), ("\x03", 130)],
    ids=["enter", "n", "yep", "a", "blank", "end", "interrupt"],
)
def test_anything_but_yes_changes_nothing(
    project: Path, record: Path, user: Path, keys: str, code: int
) -> None:
    with asked(project, user) as terminal:
        terminal.send(keys)
        assert terminal.exit_code() == code
    assert not record.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["ended", "hung up"])
def test_a_run_that_is_ended_at_a_question_changes_nothing_and_closes_its_turn(
    project: Path, record: Path, user: Path, number: signal.Signals
) -> None:
    with asked(project, user) as terminal:
        terminal.child.kill(number)
        assert terminal.exit_code() == 130
    assert not record.exists()
    assert kinds_logged(user)[-2:] == ["turn_end cancelled", "task"]


def test_an_interrupt_ends_a_question_that_is_asked_before_the_turn(project: Path, user: Path) -> None:
    gone = project / "gone"
    gone.mkdir()
    begun = run("run", "--prompt", "Hello", "--json", cwd=gone, base=user)
    gone.rmdir()
    resumed = ["run", "--resume", begun.events[0]["id"], "--prompt", "Go on"]
    with Terminal(resumed, cwd=project, base=user, columns=100) as terminal:
        terminal.wait_for("Go on here? [y/N]")
        terminal.press("ctrl+c")
        assert terminal.exit_code() == 130


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_run_whose_words_cannot_be_written_closes_its_turn_and_says_it_once(
    project: Path, user: Path, options: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("w") as full:
        command = ("run", "--prompt", "Hello", "--provider", "rehearsal", *options)
        done = run_into(full, *command, cwd=project, base=user)
    assert done.code == 1
    assert done.err == "muniment: The result could not be written: No space left on device.\n"
    assert kinds_logged(user)[-1] == "task"


def kinds_logged(user: Path) -> list[str]:
    (log,) = (user / "state" / "sessions").glob("*.jsonl")
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [" ".join((each["kind"], each.get("status", ""))).strip() for each in records]


def test_a_reason_typed_with_the_no_reaches_the_model(project: Path, record: Path, user: Path) -> None:
    with asked(project, user) as terminal:
        terminal.send("n Note B is missing\r")
        terminal.wait_for("memory_store was refused", "Note B is missing")
        assert terminal.exit_code() == 0
    assert not record.exists()


def test_what_was_typed_before_the_question_answers_nothing(project: Path, record: Path, user: Path) -> None:
    command = ["run", "--prompt", SAVE]
    with Terminal(command, cwd=project, base=user, columns=100, rows=40) as terminal:
        terminal.send("y\r")
        terminal.wait_for("Allow this once?")
        terminal.settle()
        assert not record.exists()
        terminal.send("\r")
        assert terminal.exit_code() == 0
    assert not record.exists()


def test_nobody_is_asked_where_that_was_said(project: Path, record: Path, user: Path) -> None:
    command = ["run", "--prompt", SAVE, "--approve", "none"]
    with Terminal(command, cwd=project, base=user, columns=100, rows=40) as terminal:
        terminal.wait_for("memory_store: denied")
        assert terminal.exit_code() == 0
        assert terminal.text.count("nobody could be asked") == 1
        assert "Allow this once?" not in terminal.text
    assert not record.exists()


def test_bypass_shows_what_it_ran(project: Path, record: Path, user: Path) -> None:
    done = run("run", "--mode", "bypass", "--prompt", SAVE, cwd=project, base=user)
    assert done.code == 0, done.err
    assert record.exists()
    assert 'identifier: "rule"' in done.err
    assert "| Cite both." in done.err


def test_json_on_a_terminal_carries_no_hidden_characters(project: Path, user: Path) -> None:
    with asked(project, user, "--json") as terminal:
        assert "\u202e".encode() not in terminal.raw
        assert b"\\u202e" in terminal.raw
        terminal.send("\r")
        assert terminal.exit_code() == 0


def test_a_deletion_by_hand_asks_and_only_yes_deletes(project: Path, record: Path, user: Path) -> None:
    run("memory", "store", "--title", "A rule", "--content", "x", "--id", "rule", cwd=project, base=user)
    for keys, code, there in (("\r", 1, True), ("y\r", 0, False)):
        with Terminal(["memory", "delete", "rule"], cwd=project, base=user, columns=100) as terminal:
            terminal.wait_for("[y/N]")
            terminal.send(keys)
            assert terminal.exit_code() == code
        assert record.exists() is there


@pytest.mark.parametrize(
    ("arguments", "env"),
    [((), {}), (("run", "--new"), {}), ((), {"TERM": "dumb"}), ((), {"TERM": ""}), ((), {"LC_ALL": "C"})],
    ids=["bare", "run", "dumb", "no-term", "c-locale"],
)
def test_the_screen_without_a_terminal_is_refused_in_one_sentence(
    project: Path, user: Path, arguments: tuple[str, ...], env: dict[str, str]
) -> None:
    done = run(*arguments, cwd=project, base=user, env=env)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "--prompt" in done.err
    assert "\x1b" not in done.err


def test_a_dumb_terminal_is_refused_in_one_sentence_too(project: Path, user: Path) -> None:
    with Terminal([], cwd=project, base=user, env={"TERM": "dumb"}) as terminal:
        assert terminal.exit_code() == 2
        assert "--prompt" in terminal.text
        assert b"\x1b" not in terminal.raw


def test_no_colour_codes_reach_a_pipe(project: Path, user: Path) -> None:
    for arguments in (
        ("--help",),
        ("run", "--prompt", "hello"),
        ("doctor",),
        ("recipe", "show", "review-work"),
    ):
        done = run(*arguments, cwd=project, base=user)
        assert done.code == 0, done.err
        assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["markdown", "json"])
def test_an_export_hides_nothing_from_a_terminal_and_stays_the_same_json_in_a_pipe(
    options: tuple[str, ...], project: Path, user: Path
) -> None:
    said = "hello \u202e\x9b2J there"
    ended = run("run", "--prompt", said, "--provider", "rehearsal", cwd=project, base=user)
    assert ended.code == 0, ended.err
    name = next((user / "state" / "sessions").glob("*.jsonl")).stem
    with Terminal(["session", "export", name, *options], cwd=project, base=user, rows=200) as terminal:
        assert terminal.exit_code() == 0
        assert b"hello" in terminal.raw
        for hidden in ("\u202e", "\x9b"):
            assert hidden.encode() not in terminal.raw
    if options:
        piped = run("session", "export", name, *options, cwd=project, base=user).json
        assert said in [each.get("text") for each in piped["records"]]
