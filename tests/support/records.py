"""A small world for record tests: own directories, a clock to set, and short ways to write and call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from muniment.approval.proposal import Proposal
from muniment.memory.journal import Journal
from muniment.memory.origin import Origin
from muniment.memory.records.plans import DeleteRequest, StoreOutcome, StoreRequest
from muniment.memory.records.store import RecordStore
from muniment.memory.surfaces import Surfaces
from muniment.paths import Paths
from muniment.settings import load_settings
from muniment.tools.base import ToolContext, ToolResult
from muniment.tools.records import TOOLS
from muniment.tools.registry import Registry, parse_arguments

AGENT = Origin("agent", surface="tool", session="s1", mode="manual", decided_by="user")
USER = Origin("user", surface="cli")
START = datetime(2026, 10, 25, 3, 7, 29, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **delta: float) -> None:
        self.now += timedelta(**delta)


@dataclass
class World:
    """Private directories below one root, and stores for working directories in it."""

    root: Path
    clock: Clock = field(default_factory=Clock)

    @property
    def paths(self) -> Paths:
        base = self.root / "home"
        return Paths(base / "config", base / "data", base / "state", base / "cache")

    @property
    def global_dir(self) -> Path:
        return self.paths.data

    def directory(self, relative: str = "work", *, scope: bool = False) -> Path:
        """Make a working directory, with a `.muniment` of its own where `scope` is true."""
        path = self.root / relative
        path.mkdir(parents=True, exist_ok=True)
        if scope:
            (path / ".muniment" / "memory").mkdir(parents=True, exist_ok=True)
        return path

    def store(self, cwd: Path | None = None) -> RecordStore:
        journal = Journal(self.paths.journal, clock=self.clock)
        return RecordStore(self.paths, cwd or self.directory(), journal=journal, clock=self.clock)

    def desk(self, cwd: Path | None = None, *, origin: Origin = AGENT, asks: bool = True) -> Desk:
        where = cwd or self.directory()
        surfaces = Surfaces(self.paths, where, load_settings(self.paths, {}), clock=self.clock)
        return Desk(ToolContext(surfaces, where, origin, asks=asks))


@dataclass
class Desk:
    """Calls record tools as an engine does, with every proposal approved."""

    context: ToolContext
    registry: Registry = field(default_factory=lambda: Registry(TOOLS))

    @property
    def records(self) -> RecordStore:
        return self.context.surfaces.records

    def propose(self, name: str, /, **arguments: Any) -> Proposal:
        return self.propose_raw(name, json.dumps(arguments))

    def propose_raw(self, name: str, raw: str) -> Proposal:
        tool = self.registry.get(name)
        assert tool is not None
        return tool.inspect(tool.prepare(parse_arguments(tool, raw)), "call-1", self.context)

    def execute(self, proposal: Proposal) -> ToolResult:
        tool = self.registry.get(proposal.tool)
        assert tool is not None
        return tool.execute(proposal, self.context)

    def call(self, name: str, /, **arguments: Any) -> ToolResult:
        return self.execute(self.propose(name, **arguments))


def put(scope_dir: Path, record_id: str, text: str | bytes | None = None, **fields: str) -> Path:
    """Write a record file by hand: a whole text, or title, content and other plain fields."""
    memory = scope_dir / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    path = memory / f"{record_id}.yaml"
    if text is None:
        given = {
            "id": record_id,
            "title": f"Title of {record_id}",
            "content": f"content of {record_id}",
        } | fields
        text = "".join(f"{key}: {value}\n" for key, value in given.items())
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def store(records: RecordStore, title: str, content: str = "text", **more: Any) -> StoreOutcome:
    """Store as an agent, at once."""
    return records.commit(records.plan_store(StoreRequest(title, content, **more), origin=AGENT), AGENT)


def delete(records: RecordStore, record_id: str, scope: Any = None) -> Any:
    """Delete as an agent, at once."""
    return records.commit(records.plan_delete(DeleteRequest(record_id, scope)), AGENT)


def tree_digest(directory: Path) -> dict[str, bytes]:
    """Return every file below a directory with its bytes."""
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}
