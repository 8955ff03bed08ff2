"""Recall for one turn: gather, rank, keep what differs, pack; and note what was done."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from muniment.memory.recall.authors import Authors
from muniment.memory.recall.candidates import MAX_CANDIDATES, gather
from muniment.memory.recall.need import Need
from muniment.memory.recall.pack import MAX_BYTES, TOP_K, Pack, make_pack
from muniment.memory.recall.rank import distinct, rank

if TYPE_CHECKING:
    from muniment.memory.ledger.row import Places
    from muniment.memory.recall.telemetry import Telemetry
    from muniment.memory.surfaces import Surfaces

SOURCES = ("ledger", "records")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is looked at and how much is packed."""

    top_k: int = TOP_K
    max_bytes: int = MAX_BYTES
    candidates: int = MAX_CANDIDATES


@dataclass(frozen=True, slots=True)
class Recalled:
    """What recall came to; `duration_ms` in milliseconds."""

    need: Need
    pack: Pack
    candidates: int
    duration_ms: float
    notices: tuple[str, ...] = ()


class Recall:
    """Recall over the surfaces of one working directory; keeps what the journal said about authors."""

    def __init__(self, surfaces: Surfaces) -> None:
        self._surfaces = surfaces
        self._authors = Authors(surfaces.journal)
        self.told: set[str] = set()
        """Sentences that a person was told already in this process."""

    @cached_property
    def telemetry(self) -> Telemetry:
        from muniment.memory.recall.telemetry import Telemetry

        return Telemetry(self._surfaces.paths.recall)

    def close(self) -> None:
        """Let the file of what was recalled go; it is opened again when it is needed."""
        if "telemetry" in vars(self):
            self.telemetry.close()

    def look(
        self,
        need: Need,
        places: Places,
        *,
        bounds: Bounds,
        sources: Collection[str] = SOURCES,
        preview: bool = False,
    ) -> Recalled:
        """Find and pack what fits a need; nothing is noted or sent, and in a preview nothing is written."""
        begun = time.perf_counter()
        surfaces = self._surfaces
        now: datetime = surfaces.clock()
        found = gather(
            need,
            ledger=surfaces.ledger if "ledger" in sources else None,
            records=surfaces.records if "records" in sources else None,
            authors=self._authors,
            places=places,
            limit=bounds.candidates,
            build=not preview,
        )
        best = distinct(rank(found.candidates, need, now), most=bounds.top_k)
        pack = make_pack(best, top_k=bounds.top_k, max_bytes=bounds.max_bytes)
        taken = round((time.perf_counter() - begun) * 1000, 3)
        return Recalled(need, pack, len(found.candidates), taken, found.notices)

    def note(self, recalled: Recalled, *, session: str, shadow: bool) -> None:
        """Keep what recall did for one turn; raise `TelemetryFault` where that cannot be."""
        from muniment.memory.recall.telemetry import Noted

        self.telemetry.note(
            Noted(
                self._surfaces.clock(),
                session,
                recalled.need.words,
                recalled.candidates,
                tuple(row.id for row in recalled.pack.rows),
                recalled.pack.bytes,
                recalled.duration_ms,
                shadow,
            )
        )
