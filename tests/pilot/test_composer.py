"""The composer's own habits: commands completed, messages found again, drafts that outlive editors."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, Static

from muniment.tui.draft import edit_draft
from muniment.tui.modals.edit_text import EditText
from muniment.tui.modals.typed import TypedQuestion
from muniment.tui.screens.past import PastScreen, hits
from muniment.tui.slash import COMMANDS, matching, parse
from muniment.tui.widgets.reply import CodeBlock, CodeHead
from support.app import boot_for, opened, project_at, ready, say, screen_text, until

PROMISED = (
    "/undo /note /mode /new /resume /compact /clear /done /search /review /context /memory /settings /help"
)


# Slash commands


def test_every_promised_command_is_there_and_found_by_its_beginning() -> None:
    names = [each.name for each in COMMANDS]
    assert set(PROMISED.split()) <= set(names)
    assert len(set(names)) == len(names)
    for name in names:
        assert name in [each.name for each in matching(name[:3])]
        assert parse(f"{name} two words") == (
            next(each for each in COMMANDS if each.name == name),
            "two words",
        )
    assert len(matching("/")) == len(COMMANDS)
    assert matching("/no such") == []


@pytest.mark.parametrize("name", [each.name for each in COMMANDS if each.name != "/quit"])
async def test_each_command_does_something_that_is_seen(tmp_path: Path, name: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(100, 40)) as (app, pilot):
        await say(pilot, app, "hello")
        await ready(pilot, app)
        before, parts = screen_text(app), len(app.session_screen.transcript.parts)
        await say(pilot, app, name)
        await until(
            pilot,
            lambda: (
                app.screen is not app.session_screen
                or len(app.session_screen.transcript.parts) != parts
                or screen_text(app) != before
            ),
        )
        assert app.is_running
        assert "There is no command" not in screen_text(app)


async def test_clear_needs_the_full_id_typed_out(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(100, 40)) as (app, pilot):
        await say(pilot, app, "the heron stood still")
        await ready(pilot, app)
        assert app.engine is not None
        session = app.engine.id

        def said() -> list[str]:
            assert app.engine is not None
            return [record["text"] for record in app.engine.replay() if record.kind == "user_message"]

        for answer in ("yes", session.upper() + "A", session[:8], "", f" {session}"):
            await say(pilot, app, "/clear")
            await until(pilot, lambda: isinstance(app.screen, TypedQuestion))
            app.screen.query_one("#typed").value = answer  # type: ignore[attr-defined]
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is app.session_screen)
            assert said() == ["the heron stood still"]
        await say(pilot, app, "/clear yes")
        await until(pilot, lambda: "takes the full id" in screen_text(app))
        assert said() == ["the heron stood still"]
        await say(pilot, app, "/clear")
        await until(pilot, lambda: isinstance(app.screen, TypedQuestion))
        await pilot.press(*session, "enter")
        await until(pilot, lambda: app.screen is app.session_screen and not said())
        await until(pilot, lambda: "was dropped" in screen_text(app))
        assert "heron" not in screen_text(app)
        assert app.engine.id == session


# What was said before


def test_the_newest_message_with_all_words_comes_first() -> None:
    said = ["Weigh the plums", "weigh the figs", "The Plums again"]
    assert hits(said, "PLUMS") == ["The Plums again", "Weigh the plums"]
    assert hits(said, "weigh the") == ["weigh the figs", "Weigh the plums"]
    assert hits(said, "") == said[::-1]
    assert hits(said, "pears") == []


async def test_what_was_said_in_another_session_is_found_and_taken_into_the_composer(tmp_path: Path) -> None:
    here, there = project_at(tmp_path / "here"), project_at(tmp_path / "there")
    for project, text in ((there, "weigh the [/] plums\nslowly"), (here, "count the figs")):
        async with opened(boot_for(project)) as (app, pilot):
            await say(pilot, app, text)
            await ready(pilot, app)
    async with opened(boot_for(here), size=(90, 30)) as (app, pilot):
        composer = app.session_screen.composer
        await until(pilot, lambda: composer.past == ["count the figs"])
        await pilot.press("up")
        assert composer.text == "count the figs"
        await pilot.press("down", *"half", "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, PastScreen))
        await pilot.pause()
        assert "2 messages" in screen_text(app)
        await pilot.press(*"plum")
        await until(pilot, lambda: "1 message" in screen_text(app))
        assert "weigh the [/] plums" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: composer.text == "weigh the [/] plums\nslowly")
        assert app.engine is not None
        assert not app.engine.busy
        assert composer.past[-1] == "half"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, PastScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        assert composer.text == "weigh the [/] plums\nslowly"


async def test_messages_that_come_back_keep_their_order(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path))) as (app, pilot):
        composer = app.session_screen.composer
        composer.put("typed since")
        # Both were sent before the first of them was refused.
        composer.returned("second")
        composer.returned("third")
        assert composer.text == "second\nthird\ntyped since"
        composer.put("another")
        composer.returned("fourth")
        assert composer.text == "fourth\nanother"
        await pilot.pause()


# The editor


def script(directory: Path, body: str) -> str:
    path = directory / "an editor.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"'{path}' --wait"


@pytest.mark.parametrize(
    ("body", "text", "told"),
    [
        ('printf "more\\n" >> "$2"', "a draft\x1bmore", ""),
        ('printf "gone" > "$2"; exit 3', "a draft\x1b", ""),
        ('printf "\\377" > "$2"', "a draft\x1b", "no UTF-8"),
        ('rm "$2"', "a draft\x1b", "The editor left no text"),
        (None, "a draft\x1b", "Your draft is as it was"),
    ],
)
async def test_a_draft_comes_back_from_the_editor_and_outlives_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str | None, text: str, told: str
) -> None:
    from contextlib import nullcontext

    boot = boot_for(project_at(tmp_path / "p"))
    command = script(tmp_path, body) if body is not None else "/nowhere/to-be-found"
    async with opened(replace(boot, environ={**boot.environ, "VISUAL": command})) as (app, pilot):
        # A test has no terminal that could be lent away.
        monkeypatch.setattr(app, "suspend", nullcontext)
        composer = app.session_screen.composer
        composer.post_message(events.Paste("a draft\x1b"))
        await until(pilot, lambda: composer.draft == "a draft\x1b")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: composer.draft == text and told in screen_text(app))
        assert app.engine is not None
        assert not app.engine.replay()[1:]


async def test_without_an_editor_the_key_says_which_variable_to_set(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"))
    environ = {name: value for name, value in boot.environ.items() if name not in ("VISUAL", "EDITOR")}
    async with opened(replace(boot, environ=environ)) as (app, pilot):
        app.session_screen.composer.put("a draft")
        edit_draft(app)
        await until(pilot, lambda: "EDITOR" in screen_text(app))
        assert app.session_screen.composer.text == "a draft"


# Copying


async def test_code_is_copied_by_key_and_by_a_click_on_its_head(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(90, 30)) as (app, pilot):
        transcript = app.session_screen.transcript
        await transcript.delta("Look:\n\n```python\nprint('[/]')\nx = 1\n```\n\nand `inline`.\n", "Muniment")
        await transcript.end_reply()
        await until(pilot, lambda: bool(app.session_screen.query(CodeBlock)))
        await pilot.pause()
        assert "python  copy" in screen_text(app)
        app.session_screen.query_one(CodeBlock).focus()
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == "print('[/]')\nx = 1")
        app.copy_to_clipboard("")
        await pilot.click(CodeHead)
        await until(pilot, lambda: app.clipboard == "print('[/]')\nx = 1")
        transcript.focus()
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard.startswith("Look:"))
        assert "inline" in app.clipboard


async def test_code_is_copied_with_its_tabs_and_says_what_hides_in_it(tmp_path: Path) -> None:
    code = "all:\n\tcc -o all\t'\u202e'\x1b[2J"
    async with opened(boot_for(project_at(tmp_path / "p")), size=(90, 30)) as (app, pilot):
        transcript = app.session_screen.transcript
        for piece in ("```\none\n```\n\n- So:\n\n  ```make\n  ", *code.replace("\n", "\n  "), "\n  ```\n"):
            await transcript.delta(piece, "Muniment")
        await transcript.end_reply()
        await until(pilot, lambda: len(app.session_screen.query(CodeBlock)) == 2)
        await pilot.pause()
        assert "\\u202e" in screen_text(app)
        app.session_screen.query(CodeBlock)[1].focus()
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == "all:\n\tcc -o all\t'\u202e'\\x1b[2J")
        await until(pilot, lambda: "It holds 1 hidden character." in screen_text(app))


async def test_what_is_cut_in_the_draft_leaves_as_it_was_and_comes_back_as_it_was(tmp_path: Path) -> None:
    hidden = "a\u202eb\x1b[31mc"
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        composer = app.session_screen.composer
        composer.put(hidden)
        composer.select_all()
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard == hidden)
        await pilot.press("ctrl+x")
        assert (composer.draft, app.clipboard) == ("", hidden)
        await pilot.press("ctrl+v", "ctrl+v")
        assert composer.draft == hidden * 2
        assert "\x1b" not in screen_text(app)


async def test_what_is_pasted_into_a_field_is_drawn_harmlessly_and_kept(tmp_path: Path) -> None:
    hostile = "a\x1b[31mred\u202ex\u200b\x9b1m"
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: bool(app.screen.query("#search-words")))
        app.post_message(events.Paste(hostile))
        box = app.screen.query_one("#search-words", Input)
        await until(pilot, lambda: box.value == hostile)
        await pilot.pause()
        assert "a␛[31mred" in screen_text(app)
        app.push_screen(EditText("A text", hostile, lambda text: ""))
        await until(pilot, lambda: "A text" in screen_text(app))
        await until(pilot, lambda: "a␛[31mred" in screen_text(app))
        for control in ("\x1b", "\x9b", "\u202e"):
            assert control not in screen_text(app)


async def test_a_large_paste_is_one_draft_and_typing_goes_on_at_its_end(tmp_path: Path) -> None:
    text = "\r\n".join(f"{n} {'x' * 200}" for n in range(5_000))
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        composer = app.session_screen.composer
        app.post_message(events.Paste(text))
        await until(pilot, lambda: composer.text.count("\n") == 4_999)
        await pilot.press("x")
        assert composer.draft == text.replace("\r\n", "\n") + "x"
        assert not app.session_screen.query_one("#slash", Static).display


# Notes and tasks


async def test_a_note_goes_into_the_inbox_and_an_undo_takes_it_back(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        assert app.engine is not None
        inbox = app.engine.surfaces.team.inbox
        await say(pilot, app, "/note The [/] gate opens too early; see run 7.")
        await until(pilot, lambda: len(inbox.list()) == 1)
        (note,) = inbox.list()
        assert note.body.strip() == "The [/] gate opens too early; see run 7."
        assert (note.source, note.session) == ("user", app.engine.id)
        await until(pilot, lambda: "Put into the project inbox: The [/] gate opens" in screen_text(app))
        assert not [record for record in app.engine.replay() if record.kind == "user_message"]
        await say(pilot, app, "/note")
        await until(pilot, lambda: "behind the command" in screen_text(app))
        assert len(inbox.list()) == 1
        await say(pilot, app, "/undo")
        await until(pilot, lambda: inbox.list() == [])
        await until(pilot, lambda: "Took back" in screen_text(app))


async def test_a_task_is_ended_by_its_outcome_and_a_success_leaves_one_note(tmp_path: Path) -> None:
    from muniment.tui.modals.choose import Choose

    project = project_at(tmp_path / "p")
    recipes = project / ".muniment" / "recipes"
    recipes.mkdir()
    text = "name: study\ndescription: d\nagent: reader\ntask: {capture: true}\n"
    (recipes / "study.yaml").write_text(text)
    async with opened(boot_for(project, recipe="study"), size=(120, 40)) as (app, pilot):
        assert app.engine is not None
        inbox = app.engine.surfaces.team.inbox
        await say(pilot, app, "hello")
        await ready(pilot, app)
        await say(pilot, app, "/done perhaps")
        await until(pilot, lambda: "success, partial, failure" in screen_text(app))
        await say(pilot, app, "/done")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("escape")
        await until(pilot, lambda: "stays open" in screen_text(app))
        assert inbox.list() == []
        await say(pilot, app, "/done")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        await say(pilot, app, "/done success Weighed all plums twice.")
        await until(pilot, lambda: "The task ended: success" in screen_text(app))
        (note,) = inbox.list()
        assert (note.agent, note.body.strip()) == ("reader", "Weighed all plums twice.")
        await say(pilot, app, "/done failure")
        await until(pilot, lambda: "! " in screen_text(app))
        assert len(inbox.list()) == 1
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await say(pilot, app, "/done")
        await until(pilot, lambda: "This session is no task" in screen_text(app))


@pytest.mark.parametrize("size", [(100, 30), (40, 20)])
async def test_escape_twice_clears_a_draft_of_many_lines_and_an_undo_brings_it_back(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=size) as (app, pilot):
        composer = app.session_screen.composer
        composer.focus()
        app.post_message(events.Paste("first line\nsecond line\n"))
        await until(pilot, lambda: composer.text.endswith("second line\n"))
        await pilot.press(*"third")
        draft = composer.draft
        await until(pilot, lambda: "Esc Esc clears" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "Esc again clears the draft" in screen_text(app))
        # A key in between takes the first press back.
        await pilot.press("x", "backspace")
        await pilot.press("escape")
        assert composer.draft == draft
        await pilot.press("escape")
        await until(pilot, lambda: composer.text == "")
        await until(pilot, lambda: "cleared; ^Z brings it back" in screen_text(app))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: composer.draft == draft)
        await until(pilot, lambda: "Esc Esc clears" in screen_text(app))


async def test_escape_that_leads_to_the_composer_takes_nothing_of_its_draft(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        composer = app.session_screen.composer
        app.session_screen.panel.records_tree.focus()
        composer.put("a draft")
        # The first press only leads to the composer, and so counts for nothing there.
        await pilot.press("escape")
        await until(pilot, lambda: composer.has_focus)
        await pilot.press("escape")
        await pilot.pause()
        assert composer.draft == "a draft"
