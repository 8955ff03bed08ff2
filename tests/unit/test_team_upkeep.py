"""What happens to team memory by itself at the end of a turn: only what the settings set to `auto`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.memory.team.entry import NewEntry
from muniment.memory.team.refusals import TeamRefused
from muniment.model.base import ModelEvent, ModelRequest
from muniment.session.engine import Engine
from muniment.session.events import Notice
from muniment.session.team.upkeep import is_due, upkeep
from support.consolidation import add_notes, consolidate, inbox
from support.poll import PATIENCE
from support.session import Place, Say, StepModel, only, run
from support.team import USER, tree

DIGEST = "### 2026-11-30: Locks\n\n#### Bugs and gotchas\n\n- **Locks**: take them before anything [ripley]\n"


def place_with(tmp_path: Path, config: str) -> Place:
    place = Place(tmp_path)
    (place.project / ".muniment").mkdir()
    place.configure(config)
    return place


def notices(events: object) -> list[str]:
    return [each.text for each in only(events, Notice)]  # type: ignore[arg-type]


async def turn(engine: Engine) -> list[str]:
    ended, events = await run(engine)
    assert ended.status == "completed"
    return notices(events)


@pytest.mark.parametrize("word", ["ask", "off"])
async def test_nothing_is_consolidated_or_swept_unless_it_is_set_to_auto(word: str, tmp_path: Path) -> None:
    place = place_with(tmp_path, f"notes: {{consolidate: {word}}}\nknowledge: {{sweep: {word}}}\n")
    engine = place.open(StepModel(Say("ok")))
    add_notes(engine.surfaces, 6)
    for _ in range(2):
        engine.surfaces.team.knowledge.add(NewEntry("A", "same", "reviews"), USER)
    before = tree(place.project)
    assert not is_due(engine.surfaces)
    assert await turn(engine) == []
    assert tree(place.project) == before
    await engine.close()


async def test_auto_consolidates_once_the_threshold_is_reached_and_says_so(tmp_path: Path) -> None:
    place = place_with(tmp_path, "notes: {consolidate: auto, threshold: 3}\n")
    model = StepModel(Say("ok"), Say("ok"), Say(DIGEST), Say("ok"))
    engine = place.open(model)
    add_notes(engine.surfaces, 2)
    assert await turn(engine) == []
    add_notes(engine.surfaces, 1, first=2)
    assert await turn(engine) == ["Consolidated 3 notes into the team notes."]
    assert inbox(engine.surfaces) == []
    assert engine.surfaces.team.notes.sections() == [DIGEST.strip()]
    assert len(model.requests) == 3
    entry = next(each for each in engine.surfaces.journal.entries() if each.surface == "notes")
    assert (entry.origin.actor, entry.origin.decided_by) == ("engine", "settings")
    await engine.close()


async def test_auto_says_when_the_rules_wrote_and_when_a_storm_was_put_away(tmp_path: Path) -> None:
    place = place_with(tmp_path, "notes: {consolidate: auto, threshold: 3}\n")
    engine = place.open(StepModel(Say("ok")))
    add_notes(engine.surfaces, 3)
    first, second = await turn(engine)
    assert first == "Consolidated 3 notes into the team notes."
    assert second.startswith("The rules wrote the digest: ")
    for number in range(6):
        path = engine.surfaces.team.inbox.directory / f"a-{number}.md"
        path.write_text("again")
    (said,) = await turn(engine)
    assert said.startswith("6 notes that mostly repeat one text went to the archive")
    await engine.close()


async def test_auto_sweeps_but_files_nothing_elsewhere_that_you_filed(tmp_path: Path) -> None:
    place = place_with(tmp_path, "knowledge: {sweep: auto}\n")
    engine = place.open(StepModel(Say("ok")))
    knowledge = engine.surfaces.team.knowledge
    knowledge.add(NewEntry("B", "how it works, in a pattern", "reviews"), USER)
    for _ in range(2):
        knowledge.add(NewEntry("A", "same", "reviews"), USER)
    assert await turn(engine) == ["Swept the knowledge base: 1 moved to knowledge/_swept, 0 filed anew."]
    assert await turn(engine) == []
    assert {each.category for each in knowledge.list()} == {"reviews"}
    await engine.close()


async def test_what_was_cut_off_is_finished_at_the_end_of_the_next_turn(tmp_path: Path) -> None:
    place = place_with(tmp_path, "notebooks: {agents: [ripley]}\n")
    engine = place.open(StepModel(Say("ok")))
    add_notes(engine.surfaces, 5)
    book = engine.surfaces.team.notebooks.path_of("ripley")
    book.mkdir(parents=True)
    with pytest.raises(TeamRefused):
        consolidate(engine.surfaces)
    assert is_due(engine.surfaces)
    (fault,) = await turn(engine)
    assert "is not finished" in fault
    book.rmdir()
    assert await turn(engine) == ["Finished the consolidation that had been cut off."]
    assert inbox(engine.surfaces) == []
    await engine.close()


class Slow(StepModel):
    """Answers the turn and hangs where it should write a digest."""

    def __init__(self) -> None:
        super().__init__(Say("ok"), Say(hang=True))
        self.asked = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self.requests:
            self.asked.set()
        async for event in super().stream(request):
            yield event


async def test_an_interrupt_while_a_digest_is_made_ends_it_and_writes_nothing(tmp_path: Path) -> None:
    place = place_with(tmp_path, "notes: {consolidate: auto, threshold: 3}\n")
    model = Slow()
    engine = place.open(model)
    add_notes(engine.surfaces, 3)
    task = asyncio.ensure_future(run(engine))
    await asyncio.wait_for(model.asked.wait(), PATIENCE)
    engine.interrupt()
    ended, events = await task
    assert ended.status == "completed"
    assert notices(events) == ["Tending to team memory was stopped; the next turn goes on with it."]
    assert len(inbox(engine.surfaces)) == 3
    assert not engine.surfaces.team.pending.waits()
    await engine.close()


async def test_upkeep_without_a_model_uses_the_rules(tmp_path: Path) -> None:
    place = place_with(tmp_path, "notes: {consolidate: auto, threshold: 3}\n")
    engine = place.open(StepModel(Say("ok")))
    add_notes(engine.surfaces, 3)
    assert await upkeep(engine.surfaces, None) == ("Consolidated 3 notes into the team notes.",)
    await engine.close()
