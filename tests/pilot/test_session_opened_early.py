"""A session that is open before the screen has its widgets is shown as soon as it has them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from textual.app import App
from textual.worker import WorkerState

from muniment.session.options import StartOptions
from muniment.session.start import open_session
from muniment.tui.screens import session
from muniment.tui.screens.session import SessionScreen
from support.app import boot_for, opened, project_at, ready, say, screen_text, until

STYLES = Path(session.__file__).with_suffix(".tcss")


async def test_a_session_attached_at_once_is_shown(tmp_path: Path) -> None:
    boot = boot_for(project_at(tmp_path / "p"))
    engine = open_session(
        StartOptions(provider="rehearsal"), boot.paths, boot.cwd, boot.environ, None, settings=boot.settings
    )
    screen = SessionScreen()

    class Early(App[int]):
        CSS_PATH = STYLES

        def on_mount(self) -> None:
            self.push_screen(screen)
            self.run_worker(screen.attach(engine, card=False))

    app = Early()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "ready" in screen_text(app))
        assert engine.id[:8] in screen_text(app)
    await engine.close()


class Hasty(SessionScreen):
    """A user who types ahead: his keys come as soon as the screen has its widgets."""

    def on_mount(self) -> None:
        self.action_back()
        self.action_toggle_panel()


async def test_keys_for_the_panel_may_come_before_its_parts() -> None:
    class Early(App[int]):
        CSS_PATH = STYLES

        def on_mount(self) -> None:
            self.push_screen(Hasty())

    app = Early()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query("#memory-tree"))
        assert "over the conversation" in screen_text(app)


async def test_a_session_opened_while_another_one_opens_comes_after_it_and_locks_nothing(
    tmp_path: Path,
) -> None:
    boot = boot_for(project_at(tmp_path / "p"))
    async with opened(boot) as (app, pilot):
        await say(pilot, app, "hello")
        await until(pilot, lambda: app.engine is not None and len(app.engine.replay()) > 3)
        await ready(pilot, app)
        assert app.engine is not None
        kept = app.engine.id
        app.action_slash("new")
        await until(pilot, lambda: app.engine is not None and app.engine.id != kept)
        await ready(pilot, app)
        # Two keys in a row, however close: the first of them must not leave its session half open or drawn.
        for delay in (0.0, 0.01, 0.03, 0.06):
            first = app.open(replace(app.options, resume_id=kept))
            await asyncio.sleep(delay)
            second = app.open(app.options)
            await until(pilot, lambda second=second: second.is_finished)
            await ready(pilot, app)
            assert (first.state, second.state) == (WorkerState.SUCCESS, WorkerState.SUCCESS)
            assert app.engine.id != kept
            assert [each for each in app.session_screen.walk_children() if each._closed] == []
        again = open_session(
            StartOptions(provider="rehearsal", resume_id=kept),
            boot.paths,
            boot.cwd,
            boot.environ,
            None,
            settings=boot.settings,
        )
        assert len(again.replay()) > 1
        await again.close()
