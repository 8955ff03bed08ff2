"""A small world for the ledger and for recall: own directories, a clock to set, and short ways to write."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from muniment.memory.ledger.ledger import Ledger
from muniment.memory.ledger.row import NewRow, Row
from muniment.memory.origin import Origin
from muniment.memory.recall.rank import Candidate
from muniment.memory.surfaces import Surfaces
from muniment.paths import Paths
from muniment.session.recipes.recipe import ASSISTANT, Recipe
from muniment.session.request.blocks import Block, BlockQuery, Provided
from muniment.session.request.recalled import pack_block
from muniment.settings import RetrievalSettings, Settings
from support.environment import REPOSITORY
from support.records import START, Clock

ENGINE = Origin("engine", surface="consolidation")
HAND = Origin("user", surface="cli", decided_by="user")
AGENT = Origin("agent", surface="tool", session="s1", decided_by="user")


def row(body: str, **more: Any) -> NewRow:
    """Return a new row: semantic, global, by an agent, from a source of its own, unless said otherwise."""
    kind = more.pop("scope_kind", "global")
    given: dict[str, Any] = {
        "type": "semantic",
        "scope_kind": kind,
        "scope_key": None,
        "title": body[:60],
        "body": body,
        "trust": "agent",
        "source": f"note:{body[:80]}",
    }
    return NewRow(**(given | more))


def all_rows(ledger: Ledger) -> list[Row]:
    """Return every row of every project, the one changed last first."""
    return [found.row for found in ledger.search("", limit=10_000, all=True).hits]


def candidate(body: str, **more: Any) -> Candidate:
    """Return a candidate that fits fully, from the ledger, written at the start of the clock."""
    given: dict[str, Any] = {
        "id": f"M-{abs(hash(body)):x}"[:18],
        "key": "ledger",
        "type": "semantic",
        "scope": "global",
        "trust": "agent",
        "title": body[:40],
        "body": body,
        "source": "note:1",
        "date": START,
        "fit": 1.0,
    }
    return Candidate(**(given | more))


@dataclass
class Place:
    """One user's directories below a root, and a project `work` in it with a `.muniment` of its own."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)

    @property
    def paths(self) -> Paths:
        base = self.root / "home"
        return Paths(base / "config", base / "data", base / "state", base / "cache")

    @property
    def project(self) -> Path:
        path = self.root / "work"
        (path / ".muniment" / "memory").mkdir(parents=True, exist_ok=True)
        return path

    def surfaces(self, cwd: Path | None = None) -> Surfaces:
        settings = replace(Settings(), retrieval=self.retrieval)
        return Surfaces(self.paths, cwd or self.project, settings, clock=self.clock)

    def ledger(self) -> Ledger:
        return self.surfaces().ledger

    def write(self, *rows: NewRow, origin: Origin = ENGINE) -> list[Row]:
        return self.ledger().upsert(rows, origin)


def provided(surfaces: Surfaces, prompt: str, *, recipe: Recipe = ASSISTANT, **more: Any) -> Provided:
    """Ask for the pack of a turn."""
    given: dict[str, Any] = {"session": "s1", "retrieval": "on"}
    return pack_block(surfaces, BlockQuery(recipe, prompt, **(given | more)))


def packed(surfaces: Surfaces, prompt: str, **more: Any) -> Block:
    """Ask for the pack of a turn that must have one."""
    block = provided(surfaces, prompt, **more).block
    assert block is not None
    return block


def waiting(module: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a module of these tests as a process of its own, which says that it is ready and then waits."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=REPOSITORY / "tests",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(*processes: subprocess.Popen[str]) -> list[int]:
    """Let processes that wait go on at once, and return their exit codes."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    codes = [process.wait(60) for process in processes]
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
    return codes
