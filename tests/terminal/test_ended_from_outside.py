"""The screen ended by a signal or by a terminal that goes away, and keyboard bytes that are no text."""

from __future__ import annotations

import json
import os
import signal
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import run
from support.journey import say
from support.poll import until
from support.server import LoopbackServer, Reply, serve
from support.server_wire import Call
from support.terminal import COMMAND, Terminal

GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
"""The terminal's own screen, its cursor, its mouse and its way of pasting."""
RULE = {"id": "rule", "title": "A rule", "content": "Cite both."}
WHERE = ["idle", "answering", "asking"]


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with serve() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "study"
    directory.mkdir()
    return directory


def opened(project: Path, user: Path, server: LoopbackServer, where: str, command: str = "") -> Terminal:
    """Open the screen and bring it to where it is ended."""
    options = ["run", "--new", "--provider", "openai", "--model", "m", "--base-url", server.base_url]
    if command:
        arguments, command = ["-c", f"{command} {COMMAND} {' '.join(options)}"], "/bin/sh"
    else:
        arguments, command = options, str(COMMAND)
    terminal = Terminal(arguments, cwd=project, base=user, columns=100, rows=30, command=command)
    terminal.wait_for("ready")
    if where == "answering":
        server.add(Reply(text="These words came.", ends="stall"))
        say(terminal, "Hello")
        terminal.wait_for("These words came.")
    elif where == "asking":
        server.add(Reply(calls=(Call("memory_store", RULE, "call_1"),)))
        say(terminal, "Save it")
        terminal.wait_for("Create a record")
    return terminal


def closed_turn(user: Path, project: Path, where: str) -> None:
    """Nothing was written, and a turn that ran has its end in the log."""
    assert not (project / ".muniment").exists()
    logs = list((user / "state" / "sessions").glob("*.jsonl"))
    if where == "idle":
        assert logs == []
        return
    records = [json.loads(line) for line in logs[0].read_text(encoding="utf-8").splitlines()]
    assert (records[-1]["kind"], records[-1]["status"]) == ("turn_end", "cancelled")
    if where == "answering":
        assert [each["text"] for each in records if each["kind"] == "model_response"] == ["These words came."]
    else:
        assert [each["status"] for each in records if each["kind"] == "tool_result"] == ["cancelled"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda each: each.name)
def test_a_signal_closes_the_turn_and_gives_the_terminal_back(
    project: Path, user: Path, server: LoopbackServer, where: str, number: signal.Signals
) -> None:
    with opened(project, user, server, where) as terminal:
        before = len(terminal.raw)
        terminal.child.kill(number)
        assert terminal.exit_code() == 130
        assert [each for each in GIVEN_BACK if each not in terminal.raw[before:]] == []
        assert b"Traceback" not in terminal.raw
    closed_turn(user, project, where)


def hang_up(terminal: Terminal) -> int:
    """Take the terminal away from its child and return how that ended."""
    child = terminal.child
    child.ptyproc.fileobj.close()
    child.child_fd, child.closed, child.ptyproc.closed = -1, True, True
    codes: list[int] = []

    def ended() -> bool:
        process, status = os.waitpid(child.pid, os.WNOHANG)
        if process:
            codes.append(os.waitstatus_to_exitcode(status))
        return bool(process)

    until(ended, what="the end of a command without a terminal")
    return codes[0]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("command", ["", "trap '' HUP; exec"], ids=["told", "not told"])
def test_a_terminal_that_goes_away_ends_the_app_and_closes_the_turn(
    project: Path, user: Path, server: LoopbackServer, where: str, command: str
) -> None:
    assert hang_up(opened(project, user, server, where, command)) == 130
    closed_turn(user, project, where)


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGTSTP], ids=lambda each: each.name)
def test_a_process_that_goes_on_draws_everything_and_gives_the_terminal_back_as_it_was(
    project: Path, user: Path, server: LoopbackServer, number: signal.Signals
) -> None:
    with opened(project, user, server, "idle") as terminal:
        process = Path(f"/proc/{terminal.child.pid}/stat")
        for _ in range(3):
            terminal.child.kill(number)
            until(lambda: process.read_text().rpartition(") ")[2].startswith("T"), what="a stopped process")
            terminal.pump()
            before = len(terminal.raw)
            terminal.child.kill(signal.SIGCONT)
            # What nothing has changed is drawn too: another program may have written over it.
            terminal.wait(
                lambda _, at=before: all(
                    each in terminal.raw[at:] for each in (b"MANUAL", b"Help", b"Memory")
                )
            )
        terminal.send("typed")
        terminal.wait_for("typed")
        terminal.press("ctrl+q")
        terminal.wait(lambda _: not terminal.child.isalive(), what="the end")
        echoes = termios.tcgetattr(terminal.child.child_fd)[3] & (termios.ECHO | termios.ICANON)
        assert echoes == termios.ECHO | termios.ICANON
        assert terminal.exit_code() == 0


@pytest.mark.parametrize(
    "sent",
    [b"\xff\xfe", b"\xc3(", b"caf\xe9!", b"\x1b[200~caf\xe9 au lait\x1b[201~", b"\xf0\x9f\x98 "],
    ids=["no text at all", "half a letter", "Latin-1 typed", "Latin-1 pasted", "half an emoji"],
)
def test_bytes_that_are_no_text_end_nothing_and_are_seen(
    project: Path, user: Path, server: LoopbackServer, sent: bytes
) -> None:
    with opened(project, user, server, "idle") as terminal:
        terminal.child.send(sent)
        terminal.wait_for("\ufffd")
        terminal.send("ok")
        terminal.wait_for("ok")
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that says when it is interrupted, and puts a line that is typed into the text."""
    program = tmp_path / "editor"
    program.write_text(
        "#!/bin/sh\ntrap 'echo HEARD' INT\necho EDITOR HAS IT\n"
        'until read -r line; do :; done\nsed -i "s/draft/$line/" "$1"\n'
    )
    program.chmod(0o755)
    return program


def test_an_interrupt_in_the_editor_is_the_editors_and_ends_nothing_here(
    project: Path, user: Path, server: LoopbackServer, editor: Path
) -> None:
    arguments = ["run", "--new", "--provider", "rehearsal"]
    with Terminal(arguments, cwd=project, base=user, env={"VISUAL": str(editor)}) as terminal:
        terminal.wait_for("ready")
        terminal.send("a draft")
        terminal.wait_for("a draft")
        terminal.send("\x07")
        terminal.wait_for("EDITOR HAS IT")
        terminal.press("ctrl+c")
        terminal.wait_for("HEARD")
        terminal.send("text\n")
        terminal.wait_for("a text", "MANUAL")
        terminal.settle()
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


def test_an_interrupt_in_the_editor_of_a_command_loses_no_text(
    project: Path, user: Path, editor: Path
) -> None:
    entry = ["--name", "style", "--type", "user", "--summary", "a draft"]
    assert run("user", "save", *entry, cwd=project, base=user).code == 0
    with Terminal(["user", "edit", "style"], cwd=project, base=user, env={"VISUAL": str(editor)}) as terminal:
        terminal.wait_for("EDITOR HAS IT")
        terminal.press("ctrl+c")
        terminal.wait_for("HEARD")
        terminal.send("text\n")
        assert terminal.exit_code() == 0
    assert "a text" in (user / "data" / "user" / "style.md").read_text()
