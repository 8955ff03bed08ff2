"""The ledger rows that the files of a workspace stand for: how they are written, and made again when lost."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from muniment.memory.ledger.row import InvalidRow, NewRow, Trust, checked
from muniment.memory.team.entry import SUFFIX, Entry, row_body

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

WEIGHTS: dict[Trust, tuple[float, float]] = {
    "human": (0.7, 0.9),
    "system": (0.5, 0.8),
    "agent": (0.5, 0.5),
    "external": (0.3, 0.3),
}
"""Importance and confidence by trust: what people wrote counts more, what came from elsewhere less."""
_PATH = re.compile(r"(?<![\w/.-])[\w.-]{1,64}(?:/[\w.-]{1,64}){1,10}\.[A-Za-z0-9]{1,8}(?![\w/-])")
_MOST_PATHS = 16


def place_of(team: Team) -> tuple[str, str | None]:
    """Return scope kind and key of the workspace's rows: its project, or global without one."""
    key = team.scope_key
    return ("global", None) if key is None else ("project", key)


def entry_key(name: str) -> str:
    """Return the source key of an entry's row; it stays the same when the entry is filed elsewhere."""
    return f"knowledge/{name}{SUFFIX}"


def entry_source(category: str, name: str) -> str:
    """Return the source of an entry's row as it is shown: where its file stands in the workspace."""
    return f"knowledge/{category}/{name}{SUFFIX}"


def entry_row(team: Team, entry: Entry, trust: Trust) -> NewRow:
    """Return the row of a knowledge entry. How to do things is taken only from people and from the engine."""
    kind, key = place_of(team)
    importance, confidence = WEIGHTS[trust]
    return NewRow(
        type="procedural" if entry.type == "procedural" and trust in ("human", "system") else "semantic",
        scope_kind="global" if kind == "global" else "project",
        scope_key=key,
        title=entry.title,
        body=row_body(without_title(entry.text, entry.title), entry.title),
        trust=trust,
        source=entry_source(entry.category, entry.name),
        paths=paths_in(entry.text),
        importance=importance,
        confidence=confidence,
        expires_at=entry.expires_at,
        source_key=entry_key(entry.name),
    )


def notebook_row(team: Team, agent: str, text: str) -> NewRow:
    """Return the row of a notebook's entry, which only this agent in this project will see."""
    heading, _, body = text.partition("\n")
    title = heading.lstrip("# ").strip()
    importance, confidence = WEIGHTS["agent"]
    return NewRow(
        type="semantic",
        scope_kind="agent",
        scope_key=agent,
        title=title or agent,
        body=row_body(body, title or agent),
        trust="agent",
        source=f"knowledge/agents/{agent}{SUFFIX}",
        project=team.scope_key,
        paths=paths_in(body),
        importance=importance,
        confidence=confidence,
        source_key=notebook_key(agent, text),
    )


def notebook_key(agent: str, text: str) -> str:
    """Return the source key of the row of a notebook's entry."""
    return f"notebook/{agent}/{hashlib.sha256(text.strip().encode()).hexdigest()[:16]}"


def rebuild_rows(team: Team) -> list[NewRow]:
    """Return the rows that knowledge and notebooks stand for, for a ledger that was lost or damaged.

    A file's own word about its trust counts only where this machine's journal knows the file's text; what
    came with a project from elsewhere is `external`.
    """
    found: list[NewRow] = []
    entries = team.knowledge.list()
    known = _known_digests(team)
    for entry in entries:
        trust: Trust = "external"
        if entry.digest in known:
            trust = next((each for each in WEIGHTS if each == entry.claimed_trust), "agent")
        found.append(entry_row(team, entry, trust))
    for agent in team.notebooks.agents():
        found += [notebook_row(team, agent, text) for text in team.notebooks.entries(agent)]
    return [row for row in found if _is_valid(row)]


def without_title(text: str, title: str) -> str:
    """Return a text without a first heading that only repeats the title."""
    first, _, rest = text.lstrip("\r\n").partition("\n")
    return rest.lstrip("\r\n") if first.startswith("# ") and " ".join(first[2:].split()) == title else text


def paths_in(text: str) -> tuple[str, ...]:
    """Return the file paths that a text names, so that work on those files finds it."""
    return tuple(dict.fromkeys(_PATH.findall(text)))[:_MOST_PATHS]


def _known_digests(team: Team) -> set[str]:
    return {
        entry.digest_after
        for entry in team.journal.entries()
        if entry.surface == "knowledge" and entry.digest_after is not None
    }


def _is_valid(row: NewRow) -> bool:
    try:
        checked(row)
    except InvalidRow:
        return False
    return True
