"""The map: every surface that remembers, what it owns, its limits, and how much is in it now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.paths import Paths
    from muniment.session.holdings.items import Group, Holdings
    from muniment.settings import Settings


@dataclass(frozen=True, slots=True)
class Surface:
    """One surface. `group` is the key under which the memory panel holds it, `goes` where Enter leads."""

    key: str
    name: str
    owns: str
    writes: str
    reads: str
    limits: str
    files: str
    group: str = ""
    goes: str = "panel"
    amount: str = ""
    """How much is in it now, in words; empty where nobody looked yet."""


def surfaces(settings: Settings, paths: Paths) -> tuple[Surface, ...]:
    """Return the surfaces without their counts."""
    notes, packs, books = settings.notes, settings.retrieval, settings.notebooks
    return (
        Surface(
            "records",
            "Records",
            "rules, decisions and facts, one file each, in scopes that nest by directory",
            "you, or a model after your approval",
            "a digest of at most 100 titles in each request; texts on demand",
            "1 MiB a record",
            f".muniment/memory/*.yaml, and {paths.data / 'memory'}",
            "scope:",
        ),
        Surface(
            "user",
            "User memory",
            "who you are and how you like to work",
            "you, or a model after your approval",
            "every request of every session, one line each",
            "200 entries, 16 KiB of index; details 16 KiB each",
            str(paths.user_memory),
            "user",
        ),
        Surface(
            "inbox",
            "Inbox",
            "findings that nobody has judged yet; a queue, not memory",
            "you, agents and tasks",
            "no model, until you approve a consolidation",
            f"64 KiB a note; at {notes.threshold} notes a consolidation is offered",
            "notes/inbox/*.md of the workspace",
            "inbox",
        ),
        Surface(
            "pinned",
            "Pinned context",
            "standing lines for one workspace",
            "you only",
            "every request in that workspace",
            "a bounded number of characters; the rest is not sent",
            "pinned.md of the workspace",
            "pinned",
        ),
        Surface(
            "notes",
            "Team notes",
            "what the team learned lately, as a digest",
            "a consolidation that you approved",
            "requests in that workspace, newest sections first",
            f"{notes.max_bytes:,} bytes; the oldest sections go first",
            "notes.md of the workspace",
            "notes",
        ),
        Surface(
            "notebook",
            "Notebooks",
            "what one agent learned",
            "a consolidation that you approved",
            "that agent only",
            f"{books.max_entries} entries each; the oldest go first",
            "knowledge/agents/*.md of the workspace",
            "notebook",
        ),
        Surface(
            "knowledge",
            "Knowledge base",
            "procedures and reference, by category",
            "you, or a consolidation that you approved",
            "whatever fits the task, through the pack",
            f"swept entries are kept {settings.knowledge.keep_swept_days} days",
            "knowledge/<category>/*.md of the workspace",
            "knowledge",
        ),
        Surface(
            "ledger",
            "Ledger",
            "all of it in rows with type, scope, trust and status",
            "consolidations, pins, imports, the engine",
            f"the pack: at most {packs.top_k} rows, {packs.max_bytes:,} bytes a request",
            "rows are never deleted: active, superseded, retracted, expired",
            str(paths.ledger),
            "ledger",
        ),
        Surface(
            "sessions",
            "Sessions",
            "what was said, and every decision",
            "Muniment",
            "you; the model reads its own session only",
            "one file each, until you delete it",
            str(paths.sessions),
            goes="sessions",
        ),
        Surface(
            "journal",
            "Journal",
            "every write to memory with the text before it",
            "Muniment, with each write",
            "you: history, undo, restore",
            "kept until you purge an item",
            str(paths.journal),
            goes="guide",
        ),
    )


def journal_amount(paths: Paths) -> str:
    """Return how much room the journal takes; `empty` where nothing was written yet."""
    from muniment.session.holdings.items import size_text

    if not paths.journal.is_dir():
        return "empty"
    size = sum(each.lstat().st_size for each in paths.journal.glob("*.jsonl"))
    return size_text(size) if size else "empty"


def amount_in(surface: Surface, holdings: Holdings) -> str:
    """Return how much a surface holds, from a look at the panel's groups."""
    if not surface.group:
        return ""
    mine = [group for group in holdings.groups if _belongs(group, surface.group)]
    if not mine:
        return "empty"
    if surface.group == "scope:":
        scopes = sum(1 for group in mine if group.place or group.key != "scope:")
        return f"{holdings.records:,} in {scopes} scope{'s' * (scopes != 1)}"
    return " · ".join(group.amount for group in mine if group.amount) or "empty"


def _belongs(group: Group, key: str) -> bool:
    return group.key == key or group.key.startswith(key if key.endswith(":") else f"{key}:")
