"""What the list of sessions shows of one session: its facts, then what was said in it."""

from __future__ import annotations

from muniment.paths import Paths
from muniment.safety.visible import reading_line
from muniment.session.holdings.items import numbered, size_text
from muniment.session.logs.export import as_markdown, read_log
from muniment.session.logs.stored import SessionInfo
from muniment.tui.widgets.difference_view import exact_source
from muniment.tui.widgets.exact_lines import Line

MOST_CHARACTERS = 400_000
"""So much of a conversation is shown here; the session itself has all of it."""

_SPEAKERS = frozenset({"## You", "## Assistant", "## Summary of what came before"})


def preview_lines(paths: Paths, info: SessionInfo) -> list[Line]:
    """Return the lines of a preview; reads the log, so it is called off the screen's loop."""
    size = (
        f"{numbered(info.turns, 'turn')}, {numbered(info.tool_calls, 'tool call')}, {size_text(info.bytes)}"
    )
    # The rehearsal model bears the name of its provider.
    model = " ".join(dict.fromkeys(each for each in (info.provider, info.model) if each))
    facts = " · ".join(each for each in (f"begun {info.created}", info.recipe, model) if each)
    lines = [Line(reading_line(each), "muted") for each in (f"{info.id}  {info.cwd}", facts, size)]
    text = as_markdown(read_log(paths, info.id))
    # The facts stand above; the conversation begins with its first heading of a speaker.
    text = text[max(text.find("\n## "), 0) :].lstrip("\n")
    cut = len(text) > MOST_CHARACTERS
    source = exact_source(text[:MOST_CHARACTERS])
    lines.append(Line(""))
    lines += [
        Line(line, "heading" if line in _SPEAKERS else "", marks)
        for line, marks in zip(source.lines, source.marks, strict=True)
    ]
    if cut:
        lines.append(Line("… the rest is in the session itself: Enter resumes it.", "note"))
    return lines
