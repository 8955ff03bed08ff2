"""Where a conversation stands: at the top while it is short, at its end once it is longer than the screen."""

from __future__ import annotations

from pathlib import Path

from support.app import boot_for, opened, project_at, ready, say, screen_text, until


async def test_a_short_conversation_stands_at_the_top_and_a_long_one_shows_its_end(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(90, 40)) as (app, pilot):
        await say(pilot, app, "hello 0")
        await ready(pilot, app)
        await until(pilot, lambda: "hello 0" in "\n".join(screen_text(app).splitlines()[:5]))
        for number in range(1, 8):
            await say(pilot, app, f"hello {number}")
            await ready(pilot, app)
        await until(pilot, lambda: "hello 7" in screen_text(app) and "hello 0" not in screen_text(app))
        transcript = app.session_screen.transcript
        assert transcript.scroll_y == transcript.max_scroll_y > 0
        transcript.focus()
        await pilot.press("home")
        await until(pilot, lambda: transcript.scroll_y == 0)
        await transcript.notice("Something new at the end.")
        await pilot.pause()
        assert transcript.scroll_y == 0
        await pilot.press("end")
        await until(pilot, lambda: "Something new at the end." in screen_text(app))
        await transcript.notice("And more.")
        await until(pilot, lambda: "And more." in screen_text(app))
        await pilot.resize_terminal(90, 140)
        await until(pilot, lambda: "hello 0" in "\n".join(screen_text(app).splitlines()[:5]))
