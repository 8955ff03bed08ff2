"""The slash commands of the composer: a name, what it does, and the app's action behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slash:
    """One command; `action` is its name in `commands.run_slash`, `argument` what may stand behind it."""

    name: str
    summary: str
    action: str
    argument: str = ""


COMMANDS = (
    Slash("/help", "keys of this place and how memory works", "help"),
    Slash("/new", "start a new session with the same recipe", "new"),
    Slash("/resume", "go on with an earlier session", "resume", "[full id]"),
    Slash("/mode", "show or set what runs unasked", "mode", "[manual|accept-edits|bypass]"),
    Slash("/undo", "take back this session's newest memory write", "undo"),
    Slash("/note", "put a note of yours into the inbox", "note", "[text]"),
    Slash("/memory", "show or hide the memory panel", "memory"),
    Slash("/search", "search all that is kept", "search", "[words]"),
    Slash("/review", "what waits for a decision", "review"),
    Slash("/context", "what the next request would carry", "context"),
    Slash("/done", "end this task and say how it went", "done", "[success|partial|failure] [summary]"),
    Slash("/compact", "replace older turns by a summary", "compact"),
    Slash("/clear", "drop the conversation of this session", "clear", "[full id]"),
    Slash("/settings", "theme, quiet time, retrieval and more", "settings"),
    Slash("/guide", "how memory works, what goes where, trouble", "guide"),
    Slash("/tour", "follow one finding through the system", "tour"),
    Slash("/map", "every surface with its counts now", "map"),
    Slash("/quit", "leave", "quit"),
)


def matching(text: str) -> list[Slash]:
    """Return the commands that a beginning could become; none once an argument is being typed."""
    if not text.startswith("/") or " " in text or "\n" in text:
        return []
    return [each for each in COMMANDS if each.name.startswith(text)]


def parse(text: str) -> tuple[Slash | None, str] | None:
    """Split a line into command and argument; None for a message, (None, name) for an unknown command."""
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, rest = text.strip().partition(" ")
    if "/" in name[1:]:
        # A path at the beginning of a message is not a command.
        return None
    found = next((each for each in COMMANDS if each.name == name), None)
    return (found, rest.strip()) if found else (None, name)
