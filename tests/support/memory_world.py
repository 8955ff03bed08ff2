"""A small world in which every surface remembers something, for the screens that show all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from muniment.memory.ledger.row import NewRow
from muniment.memory.origin import Origin, utc_now
from muniment.memory.surfaces import Surfaces
from muniment.memory.team.entry import NewEntry
from muniment.memory.team.notefile import NewNote
from muniment.memory.user.plans import SaveRequest
from muniment.paths import resolve_paths
from muniment.settings import Settings
from support.app import project_at, write_record

BY_HAND = Origin("user", "cli", decided_by="user")
OLD = {"created_at": "2026-11-28T10:00:00Z", "updated_at": "2026-11-28T10:00:00Z"}


def memory_world(root: Path, clock: Callable[[], datetime] = utc_now) -> Path:
    """Fill every surface below `root` and the user's directories, and return the project's directory."""
    project = project_at(project_at(root / "pilot") / "study")
    parent, mine = project.parent / ".muniment", project / ".muniment"
    data = resolve_paths().data
    for directory, name, title, content in (
        (data, "answer-style", "Answers are short and name their source", "Two sentences, then the source."),
        (data, "pilot-terms", "Words that the pilot uses", "An answer is one sheet; a coder is one person."),
        (parent, "coding-scheme", "Codes of the first round", "Six codes; unclear sheets are set aside."),
        (parent, "pilot-terms", "Words that this pilot uses", "An answer is one sheet of Notes A or B."),
        (mine, "open-questions", "What is still open after Notes B", "Who counted the late answers?"),
    ):
        write_record(directory, name, title, content, category="note", tags="[pilot]", **OLD)
    write_record(
        mine,
        "old-plan",
        "The plan before the pilot",
        "Begin in May.",
        expires_at="2026-01-01T00:00:00Z",
        **OLD,
    )
    (mine / "memory" / "broken.yaml").write_text("id: other\n", encoding="utf-8")
    surfaces = Surfaces(resolve_paths(), project, Settings(), clock=clock)
    for name, summary in (
        ("package-manager", "My projects install with pnpm, never with npm"),
        ("tone", "Prefers plain words and short sentences"),
    ):
        plan = surfaces.user.plan_save(SaveRequest("create", name, "user", summary, "Said in the pilot."))
        surfaces.user.commit(plan, BY_HAND)
    team = surfaces.team
    for title, body in (
        ("Late answers", "Three answers of Notes B came late and were counted twice."),
        ("Coder agreement", "Both coders agree on 41 of 46 pilot sheets."),
        ("A rule about drafts", "Always use the second draft of a sheet."),
    ):
        team.inbox.add(NewNote(title, body, "reviewer", "agent"), BY_HAND)
    for number, note in enumerate(sorted(team.inbox.list(), key=lambda each: each.title)):
        os.utime(note.path, (1_780_000_000 + number, 1_780_000_000 + number))
    team.inbox.hold(team.inbox.list()[0].name, BY_HAND)
    pinned = team.pinned.plan_add("Pilot ends on Friday", "No new sheets after Thursday noon.", "warning")
    team.pinned.commit(pinned, BY_HAND)
    team.notes.append("### 2026-11-27 Pilot\n\nSheets are numbered from one.", BY_HAND)
    team.notebooks.append("reviewer", "### 2026-11-27 Sheets\n\n- Sheet 12 is missing.", BY_HAND)
    team.knowledge.add(
        NewEntry("How sheets are coded", "Two coders, six codes, one pass.", "conventions"), BY_HAND
    )
    surfaces.ledger.upsert(
        [
            NewRow(
                "semantic",
                "global",
                None,
                f"Finding {number}",
                f"Pilot sheet {number}.",
                "agent",
                f"t{number}",
            )
            for number in range(1, 5)
        ],
        BY_HAND,
    )
    return project
