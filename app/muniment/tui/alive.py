"""Whether a screen still stands: what a thread brought back may come after the user has left."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen


def stands(screen: Screen[Any]) -> bool:
    """Tell whether a screen is among those that are shown, with its widgets, so that it may be drawn on."""
    return screen.is_running and screen in screen.app.screen_stack and bool(screen.children)
