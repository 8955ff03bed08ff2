"""How a record's store and deletion look to the person who decides."""

from __future__ import annotations

import json
from collections.abc import Iterable

from muniment.approval import proposal as shown
from muniment.approval.proposal import Asker, Change, Field, Proposal
from muniment.memory.records.plans import DeletePlan, PlanWarning, StorePlan
from muniment.memory.records.record import Record
from muniment.memory.records.scope import Scope
from muniment.memory.records.times import format_time


def store_proposal(tool: str, plan: StorePlan, call_id: str, asker: Asker) -> Proposal:
    """Describe a store; the content stands in `change`, against the text it replaces."""
    after, before = plan.after, plan.before
    fields = [Field("identifier", after.id), *_scope_fields(plan.scope)]
    fields.append(Field("mode of change", "create" if before is None else "replace"))
    for label, new, old in _values(after, before):
        fields.append(Field(label, new))
        if old is not None and old != new:
            fields.append(Field(f"{label} before", old))
    fields.append(Field("source", after.source))
    if after.extras:
        fields.append(Field("extra fields kept", _several(after.extras)))
    return Proposal(
        id=call_id,
        tool=tool,
        title="Create a record" if before is None else "Replace a record",
        fields=tuple(fields),
        plan=plan,
        change=Change("content", None if before is None else before.content, after.content),
        warnings=_warnings(plan.warnings),
        shown_later=_shown_later(plan.scope),
        asker=asker,
    )


def delete_proposal(tool: str, plan: DeletePlan, call_id: str, asker: Asker) -> Proposal:
    """Describe a deletion: what goes, whole, and which copy counts afterwards."""
    before = plan.before
    fields = [Field("identifier", before.id), *_scope_fields(plan.scope), Field("mode of change", "delete")]
    fields += [Field(label, value) for label, value, _ in _values(before, None)]
    fields.append(Field("source", before.source))
    heir = plan.next_effective
    after = "none: no copy of it counts any more" if heir is None else f"{heir.label} — {heir.directory}"
    fields.append(Field("then effective", after))
    return Proposal(
        id=call_id,
        tool=tool,
        title="Delete a record",
        fields=tuple(fields),
        plan=plan,
        change=Change("content", before.content, None),
        warnings=_warnings(plan.warnings),
        coverage="This approval covers the deletion of this one copy, once.",
        shown_later="The deleted text stays in this machine's journal until purged; undo brings it back.",
        asker=asker,
    )


def _values(record: Record, other: Record | None) -> list[tuple[str, str, str | None]]:
    return [
        ("category", record.category, None if other is None else other.category),
        ("tags", _several(record.tags), None if other is None else _several(other.tags)),
        ("title", record.title, None if other is None else other.title),
        ("expiry", _expiry(record), None if other is None else _expiry(other)),
    ]


def _scope_fields(scope: Scope) -> tuple[Field, ...]:
    return (Field("scope", f"{scope.label} — {scope.directory}"),)


def _several(items: Iterable[str]) -> str:
    """Show a list on one line; items that commas would blur are shown as a JSON list."""
    texts = list(items)
    plain = all(
        text and "," not in text and text == text.strip() and not text.startswith("[") for text in texts
    )
    if not texts:
        return "none"
    return ", ".join(texts) if plain and texts != ["none"] else json.dumps(texts, ensure_ascii=False)


def _expiry(record: Record) -> str:
    return "never" if record.expires_at is None else format_time(record.expires_at)


def _shown_later(scope: Scope) -> str:
    reach = "in every project" if scope.kind == "global" else f"at work below {scope.directory.parent}"
    return (
        f"Later its title is listed to the model at the start of sessions {reach}, "
        "and its whole text is given to the model when it is retrieved, searched for or recalled."
    )


def _warnings(warnings: Iterable[PlanWarning]) -> tuple[shown.Warning, ...]:
    return tuple(shown.Warning(each.kind, each.text, each.place) for each in warnings)
