"""The installed command and the terminal it runs in: title, bell, editor, stray output, ways to start."""

from __future__ import annotations

import base64
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.server import Reply, serve
from support.server_wire import Call
from support.terminal import Terminal

STORE = Call("memory_store", {"id": "rule", "title": "A rule", "content": "Cite both notes."})
NEW = ["run", "--new", "--provider", "rehearsal"]
BELL = b"\x07"
OSC = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""An order to the terminal that may end in the same character as a bell."""
TITLE = re.compile(rb"\x1b\]0;Muniment[^\x1b]*\x1b\\")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "user"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "study"
    (path / ".muniment").mkdir(parents=True, mode=0o700)
    return path


def test_the_title_says_what_is_open_and_nothing_in_a_name_gets_out_of_it(tmp_path: Path, base: Path) -> None:
    place = tmp_path / "a\x1b]0;OWNED\x07b"
    place.mkdir()
    with Terminal(NEW, cwd=place, base=base) as terminal:
        terminal.wait_for("digest 0")
        terminal.wait(lambda _: TITLE.search(terminal.raw), what="the title")
        begin = terminal.raw.index(b"\x1b]0;Muniment")
        title = terminal.raw[begin : terminal.raw.index(b"\x1b\\", begin)]
        assert b"assistant" in title
        assert b"\x1b" not in title[1:]
        assert BELL not in title
        assert terminal.raw.index(b"\x1b[22;0t") < begin
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0
        assert terminal.raw.count(b"\x1b[23;0t") == 1


@pytest.fixture
def held() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def frame_colour(terminal: Terminal) -> str:
    """The colour of the frame around the composer, which is another one without the focus."""
    row = max(number for number, line in enumerate(terminal.lines) if "╰" in line)
    return str(terminal.screen.buffer[row][terminal.lines[row].index("╰")].fg)


@pytest.mark.parametrize(
    ("away", "env", "bells"),
    [
        (True, {"TEXTUAL_ANIMATIONS": "full"}, 1),
        (False, {"TEXTUAL_ANIMATIONS": "full"}, 0),
        (True, {"TEXTUAL_ANIMATIONS": "none"}, 0),
    ],
)
def test_a_bell_rings_once_for_a_proposal_that_nobody_looks_at(
    project: Path, base: Path, held: threading.Event, away: bool, env: dict[str, str], bells: int
) -> None:
    with serve([Reply(calls=(STORE,), gate=held), Reply(text="Refused, then.")]) as server:
        arguments = ["run", "--new", "--provider", "openai", "--model", "m", "--base-url", server.base_url]
        with Terminal(arguments, cwd=project, base=base, env=env) as terminal:
            terminal.wait_for("digest 0")
            terminal.send("save it\r")
            server.wait_for_requests(1)
            if away:
                focused = frame_colour(terminal)
                terminal.send("\x1b[O")
                terminal.wait(lambda _: frame_colour(terminal) != focused, what="the lost focus")
            held.set()
            terminal.wait_for("Create a record")
            terminal.settle(0.3)
            assert OSC.sub(b"", terminal.raw).count(BELL) == bells
            assert "⏸ Muniment".encode() in terminal.raw
            terminal.send("\x1b[I")
            terminal.press("ctrl+q")
            assert terminal.exit_code() == 0


def test_the_editor_has_the_terminal_and_gives_the_draft_back(
    tmp_path: Path, project: Path, base: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "EDITOR HAS IT"; read line; printf "%s" " and $line" >> "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    with Terminal(NEW, cwd=project, base=base, env={"VISUAL": str(editor)}) as terminal:
        terminal.wait_for("digest 0")
        terminal.send("a draft")
        terminal.wait_for("a draft")
        terminal.send("\x07")
        terminal.wait_for("EDITOR HAS IT")
        terminal.send("more\n")
        terminal.wait_for("a draft and more", "MANUAL")
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


def test_a_paste_with_escape_sequences_in_it_is_one_draft_and_sends_nothing(
    project: Path, base: Path
) -> None:
    with Terminal(NEW, cwd=project, base=base) as terminal:
        terminal.wait_for("digest 0")
        # Longer than any sequence: what cannot be one must not be taken for keys, a line break for Enter.
        terminal.paste(f"one \x1b[31mtwo\r\x1b[1\r{'x' * 40}\rthree")
        terminal.wait_for("␛[31mtwo", "three")
        terminal.settle()
        assert not (base / "state" / "sessions").exists()
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


def test_what_libraries_print_reaches_no_cell_of_the_screen(
    tmp_path: Path, project: Path, base: Path
) -> None:
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(
        "import logging, sys, threading, time, warnings\n"
        "def chatter():\n"
        "    while 'muniment.session.start' not in sys.modules:\n"
        "        time.sleep(0.01)\n"
        "    logging.basicConfig(level=logging.DEBUG)\n"
        "    for _ in range(40):\n"
        "        print('STRAY words')\n"
        "        print('STRAY words', file=sys.stderr)\n"
        "        warnings.warn('STRAY words')\n"
        "        logging.debug('STRAY words')\n"
        "        time.sleep(0.05)\n"
        "threading.Thread(target=chatter, daemon=True).start()\n"
    )
    env = {"PYTHONPATH": str(tmp_path / "early"), "PYTHONWARNINGS": "always"}
    with Terminal(NEW, cwd=project, base=base, env=env) as terminal:
        terminal.wait_for("digest 0")
        for _ in range(10):
            terminal.pump(0.2)
            assert "STRAY" not in terminal.text
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


def test_options_without_a_command_are_those_of_run_and_nothing_at_all_offers_recipes(
    project: Path, base: Path
) -> None:
    with Terminal(["--mode", "accept-edits", "--provider", "rehearsal"], cwd=project, base=base) as terminal:
        terminal.wait_for("ACCEPT-EDITS", "digest 0")
        terminal.send("/new\r")
        terminal.wait_for("MANUAL")
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0
    with Terminal([], cwd=project, base=base) as terminal:
        shown = terminal.wait_for("choose a recipe", "assistant  built-in", "code-review  sample")
        assert shown.index("assistant  built-in") < shown.index("code-review  sample")
        terminal.press("escape")
        assert terminal.exit_code() == 0


def test_a_copied_id_goes_to_the_clipboard_of_the_terminal(project: Path, base: Path) -> None:
    memory = project / ".muniment" / "memory"
    memory.mkdir(mode=0o700)
    (memory / "rule.yaml").write_text("id: rule\ntitle: A rule\ncontent: Read.\n")
    with Terminal(NEW, cwd=project, base=base, columns=90) as terminal:
        terminal.wait_for("digest 1")
        terminal.press("f2")
        terminal.wait_for("A rule")
        terminal.press("home", "down", "y")
        order = b"\x1b]52;c;" + base64.b64encode(b"rule")
        terminal.wait(lambda _: order in terminal.raw, what="the order to the clipboard")
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


def test_a_paste_of_many_lines_is_one_draft(project: Path, base: Path) -> None:
    with Terminal(NEW, cwd=project, base=base) as terminal:
        terminal.wait_for("digest 0")
        terminal.paste("one\r\ntwo\tthree\r\n" + "\r\n".join(f"line {n}" for n in range(200)))
        terminal.wait_for("line 199")
        terminal.settle(0.3)
        assert "You" not in terminal.text
        terminal.press("ctrl+q")
        assert terminal.exit_code() == 0


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ("abc\x7f\x7fd\r", "ad"),
        ("abc\x7f\r", "ab"),
        ("ac\x1b[Db\x1b[C!\r", "abc!"),
        ("bc\x1b[Ha\x1b[Fd\r", "abcd"),
        ("one two\x17three\r", "one three"),
        ("wrong\x15right\r", "right"),
    ],
)
def test_keys_that_come_in_one_piece_are_obeyed_in_their_order(
    project: Path, base: Path, keys: str, sent: str
) -> None:
    with serve([Reply(text="Heard.")]) as server:
        arguments = ["run", "--new", "--provider", "openai", "--model", "m", "--base-url", server.base_url]
        with Terminal(arguments, cwd=project, base=base) as terminal:
            terminal.wait_for("digest 0")
            terminal.send(keys)
            server.wait_for_requests(1)
            assert server.requests[0].json["messages"][-1] == {"role": "user", "content": sent}


def test_a_filter_obeys_keys_that_come_in_one_piece_in_their_order(project: Path, base: Path) -> None:
    with Terminal(NEW, cwd=project, base=base) as terminal:
        terminal.wait_for("digest 0")
        terminal.press("f3")
        terminal.wait_for("search everything that is remembered")
        terminal.send("abc\x7f\x7fd\x1b[Hx")
        assert "xad" in terminal.wait_for("xad")


def test_a_second_message_in_the_same_piece_waits_as_a_draft_of_its_own(
    project: Path, base: Path, held: threading.Event
) -> None:
    with serve([Reply(text="Heard.", gate=held), Reply(text="Heard again.")]) as server:
        arguments = ["run", "--new", "--provider", "openai", "--model", "m", "--base-url", server.base_url]
        with Terminal(arguments, cwd=project, base=base) as terminal:
            terminal.wait_for("digest 0")
            terminal.send("first\rsecond\r")
            server.wait_for_requests(1)
            assert server.requests[0].json["messages"][-1] == {"role": "user", "content": "first"}
            terminal.wait_for("Your draft is kept.", "│ second ")
            held.set()
            terminal.wait_for("Heard.")
            terminal.press("enter")
            server.wait_for_requests(2)
            assert server.requests[1].json["messages"][-1] == {"role": "user", "content": "second"}
