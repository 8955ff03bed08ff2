"""The one clock, which everything that needs the time takes as an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the present in UTC."""
    return datetime.now(UTC)
