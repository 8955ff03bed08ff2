"""What can go wrong with a workspace as a whole."""

from __future__ import annotations

from muniment.safety.errors import MunimentError


class TeamRefused(MunimentError):  # noqa: N818 - says what happened
    """A write to team memory that cannot be done now; nothing was changed."""
