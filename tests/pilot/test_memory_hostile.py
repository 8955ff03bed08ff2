"""Texts that look like markup, orders or controls in every kind of memory: literal everywhere, harmless."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from muniment.memory.ledger.row import NewRow
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.entry import NewEntry
from muniment.memory.team.notefile import NewNote
from muniment.memory.user.plans import SaveRequest
from muniment.paths import resolve_paths
from muniment.settings import Settings
from muniment.tui.app import MunimentApp
from muniment.tui.screens.inspector import InspectorScreen
from muniment.tui.screens.reader import Reader
from muniment.tui.screens.search import SearchScreen
from muniment.tui.screens.sessions import SessionsScreen
from support.app import boot_for, opened, project_at, screen_text, until, write_record
from support.memory_world import BY_HAND
from support.panel import items, panel_open
from support.session_logs import write_session

TEXTS = (
    "zebra [/] [@click=app.quit]x[/] [bold]y",
    "zebra a\x1b]0;OWNED\x07b\x1b[2J\x9b31m",
    "zebra \u202ednuora\u202c \u200bhidden\U000e0041",
    "zebra 漢字 👩‍💻 क्‍ष e\u0301",
)


def world(root: Path, text: str) -> Path:
    """Put a hostile text into every surface; the directory has a hostile name as well."""
    project = project_at(root / "p[/] [bold]漢字")
    surfaces = Surfaces(resolve_paths(), project, Settings())
    quoted = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    yaml = "".join(f"\\U{ord(each):08x}" if not each.isalnum() else each for each in text)
    write_record(project / ".muniment", "hostile", yaml, yaml)
    (project / ".muniment" / "memory" / "bad [bold] name.yaml").write_text(quoted)
    entry = SaveRequest("create", "hostile", "user", text, text)
    surfaces.user.commit(surfaces.user.plan_save(entry), BY_HAND)
    team = surfaces.team
    team.inbox.add(NewNote(text, text, "agent", "agent"), BY_HAND)
    team.pinned.commit(team.pinned.plan_add(text, text), BY_HAND)
    team.knowledge.add(NewEntry(text, text, "reviews"), BY_HAND)
    surfaces.ledger.upsert([NewRow("semantic", "global", None, text, text, "agent", "t")], BY_HAND)
    write_session(resolve_paths(), 1, text, cwd=str(project), title=text)
    return project


def drawn(app: MunimentApp) -> str:
    """Return the screen's text after making sure that nothing in it hides or controls."""
    text = screen_text(app)
    assert not set(text) & set("\x1b\x07\x9b\u202e\u202c\u200b\U000e0041\x00")
    return text


async def seen(app: MunimentApp, pilot: Pilot[int], kind: type[object]) -> None:
    await until(pilot, lambda: isinstance(app.screen, kind))
    await pilot.pause(0.2)
    assert "zebra" in drawn(app)


@pytest.mark.parametrize("text", TEXTS, ids=["markup", "controls", "hidden", "wide"])
async def test_every_place_shows_a_hostile_text_as_text(tmp_path: Path, text: str) -> None:
    async with opened(boot_for(world(tmp_path, text)), size=(140, 50)) as (app, pilot):
        await panel_open(app, pilot)
        assert "zebra" in drawn(app)
        for kind in ("record", "user", "inbox", "pinned", "knowledge", "ledger"):
            found = items(app, kind)
            assert found, kind
            app.by_hand("open", found[-1])
            await seen(app, pilot, Reader)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.session_screen)
        await pilot.press("slash", *"zebra")
        await pilot.pause(0.2)
        assert "zebra" in drawn(app)
        await pilot.press("escape", "f3", *"zebra")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and len(app.screen.hits) >= 6)
        await seen(app, pilot, SearchScreen)
        await pilot.press("escape", "f5")
        await until(pilot, lambda: isinstance(app.screen, InspectorScreen) and "budget" not in drawn(app))
        await until(pilot, lambda: "summary is made" in drawn(app))
        for _ in range(10):
            await pilot.press("down")
            await pilot.pause(0.02)
            drawn(app)
        await pilot.press("r")
        await pilot.pause(0.2)
        drawn(app)
        await pilot.press("escape", "escape", "f6")
        await seen(app, pilot, SessionsScreen)
        await pilot.press("slash", *"zebra")
        await until(pilot, lambda: "1 found of 1" in drawn(app))
        assert app.is_running
        assert app.return_code is None
