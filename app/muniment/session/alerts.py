"""What the engine wants a person to see later: one note a day for each thing, never at a turn's expense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.safety.errors import MunimentError
from muniment.safety.visible import reading_line

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces

AGENT = "engine"
MAX_LINES = 100


def raise_alert(surfaces: Surfaces, session: str, title: str, body: str) -> bool:
    """Put an alert into the inbox, once a day for a title, and tell whether it was written now.

    Best effort: a place that cannot be written is only False.
    """
    from muniment.memory.team.notefile import NewNote

    lines = body.splitlines()
    kept = [reading_line(each) for each in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        kept.append(f"and {len(lines) - MAX_LINES} more")
    try:
        note = surfaces.team.inbox.add_once(
            NewNote(title, "\n".join(kept), AGENT, "engine", session),
            title,
            Origin("engine", "alert", session, agent=AGENT),
        )
    except (OSError, MunimentError):
        return False
    return note is not None
