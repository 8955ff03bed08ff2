"""Draws the pictures of the README: the real app with the rehearsal model, in a directory of its own.

    python tests/support/screenshots.py [DIRECTORY]

The pictures are the same byte for byte at each run: ids of sessions and times are replaced by fixed ones of
the same length, and no web font is asked for.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve()
if __name__ == "__main__":
    # Started as a file, Python looks beside it only; `support` lies one level up.
    sys.path.insert(0, str(HERE.parents[1]))

# ruff: noqa: E402 - these imports need the path that was just added
from textual.pilot import Pilot

from muniment.memory.team.notefile import NewNote
from muniment.tui.app import MunimentApp
from muniment.tui.modals.approval import ApprovalScreen
from muniment.tui.widgets.first_card import TRIES
from support.app import (
    allow,
    boot_for,
    dialog,
    opened,
    project_at,
    ready,
    say,
    screen_text,
    still,
    until,
    write_record,
)
from support.environment import REPOSITORY, user_variables
from support.team import USER

ROOT = Path("/tmp/muniment-screenshots")
"""A fixed place, because its path is part of the pictures."""
SMALL, LARGE = (80, 24), (120, 40)
SESSION_ID = "9f2c4e1a7b3d5068c1e4f2a97d6b8053"
SAVE = TRIES[0][2]
UPDATE = """\
Use memory_store to update a project memory:
id: pilot-review-rule
title: Pilot comparison review rule
category: decision
tags: pilot, review
content: Cite Notes A and B; show both denominators; say what is missing before what is wrong.
Then show the saved identifier, scope and whether it was newly created."""
Stage = tuple[MunimentApp, Pilot[int]]

_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\s*")
_TERMINAL = re.compile(r"terminal-\d+")
_TIME = re.compile(r"20\d\d-\d\d-\d\d([T ]|&#160;)\d\d:\d\d(:\d\d)?")


def settled(svg: str, session: str) -> str:
    """Return the picture without what differs from run to run, and without addresses of fonts."""
    svg = _FONT_FACE.sub("", svg)
    svg = _TERMINAL.sub("screen", svg)
    svg = svg.replace(session, SESSION_ID).replace(session[:8], SESSION_ID[:8])
    svg = _TIME.sub(lambda found: f"2026-11-30{found[1]}09:00{':00' if found[2] else ''}", svg)
    return "\n".join(line.rstrip() for line in svg.split("\n")).rstrip("\n") + "\n"


def world() -> Path:
    """Make the directory of the pictures afresh, with records in three scopes, and return the project."""
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(mode=0o700)
    os.environ.update(user_variables(ROOT / "user"))
    for name in ("NO_COLOR", "COLORTERM", "EDITOR", "VISUAL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        os.environ.pop(name, None)
    project = project_at(ROOT / "pilot" / "study")
    parent, mine, data = project.parent / ".muniment", project / ".muniment", ROOT / "user" / "data"
    project_at(project.parent)
    for directory, name, title, content in (
        (data, "answer-style", "Answers are short and name their source", "Two sentences, then the source."),
        (data, "pilot-terms", "Words that the pilot uses", "An answer is one sheet; a coder is one person."),
        (parent, "coding-scheme", "Codes of the first round", "Six codes; unclear sheets are set aside."),
        (parent, "pilot-terms", "Words that this pilot uses", "An answer is one sheet of Notes A or B."),
        (mine, "open-questions", "What is still open after Notes B", "Who counted the late answers?"),
    ):
        times = {"created_at": "2026-11-28T10:00:00Z", "updated_at": "2026-11-28T10:00:00Z"}
        write_record(directory, name, title, content, category="note", tags="[pilot]", **times)
    return project


@asynccontextmanager
async def stage(
    size: tuple[int, int], *, theme: str = "dark", quiet: float = 0.5, pick: bool = False
) -> AsyncIterator[Stage]:
    """Open the app in a fresh world."""
    boot = boot_for(
        world(),
        recipe=None if pick else str(REPOSITORY / "recipes" / "review-work.yaml"),
        pick=pick,
        theme=theme,
        quiet=quiet,
    )
    async with opened(boot, size=size) as (app, pilot):
        yield app, pilot


async def saved(app: MunimentApp, pilot: Pilot[int]) -> None:
    """Live the first minute: ask for a record and allow it."""
    await say(pilot, app, SAVE)
    await allow(pilot, app)
    await ready(pilot, app)
    panel = app.session_screen.panel
    await until(pilot, lambda: not panel.display or "6 records" in panel.title_text)


async def picture(app: MunimentApp, pilot: Pilot[int], name: str, target: Path) -> None:
    """Write the screen as it stands."""
    still(app)
    await pilot.pause()
    session = "-" * 32 if app.engine is None else app.engine.id
    (target / f"{name}.svg").write_text(settled(app.export_screenshot(), session), encoding="utf-8")


async def sessions_shown(target: Path) -> None:
    for name, size, theme in (
        ("session", LARGE, "dark"),
        ("session-80x24", SMALL, "dark"),
        ("light", LARGE, "light"),
    ):
        async with stage(size, theme=theme) as (app, pilot):
            await saved(app, pilot)
            await picture(app, pilot, name, target)
            if name == "session-80x24":
                await pilot.press("f2")
                panel = app.session_screen.panel
                await until(pilot, lambda panel=panel: "6 records" in panel.title_text)
                await pilot.pause(0.1)
                await picture(app, pilot, "panel-80x24", target)


async def dialogs_shown(target: Path) -> None:
    for suffix, size in (("80x24", SMALL), ("120x40", LARGE)):
        async with stage(size, quiet=5.0) as (app, pilot):
            await say(pilot, app, SAVE)
            shown = await dialog(pilot, app)
            await pilot.press("x")
            await pilot.pause()
            assert not shown.gate.armed
            await picture(app, pilot, f"dialog-disarmed-{suffix}", target)
            await pilot.press("ctrl+q")
        async with stage(size) as (app, pilot):
            await say(pilot, app, SAVE)
            shown = await dialog(pilot, app)
            await armed(pilot, shown)
            await picture(app, pilot, f"dialog-armed-{suffix}", target)
            await allow(pilot, app)
            await ready(pilot, app)
            await say(pilot, app, UPDATE)
            shown = await dialog(pilot, app)
            await armed(pilot, shown)
            await picture(app, pilot, f"difference-{suffix}", target)
            await pilot.press("ctrl+q")


async def armed(pilot: Pilot[int], shown: ApprovalScreen) -> None:
    await until(pilot, lambda: shown.gate.armed)
    await pilot.pause(0.05)


async def places_shown(target: Path) -> None:
    async with stage((100, 30)) as (app, pilot):
        await saved(app, pilot)
        await pilot.press("f3", *"pilot")
        await until(pilot, lambda: "searched" in _said(app, "#search-say"))
        await pilot.pause(0.1)
        await picture(app, pilot, "search", target)
        await pilot.press("escape", "f5")
        await pilot.pause(0.1)
        await picture(app, pilot, "context", target)
        notes_wait(app)
        await pilot.press("escape", "f4")
        await until(pilot, lambda: "by rules" in screen_text(app))
        await picture(app, pilot, "review", target)
        await pilot.press("escape", "f6")
        await until(pilot, lambda: "open here" in str(_listed(app)))
        await until(pilot, lambda: "## You" in screen_text(app))
        await picture(app, pilot, "sessions", target)
        await pilot.press("escape")
        app.session_screen.panel.records_tree.focus()
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: type(app.screen).__name__ == "Reader")
        await pilot.pause(0.1)
        await picture(app, pilot, "record", target)
        await pilot.press("escape", "f1")
        await until(pilot, lambda: type(app.screen).__name__ == "GuideScreen")
        await pilot.pause(0.1)
        await picture(app, pilot, "help", target)
    async with stage((100, 30), pick=True) as (app, pilot):
        await pilot.pause(0.1)
        await picture(app, pilot, "picker", target)
    async with stage((100, 30)) as (app, pilot):
        await pilot.pause(0.1)
        await picture(app, pilot, "first-run", target)


def notes_wait(app: MunimentApp) -> None:
    """Put as many notes into the inbox as make a consolidation, on a day that never changes."""
    assert app.engine is not None
    surfaces = app.engine.surfaces
    surfaces.clock = surfaces.team.clock = lambda: datetime(2026, 11, 30, 9, tzinfo=UTC)
    for title, body in (
        ("Late answers", "Three answers of Notes B came late and were counted twice."),
        ("Coder agreement", "Both coders agree on 41 of 46 pilot sheets."),
        ("A rule about drafts", "Always use the second draft of a sheet."),
        ("Sheet 14", "Sheet 14 was counted twice: once by each coder."),
        ("Denominators", "Reviewers ask for both denominators in every table."),
    ):
        surfaces.team.inbox.add(NewNote(title, body, "reviewer", "agent"), USER)


def _said(app: MunimentApp, selector: str) -> str:
    return str(app.screen.query_one(selector).render())


def _listed(app: MunimentApp) -> list[str]:
    options = app.screen.query_one("#session-list")
    return [str(option.prompt) for option in options.options]  # type: ignore[attr-defined]


PARTS: tuple[Callable[[Path], Awaitable[None]], ...] = (sessions_shown, dialogs_shown, places_shown)


async def main(target: Path) -> None:
    for part in PARTS:
        await part(target)
    shutil.rmtree(ROOT, ignore_errors=True)


if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "screenshots"
    wanted.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(wanted))
