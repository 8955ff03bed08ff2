"""What every place has in common: the focus is seen by shape, nothing is cut unsaid, nothing is covered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Static, TextArea

from muniment.approval.policy import Mode
from muniment.session import events as ev
from muniment.tui.app import MunimentApp
from muniment.tui.screens.reader import lines_of
from muniment.tui.views import fields_text
from muniment.tui.widgets.exact_lines import lay_out
from muniment.tui.widgets.memory_tree import MemoryTree
from support.app import boot_for, dialog, opened, project_at, screen_text, still, text_in, until, write_record
from support.approvals import a_proposal
from support.memory_world import memory_world
from support.panel import panel_open

LONG = "a-record-whose-file-has-a-name-that-goes-on-and-on-until-no-panel-that-there-is-could-hold-it"


async def test_the_conversation_shows_by_a_line_that_the_keys_go_to_it(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        transcript = app.session_screen.transcript
        row = transcript.region.bottom - 1
        assert "─" not in screen_text(app).split("\n")[row]
        transcript.focus()
        await until(pilot, lambda: "──────" in screen_text(app).split("\n")[row])


async def test_a_call_and_a_piece_of_code_show_the_focus_by_a_bar(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        for event in (
            ev.UserSaid("go"),
            ev.ToolCalled("c", "memory_list", {"scope": "project"}),
            ev.TextDelta("```\nx = 1\n```"),
            ev.ReplyEnded("```\nx = 1\n```", 0),
        ):
            app.session_screen.emit(event)
        await app.session_screen.drained()
        for kind in ("ToolLine", "CodeBlock"):
            widget = app.screen.query(kind).first()
            await until(pilot, lambda widget=widget: text_in(app, widget) != "")
            before = text_in(app, widget)
            widget.focus()
            await until(pilot, lambda widget=widget: text_in(app, widget).startswith("▌"))
            assert " ".join(text_in(app, widget).replace("▌", "").split()) == before


def unsure(app: MunimentApp) -> list[str]:
    """Return words in the terminal's own colour on a coloured ground: nobody knows which of them it is."""
    drawn = [each for strip in app.screen._compositor.render_strips() for each in strip]
    return [
        text
        for text, style, _ in drawn
        if style is not None
        and text.strip()
        and style.bgcolor is not None
        and not style.bgcolor.is_default
        and (style.color is None or style.color.is_default)
    ]


async def test_in_the_colours_of_the_terminal_every_word_stands_on_its_own_ground(tmp_path: Path) -> None:
    project = memory_world(tmp_path)
    async with opened(boot_for(project, theme="ansi"), size=(80, 24)) as (app, pilot):
        app.session_screen.composer.put("a draft")
        app.session_screen.mode_changed(Mode.BYPASS)
        asking = asyncio.ensure_future(app.desk.ask(a_proposal()))
        app.notify("Look here.", severity="warning")
        for said in ("1 proposal waits", "BYPASS", "! Look here."):
            await until(pilot, lambda said=said: said in screen_text(app))
        assert unsure(app) == []
        await pilot.press("f4")
        shown = await dialog(pilot, app)
        await until(pilot, lambda: shown.gate.armed)
        await pilot.press("r", *"why")
        await until(pilot, lambda: "WRITING" in screen_text(app))
        assert unsure(app) == []
        asking.cancel()
        await until(pilot, lambda: app.screen is app.session_screen)
        await panel_open(app, pilot)
        await pilot.press("n")
        await until(pilot, lambda: app.screen.query(TextArea) and app.screen is not app.session_screen)
        app.screen.query_one(TextArea).focus()
        await pilot.press(*"note")
        await pilot.hover(Button)
        await until(pilot, lambda: "note" in text_in(app, app.screen.query_one(TextArea)))
        assert unsure(app) == []


