"""A proposal as plain lines in its exact form: for the question on a terminal and for evals, nothing cut."""

from __future__ import annotations

from collections.abc import Iterator

from muniment.approval.proposal import Proposal
from muniment.safety.visible import exact_block, exact_line

_LONGEST_DIFFERENCE = 2_000


def proposal_lines(proposal: Proposal) -> Iterator[str]:
    """Yield the proposal line by line: every field, the difference, every warning, nothing cut."""
    yield f"── {proposal.title} ──"
    yield f"tool: {exact_line(proposal.tool).text}"
    for field in proposal.fields:
        if field.kind == "line":
            yield f"{field.label}: {exact_line(field.value).text}"
        else:
            yield f"{field.label}:"
            yield from _block(field.value)
    change = proposal.change
    if change is not None and change.before is not None and change.after is not None:
        yield f"{change.label}, as a difference (- old, + new):"
        yield from difference_lines(change.before, change.after)
    elif change is not None:
        word = "to be deleted" if change.after is None else "new"
        yield f"{change.label} ({word}):"
        yield from _block(change.before if change.after is None else change.after)
    for warning in proposal.warnings:
        place = f" [{exact_line(warning.place).text[1:-1]}]" if warning.place else ""
        yield f"! {exact_line(warning.text).text[1:-1]}{place}"
    asker = proposal.asker
    who = ", ".join(
        f"{label} {exact_line(value).text[1:-1]}"
        for label, value in (
            ("session", asker.session),
            ("recipe", asker.recipe),
            ("agent", asker.agent),
            ("model", asker.model),
        )
        if value
    )
    if who:
        yield f"asked by: {who}"
    said = " ".join(each for each in (proposal.coverage, proposal.shown_later) if each)
    yield exact_line(said).text[1:-1]


def _block(text: str | None) -> Iterator[str]:
    shown = exact_block(text or "").text
    for line in shown.split("\n"):
        yield f"  | {line}"


def difference_lines(before: str, after: str) -> Iterator[str]:
    """Yield two texts in their exact form as one list of lines: `-` old, `+` new."""
    from difflib import ndiff

    old, new = exact_block(before).text.split("\n"), exact_block(after).text.split("\n")
    if len(old) + len(new) > _LONGEST_DIFFERENCE:
        yield from (f"  - {line}" for line in old)
        yield from (f"  + {line}" for line in new)
        return
    yield from (f"  {line}" for line in ndiff(old, new) if not line.startswith("?"))
