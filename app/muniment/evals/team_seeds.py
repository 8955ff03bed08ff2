"""Seeds of team memory and ledger, laid out through the same doors that people and agents use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muniment.memory.ledger.row import NewRow
from muniment.memory.origin import Origin
from muniment.memory.records.project import ensure_project
from muniment.memory.surfaces import Surfaces
from muniment.safety.files import ensure_private_dir, write_atomic


def lay_team(surfaces: Surfaces, memory: Mapping[str, Any], origin: Origin) -> None:
    """Write what is pinned, the team's notes, the inbox and the ledger's rows."""
    team = surfaces.team
    directory = team.directory
    ensure_private_dir(directory)
    if directory != surfaces.paths.data:
        ensure_project(directory)
    for name in ("pinned", "notes"):
        if name in memory:
            write_atomic(directory / f"{name}.md", memory[name].encode("utf-8"), durable=False)
    if memory.get("inbox"):
        from muniment.memory.team.notefile import NewNote

        for seed in memory["inbox"]:
            team.inbox.add(NewNote(seed["title"], seed["body"], seed.get("agent", ""), "user"), origin)
    if memory.get("ledger"):
        surfaces.ledger.upsert(_rows(memory["ledger"], team.scope_key), origin)
        surfaces.ledger.close()


def _rows(seeds: Sequence[Mapping[str, Any]], project: str | None) -> list[NewRow]:
    rows = []
    for number, seed in enumerate(seeds, 1):
        kind = seed.get("scope", "project")
        here = seed.get("project", project)
        key = {"global": None, "project": here, "agent": seed.get("agent")}[kind]
        rows.append(
            NewRow(
                type=seed["type"],
                scope_kind=kind,
                scope_key=key,
                title=seed["title"],
                body=seed["body"],
                trust=seed.get("trust", "agent"),
                source=seed.get("source", f"seed {number}"),
                project=here if kind == "agent" else None,
                paths=seed.get("paths", ()),
                tags=seed.get("tags", ()),
                importance=seed.get("importance", 0.5),
                confidence=seed.get("confidence", 0.5),
            )
        )
    return rows
