"""`muniment eval`: what it prints, how it exits, what it keeps, and how it asks a live model."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.command import Inside, run
from support.environment import isolated
from support.server import Reply, serve
from support.terminal import COMMAND, Terminal

PASSES = """\
name: passes
description: It passes
turns:
  - {say: Hello., replies: [{text: Hello.}]}
expect: [{final_text_contains: Hello}]
"""
FAILS = PASSES.replace("passes", "fails").replace("contains: Hello", "contains: Goodbye")
LIVE = """\
name: asked
description: A model is asked
live: true
turns: [{say: Which word?}]
expect: [{final_text_contains: Wednesday}]
"""
SECRET = "AKIAIOSFODNN7EXAMPLE"  # the example key of its maker's documentation


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    directory = tmp_path / "cases"
    directory.mkdir()
    (directory / "passes.yaml").write_text(PASSES)
    return directory


def test_the_shipped_cases_all_pass(cli: Inside) -> None:
    done = cli("eval", "--json")
    assert done.code == 0, [each["name"] for each in done.json["cases"] if each["status"] == "failed"]
    assert done.json["failed"] == 0
    assert done.json["passed"] >= 24
    assert done.err == ""


def test_a_table_tells_each_case_and_a_failure_its_reason(cli: Inside, cases: Path) -> None:
    (cases / "fails.yaml").write_text(FAILS)
    (cases / "live.yaml").write_text(LIVE)
    done = cli("eval", "cases")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0].split() == ["case", "passed", "requests", "calls", "tokens", "seconds"]
    assert lines[1].split()[:3] == ["FAIL", "fails", "0/1"]
    assert lines[2].strip() == "final_text_contains: 'Goodbye' is not in 'Hello.'"
    assert lines[3].split()[:3] == ["–", "asked", "skipped:"]
    assert lines[4].split()[:3] == ["ok", "passes", "1/1"]
    assert lines[5] == "1 of 2 cases passed, 1 skipped."


def test_one_object_holds_everything_for_programs(cli: Inside, cases: Path) -> None:
    (cases / "fails.yaml").write_text(FAILS)
    done = cli("eval", "cases", "--json", "--runs", "2")
    assert done.code == 1
    assert done.out.count("\n") == 1
    assert (done.json["passed"], done.json["failed"], done.json["skipped"]) == (1, 1, 0)
    assert done.json["pass_rate"] == 0.5
    failed, passed = done.json["cases"]
    assert (failed["name"], failed["status"], failed["pass_rate"]) == ("fails", "failed", 0.0)
    assert passed["pass_at_k"] == {"1": 1.0, "2": 1.0}
    assert failed["pass_hat_k"] == {"1": 0.0, "2": 0.0}
    assert [each["number"] for each in failed["runs"]] == [1, 2]
    (check,) = failed["runs"][0]["checks"]
    assert (check["grader"], check["passed"]) == ("final_text_contains", False)
    assert passed["usage"] == {"input_tokens": None, "output_tokens": None}


def test_a_bad_case_file_is_named_with_its_place_and_exit_2_and_nothing_runs(
    cli: Inside, cases: Path
) -> None:
    (cases / "bad.yaml").write_text(PASSES.replace("expect", "expects"))
    done = cli("eval", "cases", "--json")
    assert done.code == 2
    assert done.out == ""
    assert "bad.yaml:5:1: expects: unknown key (did you mean expect?)" in done.err


def test_a_filter_picks_by_name_and_a_wrong_one_is_told(cli: Inside, cases: Path) -> None:
    (cases / "fails.yaml").write_text(FAILS)
    assert cli("eval", "cases", "--filter", "PASS").code == 0
    done = cli("eval", "cases", "--filter", "nothing")
    assert (done.code, done.out) == (1, "")
    assert "No case has 'nothing' in its name." in done.err
    assert cli("eval", "missing").code == 1
    assert cli("eval", "cases", "--runs", "0").code == 2


def test_a_single_file_is_a_path_too(cli: Inside, cases: Path) -> None:
    assert cli("eval", str(cases / "passes.yaml"), "--json").json["passed"] == 1


def test_a_report_directory_holds_numbers_a_readable_page_and_logs_without_secrets(
    cli: Inside, cases: Path, tmp_path: Path
) -> None:
    (cases / "fails.yaml").write_text(FAILS.replace("text: Hello.", f"text: 'The key is {SECRET}.'"))
    assert cli("eval", "cases", "--out", "report").code == 1
    report = tmp_path / "report"
    assert json.loads((report / "report.json").read_text())["failed"] == 1
    page = (report / "report.md").read_text()
    assert page.startswith("# Evals\n\n1 of 2 cases passed.\n")
    assert "| **FAIL** | fails | 0/1 |" in page
    assert "## fails" in page
    assert "[redacted]" in page
    logs = sorted((report / "sessions").iterdir())
    assert [each.name.partition("-1-")[0] for each in logs] == ["fails", "passes"]
    kinds = [each["kind"] for each in json.loads(logs[0].read_text())["records"]]
    assert kinds[0] == "session"
    assert "model_response" in kinds
    assert not any(SECRET.encode() in each.read_bytes() for each in report.rglob("*") if each.is_file())


def test_the_printed_object_holds_no_secret(cli: Inside, cases: Path) -> None:
    (cases / "fails.yaml").write_text(FAILS.replace("text: Hello.", f"text: 'The key is {SECRET}.'"))
    done = cli("eval", "cases", "--json")
    assert SECRET not in done.out
    assert "[redacted]" in done.out


def test_hostile_text_in_a_reply_reaches_no_terminal_as_it_is(cli: Inside, cases: Path) -> None:
    (cases / "fails.yaml").write_text(FAILS.replace("text: Hello.", r'text: "\e[2J\u202eevil"'))
    done = cli("eval", "cases", "--out", "report")
    page = (cases.parent / "report" / "report.md").read_text()
    for text in (done.out, done.err, page):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_live_case_asks_the_configured_model_and_counts_tokens(
    tmp_path: Path, user: Path, cases: Path
) -> None:
    (cases / "live.yaml").write_text(LIVE)
    (user / "config").mkdir()
    words = ("Wednesday.", "Your key is plain-words-neverShown.", "Wednesday.")
    replies = [Reply(text=word, usage=(100, 7)) for word in words]
    with serve(replies) as server:
        (user / "config" / "config.yaml").write_text(
            f"model: {{provider: openai, name: m, api: chat, base_url: {server.base_url}}}\n"
        )
        key = {"OPENAI_API_KEY": "plain-words-neverShown"}
        done = run("eval", "cases", "--live", "--json", "--out", "report", cwd=tmp_path, base=user, env=key)
        assert server.faults == []
        assert len(server.requests) == 3
        assert all("Which word?" in json.dumps(each.json) for each in server.requests)
    assert done.code == 1, done.err
    live = next(each for each in done.json["cases"] if each["name"] == "asked")
    assert done.json["model"] == "openai m"
    assert live["pass_rate"] == pytest.approx(2 / 3)
    assert live["pass_at_k"] == {"1": pytest.approx(2 / 3, abs=1e-5), "2": 1.0, "3": 1.0}
    assert live["pass_hat_k"] == {
        "1": pytest.approx(2 / 3, abs=1e-5),
        "2": pytest.approx(1 / 3, abs=1e-5),
        "3": 0.0,
    }
    assert live["usage"] == {"input_tokens": 300, "output_tokens": 21}
    assert next(each for each in done.json["cases"] if each["name"] == "passes")["status"] == "passed"
    assert "neverShown" not in done.out + done.err
    kept = [each for each in (tmp_path / "report").rglob("*") if each.is_file()]
    assert len([each for each in kept if each.parent.name == "sessions"]) == 4
    assert not any(b"neverShown" in each.read_bytes() for each in kept)
    assert not (user / "state").exists()


def test_a_live_model_that_cannot_be_reached_fails_the_case_in_a_sentence(
    tmp_path: Path, user: Path, cases: Path
) -> None:
    (cases / "passes.yaml").write_text(LIVE)
    (user / "config").mkdir()
    with serve([Reply(status=401, body='{"error": {"message": "bad key"}}')]) as server:
        (user / "config" / "config.yaml").write_text(
            f"model: {{provider: openai, name: m, base_url: {server.base_url}}}\n"
        )
        done = run(
            "eval",
            "cases",
            "--live",
            "--runs",
            "1",
            cwd=tmp_path,
            base=user,
            env={"OPENAI_API_KEY": "k" * 20},
        )
    assert done.code == 1
    assert "FAIL  asked" in done.out
    assert "OPENAI_API_KEY" in done.out
    assert "Traceback" not in done.out + done.err


def test_a_terminal_sees_what_runs_and_then_the_table(tmp_path: Path, user: Path, cases: Path) -> None:
    with Terminal(
        ["eval", "cases", "--runs", "2"], cwd=tmp_path, base=user, columns=100, rows=20
    ) as terminal:
        text = terminal.wait_for("1 of 1 cases passed")
        assert terminal.exit_code() == 0
    assert "2/2" in text
    assert "run 1 of 2" not in text


def test_an_interrupt_ends_with_130_and_leaves_no_place_behind(
    tmp_path: Path, user: Path, cases: Path
) -> None:
    (cases / "passes.yaml").write_text(LIVE)
    (user / "config").mkdir()
    temp = tmp_path / "temp"
    temp.mkdir()
    with serve([Reply(text="Begin", ends="stall")]) as server:
        (user / "config" / "config.yaml").write_text(
            f"model: {{provider: openai, name: m, base_url: {server.base_url}}}\n"
        )
        child = subprocess.Popen(
            [str(COMMAND), "eval", "cases", "--live", "--json"],
            cwd=tmp_path,
            env=isolated(user, {"OPENAI_API_KEY": "k" * 20, "TMPDIR": str(temp)}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        server.wait_for_requests(1)
        assert len(list(temp.iterdir())) == 1
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert list(temp.iterdir()) == []
