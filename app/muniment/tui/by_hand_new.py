"""Writing something new by hand: a record or an entry in a form, a note in one field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.session.holdings import Item

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


async def note(app: MunimentApp, engine: Engine) -> None:
    """Put a note of the user's into the inbox."""


async def create(app: MunimentApp, engine: Engine, item: Item | None) -> None:
    """Write a record or an entry by hand."""
