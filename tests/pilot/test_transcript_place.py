"""Where a conversation stands: at the top while it is short, at its end once it is longer than the screen."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from textual.css.match import match

from muniment.session import events as ev
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


async def test_the_end_of_a_long_session_is_there_at_once_and_its_beginning_when_scrolled_to(
    tmp_path: Path,
) -> None:
    from bench.session_rows import write_session
    from muniment.paths import resolve_paths
    from muniment.session.options import StartOptions

    project = project_at(tmp_path / "p")
    session = write_session(resolve_paths().sessions, project, 120)
    options = StartOptions(provider="rehearsal", resume_id=session)
    async with opened(boot_for(project, options=options), size=(90, 30)) as (app, pilot):
        transcript = app.session_screen.transcript
        await until(pilot, lambda: "Question 59" in screen_text(app))
        # Two messages and two names a turn, wherever the reading of the log was cut.
        await until(pilot, lambda: len(transcript.parts) == 4 * 60)
        assert [part.text for part in transcript.parts if part.kind == "user"] == [
            f"Question {number} about the pilot" for number in range(60)
        ]
        await say(pilot, app, "and now")
        await ready(pilot, app)
        assert app.engine is not None
        assert len(app.engine.assemble_preview("x").request.items) > 120
        transcript.focus()
        while transcript.window.first:
            await pilot.press("home")
            await pilot.pause(0.02)
        await pilot.press("home")
        await until(pilot, lambda: "Question 0 about" in screen_text(app))


async def test_a_key_does_not_search_the_conversation_however_long_that_is(tmp_path: Path) -> None:
    """What is looked at is counted, not timed: a key that walks all that was said looks at every part."""
    looked = Counter[str]()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is match.__code__:
            looked[key] += 1

    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        emit = app.session_screen.emit
        key = "a"
        for key in ("a", "b"):
            sys.setprofile(count)
            try:
                await pilot.press(key)
            finally:
                sys.setprofile(None)
            for number in range(200):
                emit(ev.Notice(f"Sentence {number}."))
            await app.session_screen.drained()
        assert app.session_screen.composer.text == "ab"
    # Whatever comes by meanwhile looks at a few parts; a search of the conversation would look at all 200.
    assert looked["b"] < looked["a"] + 100
