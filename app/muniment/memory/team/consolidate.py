"""Consolidation: waiting notes become digest, knowledge, notebook entries and ledger rows, all or none."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.memory.ledger.row import NewRow, Trust
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, PlanWarning
from muniment.memory.team.classify import classify
from muniment.memory.team.consolidate_plan import NotePlan, Outcome, Preview, tripped
from muniment.memory.team.entry import NewEntry, decode, encode, fields_of
from muniment.memory.team.insights import Source, agent_of, cut, digest_notes, insights_of, one_line, title_of
from muniment.memory.team.notebooks import entry_text
from muniment.memory.team.notefile import check_note_name
from muniment.memory.team.notes import MAX_FILE_BYTES
from muniment.memory.team.pending import Step, Work, archive, new_file, notebook, rows, section
from muniment.memory.team.refusals import TeamRefused
from muniment.memory.team.rows import entry_row, notebook_row
from muniment.safety.errors import InvalidInput, NotFound
from muniment.safety.files import FileRefused
from muniment.safety.files import digest as digest_of

if TYPE_CHECKING:
    from muniment.memory.team.notefile import Note
    from muniment.memory.team.workspace import Team

SURFACE = "consolidation"
MOST_NOTES = 200
MOST_BYTES = 4_194_304
"""A batch is bounded so that somebody can read it; the oldest go first, what is over waits."""
_WORK = "consolidation"
_ENTRY_LINES = 12
_LEAST_DIGEST = 1_000


class Consolidation:
    """Looks at the inbox, says what would be done, and does it once and whole."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def waiting(self) -> list[Note]:
        """Return the eligible notes, oldest first: not held, and not in an approved run that was cut off."""
        flying = self._team.pending.notes()
        eligible = self._team.inbox.eligible()
        kept = [each for each in eligible if each.name not in flying and _is_named(each.name)]
        return sorted(kept, key=lambda each: (each.mtime, each.name))

    def ready(self) -> bool:
        """Tell whether as many notes wait as the settings ask for."""
        return len(self.waiting()) >= self._team.settings.notes.threshold

    def preview(self) -> Preview:
        """Return what a consolidation would do now, its digest by rules; nothing is written.

        With fewer notes than the threshold `enough` is false and `apply` refuses.
        """
        team = self._team
        waiting = self.waiting()
        breaker = tripped([each.text for each in waiting])
        batch = waiting if breaker else _bounded(waiting)
        plans = self._plans(batch)
        bound = max(_LEAST_DIGEST, team.settings.notes.max_bytes // 2)
        existing = "" if breaker else team.notes.read()
        sources = [
            Source(each.note.name, each.agent, each.title, each.note.body, each.reference) for each in plans
        ]
        ruled = digest_notes(sources, existing, self._today(), max_bytes=bound)
        return Preview(
            notes=plans,
            digest="" if breaker or not plans else ruled.text,
            by="rules",
            why="",
            breaker=breaker,
            insights=0 if breaker else ruled.insights,
            duplicates=0 if breaker else ruled.duplicates,
            eligible=len(waiting),
            threshold=team.settings.notes.threshold,
            scope=team.scope,
            state=self._state(),
            max_bytes=max(_LEAST_DIGEST, team.settings.notes.max_bytes),
        )

    def apply(self, preview: Preview, origin: Origin) -> Outcome:
        """Do what a preview says if everything still is as it was seen.

        The order: team notes, notebooks, knowledge, ledger, archive. Cut off anywhere, the next run finishes
        it without loss or repeat. Raise `ChangedAfterApproval`, `TeamRefused`, `LockBusy`; nothing is written
        then, unless the sentence says that the next run goes on.
        """
        if not preview.enough:
            raise TeamRefused(
                f"Nothing was changed: {preview.eligible} notes wait, {preview.threshold} are needed."
            )
        team = self._team
        # What its writes have in common lets one undo take back the whole.
        origin = replace(origin, surface=SURFACE, group=secrets.token_hex(8))
        with team.guard():
            said = team.pending.recover()
            self._check(preview)
            team.files.prepare(team.inbox.archive_directory)
            steps, new_rows = self._steps(preview)
            said += team.pending.run(Work(_WORK, origin, tuple(steps)))
        filed = () if preview.breaker else preview.notes
        return Outcome(
            archived=tuple(each.note.name for each in preview.notes),
            digest=preview.digest,
            by=preview.by,
            breaker=preview.breaker,
            entries=tuple(each.reference for each in filed),
            notebooks=tuple(sorted({each.notebook for each in filed if each.notebook is not None})),
            rows=len(new_rows),
            notes=said,
        )

    def recover(self) -> tuple[str, ...]:
        """Finish what was approved and cut off; return sentences about it, none where nothing was."""
        return self._team.pending.recover()

    def _plans(self, batch: Sequence[Note]) -> tuple[NotePlan, ...]:
        from muniment.safety.findings import warnings_for

        team = self._team
        known = team.notebooks.known()
        authors = team.inbox.authors(list(batch))
        today = self._today()
        taken: set[str] = set()
        plans: list[NotePlan] = []
        for note in batch:
            agent = agent_of(note.name, note.fields.get("agent", ""), known)
            title = title_of(note.text, note.name)
            name = team.knowledge.free_name(today, agent, title, taken)
            taken.add(name)
            trust: Trust = _TRUST.get(authors.get(note.name, "agent"), "agent")
            plan = NotePlan(note, agent, title, classify(note.name, note.text), name, trust)
            if agent in known:
                lines = insights_of(note.body)[:_ENTRY_LINES] or [cut(one_line(note.body) or title, 300)]
                plan = replace(plan, notebook=agent, entry=entry_text(today, title, lines, plan.reference))
            warnings = warnings_for([("file name", note.name), ("note", note.text)])
            plans.append(replace(plan, warnings=tuple(PlanWarning(*each) for each in warnings)))
        return tuple(plans)

    def _check(self, preview: Preview) -> None:
        team = self._team
        for each in preview.notes:
            path = each.note.path
            try:
                now = team.inbox.read(each.note.name)
            except (NotFound, FileRefused) as error:
                raise ChangedAfterApproval(
                    f"{path} is gone since it was approved, nothing written."
                ) from error
            if now.digest != each.note.digest or now.held:
                raise ChangedAfterApproval(f"{path} was changed after approval, nothing written.")
            if not preview.breaker and not team.knowledge.is_free(each.name):
                raise ChangedAfterApproval(
                    f"{team.directory / each.reference} was made after approval, nothing written."
                )
        if not preview.breaker and self._state() != preview.state:
            raise ChangedAfterApproval(f"{team.notes.path} was changed after approval, nothing written.")

    def _steps(self, preview: Preview) -> tuple[list[Step], list[NewRow]]:
        team = self._team
        day = self._today()
        away = [archive(each.note.name, each.note.digest, day) for each in preview.notes]
        if preview.breaker:
            return away, []
        steps: list[Step] = [section(preview.digest)]
        files: list[Step] = []
        books: dict[str, list[str]] = {}
        new_rows: list[NewRow] = []
        for each in preview.notes:
            if each.notebook is not None:
                books.setdefault(each.notebook, []).append(each.entry)
                new_rows.append(notebook_row(team, each.notebook, each.entry))
            text = self._file(each, day)
            path = team.directory / each.reference
            files.append(new_file(each.reference, text, surface="knowledge", item=each.name))
            entry = decode(text.encode("utf-8"), path, category=each.category, mtime=0.0)
            new_rows.append(entry_row(team, entry, each.trust))
        steps += [notebook(agent, texts) for agent, texts in books.items()]
        return [*steps, *files, rows(new_rows), *away], new_rows

    def _file(self, each: NotePlan, day: str) -> str:
        new = NewEntry(
            title=each.title,
            content=each.note.text,
            category=each.category,
            agent=each.agent,
            source=one_line(each.note.name),
            note=each.note.id,
        )
        return encode(fields_of(new, date=day, trust=each.trust), each.note.text)

    def _state(self) -> str | None:
        """Return the digest of the team notes; None where there are none, or none that can be read."""
        try:
            data = self._team.files.read(self._team.notes.path, max_bytes=MAX_FILE_BYTES)
        except FileRefused:
            return None
        return None if data is None else digest_of(data)

    def _today(self) -> str:
        return f"{self._team.clock():%Y-%m-%d}"


_TRUST: dict[str, Trust] = {"user": "human", "engine": "system"}


def _is_named(name: str) -> bool:
    """Tell whether a note can be asked for by its name; another one is left to whoever put it there."""
    try:
        return check_note_name(name) == name
    except InvalidInput:
        return False


def _bounded(notes: Sequence[Note]) -> list[Note]:
    """Return the oldest notes that fit into one batch, at least one."""
    kept: list[Note] = []
    size = 0
    for note in notes[:MOST_NOTES]:
        size += len(note.text.encode("utf-8"))
        if kept and size > MOST_BYTES:
            break
        kept.append(note)
    return kept
