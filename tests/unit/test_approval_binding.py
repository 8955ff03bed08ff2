"""An approval is for one action at one place: whatever moves meanwhile, nothing else is touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from muniment.approval.policy import Mode
from muniment.approval.proposal import Decision, Proposal
from muniment.model.base import ToolCall
from muniment.session.events import ProposalMade, ToolFinished
from muniment.tools.registry import default_registry
from support.app import write_record
from support.session import Place, Say, StepModel, call, only, run

RECORD = call("memory_store", id="rule", title="Rule", content="Approved text.", scope="project")
FILE = call("write_file", mode="create", path="sub/plan.md", content="Approved text.")
ENTRY = call("memory_save", mode="create", name="rule", type="user", summary="Approved text.")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (place.project / "sub").mkdir()
    return place


class Meanwhile:
    """Does something while the question stands and then allows."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.asked: list[Proposal] = []

    async def __call__(self, proposal: Proposal) -> Decision:
        self.asked.append(proposal)
        if len(self.asked) == 1:
            self._act()
        return Decision(True, "user")


async def answered(
    place: Place, asked: ToolCall, act: Callable[[], object], *, cwd: Path | None = None
) -> ToolFinished:
    model = StepModel(Say(calls=(asked,)), Say("ok"))
    engine = place.open(model, tools=default_registry(), approver=Meanwhile(act), cwd=cwd)
    _, events = await run(engine)
    await engine.close()
    (finished,) = only(events, ToolFinished)
    assert isinstance(finished, ToolFinished)
    return finished


def holding(directory: Path) -> list[str]:
    """Return the files below a directory that hold what was approved."""
    return [
        str(each.relative_to(directory))
        for each in sorted(directory.rglob("*"))
        if each.is_file() and not each.is_symlink() and b"Approved text." in each.read_bytes()
    ]


@pytest.mark.parametrize("asked", [RECORD, FILE], ids=lambda each: each.name)
async def test_a_changed_working_directory_moves_no_write(
    place: Place, asked: ToolCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = place.root / "other"
    (other / "sub").mkdir(parents=True)
    monkeypatch.chdir(place.project)
    finished = await answered(place, asked, lambda: os.chdir(other))
    assert finished.status == "completed"
    assert holding(other) == []
    assert len(holding(place.project)) == 1


async def test_a_deeper_scope_that_appears_gets_nothing_of_a_write_approved_for_another(place: Place) -> None:
    (place.project / ".muniment").mkdir(mode=0o700)
    inner = place.project / "sub"

    def appear() -> None:
        (inner / ".muniment").mkdir(mode=0o700)

    finished = await answered(place, RECORD, appear, cwd=inner)
    assert finished.result.get("directory", str(place.project / ".muniment")) == str(
        place.project / ".muniment"
    )
    assert holding(inner) == []


@pytest.mark.parametrize("asked", [RECORD, FILE, ENTRY], ids=lambda each: each.name)
async def test_a_target_swapped_for_a_link_leads_nowhere(place: Place, asked: ToolCall) -> None:
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir()
    (place.project / ".muniment" / "memory").mkdir(mode=0o700, parents=True)
    (place.project / ".muniment").chmod(0o700)
    place.paths.user_memory.mkdir(parents=True, mode=0o700)
    swapped = {
        "memory_store": place.project / ".muniment" / "memory",
        "write_file": place.project / "sub",
        "memory_save": place.paths.user_memory,
    }[asked.name]

    def swap() -> None:
        swapped.rename(place.root / "moved")
        swapped.symlink_to(elsewhere, target_is_directory=True)

    finished = await answered(place, asked, swap)
    assert finished.status == "failed"
    assert holding(elsewhere) == []
    assert holding(place.root / "moved") == []


async def test_a_deletion_approved_for_one_copy_takes_no_other(place: Place) -> None:
    """The approved copy goes by hand meanwhile; the next one, which then counts, was not approved."""
    write_record(place.paths.data, "rule", "Global")
    mine = write_record(place.project / ".muniment", "rule", "Project")
    finished = await answered(place, call("memory_delete", id="rule"), mine.unlink)
    assert finished.status == "failed"
    assert "changed after approval" in finished.text
    assert (place.paths.data / "memory" / "rule.yaml").is_file()


async def test_other_arguments_under_a_used_id_are_asked_about_and_each_writes_its_own(place: Place) -> None:
    first = ToolCall("same", "memory_store", '{"id": "a", "title": "A", "content": "Approved text."}')
    second = ToolCall("same", "memory_store", '{"id": "b", "title": "B", "content": "Other text."}')
    asked: list[Proposal] = []

    async def only_the_first(proposal: Proposal) -> Decision:
        asked.append(proposal)
        return Decision(len(asked) == 1, "user")

    model = StepModel(Say(calls=(first,)), Say(calls=(second,)), Say("ok"))
    engine = place.open(model, tools=default_registry(), approver=only_the_first)
    _, events = await run(engine)
    assert [each.status for each in only(events, ToolFinished)] == ["completed", "denied"]
    assert [each.proposal for each in only(events, ProposalMade)] == asked
    memory = place.project / ".muniment" / "memory"
    assert [each.name for each in memory.iterdir()] == ["a.yaml"]


async def test_what_was_approved_can_not_be_changed_by_whoever_was_shown_it(place: Place) -> None:
    asked: list[Proposal] = []

    async def meddle(proposal: Proposal) -> Decision:
        asked.append(proposal)
        plan: Any = proposal.plan
        for target, name in ((proposal, "plan"), (plan, fields(plan)[0].name)):
            with pytest.raises(FrozenInstanceError):
                setattr(target, name, None)
        return Decision(True, "user")

    model = StepModel(Say(calls=(RECORD,)), Say("ok"))
    await run(place.open(model, tools=default_registry(), approver=meddle))
    assert len(asked) == 1
    assert holding(place.project) == [".muniment/memory/rule.yaml"]


async def test_the_journal_keeps_who_decided_and_the_reason_that_was_given(place: Place) -> None:
    async def reasoned(proposal: Proposal) -> Decision:
        return Decision(True, "user", "read to the end")

    model = StepModel(Say(calls=(RECORD,)), Say("ok"))
    engine = place.open(model, tools=default_registry(), approver=reasoned)
    await run(engine)
    (entry,) = engine.surfaces.journal.entries()
    origin = entry.origin
    assert (origin.decided_by, origin.reason, origin.mode) == ("user", "read to the end", "manual")
    await engine.close()


async def test_a_mode_loosened_while_a_question_stands_answers_no_question(place: Place) -> None:
    engines: list[Any] = []
    asked: list[Proposal] = []

    async def loosen(proposal: Proposal) -> Decision:
        asked.append(proposal)
        engines[0].set_mode(Mode.BYPASS)
        return Decision(False, "user")

    model = StepModel(Say(calls=(RECORD,)), Say("ok"))
    engines.append(place.open(model, tools=default_registry(), approver=loosen))
    _, events = await run(engines[0])
    assert [each.status for each in only(events, ToolFinished)] == ["denied"]
    assert len(asked) == 1
    assert holding(place.project) == []
