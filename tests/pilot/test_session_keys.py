"""What the keys that stop, copy, leave and go back mean while something runs, and what a new start shows."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from muniment.session.options import StartOptions
from muniment.tui.app import MunimentApp
from muniment.tui.screens.picker import ParameterForm, RecipePicker
from muniment.tui.screens.reader import Reader
from muniment.tui.widgets.summary_line import SummaryLine
from support.app import boot_for, opened, project_at, ready, say, screen_text, until, write_record
from support.server import LoopbackServer, Reply, serve
from support.server_wire import chunk, sse


@asynccontextmanager
async def against(
    server: LoopbackServer, project: Path, *, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[MunimentApp, Pilot[int]]]:
    options = StartOptions(provider="openai", model="m", base_url=server.base_url)
    async with opened(boot_for(project, options=options), size=size) as (app, pilot):
        yield app, pilot


def only_log(user: Path) -> Path:
    (log,) = user.rglob("sessions/*.jsonl")
    return log


# Ctrl+C and Escape


async def test_ctrl_c_copies_a_selection_of_the_draft_and_leaves_the_draft_alone(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await pilot.press(*"keep this", "shift+home", "ctrl+c")
        await until(pilot, lambda: app.clipboard == "keep this")
        await until(pilot, lambda: "Copied." in screen_text(app))
        assert app.session_screen.composer.text == "keep this"
        await pilot.press("end", "ctrl+c")
        await until(pilot, lambda: "Press Ctrl+C again" in screen_text(app))
        assert app.is_running


async def test_ctrl_c_copies_what_was_selected_in_the_conversation(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await say(pilot, app, "the heron stood still")
        await ready(pilot, app)
        app.session_screen.text_select_all()
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "the heron stood still" in app.clipboard)
        assert app.is_running


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_running_turn_is_stopped_within_a_moment_and_the_next_one_works(
    tmp_path: Path, key: str
) -> None:
    half = Reply(raw=sse(chunk({"content": "Half a"}), done=False), ends="stall")
    with serve([half, Reply(text="Whole.")]) as server:
        async with against(server, project_at(tmp_path / "p")) as (app, pilot):
            await say(pilot, app, "begin")
            await until(pilot, lambda: "Half a" in screen_text(app))
            assert "Esc stops" in screen_text(app)
            await pilot.press(*"draft", key)
            await until(pilot, lambda: app.engine is not None and not app.engine.busy)
            await ready(pilot, app)
            assert screen_text(app).count("Stopped.") == 1
            assert "Half a" in screen_text(app)
            assert app.session_screen.composer.text == "draft"
            await say(pilot, app, "go on")
            await until(pilot, lambda: "Whole." in screen_text(app))
            await ready(pilot, app)
        roles = [item["role"] for item in server.requests[1].json["messages"] if item["role"] != "system"]
        assert roles == ["user", "assistant", "user"]


async def test_escape_stops_before_the_first_byte_and_in_the_dialog_only_denies(tmp_path: Path) -> None:
    gate = threading.Event()
    with serve([Reply(text="late", gate=gate)]) as server:
        async with against(server, project_at(tmp_path / "p")) as (app, pilot):
            await say(pilot, app, "begin")
            await until(pilot, lambda: len(server.requests) == 1)
            await pilot.press("escape")
            await until(pilot, lambda: app.engine is not None and not app.engine.busy)
            await ready(pilot, app)
            gate.set()
            assert "Stopped." in screen_text(app)
            assert "late" not in screen_text(app)


# Going back


async def test_a_typed_full_id_resumes_and_anything_else_is_refused(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        assert app.engine is not None
        first = app.engine.id
        await say(pilot, app, "remember the heron")
        await ready(pilot, app)
        await say(pilot, app, "/new")
        await until(pilot, lambda: app.engine is not None and app.engine.id != first)
        await ready(pilot, app)
        second = app.engine.id
        for wrong in (first[:8], first.upper(), f"../sessions/{first}", "0" * 32):
            await say(pilot, app, f"/resume {wrong}")
            await until(pilot, lambda: "! " in screen_text(app))
            await ready(pilot, app)
            assert app.engine.id == second
        await say(pilot, app, f"/resume {first}")
        await until(pilot, lambda: app.engine is not None and app.engine.id == first)
        await ready(pilot, app)
        assert "remember the heron" in screen_text(app)


async def test_an_outcome_that_is_unknown_is_shown_and_acknowledged_before_anything_is_sent(
    tmp_path: Path, user: Path
) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project)) as (app, pilot):
        assert app.engine is not None
        session = app.engine.id
        await say(pilot, app, "Use memory_list to show what is kept here.")
        await ready(pilot, app)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code == 0)
    log = only_log(user)
    whole = log.read_bytes().split(b"\n")
    end = next(n for n, line in enumerate(whole) if b'"kind":"tool_start"' in line)
    log.write_bytes(b"\n".join(whole[: end + 1]) + b"\n")
    options = StartOptions(provider="rehearsal", resume_id=session)
    async with opened(boot_for(project, options=options)) as (app, pilot):
        await until(pilot, lambda: "broke off while memory_list ran" in screen_text(app))
        await pilot.press("n")
        await say(pilot, app, "go on")
        await until(pilot, lambda: "broke off while memory_list ran" in screen_text(app))
        assert app.engine is not None
        assert app.engine.unknown_calls == ("memory_list",)
        await pilot.press("y")
        await until(pilot, lambda: app.engine is not None and not app.engine.unknown_calls)
        assert app.session_screen.composer.text == "go on"
        await pilot.press("enter")
        await ready(pilot, app)
        kinds = [record.kind for record in app.engine.replay()]
        assert kinds.count("tool_start") == 1
        assert "recovery_ack" in kinds


async def test_a_summary_opens_with_the_turns_that_it_stands_for(tmp_path: Path) -> None:
    replies = [Reply(text=f"Answer {n}.") for n in range(4)]
    with serve([*replies, Reply(text="They spoke of herons.")]) as server:
        async with against(server, project_at(tmp_path / "p"), size=(110, 60)) as (app, pilot):
            for number in range(4):
                await say(pilot, app, f"Question {number} {'about herons ' * 40}")
                await ready(pilot, app)
            await say(pilot, app, "/compact")
            await until(pilot, lambda: bool(app.session_screen.query(SummaryLine)))
            await ready(pilot, app)
            assert "2 earlier turns are summarised" in screen_text(app)
            app.session_screen.query_one(SummaryLine).focus()
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, Reader))
            await pilot.pause()
            shown = screen_text(app)
            for text in ("They spoke of herons.", "Question 0", "Question 1", "Answer 1."):
                assert text in shown
            assert "Question 2" not in shown


# What is carried


async def test_the_context_screen_shows_the_blocks_and_the_draft_as_the_next_request_has_them(
    tmp_path: Path,
) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project), size=(120, 50)) as (app, pilot):
        await pilot.press(*"which apples", "f5")
        await until(pilot, lambda: app.screen is not app.session_screen)
        for text in ("digest", "119,808", "next request"):
            await until(pilot, lambda text=text: text in screen_text(app))


async def test_a_suppressed_digest_is_off_and_an_empty_one_is_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_at(tmp_path / "p")
    async with opened(boot_for(project), size=(120, 24)) as (app, _):
        assert "digest 0" in screen_text(app)
    write_record(project / ".muniment", "apples", "About apples")
    async with opened(boot_for(project), size=(120, 24)) as (app, _):
        assert "digest 1" in screen_text(app)
    monkeypatch.setenv("MUNIMENT_NO_MEMORY_INJECT", "1")
    async with opened(boot_for(project), size=(120, 24)) as (app, pilot):
        assert "digest off" in screen_text(app)
        assert app.engine is not None
        assert app.engine.assemble_preview("x").blocks == ()
        await say(pilot, app, "Use memory_retrieve to fetch apples.")
        await ready(pilot, app)
        await until(pilot, lambda: "completed" in screen_text(app))


# The choice of recipes

HOSTILE = "[@click=app.quit]Quit[/] [/] \x1b[2J\u202egnp"


def recipe(project: Path, name: str, text: str) -> Path:
    directory = project / ".muniment" / "recipes"
    directory.mkdir(exist_ok=True)
    path = directory / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


async def test_hostile_recipes_are_literal_in_the_picker_and_a_broken_one_cannot_be_started(
    tmp_path: Path,
) -> None:
    project = project_at(tmp_path / "p")
    escaped = HOSTILE.replace("\x1b", "\\e").replace("\u202e", "\\u202e")
    recipe(project, "hostile", f'name: hostile\ndescription: "{escaped}"\ninstructions: "{escaped}"\n')
    recipe(project, "broken", "name: broken\ndescription: x\nmode: bypass\n")
    async with opened(boot_for(project, pick=True), size=(120, 40)) as (app, pilot):
        shown = screen_text(app)
        assert "[@click=app.quit]Quit[/] [/]" in shown
        assert not set(shown) & set("\x1b\u202e")
        options = app.screen.query_one(OptionList).options
        names = [str(each.prompt) for each in options if not each.disabled]
        at = next(n for n, name in enumerate(names) if "broken" in name)
        await pilot.press(*["down"] * at)
        await until(pilot, lambda: "mode: a recipe" in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RecipePicker)
        assert app.engine is None


async def test_the_form_asks_for_parameters_and_fills_them_in_literally(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    recipe(
        project,
        "study",
        "name: study\ndescription: d\nprompt: |\n  Look at {{ topic }} and {{ depth }}.\n"
        "parameters:\n- {name: topic, description: what, required: true}\n"
        "- {name: depth, description: how far, default: a little}\n",
    )
    async with opened(boot_for(project, pick=True), size=(100, 30)) as (app, pilot):
        rows = app.screen.query_one(OptionList).options
        names = [str(each.prompt) for each in rows if not each.disabled]
        at = next(n for n, name in enumerate(names) if "study" in name)
        await pilot.press(*["down"] * at, "enter")
        await until(pilot, lambda: isinstance(app.screen, ParameterForm))
        await until(pilot, lambda: "topic (required): what" in screen_text(app))
        assert app.screen.query_one("#parameter-1", Input).value == "a little"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "topic" in str(app.screen.query_one("#fault", Static).content))
        app.screen.query_one("#parameter-0", Input).value = "x: y {{ depth }}"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.engine is not None)
        await ready(pilot, app)
        assert app.engine is not None
        said = [record["text"] for record in app.engine.replay() if record.kind == "user_message"]
        assert [text.strip() for text in said] == ["Look at x: y {{ depth }} and a little."]
