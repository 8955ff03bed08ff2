"""The real app under test: real files, the rehearsal model, and short ways to talk to it."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, TextArea

from muniment.paths import resolve_paths
from muniment.session.options import StartOptions
from muniment.settings import Settings
from muniment.settings.values import ApprovalSettings, TuiSettings
from muniment.tui.app import MunimentApp
from muniment.tui.boot import Boot
from muniment.tui.modals.approval import ApprovalScreen
from support.approvals import counts_from
from support.poll import PATIENCE

QUIET = 0.0
ALONE_SECONDS = 2.0


def project_at(directory: Path) -> Path:
    """Make a project with a scope of its own."""
    (directory / ".muniment").mkdir(parents=True, mode=0o700, exist_ok=True)
    return directory


def write_record(directory: Path, record_id: str, title: str, content: str = "Text.", **fields: str) -> Path:
    """Write a record by hand into a scope directory (`.muniment` or the data directory)."""
    memory = directory / "memory"
    memory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = memory / f"{record_id}.yaml"
    lines = [f"id: {record_id}", f'title: "{title}"', f'content: "{content}"']
    lines += [f"{name}: {value}" for name, value in fields.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def boot_for(
    project: Path,
    *,
    recipe: str | None = None,
    pick: bool = False,
    theme: str = "dark",
    quiet: float = QUIET,
    options: StartOptions | None = None,
    tui: TuiSettings | None = None,
) -> Boot:
    """Return what the app starts from; the user's directories are those of the environment."""
    chosen = options or StartOptions(recipe=recipe, provider="rehearsal")
    settings = replace(
        Settings(), approval=ApprovalSettings(quiet), tui=tui or replace(TuiSettings(), theme=theme)
    )
    return Boot(resolve_paths(), project, dict(os.environ), settings, chosen, pick=pick)


@asynccontextmanager
async def opened(
    boot: Boot, *, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[MunimentApp, Pilot[int]]]:
    """Run the app until its session, or its choice of recipes, is ready.

    Its heart never stops: how long the machine stands still meanwhile says nothing about what is tested here.
    """
    app = MunimentApp(boot)
    app.heart_clocks = (lambda: 0.0,)
    async with app.run_test(size=size, notifications=True) as pilot:
        if boot.pick:
            await until(pilot, lambda: type(app.screen).__name__ == "RecipePicker")
            await pilot.pause()
        else:
            await ready(pilot, app)
        yield app, pilot


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Let the app work until a condition holds; fail with the screen where it does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"the condition did not hold in time on\n{screen_text(pilot.app)}"
        await pilot.pause(0.01)


async def ready(pilot: Pilot[int], app: MunimentApp) -> None:
    """Wait until a session is open, nothing runs and everything is drawn."""
    await until(pilot, lambda: app.engine is not None and not app.engine.busy)
    await until(pilot, lambda: "ready" in app.session_screen.status.status.state)
    await app.session_screen.drained()
    await pilot.pause()


async def say(pilot: Pilot[int], app: MunimentApp, text: str) -> None:
    """Put a message into the composer and send it with Enter."""
    app.session_screen.composer.put(text)
    await pilot.press("enter")


async def say_and_go_on(pilot: Pilot[int], app: MunimentApp, text: str, draft: str) -> None:
    """Send a message and have the next one begun before anything comes of it, however slow the machine is.

    So no dialog opens by itself: a draft holds it back.
    """
    composer = app.session_screen.composer
    composer.put(text)
    composer.action_send()
    composer.put(draft)
    await until(pilot, lambda: bool(app.desk.pending))


async def allow(pilot: Pilot[int], app: MunimentApp) -> None:
    """Read the proposal that waits to its end and allow it, as soon as its dialog is armed."""
    shown = await dialog(pilot, app)
    await until(pilot, lambda: counts_from(shown) is not None)
    if not shown.gate.unlocked:
        await pilot.press("end")
        await until(pilot, lambda: shown.gate.unlocked)
    await decide(pilot, app, shown, "a")


async def decide(pilot: Pilot[int], app: MunimentApp, shown: ApprovalScreen, key: str) -> None:
    """Press a key that closes a dialog, as soon as it counts, until it does."""
    deadline = time.monotonic() + PATIENCE
    # The key must stand alone for a moment, so it is pressed once and waited for.
    while app.screen is shown:
        assert time.monotonic() < deadline, f"nothing was decided on\n{screen_text(app)}"
        await until(pilot, lambda: app.screen is not shown or counts_from(shown) is not None)
        if app.screen is shown:
            await pilot.press(key)
            alone = time.monotonic() + ALONE_SECONDS
            await until(pilot, lambda at=alone: app.screen is not shown or time.monotonic() > at)


async def dialog(pilot: Pilot[int], app: MunimentApp) -> ApprovalScreen:
    """Wait for the dialog; F4 opens it where typing a moment ago would hold it back."""
    await until(pilot, lambda: bool(app.desk.pending))
    if not isinstance(app.screen, ApprovalScreen):
        await pilot.press("f4")
    return await opened_dialog(pilot, app)


async def opened_dialog(pilot: Pilot[int], app: MunimentApp) -> ApprovalScreen:
    """Wait for a dialog that opens without another key."""
    await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
    assert isinstance(app.screen, ApprovalScreen)
    return app.screen


def still(app: MunimentApp) -> None:
    """Let no cursor blink, so that a picture does not depend on when it is taken."""
    for screen in app.screen_stack:
        for widget in screen.query("TextArea, Input"):
            if isinstance(widget, TextArea | Input):
                widget.cursor_blink = False
            if isinstance(widget, TextArea):
                # A line that was drawn while the cursor had blinked away would be taken for one without it.
                widget._line_cache.clear()
                widget.refresh()


def text_in(app: MunimentApp, widget: Widget) -> str:
    """Return what is drawn of a widget now as one line, however long paths have broken it."""
    region, lines = widget.region, screen_text(app).split("\n")
    rows = lines[region.y : region.bottom]
    return " ".join(" ".join(row[region.x : region.right] for row in rows).split())


def screen_text(app: object) -> str:
    """Return the text of the whole screen as it is drawn now."""
    strips = app.screen._compositor.render_strips()  # type: ignore[attr-defined]
    width, height = app.size  # type: ignore[attr-defined]
    return "\n".join(strip.text[:width].rstrip() for strip in strips[:height])
