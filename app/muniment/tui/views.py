"""What the reading screens say: a record with its history, a request with its blocks, the help of a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.content import Content

from muniment.memory.journal import Line
from muniment.memory.ledger.row import Row
from muniment.memory.records.listing import Found
from muniment.memory.records.record import as_dict
from muniment.memory.records.times import format_time
from muniment.memory.team.entry import Entry
from muniment.memory.team.notefile import Note
from muniment.memory.user.plans import Held
from muniment.safety.visible import exact_block, exact_line, reading_line
from muniment.tui.text import exact, safe

Sections = list[tuple[str, Content]]

ABOUT = frozenset({"Fields", "Where", "Standing", "History"})
"""Headings of what is known about a thing; the other sections are its own text."""
HISTORY_LINES = 50
"""How many writes of one thing are shown."""


def record_sections(found: Found, history: Sequence[Line]) -> Sections:
    """Every field of a record in exact form, where it stands, what it overrides, and its writes."""
    where = [f"{found.scope.label}: {reading_line(str(found.path))}"]
    if found.overridden_by is not None:
        where.append(f"overridden by the copy in {reading_line(str(found.overridden_by.directory))}")
    if found.expired:
        where.append("expired: it does not count any more")
    where += [f"overrides the copy in {reading_line(str(scope.directory))}" for scope in found.overrides]
    if found.overridden_by is None and not found.expired:
        where.append("This copy counts here.")
    fields = {name: value for name, value in as_dict(found.record).items() if name != "content"}
    return [
        ("Fields", fields_text(fields)),
        *text_sections("Content", found.record.content),
        ("Where", Content("\n".join(where))),
        history_section(history),
    ]


def entry_sections(held: Held, history: Sequence[Line]) -> Sections:
    """An entry of user memory whole, where it stands, and its writes."""
    entry = held.entry
    details = (
        text_sections("Details", entry.details) if entry.details else [("Details", quiet("It has none."))]
    )
    return [
        ("Fields", fields_text({"name": entry.name, "type": entry.type, "summary": entry.summary})),
        *details,
        ("Where", Content(f"user memory: {reading_line(str(held.path))}\nIn every session and project.")),
        history_section(history),
    ]


def note_sections(note: Note, history: tuple[str, Content]) -> Sections:
    """A note that waits in the inbox, whole."""
    fields = {
        "id": note.id,
        "title": note.title,
        "agent": note.agent,
        "date": note.date,
        "session": note.session or None,
        "project": note.project or None,
        "source": note.source,
    }
    more = {name: value for name, value in note.fields.items() if name not in fields}
    state = "held back: no consolidation takes it" if note.held else "waits for the next consolidation"
    return [
        ("Fields", fields_text({**fields, **more})),
        *text_sections("Text", note.text.removesuffix("\n")),
        ("Where", safe(f"inbox: {note.path}\n{state}; no model sees it before that.")),
        history,
    ]


def knowledge_sections(entry: Entry, history: tuple[str, Content]) -> Sections:
    """An entry of the knowledge base, whole."""
    fields = {
        "name": entry.name,
        "category": entry.category,
        "title": entry.title,
        "type": entry.type,
        "agent": entry.agent,
        "source": entry.source,
        "date": entry.date,
        "expires": None if entry.expires_at is None else format_time(entry.expires_at),
        "trust, as the file claims": entry.claimed_trust or None,
    }
    held = "\nheld back from sweeps" if entry.held else ""
    return [
        ("Fields", fields_text(fields)),
        *text_sections("Text", entry.text.removesuffix("\n")),
        ("Where", safe(f"knowledge: {entry.path}{held}")),
        history,
    ]


def row_sections(row: Row, history: Sequence[Line]) -> Sections:
    """A row of the ledger with all its fields."""
    fields = {name: value for name, value in row.as_dict().items() if name != "body"}
    words = {
        "active": "It may be recalled.",
        "retracted": "Retracted: it is not recalled; h restores it.",
        "superseded": "Superseded by newer content from the same source.",
        "expired": "Expired: it is not recalled any more.",
    }
    return [
        ("Fields", fields_text(fields)),
        *text_sections("Body", row.body),
        ("Standing", safe(words.get(row.status, row.status))),
        history_section(history),
    ]


def file_sections(text: str, path: Path, about: str, history: tuple[str, Content]) -> Sections:
    """A file of the team that is one text."""
    return [*text_sections("Text", text.removesuffix("\n")), ("Where", safe(f"{path}\n{about}")), history]


def fields_text(fields: Mapping[str, object]) -> Content:
    """Return fields one below the other in exact form; what is None is left out."""
    shown = {name: value for name, value in fields.items() if value is not None}
    width = max((len(name) for name in shown), default=0) + 2
    lines: list[Content] = []
    for name, value in shown.items():
        if isinstance(value, list | tuple):
            parts: list[Content | str] = []
            for each in value:
                parts += [", " if parts else "", exact(exact_line(str(each)))]
            text = Content.assemble(*parts) if parts else quiet("none")
        else:
            text = exact(exact_line(str(value)))
        lines.append(Content.assemble((reading_line(name).ljust(width), "$secondary"), text))
    return Content("\n").join(lines)


def text_sections(heading: str, text: str) -> Sections:
    """A text whole in exact form, and how much of it cannot be seen."""
    shown = exact_block(text)
    sections: Sections = [(heading, exact(shown))]
    if shown.hidden:
        count = shown.hidden
        sections.append(
            ("", Content.styled(f"{count} hidden character{'s' * (count != 1)} shown as escapes", "$warning"))
        )
    return sections


def history_section(history: Sequence[Line]) -> tuple[str, Content]:
    """The writes of one thing, newest first: when, what, who, by which decision and why."""
    lines: list[str] = []
    done = [each for each in history if not each.failed]
    for line in done[:HISTORY_LINES]:
        origin = line.entry.origin
        who = " ".join(each for each in (origin.actor, origin.surface and f"({origin.surface})") if each)
        words = [format_time(line.entry.time), line.entry.action, f"by {who}"]
        if origin.decided_by:
            words.append(f"decided by {origin.decided_by}")
        if origin.reason:
            words.append(f"– {origin.reason}")
        if line.undone_by:
            words.append("(undone)")
        elif line.entry.undoes:
            words.append("(took back an earlier write)")
        lines.append("  ".join(words))
    if len(done) > HISTORY_LINES:
        lines.append(f"… {len(done) - HISTORY_LINES} older ones: muniment memory history")
    return ("History", safe("\n".join(lines) or "No write of it is in this machine's journal."))


def quiet(text: str) -> Content:
    """Return a remark of ours."""
    return Content.styled(text, "$secondary")