@pytest.mark.parametrize("theme", ["dark", "light", "ansi"])
async def test_without_colour_every_word_can_be_seen_in_every_theme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(boot_for(project_at(tmp_path / "p"), theme=theme), size=(80, 24)) as (app, pilot):
        await until(pilot, lambda: "F1 Help" in screen_text(app))
        drawn = [each for strip in app.screen._compositor.render_strips() for each in strip]
        words = [(text, style) for text, style, _ in drawn if text.strip() and style is not None]
        assert words
        for text, style in words:
            colours = [each for each in (style.color, style.bgcolor) if each is not None]
            if theme == "ansi":
                assert all(each.is_default for each in colours), text
            else:
                front, back = (each.get_truecolor() for each in colours)
                assert {front.red, front.green} == {front.blue}, text
                assert front != back, text
        await pilot.press("f3", *"abc")
        await until(pilot, lambda: app.screen.query(Input) and app.screen.query_one(Input).value == "abc")
        still(app)
        row = app.screen.query_one(Input).content_region.y
        drawn = list(app.screen._compositor.render_strips()[row])
        at = [text for text, *_ in drawn].index("abc")
        word, cursor = drawn[at].style, drawn[at + 1].style
        assert word is not None
        assert cursor is not None
        assert cursor.reverse or cursor.bgcolor != word.bgcolor, "the cursor cannot be seen"


async def test_details_of_a_call_stay_in_their_column_where_they_wrap(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(60, 24)) as (app, pilot):
        app.session_screen.emit(ev.ToolCalled("c", "memory_retrieve", {"id": LONG}))
        await app.session_screen.drained()
        line = app.screen.query("ToolLine").first()
        line.focus()
        await pilot.press("enter")
        await until(pilot, lambda: "asked" in text_in(app, line))
        region = line.region
        rows = screen_text(app).split("\n")[region.y + 2 : region.bottom]
        assert len(rows) > 1
        assert all(row.startswith("▌  " + " " * 4) for row in rows if row.strip())


async def test_what_is_told_in_the_conversation_stays_in_the_column_of_the_replies(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(60, 24)) as (app, pilot):
        told = "The server does not answer, so nothing was sent; start it, or name another one."
        for event in (ev.UserSaid("go"), ev.ErrorRaised(told), ev.UserSaid("again")):
            app.session_screen.emit(event)
        await app.session_screen.drained()
        line = app.screen.query("Said.-error").first()
        await until(pilot, lambda: "another one" in text_in(app, line))
        await pilot.pause()
        region = line.region
        rows = screen_text(app).split("\n")[region.y : region.bottom]
        assert [row[:3] for row in rows] == [" ! ", "   "]
        assert {row[3] != " " for row in rows} == {True}
        await until(pilot, lambda: "again" in screen_text(app))
        await pilot.pause()
        region = line.region
        shown = screen_text(app)
        assert shown.index(" You") < shown.index(" ! ") < shown.rindex(" You") < shown.index("again")
        # What is copied of it has no breaks that only the width made.
        await pilot.mouse_down(offset=(region.x + 3, region.y))
        await pilot.hover(offset=(region.x + 40, region.bottom - 1))
        await pilot.mouse_up(offset=(region.x + 40, region.bottom - 1))
        await until(pilot, lambda: app.screen.get_selected_text())
        assert (app.screen.get_selected_text() or "").strip() in told


def test_a_field_of_a_record_wraps_beside_its_label() -> None:
    lines = lines_of([("Fields", fields_text({"id": "short", "content_hash": "0123456789" * 5}))])
    [_, _, long] = lines
    assert long.gutter == "content_hash  "
    assert long.onward == " " * len(long.gutter)
    assert len(lay_out(lines, 40)) > len(lines)


