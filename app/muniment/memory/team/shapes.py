"""The JSON objects of pinned text and notes: one builder each, for commands and tools alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from muniment.safety.visible import clean_surrogates

if TYPE_CHECKING:
    from muniment.memory.team.files import Problem
    from muniment.memory.team.notefile import Note
    from muniment.memory.team.pinned import PinnedEntry, PinnedText, PinPlan
    from muniment.memory.team.workspace import Team


def place(team: Team) -> dict[str, str]:
    """Return the pair that names the workspace."""
    return {"scope": team.scope, "directory": clean_surrogates(str(team.directory))}


def note_row(note: Note) -> dict[str, Any]:
    """Return a note as a list shows it, without its text."""
    return {
        "id": note.id or None,
        "name": clean_surrogates(note.name),
        "title": note.title,
        "agent": note.agent,
        "date": note.date or None,
        "session": note.session or None,
        "project": note.project or None,
        "source": note.source or None,
        "held": note.held,
        "path": clean_surrogates(str(note.path)),
    }


def note_list(
    team: Team, notes: Iterable[Note], problems: Iterable[Problem], *, total: int
) -> dict[str, Any]:
    """Return the inbox; `threshold` says from how many eligible notes a consolidation is offered."""
    rows = [note_row(each) for each in notes]
    return {
        **place(team),
        "notes": rows,
        "total": total,
        "threshold": team.settings.notes.threshold,
        "skipped": problem_rows(problems),
    }


def note_whole(team: Team, note: Note) -> dict[str, Any]:
    """Return one note with its text."""
    return {**place(team), "note": {**note_row(note), "body": note.body, "text": note.text}}


def note_written(team: Team, note: Note) -> dict[str, Any]:
    """Return what a write of a note did."""
    row = note_row(note)
    return {**place(team), **{key: row[key] for key in ("id", "name", "title", "held", "path")}}


def pinned(team: Team, text: PinnedText, entries: Iterable[PinnedEntry]) -> dict[str, Any]:
    """Return the pinned text as a request carries it, with its entries."""
    from muniment.memory.team.pinned import MAX_UNITS

    return {
        **place(team),
        "text": text.text,
        "units": text.units,
        "limit": MAX_UNITS,
        "cut": text.cut,
        "entries": [
            {
                "title": each.title,
                "content": each.content,
                "level": each.level,
                "date": each.date or None,
            }
            for each in entries
        ],
        "skipped": problem_rows(() if text.problem is None else (text.problem,)),
    }


def pin_written(team: Team, plan: PinPlan) -> dict[str, Any]:
    """Return what adding or removing an entry did; `units` counts the file afterwards."""
    return {
        **place(team),
        "title": plan.entry.title,
        "level": plan.entry.level,
        "path": clean_surrogates(str(plan.path)),
        "units": plan.units,
    }


def problem_rows(problems: Iterable[Problem]) -> list[dict[str, str]]:
    return [{"path": clean_surrogates(str(each.path)), "reason": each.reason} for each in problems]
