"""Text that looks like markup, an order or a control is literal in every place, and breaks nothing."""

from __future__ import annotations

import json
from pathlib import Path

from textual.widgets import OptionList

from muniment.session import events as ev
from muniment.tui.app import MunimentApp
from muniment.tui.screens.reader import Reader
from muniment.tui.widgets.tool_line import ToolLine
from support.app import boot_for, opened, project_at, ready, say, screen_text, until

TEXTS = (
    "[/]",
    "[/tmp/x]",
    "x [/",
    "[type=x, v={'a[0]'}]",
    "[1, 2, [3]]",
    "[bold]loud[/bold]",
    "[@click=app.quit]more[/]",
    "[@click=app.bell]x[/] [link=https://example.org]y[/link]",
    "[$error]red",
    "[not closed",
    "\\[escaped]",
    "{{braces}} %s {0}",
)
CONTROLS = "a\x1b]0;OWNED\x07b\x1b[2J\x9b31m\u202ec\u200bd"
EMOJI = "👩‍💻 ☺️ ❤️ می‌خواهم क्‍ष café"


def write(project: Path, name: str, title: str) -> None:
    memory = project / ".muniment" / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(title, ensure_ascii=False)
    (memory / f"{name}.yaml").write_text(f"id: {name}\ntitle: {text}\ncontent: {text}\n", encoding="utf-8")


def drawn(app: MunimentApp) -> str:
    """Return what is on the screen, after making sure that no control or direction character is."""
    text = screen_text(app)
    assert not set(text) & set("\x1b\x07\x9b\u202e\u200b\x00")
    return text


async def test_user_messages_are_shown_as_they_were_written(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 40)) as (app, pilot):
        await say(pilot, app, "\n".join(("say", *TEXTS, EMOJI)))
        await ready(pilot, app)
        for text in (*TEXTS, EMOJI):
            await until(pilot, lambda text=text: text in drawn(app))
        await say(pilot, app, f"say {CONTROLS}")
        await ready(pilot, app)
        assert "OWNED" in drawn(app)


async def test_streams_calls_results_and_notices_are_literal(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(200, 40)) as (app, pilot):
        screen = app.session_screen
        for n, text in enumerate((*TEXTS, CONTROLS)):
            for event in (
                ev.TextDelta(text),
                ev.ReplyEnded(text, 0),
                ev.ToolCalled(f"c{n}", text, {"id": text, text: [text]}),
                ev.ToolFinished(f"c{n}", text, "completed", {}, text, False),
                ev.Notice(text),
                ev.ErrorRaised(text),
            ):
                screen.emit(event)
            await screen.drained()
            list(screen.query(ToolLine))[-1].action_open()
            await pilot.pause()
            shown = drawn(app)
            if text is not CONTROLS:
                assert f"! {text}" in shown
                assert f"id: {text}" in shown
            app.notify(text.replace("\x1b", ""), markup=False)
        assert app.is_running


async def test_titles_are_literal_in_panel_record_view_search_and_sessions(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    for n, text in enumerate((*TEXTS, EMOJI, CONTROLS.replace("\x07", "").replace("\x9b", ""))):
        write(project, f"r{n}", f"zebra {text}")
    async with opened(boot_for(project), size=(120, 50)) as (app, pilot):
        panel = app.session_screen.panel
        await until(pilot, lambda: "zebra [/]" in drawn(app))
        panel.records_tree.focus()
        for text in ("zebra [/]", "zebra x [/", f"zebra {EMOJI}"[:14]):
            assert text in drawn(app)
        await pilot.press("home", "down")
        for _ in TEXTS:
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, Reader))
            await pilot.pause()
            assert "zebra " in drawn(app)
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, Reader))
            await pilot.press("down")
        await pilot.press("f3", *"zebra")
        await until(pilot, lambda: bool(app.screen.query_one(OptionList).option_count))
        await pilot.pause()
        assert "zebra" in drawn(app)
        await pilot.press("escape")
        app.session_screen.composer.focus()
        await say(pilot, app, f"{TEXTS[6]} {TEXTS[2]}")
        await ready(pilot, app)
        await pilot.press("f6")
        await until(pilot, lambda: TEXTS[6] in drawn(app))


async def test_a_click_on_markup_in_a_record_or_message_runs_nothing(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        await say(pilot, app, "[@click=app.quit]more[/]")
        await ready(pilot, app)
        rows = drawn(app).splitlines()
        y = next(n for n, row in enumerate(rows) if "[@click" in row)
        start = rows[y].index("[@click")
        for x in range(start, start + 24):
            await pilot.click(offset=(x, y))
        assert app.is_running
        assert app.return_code is None


async def test_two_hundred_pasted_lines_are_one_draft(tmp_path: Path) -> None:
    from textual import events

    text = "\r\n".join(f"line {n}\twith a tab" for n in range(200))
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        app.post_message(events.Paste(text))
        composer = app.session_screen.composer
        await until(pilot, lambda: composer.text.count("\n") == 199)
        assert "\r" not in composer.text
        assert app.engine is not None
        assert not app.engine.busy
        await pilot.press("enter")
        await ready(pilot, app)
        said = [item for item in app.engine.replay() if "line 199" in str(item)]
        assert said


async def test_no_size_of_the_terminal_breaks_the_screen(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write(project, "wide", "日本語 👩‍💻 🇳🇴 é สวัสดี ｆｕｌｌ")
    async with opened(boot_for(project), size=(100, 30)) as (app, pilot):
        for size in ((40, 20), (20, 5), (10, 3), (1, 1), (300, 100), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            for key in ("f2", "f3", "escape", "f5", "escape", "f6", "escape", "f1", "escape", "f2", "f4"):
                await pilot.press(key)
            await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert "Write a message" in drawn(app)


async def test_a_file_in_the_place_of_the_sessions_is_told_and_ends_nothing(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"))
    boot.paths.sessions.parent.mkdir(parents=True, exist_ok=True)
    boot.paths.sessions.write_text("not a directory", encoding="utf-8")
    async with opened(boot, size=(120, 30)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: "cannot be listed" in drawn(app))
        await pilot.press("escape")
        app.session_screen.composer.put("/map")
        await pilot.press("enter")
        await until(pilot, lambda: "unreadable" in drawn(app))
        await pilot.press("escape")
        await say(pilot, app, "still here")
        await ready(pilot, app)
        assert "NOT SAVED" in drawn(app)
