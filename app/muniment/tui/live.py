"""Keeping the screen in step with memory on disk while a session is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.memory.watch import Watch, memory_directories, watch_memory
from muniment.tui.widgets.memory_panel import MemoryPanel

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


def follow_memory(app: MunimentApp, engine: Engine) -> Watch:
    """Watch the memory of a session: the panel looks at changes, searches know of none."""
    records = engine.surfaces.records

    # Both come from the watcher's thread, and may arrive when the screen is being taken down.
    def changed() -> None:
        app.call_later(look)

    def notice(text: str) -> None:
        app.call_later(tell, text)

    def look() -> None:
        for panel in app.session_screen.query(MemoryPanel):
            panel.look()

    def tell(text: str) -> None:
        if app.session_screen.query(MemoryPanel):
            app.tell(text)

    watch = watch_memory(lambda: memory_directories(records.chain()), changed, notice)
    records.watched = watch.mark
    return watch
