"""One long reply streamed into a screen of its own: into ours, or into Textual's Markdown as it comes.

Prints the seconds from the first delta to the last one drawn; `turns` prints MiB after few and many turns.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from bench.session_rows import TURNS, YOUNG, pieces
from support.app import boot_for, opened, project_at

SIZE = (80, 24)


class Bare(App[None]):
    """A Markdown widget that scrolls."""

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()


async def bare() -> float:
    """Stream as Textual's documentation does."""
    app = Bare()
    async with app.run_test(size=SIZE) as pilot:
        app.query_one(VerticalScroll).anchor()
        await pilot.pause()
        begun = time.perf_counter()
        stream = Markdown.get_stream(app.query_one(Markdown))
        for piece in pieces():
            await stream.write(piece)
        await stream.stop()
        await pilot.pause()
        return time.perf_counter() - begun


async def ours() -> float:
    """Stream through the events of an engine, as every reply comes."""
    from muniment.session import events as ev

    async with opened(boot_for(project_at(Path.cwd() / "p")), size=SIZE) as (app, pilot):
        screen = app.session_screen
        begun = time.perf_counter()
        for piece in pieces():
            screen.emit(ev.TextDelta(piece))
            await asyncio.sleep(0)
        screen.emit(ev.ReplyEnded("", 0))
        screen.emit(ev.TurnEnded("completed"))
        await screen.drained()
        await pilot.pause()
        return time.perf_counter() - begun


async def turns() -> tuple[float, float]:
    """Live many turns; return the MiB after the first of them and after all."""
    from muniment.model import rehearsal

    # The rehearsal model speaks as slowly as a real one, which is not what is measured here.
    defaults = rehearsal.RehearsalModel.__init__.__kwdefaults__
    assert defaults is not None
    defaults["pace"] = 0.0
    async with opened(boot_for(project_at(Path.cwd() / "turns")), size=SIZE) as (app, pilot):
        engine, screen, young = app.engine, app.session_screen, 0.0
        assert engine is not None
        for number in range(1, TURNS + 1):
            await engine.turn(f"hello {number}", screen.emit)
            await screen.drained()
            if number == YOUNG:
                await pilot.pause()
                young = resident()
        return young, resident()


def resident() -> float:
    """Return the memory of this process in MiB."""
    import gc

    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    which = sys.argv[1]
    if which == "turns":
        print(*asyncio.run(turns()))
    else:
        print(asyncio.run(ours() if which == "ours" else bare()))
