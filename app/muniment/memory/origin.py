"""Who wrote: the facts about a decision that the journal keeps with every write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from muniment.memory.clock import utc_now

__all__ = ["Actor", "Origin", "utc_now"]

Actor = Literal["agent", "user", "import", "engine"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote, on whose behalf and by which decision; empty strings where a thing does not apply.

    `actor` is `agent` for a tool call, `user` for the panel and for commands by hand.
    """

    actor: Actor
    surface: str = ""
    """The door it came through: `tool`, `cli`, `panel`, `import`, `consolidation`."""
    session: str = ""
    recipe: str = ""
    agent: str = ""
    model: str = ""
    mode: str = ""
    decided_by: str = ""
    reason: str = ""
    group: str = ""
    """What the writes of one act share; one undo takes all of them back. Empty for a write on its own."""
