"""A session that is open before the screen has its widgets is shown as soon as it has them."""

from __future__ import annotations

from pathlib import Path

from textual.app import App

from muniment.session.options import StartOptions
from muniment.session.start import open_session
from muniment.tui.screens import session
from muniment.tui.screens.session import SessionScreen
from support.app import boot_for, project_at, screen_text, until

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