async def test_the_end_of_a_long_list_stays_in_view_whatever_is_said_below_it(tmp_path: Path) -> None:
    project = memory_world(tmp_path)
    (project / ".muniment" / "memory" / f"{LONG}.yaml").write_text("id: other\n", encoding="utf-8")
    async with opened(boot_for(project), size=(80, 24)) as (app, pilot):
        await pilot.press("f2")
        panel = app.session_screen.panel
        await until(pilot, lambda: "records" in panel.title_text)
        panel.records_tree.focus()
        for node in list(panel.records_tree.root.children):
            node.expand()
        await pilot.pause()
        for _ in range(2):
            await pilot.press("end")
            await pilot.pause()
        tree = app.screen.query_one(MemoryTree)
        row = tree.region.y + tree.cursor_line - tree.scroll_offset.y
        assert tree.region.y <= row < tree.region.bottom


async def test_what_is_told_of_a_row_ends_in_a_sign_where_there_is_no_room(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    (project / ".muniment" / "memory").mkdir(parents=True)
    (project / ".muniment" / "memory" / f"{LONG}.yaml").write_text("id: other\n", encoding="utf-8")
    async with opened(boot_for(project), size=(40, 20)) as (app, pilot):
        await pilot.press("f2")
        panel = app.session_screen.panel
        await until(pilot, lambda: "records" in panel.title_text)
        for node in list(panel.records_tree.root.children):
            node.expand()
        await pilot.press("end")
        about = app.screen.query_one("#memory-about", Static)
        await until(pilot, lambda: text_in(app, about).endswith("…"))


async def test_a_message_covers_neither_the_draft_nor_a_proposal(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        app.notify("Something was copied.", markup=False, timeout=60)
        await until(pilot, lambda: "Something was copied." in screen_text(app))
        at = next(n for n, row in enumerate(screen_text(app).split("\n")) if "Something was copied." in row)
        assert at < app.session_screen.composer.region.y - 3
        waiting = asyncio.ensure_future(app.desk.ask(a_proposal()))
        await dialog(pilot, app)
        await until(pilot, lambda: "pilot-review-rule" in screen_text(app))
        assert "Something was copied." not in screen_text(app)
        app.desk.close()
        assert not (await waiting).allowed


async def test_a_message_says_by_a_sign_how_grave_it_is(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        app.notify("Copied [it].")
        app.notify("Look here.", severity="warning")
        app.notify("It is gone.", severity="error")
        await until(pilot, lambda: "✗ It is gone." in screen_text(app))
        assert "! Look here." in screen_text(app)
        assert "▌ Copied [it]." in screen_text(app)


async def test_a_palette_that_finds_nothing_says_what_to_do(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 24)) as (app, pilot):
        await pilot.press("ctrl+p", *"zzqq")
        await until(pilot, lambda: "No command matches; fewer letters find more" in screen_text(app))
        await pilot.press("enter", "escape")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_an_empty_list_of_sessions_says_what_to_do_about_it(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "coding-scheme", "Codes of the first round", "Six codes.")
    async with opened(boot_for(project), size=(80, 24)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: "No earlier session yet. What you say" in screen_text(app))
        await pilot.press("slash", *"zzqq", "enter")
        await until(pilot, lambda: "Escape clears the filter." in screen_text(app))
        pane = app.screen.query_one("#session-preview")
        assert pane.border_title is None


async def test_a_wide_screen_gives_the_panel_more_room_unless_the_user_chose_its_width(
    tmp_path: Path,
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(200, 60)) as (app, pilot):
        assert app.session_screen.panel.outer_size.width == 60
        app.session_screen.set_panel_width(50)
        await pilot.pause()
        assert app.session_screen.panel.outer_size.width == 50


async def test_panes_stand_beside_their_rows_where_there_is_room_and_below_where_not(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        for place in ("map", "guide"):
            app.action_go(place)
            await until(pilot, lambda: app.screen is not app.session_screen and app.screen.query(".pane"))
            await pilot.pause()
            pane = app.screen.query_one(".pane", VerticalScroll)
            assert pane.region.x > 0
            await pilot.resize_terminal(60, 40)
            await until(pilot, lambda pane=pane: pane.region.x == 0)
            await pilot.resize_terminal(120, 40)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.session_screen)
