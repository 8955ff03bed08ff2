"""The ledger: structured memory with trust, scope and a life of its own, kept in one SQLite file.

    ledger.upsert(rows, origin)             write; the same twice is once, newer content supersedes older
    ledger.get(id), ledger.search(text)     read; what has expired is told when it is read
    ledger.pin(id, origin)                  trust it as your own; makes it active again
    ledger.retract(id, origin)              take it out of recall; `restore` brings it back

Every change is in the journal, with the row before, before it is in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.ledger.database import Database, word_columns
from muniment.memory.ledger.faults import LedgerFault, RowPurged
from muniment.memory.ledger.lifecycle import (
    active,
    as_stored,
    is_shown_elsewhere,
    judged_as,
    made,
    pinned,
    retracted,
    same_place,
)
from muniment.memory.ledger.notes import Notes, row_bytes
from muniment.memory.ledger.row import (
    MAX_SOURCE_CHARS,
    NewRow,
    Places,
    Row,
    as_json,
    checked,
    is_row_id,
    one_line,
    says_the_same,
    stored_status,
    trusts_at_least,
)
from muniment.memory.ledger.tables import COLUMNS, read_row, row_values
from muniment.memory.origin import Origin, utc_now
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.records.times import format_time, whole_seconds
from muniment.safety.errors import NotFound
from muniment.safety.files import digest

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.journal import Journal
    from muniment.memory.ledger.purging import Purged
    from muniment.memory.ledger.repair import Health, Rebuilt
    from muniment.memory.ledger.searching import Pool, SearchResult
    from muniment.memory.recall.fts import WordCounts
    from muniment.memory.recall.query import Query

__all__ = ["Ledger", "LedgerFault", "NewRow", "Places", "Row"]


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of one row: its state before and after, equal where there was nothing to do."""

    before: Row
    after: Row


