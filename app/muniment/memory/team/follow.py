"""The row of a knowledge entry goes, comes back and changes with its file, when a write is taken back too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.journal import bytes_of
from muniment.memory.journal_undo import CannotUndo
from muniment.memory.ledger.faults import LedgerFault, RowPurged
from muniment.memory.ledger.notes import SURFACE, row_of
from muniment.memory.ledger.row import InvalidRow, checked, is_row_id
from muniment.memory.origin import Origin
from muniment.memory.team.entry import EntryFault, decode
from muniment.memory.team.notebooks import split
from muniment.memory.team.refusals import TeamRefused
from muniment.memory.team.rows import entry_key, entry_row, notebook_key
from muniment.safety.errors import NotFound

if TYPE_CHECKING:
    from muniment.memory.journal import Entry as Written
    from muniment.memory.journal_undo import UndoPlan
    from muniment.memory.ledger.row import NewRow, Row
    from muniment.memory.team.workspace import Team


def rows_of(team: Team, name: str) -> list[Row]:
    """Return the rows of an entry of this workspace, oldest first."""
    return [row for row in team.ledger.of_source(entry_key(name)) if row.project == team.scope_key]


def retract_rows(team: Team, name: str, origin: Origin) -> None:
    """Take the rows of an entry out of recall, because its file went."""
    for row in rows_of(team, name):
        if row.status == "active":
            team.ledger.retract(row.id, origin)


def write_rows(team: Team, new: Sequence[NewRow], origin: Origin) -> None:
    """Write the rows of files that were just approved; one that went with an earlier file holds again."""
    for row in team.ledger.upsert(new, origin):
        if row.status != "retracted" or row.purged_at is not None:
            continue
        team.ledger.restore(row.id, origin)
        for other in team.ledger.of_source(row.source_key):
            if other.status == "active" and other.id != row.id and other.project == row.project:
                team.ledger.retract(other.id, origin)


def finished(team: Team, plan: UndoPlan) -> None:
    """Raise `CannotUndo` where the work that is to be taken back was cut off and is not at its end yet."""
    if team.at(Path(plan.entry.directory)).pending.waits():
        raise CannotUndo(
            f"The {plan.work} was cut off; `muniment doctor --fix` finishes it, then it can be taken back."
        )


def follow_undo(team: Team, plan: UndoPlan, origin: Origin) -> None:
    """Bring the rows of knowledge entries to what their files say, where an act is taken back.

    What the same act did to rows is taken back as it was; where the journal knows of no such act, or a row
    was judged since, rows go and come back by what the file says. Raise `TeamRefused` where the ledger
    cannot be written; the file is as it was wanted all the same.
    """
    team = team.at(Path(plan.entry.directory))
    try:
        if not _taken_back(team, plan.entry, origin):
            for part in plan.parts:
                if part.entry.surface == "knowledge":
                    _fit_to_file(team, part, origin)
                elif part.entry.surface == "notebook":
                    _fit_to_notebook(team, part, origin)
    except LedgerFault as fault:
        raise TeamRefused(f"{plan.path} is done, its ledger row is as it was: {fault.sentence}") from fault


def _taken_back(team: Team, written: Written, origin: Origin) -> bool:
    """Take back what one act did to rows, newest first; False where that is not known or not whole."""
    group = written.origin.group
    if not group:
        return False
    whole = True
    for line in team.journal.lines():
        entry = line.entry
        if entry.surface != SURFACE or entry.origin.group != group or line.failed:
            continue
        if entry.digest_after is None or entry.purged or not is_row_id(entry.item):
            return False  # one entry may stand for a whole batch, whose rows it does not name
        before = None
        if entry.text_before is not None:
            try:
                before = row_of(entry.text_before)
            except (ValueError, TypeError):
                return False
        with suppress(NotFound, RowPurged):
            whole = team.ledger.take_back(entry.item, entry.digest_after, before, origin) and whole
    return whole


def _fit_to_file(team: Team, plan: UndoPlan, origin: Origin) -> None:
    """Let the row that says what the file says be the one that holds."""
    name = plan.path.stem
    if plan.text_then is None:
        retract_rows(team, name, origin)
        return
    known = rows_of(team, name)
    if not known:
        return
    fitting = _saying(known, team, plan.path, plan.text_then)
    holds = fitting[-1] if fitting else known[-1]
    if holds.status not in ("active", "expired") and (fitting or _all_retracted(known)):
        team.ledger.restore(holds.id, origin)
    for row in known if fitting else ():
        if row.status == "active" and row.id != holds.id:
            team.ledger.retract(row.id, origin)


def _fit_to_notebook(team: Team, plan: UndoPlan, origin: Origin) -> None:
    """Let the rows of a notebook go and come back with its entries."""
    _, now = split(plan.text_now or "")
    _, then = split(plan.text_then or "")
    for text in {*now} ^ {*then}:
        for row in team.ledger.of_source(notebook_key(plan.entry.item, text)):
            if row.project != team.scope_key:
                continue
            if text in then and row.status == "retracted" and row.purged_at is None:
                team.ledger.restore(row.id, origin)
            elif text in now and row.status == "active":
                team.ledger.retract(row.id, origin)


def _saying(known: Sequence[Row], team: Team, path: Path, text: str) -> list[Row]:
    """Return the rows that say what the text of an entry says."""
    try:
        entry = decode(bytes_of(text), path, category=path.parent.name, mtime=0.0)
        said = checked(entry_row(team, entry, "agent"))
    except (EntryFault, InvalidRow):
        return []
    return [row for row in known if (row.title, row.body) == (said.title, said.body)]


def _all_retracted(rows: Sequence[Row]) -> bool:
    return all(row.status == "retracted" for row in rows)
