"""Times of records: RFC 3339 in UTC with whole seconds, read leniently by hand and written in one form."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time

_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d+)?[ ]?(Z|z|[+-]\d{2}:?\d{2})?", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DAY_END = time(23, 59, 59, tzinfo=UTC)
_DAY_START = time(0, 0, 0, tzinfo=UTC)


class TimeFault(ValueError):  # noqa: N818 - a fault of the text
    """A text is no usable time; the message says why and does not repeat the text."""


def parse_time(text: str, *, day_ends: bool = False, zone_required: bool = False) -> datetime:
    """Read a time as UTC with whole seconds; raise `TimeFault`.

    A bare date means the start of that day in UTC, or its last second with `day_ends`. A time without an
    offset is UTC, or a fault with `zone_required`.
    """
    # The one form that is written here is by far the most frequent; every other goes the long way.
    if (
        len(text) == 20
        and text[10] == "T"
        and text[19] == "Z"
        and text[13] == text[16] == ":"
        and text[5] != "W"
    ):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            if _DATE.fullmatch(text) is None:
                raise TimeFault("is not a date or time such as 2026-10-25T03:07:29Z")
            return datetime.combine(date.fromisoformat(text), _DAY_END if day_ends else _DAY_START)
        day, clock, zone = found.groups()
        if zone is None:
            if zone_required:
                raise TimeFault("has no offset: end it with Z for UTC")
            zone = "Z"
        # A leap second has no place in a datetime; the second before it is the nearest that has.
        clock = clock.replace(":60", ":59") if clock.endswith(":60") else clock
        return datetime.fromisoformat(f"{day}T{clock}{zone.upper()}").astimezone(UTC)
    except TimeFault:
        raise
    except (ValueError, OverflowError) as error:
        raise TimeFault("is not a time that exists") from error


def format_time(moment: datetime) -> str:
    """Write a time as `2026-10-25T03:07:29Z`."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat()[:19] + "Z"


def whole_seconds(moment: datetime) -> datetime:
    """Return the moment in UTC without its fraction of a second."""
    return moment.astimezone(UTC).replace(microsecond=0)


def from_epoch(seconds: float) -> datetime:
    """Return a file time in UTC with whole seconds; times beyond the calendar become its edge."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        year = 9999 if seconds > 0 else 1
        return datetime(year, 1, 1, tzinfo=UTC)


def expired(expires_at: datetime | None, now: datetime) -> bool:
    """Tell whether something has expired: its time is now or past."""
    return expires_at is not None and expires_at <= now


def later(first: datetime, second: datetime) -> datetime:
    """Return the later of two times, so that a clock that went back dates no update before its record."""
    return first if first >= second else second