class Ledger:
    """The rows of all projects and agents of one user; every reader says for which places it asks."""

    def __init__(
        self,
        path: Path,
        *,
        journal: Journal,
        clock: Callable[[], datetime] = utc_now,
        database: Database | None = None,
    ) -> None:
        self.path = path
        self.journal = journal
        self.clock = clock
        self._database = Database(path) if database is None else database

    @cached_property
    def _word_counts(self) -> WordCounts:
        from muniment.memory.ledger.searching import TEXTS
        from muniment.memory.recall.fts import WordCounts

        return WordCounts(TEXTS)

    def close(self) -> None:
        """Let the file go; the next use opens it again."""
        self._database.close()

    # Reading

    def get(self, row_id: str) -> Row:
        """Return one row of any status; raise `NotFound`."""
        with self._database.reading() as connection:
            found = None if connection is None else self._find(connection, row_id)
        if found is None:
            raise _not_found(row_id)
        return found

    def of_source(self, source_key: str) -> list[Row]:
        """Return every row with one source key, oldest first."""
        with self._database.reading() as connection:
            return [] if connection is None else self._of_source(connection, source_key)

    def counts(self, places: Places | None = None) -> dict[str, int]:
        """Count the rows of each status, `expired` among them."""
        counted = {"active": 0, "superseded": 0, "retracted": 0, "expired": 0}
        condition, parameters = (places or Places(everywhere=True)).condition()
        with self._database.reading() as connection:
            if connection is None:
                return counted
            late = "CASE WHEN status = 'active' AND expires_at <= :now THEN 'expired' ELSE status END"
            rows = connection.execute(
                f"SELECT {late}, count(*) FROM memory WHERE {condition} GROUP BY 1",  # noqa: S608 - names of ours
                parameters | {"now": format_time(self.clock())},
            )
            counted.update(dict(rows.fetchall()))
        return counted

    def search(
        self,
        text: str | Query,
        *,
        scopes: Places | None = None,
        kind: str | None = None,
        limit: int | None = None,
        all: bool = False,  # noqa: A002 - the word of the commands
    ) -> SearchResult:
        """Rank the rows that hold any word of a text, best first; only active ones unless `all`.

        Without any text the newest rows come, without a score. `scopes` None asks for every project's rows,
        `kind` narrows to one kind of scope.
        """
        from muniment.memory.ledger.searching import search

        with self._database.reading() as connection:
            return search(
                connection,
                text,
                places=scopes or Places(everywhere=True),
                kind=kind,
                limit=limit,
                everything=all,
                now=self.clock(),
                full_text=self._database.full_text,
            )

    def pool(self, query: Query, places: Places, *, limit: int) -> Pool:
        """Return the best rows for a query that may be recalled in these places, with their counts."""
        from muniment.memory.ledger.searching import pool

        with self._database.reading() as connection:
            return pool(
                connection,
                query,
                places,
                limit=limit,
                now=self.clock(),
                full_text=self._database.full_text,
                counts=self._word_counts,
            )

    # Writing

    def upsert(self, rows: Sequence[NewRow], origin: Origin) -> list[Row]:
        """Write rows and return them as they stand, in the order given.

        A row with the same source key that says the same is left as it is, retracted or not: writing twice
        is writing once; only the source that it shows follows. Other content with the key takes the place
        of the rows it is trusted as much as. Raise `InvalidRow` before anything is written.
        """
        wanted = [checked(row) for row in rows]
        if not wanted:
            return []
        now = whole_seconds(self.clock())
        written: list[Row] = []
        with self._noting(origin) as notes, self._database.writing() as connection:
            for new in wanted:
                written.append(self._put(connection, new, now, notes))
            notes.announce()
        return written

    def refile(self, source_key: str, source: str, project: str | None, origin: Origin) -> None:
        """Let the rows of a source key in one project show another source; they stay as old as they are."""
        shown = one_line(source)[:MAX_SOURCE_CHARS]
        if not any(is_shown_elsewhere(row, shown, project) for row in self.of_source(source_key)):
            return
        with self._noting(origin) as notes, self._database.writing() as connection:
            moved = [
                (row, replace(row, source=shown))
                for row in self._of_source(connection, source_key)
                if is_shown_elsewhere(row, shown, project)
            ]
            for before, after in moved:
                notes.add(before, after)
            notes.announce()
            for _, after in moved:
                self._update(connection, after)

    def pin(self, row_id: str, origin: Origin) -> Changed:
        """Make a row your own: trust `human`, importance and confidence 1, active whatever it was."""
        return self._change(row_id, origin, pinned)

    def retract(self, row_id: str, origin: Origin, *, seen: Row | None = None) -> Changed:
        """Take a row out of recall; it stays readable and `restore` brings it back.

        Raise `ChangedAfterApproval` where the row is not as it was `seen` any more.
        """

        def make(row: Row, _: datetime) -> Row:
            if seen is not None and as_stored(row) != as_stored(seen):
                raise ChangedAfterApproval(f"{row.id} was changed meanwhile, nothing was retracted.")
            return retracted(row)

        return self._change(row_id, origin, make)

    def restore(self, row_id: str, origin: Origin) -> Changed:
        """Make a retracted, superseded or expired row active again; judged as before."""
        return self._change(row_id, origin, active)

    def purge(self, row_id: str, origin: Origin, *, reason: str = "", seen: Row | None = None) -> Purged:
        """Remove what a row said for good, from the file and its log, the index and the journal.

        The row stays as a mark of what it was, retracted. Written again by the same source the same text
        stays away. A row that was purged before is cleaned once more. Raise `NotFound`, and where the row is
        not as it was `seen` any more `ChangedAfterApproval`.
        """
        from muniment.memory.ledger.purging import purge

        return purge(self, self._database, self.get(row_id) if seen is None else seen, reason, origin)

    def take_back(self, row_id: str, left: str, before: Row | None, origin: Origin) -> bool:
        """Judge a row as it was before a write of the journal: retracted where that write made it.

        `left` is the digest of the row as that write left it. Where the row is not so any more nothing is
        changed and False is returned.
        """

        def as_before(row: Row, now: datetime) -> Row:
            return judged_as(row, before, now) if digest(row_bytes(row)) == left else row

        changed = self._change(row_id, origin, as_before, dated=True)
        return changed.before != changed.after

    # Repairing

    def health(self) -> Health:
        """Check the whole file and its index; nothing is changed."""
        from muniment.memory.ledger.repair import check

        return check(self._database)

    def rebuild(self, rows: Sequence[NewRow], origin: Origin) -> Rebuilt:
        """Repair: a sound file gets a new index; a damaged one is set aside and what it still gives is saved.

        `rows` are those that files hold; they are written as by `upsert`.
        """
        from muniment.memory.ledger.repair import rebuild

        return rebuild(self, self._database, rows, origin)

    def at(self, path: Path) -> Ledger:
        """Return a ledger in another file, with the same journal and clock."""
        return Ledger(path, journal=self.journal, clock=self.clock)

    def adopt(self, rows: Sequence[Row]) -> int:
        """Put rows as they stand into a new ledger, skipping those it has; returns how many were put."""
        added = 0
        with self._database.writing() as connection:
            known = {each for (each,) in connection.execute("SELECT id FROM memory")}
            kept = {row.id for row in rows} | known
            for row in rows:
                if row.id in known:
                    continue
                if row.superseded_by is not None and row.superseded_by not in kept:
                    row = retracted(row)
                self._insert(connection, row)
                added += 1
        return added

    # Inside a transaction

    def _put(self, connection: sqlite3.Connection, new: NewRow, now: datetime, notes: Notes) -> Row:
        known = [row for row in self._of_source(connection, new.source_key) if same_place(row, new)]
        for row in reversed(known):
            if row.status != "superseded" and says_the_same(row, new):
                if row.source == new.source:
                    return row
                shown = replace(row, source=new.source)
                notes.add(row, shown)
                self._update(connection, shown)
                return shown
        row = made(new, known, now)
        gone = self._find(connection, row.id)
        if gone is not None and gone.purged_at is not None:
            # An id is made of what a row says: this is what somebody purged.
            return gone
        self._insert(connection, row)
        notes.add(None, row)
        for old in known:
            if old.status in ("active", "expired") and trusts_at_least(new.trust, old.trust):
                after = replace(old, status="superseded", superseded_by=row.id, updated_at=now)
                notes.add(old, after)
                self._update(connection, after)
        return row

    def _change(
        self, row_id: str, origin: Origin, make: Callable[[Row, datetime], Row], *, dated: bool = False
    ) -> Changed:
        """Change one row to what `make` says; with `dated` it says when that was, too."""
        now = whole_seconds(self.clock())
        if not self.path.exists():
            raise _not_found(row_id)
        with self._noting(origin) as notes, self._database.writing() as connection:
            before = self._find(connection, row_id)
            if before is None:
                raise _not_found(row_id)
            if before.purged_at is not None:
                raise RowPurged(before.id)
            after = make(before, now)
            if after == before:
                return Changed(before, before)
            if not dated:
                after = replace(after, updated_at=max(now, before.updated_at))
            notes.add(before, after)
            notes.announce()
            self._update(connection, after)
        return Changed(before, after)

    def _find(self, connection: sqlite3.Connection, row_id: str) -> Row | None:
        if not is_row_id(row_id):
            return None
        found = connection.execute(
            f"SELECT {COLUMNS} FROM memory WHERE id = ?",  # noqa: S608 - names of ours
            (row_id,),
        ).fetchone()
        return None if found is None else read_row(found, self.clock())

    def _of_source(self, connection: sqlite3.Connection, source_key: str) -> list[Row]:
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM memory WHERE source_key = ? ORDER BY number",  # noqa: S608 - names of ours
            (source_key,),
        ).fetchall()
        now = self.clock()
        return [read_row(row, now) for row in rows]

    def _insert(self, connection: sqlite3.Connection, row: Row) -> None:
        words = word_columns(row.title, as_json(row.tags), as_json(row.paths), row.body)
        values = (*row_values(row), *words)
        marks = ", ".join("?" * len(values))
        connection.execute(
            f"INSERT INTO memory({COLUMNS}, title_words, labels_words, body_words, code_words)"  # noqa: S608 - names of ours
            f" VALUES ({marks})",
            values,
        )

    def _update(self, connection: sqlite3.Connection, row: Row) -> None:
        """Write how a row is judged and where it is from; its text never changes."""
        connection.execute(
            "UPDATE memory SET trust = ?, status = ?, source = ?, importance = ?, confidence = ?,"
            " superseded_by = ?, expires_at = ?, updated_at = ? WHERE id = ?",
            (
                row.trust,
                stored_status(row.status),
                row.source,
                row.importance,
                row.confidence,
                row.superseded_by,
                None if row.expires_at is None else format_time(row.expires_at),
                format_time(row.updated_at),
                row.id,
            ),
        )

    @contextmanager
    def _noting(self, origin: Origin) -> Iterator[Notes]:
        """Collect what changes; the journal learns of it before the file does and once more after."""
        notes = Notes(self.journal, self.path, origin)
        try:
            yield notes
        except BaseException:
            notes.end(done=False)
            raise
        notes.end(done=True)


def _not_found(row_id: str) -> NotFound:
    return NotFound(f"There is no ledger row {ascii(row_id[:70])[1:-1]}; muniment ledger search lists them.")
