"""The changes of the ledger on their way into the journal: announced before they are made, settled after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

from muniment.memory.journal import Journal, Target
from muniment.memory.ledger.row import Row
from muniment.memory.origin import Origin
from muniment.memory.records.times import parse_time
from muniment.safety.errors import MunimentError
from muniment.safety.files import digest

SURFACE = "ledger"
"""The journal's word for writes to the ledger."""
_LATER = ("purged_at", "purge_reason")
JOURNALLED_SINGLY = 64
"""A larger batch of new rows is one entry of the journal."""


class Notes:
    """The changes of one transaction, in the order in which they are made."""

    def __init__(self, journal: Journal, path: Path, origin: Origin) -> None:
        self._journal = journal
        self._path = path
        self._origin = origin
        self._changes: list[tuple[Row | None, Row]] = []
        self._entries: list[str] = []

    def add(self, before: Row | None, after: Row) -> None:
        self._changes.append((before, after))

    def announce(self) -> None:
        """Write the entries; raise `JournalFault` where they cannot be kept, and then nothing is changed."""
        created = [after for before, after in self._changes if before is None]
        if len(created) > JOURNALLED_SINGLY:
            self._begin(f"{created[0].id} and {len(created) - 1} more", created[0].scope_kind, None, created)
        for before, after in self._changes:
            if before is not None or len(created) <= JOURNALLED_SINGLY:
                self._begin(after.id, after.scope_kind, before, [after])

    def _begin(self, item: str, scope: str, before: Row | None, after: Sequence[Row]) -> None:
        data = None if before is None else row_bytes(before)
        self._entries.append(
            self._journal.begin(
                Target(
                    surface=SURFACE,
                    action="create" if before is None else "replace",
                    scope=scope,
                    directory=self._path.parent,
                    item=item,
                    path=self._path,
                ),
                self._origin,
                before=data,
                digest_before=None if data is None else digest(data),
                digest_after=digest(b"\n".join(map(row_bytes, after))),
            ).id
        )

    def end(self, *, done: bool) -> None:
        """Note of every entry whether its effect is in the file."""
        for entry in self._entries:
            # The effect is what counts; a journal that cannot note it (disk full) is no reason to fail.
            with suppress(OSError, MunimentError):
                (self._journal.settle if done else self._journal.fail)(entry)


def row_bytes(row: Row) -> bytes:
    """Return a row as the journal keeps it."""
    return json.dumps(row.as_dict(), ensure_ascii=False, sort_keys=True).encode()


def row_of(text: str) -> Row:
    """Return the row that `row_bytes` wrote; raise `ValueError` for what it did not write."""
    values = json.loads(text)
    # An older ledger knew of no purge.
    if not isinstance(values, dict) or {*values, *_LATER} != {each.name for each in fields(Row)}:
        raise ValueError("no row of the ledger")
    for name in ("paths", "tags"):
        values[name] = tuple(values[name])
    for name in ("expires_at", "created_at", "updated_at", "purged_at"):
        values[name] = None if values.get(name) is None else parse_time(values[name])
    return Row(**values)
