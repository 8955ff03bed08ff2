"""The review: one list of everything that waits for a decision, and of files that are passed over."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from muniment.safety.errors import MunimentError, sentence_of
from muniment.session.holdings.items import numbered

if TYPE_CHECKING:
    from muniment.approval.proposal import Proposal
    from muniment.memory.surfaces import Surfaces
    from muniment.memory.team.consolidate_plan import Preview
    from muniment.memory.team.notebook_summary import SummaryDue
    from muniment.memory.team.sweep import SweepItem
    from muniment.session.holdings.items import Passed

Kind = Literal["proposal", "consolidation", "sweep", "summary", "skipped"]
_SWEPT = {"stale": "leaves: stale", "duplicate": "leaves: duplicate", "refile": "is filed elsewhere"}
_MINUTES = 10
"""Entries grow stale without a change of a file, so that everything is looked at again after so long."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the review. `text` is the long text that belongs to it, such as a digest."""

    kind: Kind
    key: str
    """What stays the same while the row changes."""
    title: str
    about: str
    facts: tuple[tuple[str, str], ...] = ()
    text: str = ""
    ref: object = None
    """The object that would be decided on: a proposal, a preview, sweep items."""

    @property
    def decides(self) -> bool:
        """Whether this is a decision rather than a report."""
        return self.kind != "skipped"


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that waits, decisions first; `faults` are sentences about what could not be looked at."""

    items: tuple[Waiting, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def decisions(self) -> int:
        return sum(each.decides for each in self.items)

    @property
    def skipped(self) -> int:
        return len(self.items) - self.decisions

    @property
    def words(self) -> str:
        """The counts as a sentence; empty where nothing waits."""
        parts = []
        if self.decisions:
            parts.append("1 thing waits" if self.decisions == 1 else f"{self.decisions} things wait")
        if self.skipped:
            parts.append(f"{numbered(self.skipped, 'file')} passed over")
        return ", ".join(parts)


class Collector:
    """Looks at everything that can wait in one working directory, again only where something has changed."""

    def __init__(self, surfaces: Surfaces) -> None:
        from muniment.session.holdings.reading import Holder

        self._surfaces = surfaces
        self._holder = Holder(surfaces)
        self._lock = Lock()
        self._stamp: Hashable = None
        self._team: tuple[tuple[Waiting, ...], tuple[str, ...]] = ((), ())

    def look(self, proposals: Sequence[Proposal] = ()) -> Review:
        """Return what waits now; reads files, so it is work for a thread."""
        self.decisions()
        with self._lock:
            rows, faults = self._team
            passed = skipped_rows(self._holder.look().passed)
        return Review((*(proposal_row(each) for each in proposals), *rows, *passed), faults)

    def decisions(self) -> int:
        """Count the team's decisions that wait, without the proposals and the files that are passed over."""
        with self._lock:
            stamp = self._stamped()
            if stamp != self._stamp:
                self._team = self._look_at_team()
                self._stamp = stamp
            return len(self._team[0])

    def _stamped(self) -> Hashable:
        from muniment.memory.team.holds import FILE_NAME
        from muniment.session.holdings.reading import stamp_of

        directory = self._surfaces.team.directory
        minute = int(self._surfaces.clock().timestamp()) // (60 * _MINUTES)
        return (
            minute,
            *(stamp_of(directory / each) for each in ("notes", "knowledge", "notes.md", FILE_NAME)),
        )

    def _look_at_team(self) -> tuple[tuple[Waiting, ...], tuple[str, ...]]:
        rows: list[Waiting] = []
        faults: list[str] = []
        for look in (self._consolidation, self._sweep, self._summaries):
            try:
                rows += look()
            except (MunimentError, OSError) as error:
                faults.append(sentence_of(error))
        return tuple(rows), tuple(faults)

    def _consolidation(self) -> list[Waiting]:
        from muniment.session.team.digesting import prepare

        surfaces = self._surfaces
        if surfaces.settings.notes.consolidate == "off" or not surfaces.team.consolidation.ready():
            return []
        return [consolidation_row(prepare(surfaces), surfaces.team.directory)]

    def _sweep(self) -> list[Waiting]:
        surfaces = self._surfaces
        if surfaces.settings.knowledge.sweep == "off":
            return []
        items = surfaces.team.sweep.propose()
        return [sweep_row(items, surfaces.team.directory)] if items else []

    def _summaries(self) -> list[Waiting]:
        from muniment.memory.team.notebook_summary import due

        return [summary_row(each, self._surfaces.team.directory) for each in due(self._surfaces.team)]


