"""The command line as a whole: which command runs, what a mistake is answered with, and where text goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from muniment.cli.main import COMMANDS
from support.command import Inside, run, run_into
from support.environment import isolated
from support.terminal import COMMAND

GROUPS = ("recipe", "memory", "user", "tool", "session", "config", "isolation")


def one_sentence(text: str) -> bool:
    """Tell whether stderr is one line that says who speaks, and no traceback."""
    return text.startswith("muniment: ") and text.count("\n") == 1 and "Traceback" not in text


def test_help_names_every_command_and_the_exit_codes(cli: Inside) -> None:
    shown = cli("--help")
    assert shown.code == 0
    assert all(f"\n  {name} " in shown.out for name in COMMANDS)
    assert "130 interrupted" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_of_its_own(cli: Inside, name: str) -> None:
    shown = cli(name, "--help")
    assert shown.code == 0
    assert shown.out.startswith(f"usage: muniment {name}")
    assert cli("help", name).out == shown.out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("memry", "list"), "did you mean memory?"),
        (("memory", "serach", "x"), "did you mean search?"),
        (("memory", "list", "--jsno"), "did you mean --json?"),
        (("--promt", "x"), "did you mean --prompt?"),
        (("--mode", "free"), "manual, accept-edits, bypass"),
        (("memory", "list", "--scope", "everywhere"), "project, global"),
        (("memory", "list", "--limit", "0"), "whole number from 1 on"),
        (("memory", "list", "--lim", "1"), "did you mean --limit?"),
        (("xyzzy",), "muniment --help"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest_one(
    cli: Inside, arguments: tuple[str, ...], hint: str
) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert one_sentence(done.err)
    assert hint in done.err


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_its_command_is_a_usage_error(cli: Inside, group: str) -> None:
    done = cli(group)
    assert done.code == 2
    assert one_sentence(done.err)


def test_a_recipe_given_as_a_command_is_answered_with_how_to_run_it(cli: Inside, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("name: r\ndescription: d\n")
    assert "muniment run --file r.yaml" in cli("r.yaml").err


def test_what_a_person_typed_is_shown_harmlessly(cli: Inside) -> None:
    done = cli("a\x1b[31m\u202eb")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_a_working_directory_that_is_gone_is_said(
    cli: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = cli("memory", "list")
    assert done.code == 1
    assert one_sentence(done.err)
    assert "does not exist any more" in done.err


def test_a_fault_that_no_command_foresaw_is_a_sentence_with_its_place(
    cli: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_command.py").write_text(
        "def add_arguments(parser):\n    parser.set_defaults(action=lambda *_: 1 // 0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(COMMANDS, "broken", ("broken_command", "break"))
    done = cli("broken")
    assert done.code == 1
    assert one_sentence(done.err)
    assert "ZeroDivisionError" in done.err
    assert "broken_command.py:2" in done.err


def test_an_invalid_settings_file_stops_with_its_place(cli: Inside, user: Path) -> None:
    (user / "config").mkdir()
    (user / "config" / "config.yaml").write_text("model:\n  provder: openai\n")
    done = cli("context")
    assert done.code == 2
    assert one_sentence(done.err)
    assert "config.yaml" in done.err
    assert "provider" in done.err


def test_several_faults_of_a_file_stand_on_a_line_each(cli: Inside, user: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.yaml"
    recipe.write_text("name: t\npromt: x\ntols: [x]\n")
    (user / "config").mkdir()
    settings = user / "config" / "config.yaml"
    checked = cli("recipe", "validate", str(recipe))
    for arguments in (("run", "--prompt", "x"), ("context",)):
        assert cli(*arguments, "--file", str(recipe)).err == checked.err
    settings.write_text("modl: {}\napproval: {quiet_seconds: 9}\n")
    lines = cli("context").err.splitlines()
    assert [line.startswith(f"muniment: {settings}:") for line in lines] == [True, True]


def test_json_is_utf_8_even_in_the_c_locale(tmp_path: Path, user: Path) -> None:
    title = "Größe — 大きさ 👩‍💻"
    stored = run(
        "memory", "store", "--title", title, "--content", "x", cwd=tmp_path, base=user, env={"LC_ALL": "C"}
    )
    assert stored.code == 0, stored.err
    listed = run("memory", "list", "--json", cwd=tmp_path, base=user, env={"LC_ALL": "C", "LANG": "C"})
    assert listed.json["records"][0]["title"] == title
    assert title in listed.out


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_stream_closed_before_the_start_does_not_matter(tmp_path: Path, user: Path, name: str) -> None:
    number = ("stdin", "stdout", "stderr").index(name)
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" memory stats --json {number}>&-', str(COMMAND)],
        cwd=tmp_path,
        env=isolated(user),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert name == "stdout" or json.loads(done.stdout)["distinct"] == 0


@pytest.mark.parametrize("arguments", ["memory stats", "--help", "memory --help", "run --prompt hello"])
def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path, user: Path, arguments: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = run_into(write, *arguments.split(" "), cwd=tmp_path, base=user)
    os.close(write)
    assert done.code in (0, 1)
    assert "Broken" not in done.err
    assert "fault" not in done.err


def test_a_full_disk_behind_stdout_is_said(tmp_path: Path, user: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run_into(full, "memory", "stats", cwd=tmp_path, base=user)
    assert done.code == 1
    assert one_sentence(done.err)
    assert "No space left" in done.err


@pytest.mark.parametrize("arguments", ["memory stats", "session list", "memory show nothing-there"])
def test_an_error_stream_that_takes_nothing_changes_no_exit_code(
    tmp_path: Path, user: Path, arguments: str
) -> None:
    def code(errors: int | IO[str]) -> int:
        return subprocess.run(
            [str(COMMAND), *arguments.split(" ")],
            cwd=tmp_path,
            env=isolated(user),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            check=False,
            timeout=60,
        ).returncode

    with Path("/dev/full").open("w") as full:
        assert code(full) == code(subprocess.DEVNULL)


def test_the_version_is_printed_by_command_and_by_module(tmp_path: Path, user: Path) -> None:
    from muniment import __version__

    for command in ([str(COMMAND)], [sys.executable, "-m", "muniment"]):
        done = subprocess.run(
            [*command, "--version"],
            cwd=tmp_path,
            env=isolated(user),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"muniment {__version__}\n"
