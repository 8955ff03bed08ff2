"""What the reading screens say: a record with its history, a request with its blocks, the help of a place."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from muniment.memory.journal import Line
from muniment.memory.records.listing import Found
from muniment.memory.records.record import as_dict
from muniment.memory.records.times import format_time
from muniment.safety.visible import exact_block, exact_line, reading_line
from muniment.session.context import Assembly
from muniment.tui.text import exact, safe

Sections = list[tuple[str, Content]]


def record_sections(found: Found, history: Sequence[Line]) -> Sections:
    """Every field of a record in exact form, where it stands, what it overrides, and its writes."""
    lines: list[Content] = []
    for name, value in as_dict(found.record).items():
        if name == "content" or value is None:
            continue
        if isinstance(value, list):
            parts: list[Content | str] = []
            for item in value:
                parts += [", " if parts else "", exact(exact_line(str(item)))]
            shown = Content.assemble(*parts) if parts else Content("none")
        else:
            shown = exact(exact_line(str(value)))
        lines.append(Content.assemble((f"{name:<12}", "$secondary"), shown))
    hidden = exact_block(found.record.content)
    where = [f"{found.scope.label}: {reading_line(str(found.path))}"]
    if found.overridden_by is not None:
        where.append(f"overridden by the copy in {reading_line(str(found.overridden_by.directory))}")
    if found.expired:
        where.append("expired: it does not count any more")
    where += [f"overrides the copy in {reading_line(str(scope.directory))}" for scope in found.overrides]
    sections: Sections = [("Fields", Content("\n").join(lines)), ("Content", exact(hidden))]
    if hidden.hidden:
        count = hidden.hidden
        sections.append(
            ("", Content.styled(f"{count} hidden character{'s' * (count != 1)} shown as escapes", "$warning"))
        )
    sections.append(("Where", Content("\n".join(where))))
    writes = [
        f"{format_time(line.entry.time)}  {line.entry.action}  by {line.entry.origin.actor}"
        + (f", {line.entry.origin.decided_by}" if line.entry.origin.decided_by else "")
        + ("  (undone)" if line.undone_by else "")
        for line in history
    ]
    sections.append(("History", safe("\n".join(writes) or "No write of it is in this machine's journal.")))
    return sections


def request_sections(assembly: Assembly, heading: str) -> Sections:
    """A request whole: the blocks with their sizes, then every item as the model would read it."""
    fields = assembly.as_dict()
    rows = [
        f"{block['name']:<12} {block['items']:>5} items  {block['bytes']:>7} bytes  {block['source']}"
        for block in fields["blocks"]
    ]
    sizes = f"{heading}\nestimate {fields['estimate']} of a budget of {fields['budget']}"
    sections: Sections = [
        ("Size", safe(sizes)),
        ("Memory blocks", safe("\n".join(rows) or "None: the request carries no memory.")),
        ("Instructions", safe(fields["instructions"])),
    ]
    sections += [(f"Input: {item['role']}", safe(item["content"])) for item in fields["input"]]
    return sections


GUIDE = """\
Muniment remembers in files that you can read. A record is one YAML file; it belongs to a scope.

Scopes nest: global records count everywhere, those in a directory's .muniment count at work below it. The \
deepest copy of an id counts; the others are marked overridden and come back when it goes.

Nothing is saved or deleted before you allow it. The dialog opens disarmed: keys are ignored until it says \
ARMED, so that a key typed for something else decides nothing. a or y allows once, d, n or Escape denies, r \
denies with a reason that the model is told, v changes the view. Long texts must be read to their end first.

At the start of a session the model is given a digest: ids and titles of at most 100 records, never their \
text. It reads a record with memory_retrieve and finds others with memory_search. All of it is marked as \
data, not as instruction.

Every write is in a journal with the text before it. /undo takes back this session's newest write; muniment \
memory history, undo and restore reach further back. Deleting is not erasing: muniment memory purge removes \
the text from the journal too, but not from sessions, traces, exports or backups.

Modes: manual asks for every change; accept-edits lets file edits run but still asks for memory; bypass asks \
nothing and shows what ran. A session starts in manual; F8 changes it."""