def proposal_row(proposal: Proposal) -> Waiting:
    """Return the row of a proposal on the desk."""
    asker = proposal.asker
    who = ", ".join(each for each in (asker.agent, asker.recipe, asker.model) if each)
    warned = f" · {numbered(len(proposal.warnings), 'warning')}" if proposal.warnings else ""
    facts = [("tool", proposal.tool), *((each.label, each.value) for each in proposal.fields)]
    facts += [("warning", each.text) for each in proposal.warnings]
    if who:
        facts.append(("asked by", who))
    text = "" if proposal.change is None else proposal.change.after or ""
    subject = proposal.fields[0].value if proposal.fields else ""
    return Waiting(
        "proposal",
        f"proposal {proposal.id}",
        f"{proposal.title}: {subject}" if subject else proposal.title,
        f"a proposal of {asker.agent or 'the model'}{warned}",
        tuple(facts),
        text,
        proposal,
    )


def consolidation_row(preview: Preview, directory: Path | str) -> Waiting:
    """Return the row of a consolidation: its digest, and for each note where it goes."""
    count = numbered(len(preview.notes), "note")
    facts = [("workspace", str(directory))]
    if preview.breaker:
        facts.append(("what happens", "Most of these notes repeat one text: they go to the archive unread."))
    else:
        who = {"rules": "by rules", "model": "by the model", "user": "by you"}[preview.by]
        facts.append(("digest", f"{who}, {numbered(preview.insights, 'insight')}"))
    if preview.why:
        facts.append(("why by rules", preview.why))
    if preview.left:
        facts.append(("left over", f"{numbered(preview.left, 'note')} for the next consolidation"))
    for number, each in enumerate(preview.notes, 1):
        goes = "archive only"
        if not preview.breaker:
            book = f" · notebook of {each.notebook}" if each.notebook else " · no notebook"
            goes = f"{each.category}{book} · ledger row, trust {each.trust}"
        warned = "".join(f"\n▲ {one.text}" for one in each.warnings)
        facts.append((f"note {number}", f"{each.title}\n{goes}{warned}"))
    return Waiting(
        "consolidation",
        "consolidation",
        f"Consolidate {count}",
        f"inbox: {preview.eligible} of {preview.threshold} · team notes, knowledge, notebooks, ledger",
        tuple(facts),
        preview.digest,
        preview,
    )


def sweep_row(items: Sequence[SweepItem], directory: Path) -> Waiting:
    """Return the row of a sweep of the knowledge base."""
    facts = [("workspace", str(directory))]
    for each in items:
        where = f" · to {each.target}" if each.target else ""
        facts.append((each.entry.key, f"{each.entry.title}\n{_SWEPT[each.kind]}{where} · {each.reason}"))
    return Waiting(
        "sweep",
        "sweep",
        f"Sweep {numbered(len(items), 'knowledge entry', 'knowledge entries')}",
        "nothing is deleted: what leaves is kept in knowledge/_swept",
        tuple(facts),
        "",
        tuple(items),
    )


def summary_row(due: SummaryDue, directory: Path) -> Waiting:
    """Return the row of a notebook with many old entries."""
    count = numbered(len(due.entries), "old entry", "old entries")
    return Waiting(
        "summary",
        f"summary {due.agent}",
        f"Summarise the notebook of {due.agent}",
        f"{count} would become one, written by the model and shown before anything changes",
        (("notebook", str(directory / "knowledge" / "agents" / f"{due.agent}.md")), ("entries", count)),
        "\n\n".join(due.entries),
        due,
    )


def skipped_rows(passed: Sequence[Passed]) -> tuple[Waiting, ...]:
    """Return a row for each file that is not used."""
    return tuple(
        Waiting(
            "skipped",
            f"skipped {each.path} {each.reason}",
            Path(each.path).name,
            f"passed over: {each.reason}",
            (
                ("file", each.path),
                ("reason", each.reason),
                (
                    "what to do",
                    "Mend it in your editor, or move it away. It is left as it is and takes no part.",
                ),
            ),
            ref=each,
        )
        for each in passed
    )
