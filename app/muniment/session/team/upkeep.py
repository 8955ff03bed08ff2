"""What team memory needs without anybody asking: finish what was cut off, and do what is set to `auto`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.safety.errors import MunimentError, reason_of
from muniment.session.team.digesting import digested, prepare
from muniment.session.waiting import uncut

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.model.base import Model


async def upkeep(surfaces: Surfaces, model: Model | None) -> tuple[str, ...]:
    """Do what is due and return sentences for the user, also about what failed; asks nothing.

    With `ask` and `off` only what was approved before and cut off is finished.
    """
    said: list[str] = []
    works: tuple[Callable[[], Awaitable[tuple[str, ...]]], ...] = (
        lambda: _recover(surfaces),
        lambda: _consolidate(surfaces, model),
        lambda: _sweep(surfaces),
    )
    for work in works:
        try:
            said += await work()
        except MunimentError as error:
            said.append(error.sentence)
        except OSError as error:
            said.append(f"Team memory was not tended to: {reason_of(error)}.")
    return tuple(said)


def is_due(surfaces: Surfaces) -> bool:
    """Tell whether `upkeep` could have anything to do; cheap."""
    settings = surfaces.settings
    return "auto" in (settings.notes.consolidate, settings.knowledge.sweep) or surfaces.team.pending.waits()


async def _recover(surfaces: Surfaces) -> tuple[str, ...]:
    return await uncut(surfaces.team.pending.recover)


async def _consolidate(surfaces: Surfaces, model: Model | None) -> tuple[str, ...]:
    if surfaces.settings.notes.consolidate != "auto":
        return ()
    if not await asyncio.to_thread(surfaces.team.consolidation.ready):
        return ()
    preview = (await digested(surfaces, await asyncio.to_thread(prepare, surfaces), model)).preview
    if not preview.enough:
        return ()
    origin = Origin("engine", "consolidation", decided_by="settings", reason="notes.consolidate is auto")
    outcome = await uncut(lambda: surfaces.team.consolidation.apply(preview, origin))
    count = len(outcome.archived)
    if outcome.breaker:
        return (
            f"{count} notes that mostly repeat one text went to the archive; nothing was learned from them.",
        )
    fallback = (f"The rules wrote the digest: {preview.why}",) if preview.why else ()
    return (f"Consolidated {count} notes into the team notes.", *fallback, *outcome.notes)


async def _sweep(surfaces: Surfaces) -> tuple[str, ...]:
    if surfaces.settings.knowledge.sweep != "auto":
        return ()
    items = await asyncio.to_thread(surfaces.team.sweep.propose)
    # Where you filed an entry yourself, only you file it elsewhere.
    items = tuple(each for each in items if each.target is None or each.entry.source != "user")
    if not items:
        return ()
    origin = Origin("engine", "sweep", decided_by="settings", reason="knowledge.sweep is auto")
    outcome = await uncut(lambda: surfaces.team.sweep.apply(items, origin))
    counts = f"{len(outcome.swept)} moved to knowledge/_swept, {len(outcome.filed)} filed anew"
    return (f"Swept the knowledge base: {counts}.", *outcome.notes)
