"""The session screen by its keys: sending, stopping, leaving, drafts, sizes, and text that would break it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from bench.session_rows import write_session
from muniment.paths import resolve_paths
from muniment.session.options import StartOptions
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.status_line import Status, line
from muniment.tui.widgets.tool_line import ToolLine
from support.app import allow, boot_for, opened, project_at, ready, say, screen_text, until

STORE = "Use memory_store to save a project memory:\nid: a-rule\ntitle: A rule\ncontent: Keep both totals.\n"


async def test_enter_sends_and_the_reply_stands_under_its_speaker(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(90, 40)) as (app, pilot):
        await pilot.press(*"hello")
        await pilot.press("enter")
        await ready(pilot, app)
        await until(pilot, lambda: [p.kind for p in app.session_screen.transcript.parts][-1] == "reply")
        kinds = [part.kind for part in app.session_screen.transcript.parts if part.kind != "notice"]
        assert kinds == ["who", "user", "who", "reply"]
        assert app.session_screen.composer.text == ""


async def test_a_paste_of_many_lines_is_one_draft_and_is_sent_unchanged(tmp_path: Path) -> None:
    pasted = "first\r\nsecond\twith tab\r\n" + "x\x1b[2J\u202ey\n" * 200
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        composer = app.session_screen.composer
        composer.post_message(events.Paste(pasted))
        await until(pilot, lambda: composer.text.count("\n") == 202)
        assert "\x1b" not in composer.text
        assert app.engine is not None
        assert not app.engine.busy
        assert "hidden characters" in str(composer.border_title)
        await pilot.press("enter")
        await ready(pilot, app)
        said = [record["text"] for record in app.engine.replay() if record.kind == "user_message"]
        assert said == [pasted.replace("\r\n", "\n")]


async def test_an_unknown_command_is_told_and_stays_in_the_composer(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press(*"/nothing", "enter")
        await until(pilot, lambda: "There is no command /nothing" in screen_text(app))
        assert app.session_screen.composer.text == "/nothing"
        assert app.engine is not None
        assert not [record for record in app.engine.replay() if record.kind == "user_message"]


async def test_a_slash_command_is_completed_by_tab_and_chosen_by_arrows(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press(*"/mem", "tab")
        assert app.session_screen.composer.text == "/memory"
        await pilot.press(*["backspace"] * 7)
        await pilot.press("slash", "down", "down", "enter")
        await pilot.pause()
        assert app.session_screen.composer.past[-1] == "/new"


async def test_history_is_walked_at_the_edges_and_the_draft_comes_back(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "one")
        await ready(pilot, app)
        await say(pilot, app, "two")
        await ready(pilot, app)
        composer = app.session_screen.composer
        await pilot.press(*"draft", "up")
        assert composer.text == "two"
        await pilot.press("up")
        assert composer.text == "one"
        await pilot.press("down", "down")
        assert composer.text == "draft"


async def test_ctrl_c_hints_first_keeps_the_draft_and_leaves_on_the_second_press(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press(*"draft", "ctrl+c")
        await pilot.pause()
        assert app.session_screen.composer.text == "draft"
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.return_code == 0)


async def test_a_tool_call_opens_and_closes_by_enter(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(90, 40)) as (app, pilot):
        await say(pilot, app, STORE)
        await allow(pilot, app)
        await ready(pilot, app)
        line = app.session_screen.query_one(ToolLine)
        line.focus()
        await pilot.press("enter")
        await until(pilot, lambda: "came back" in screen_text(app))
        assert "content: Keep both totals." in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "came back" not in screen_text(app))


async def test_older_parts_are_drawn_when_the_top_is_reached(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    options = StartOptions(
        provider="rehearsal", resume_id=write_session(resolve_paths().sessions, project, 60)
    )
    async with opened(boot_for(project, options=options), size=(80, 24)) as (app, pilot):
        assert app.engine is not None
        await app.session_screen.attach(app.engine, card=False)
        transcript = app.session_screen.transcript
        await until(pilot, lambda: transcript.window.first > 0 and transcript.scroll_y > 0)
        transcript.focus()
        seen = transcript.window.first
        await pilot.press("home")
        await until(pilot, lambda: transcript.window.first < seen)
        while transcript.window.first:
            await pilot.press("home")
            await pilot.pause(0.05)
        await until(pilot, lambda: "Question 0" in "".join(p.text for p in transcript.parts[:4]))
        assert len(transcript.children) == len(transcript.parts)


@pytest.mark.parametrize("size", [(40, 20), (20, 5), (10, 3), (1, 1), (200, 60)])
async def test_no_size_breaks_the_screen_and_a_larger_one_brings_it_back(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.resize_terminal(*size)
        await pilot.pause(0.05)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Write a message" in screen_text(app) and "MANUAL" in screen_text(app))


async def test_the_key_bar_says_what_it_leaves_out_and_runs_what_is_clicked(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(40, 20)) as (app, pilot):
        shown = str(app.session_screen.query_one(KeyBar).content)
        assert "F2 Mem" in shown
        assert "…" in shown
        assert shown.rstrip().endswith("^P Cmds")
        await pilot.click(KeyBar, offset=(shown.index("F2") + 2, 0))
        await until(pilot, lambda: app.session_screen.panel.has_class("-open"))


async def test_a_link_in_a_reply_is_opened_only_after_its_address_was_shown(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        opened_links: list[str] = []
        app.open_url = lambda url, *, new_tab=True: opened_links.append(url)  # type: ignore[method-assign]
        from textual.widgets import Markdown

        transcript = app.session_screen.transcript
        await transcript.delta("[here](https://evil.example/x)\n", "Muniment")
        await transcript.end_reply()
        reply = app.session_screen.query_one(Markdown)
        reply.post_message(Markdown.LinkClicked(reply, "https://evil.example/x"))
        await until(pilot, lambda: "https://evil.example/x" in screen_text(app) and app.screen.is_modal)
        await pilot.press("escape")
        await pilot.pause()
        assert opened_links == []


def test_a_narrow_status_line_shortens_what_was_written_rather_than_what_stands_behind_it() -> None:
    now = Status(
        model="rehearsal model",
        session="s",
        used=3,
        digest=1,
        state="ready",
        last_write="saved a-record-with-a-rather-long-identifier",
    )
    assert "saved a-record-with-a-rather-long-identifier – /undo" in line(now).plain
    short = line(now, 12).plain
    assert "✓ saved a-rec… – /undo  rehearsal model  context 3%  digest 1" in short
    assert len(short) <= 79


async def test_a_write_is_news_until_the_next_turn_and_undone_all_the_same(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    record = project / ".muniment" / "memory" / "a-record-with-a-rather-long-identifier.yaml"
    async with opened(boot_for(project), size=(80, 36)) as (app, pilot):
        text = f"Use memory_store to save a project memory:\nid: {record.stem}\ntitle: T\ncontent: C"
        await say(pilot, app, text)
        await allow(pilot, app)
        await ready(pilot, app)
        status = app.session_screen.status
        await until(pilot, lambda: "… – /undo" in screen_text(app))
        assert "digest" in screen_text(app).splitlines()[-2]
        await say(pilot, app, "hello")
        await ready(pilot, app)
        assert status.status.last_write == ""
        await say(pilot, app, "/undo")
        await until(pilot, lambda: not record.exists())
