"""How consolidation, sweep and summary look to the person who decides; each is approved as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.approval import proposal as shown
from muniment.approval.proposal import Asker, Change, Field, Proposal
from muniment.memory.team.notes import joined, split

if TYPE_CHECKING:
    from muniment.memory.records.plans import PlanWarning
    from muniment.memory.team.consolidate_plan import NotePlan, Preview
    from muniment.memory.team.notebook_summary import SummaryPlan
    from muniment.memory.team.sweep import SweepItem


def consolidation_proposal(
    preview: Preview, before: str, directory: Path, asker: Asker, *, max_bytes: int
) -> Proposal:
    """Describe a consolidation: every note with its whole text, and the team notes as a difference.

    `before` is the text of `notes.md` now, `max_bytes` its bound.
    """
    fields = [
        Field("workspace", str(directory)),
        Field("notes", str(len(preview.notes))),
        Field("digest by", preview.by),
    ]
    warnings: list[shown.Warning] = []
    for number, each in enumerate(preview.notes, 1):
        fields += _note_fields(preview, each, number)
        warnings += _warnings(each.warnings, f"note {number}")
    change = None
    if not preview.breaker:
        change = Change("notes.md", before or None, _with_section(before, preview.digest, max_bytes))
    return Proposal(
        id=f"consolidation-{preview.state or 'first'}"[:60],
        tool="consolidation",
        title=f"Consolidate {len(preview.notes)} notes"
        if not preview.breaker
        else f"Archive {len(preview.notes)} notes that repeat one text",
        fields=tuple(fields),
        plan=preview,
        change=change,
        warnings=tuple(warnings),
        coverage="This approval covers this whole consolidation, once; it raises nobody's trust.",
        shown_later=(
            "Later the newest team notes go into requests of this workspace, and the entries, notebooks and "
            "rows into those that they fit. The notes themselves move to notes/archive."
        ),
        asker=asker,
    )


def _note_fields(preview: Preview, each: NotePlan, number: int) -> Iterable[Field]:
    yield Field(f"note {number}", each.title)
    yield Field(f"{number} file", each.note.name)
    if not preview.breaker:
        yield Field(f"{number} category", each.category)
        yield Field(f"{number} entry", each.reference)
        yield Field(f"{number} row", f"semantic, {preview.scope}, trust {each.trust}")
        if each.notebook is not None:
            yield Field(f"note {number}, into the notebook of {each.notebook}", each.entry, "block")
    yield Field(f"note {number}, text", each.note.text, "block")


def _with_section(before: str, section: str, max_bytes: int) -> str:
    """Return the team notes as they will stand: a section added, the oldest gone where they are too long."""
    head, sections = split(before)
    sections.append(section.strip())
    while len(sections) > 1 and len(joined(head, sections).encode()) > max_bytes:
        del sections[0]
    return joined(head, sections)


def sweep_proposal(items: Sequence[SweepItem], directory: Path, asker: Asker) -> Proposal:
    """Describe a sweep: each entry whole, where it goes and why."""
    fields = [Field("workspace", str(directory))]
    for number, each in enumerate(items, 1):
        entry = each.entry
        where = f"knowledge/{each.target}/" if each.target else "knowledge/_swept/"
        fields += [
            Field(f"entry {number}", entry.key),
            Field(f"{number} title", entry.title),
            Field(f"{number} goes to", where),
            Field(f"{number} because", each.reason),
            Field(f"entry {number}, text", entry.text, "block"),
        ]
    return Proposal(
        id="sweep",
        tool="sweep",
        title=f"Sweep {len(items)} knowledge {'entry' if len(items) == 1 else 'entries'}",
        fields=tuple(fields),
        plan=tuple(items),
        coverage="This approval covers these moves only, once.",
        shown_later="What leaves is kept in knowledge/_swept for a while and goes into no request.",
        asker=asker,
    )


def summary_proposal(plan: SummaryPlan, directory: Path, asker: Asker) -> Proposal:
    """Describe a summary of a notebook: the entries that go, against the one that takes their place."""
    return Proposal(
        id=f"summary-{plan.due.agent}"[:60],
        tool="notebook summary",
        title="Summarise a notebook",
        fields=(
            Field("notebook", str(directory / "knowledge" / "agents" / f"{plan.due.agent}.md")),
            Field("agent", plan.due.agent),
            Field("entries replaced", str(len(plan.due.entries))),
        ),
        plan=plan,
        change=Change("entries", "\n\n".join(plan.due.entries), plan.text),
        coverage="This approval covers this one replacement, once.",
        shown_later="Later it goes into requests of this agent. The journal keeps the entries as they were.",
        asker=asker,
    )


def _warnings(warnings: Iterable[PlanWarning], place: str) -> list[shown.Warning]:
    return [shown.Warning(each.kind, each.text, f"{place} {each.place}".strip()) for each in warnings]
