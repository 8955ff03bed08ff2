"""Records that came with a cloned directory are told of once, before anything relies on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.session.events import Notice
from support.app import write_record
from support.session import Place, Say, StepModel, allow, call, only, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def told(place: Place) -> list[str]:
    engine = place.open(StepModel(Say("ok")))
    return [each.text for each in only(engine.opening, Notice) if "came with the directory" in each.text]


async def one_turn(place: Place) -> None:
    engine = place.open(StepModel(Say("ok")))
    ended, _ = await run(engine)
    assert ended.status == "completed"
    await engine.close()


def clone(place: Place) -> Path:
    (place.project / ".git").mkdir()
    return place.project / ".muniment"


async def test_records_of_a_clone_are_counted_with_their_directory_until_somebody_worked_there(
    place: Place,
) -> None:
    directory = clone(place)
    for name in ("one", "two"):
        write_record(directory, name, name)
    (sentence,) = told(place)
    assert sentence.startswith(f"2 records in {directory} came with the directory")
    assert told(place) == [sentence], "looking alone is not working there"
    await one_turn(place)
    assert told(place) == []


async def test_they_stand_in_the_digest_fenced_and_under_their_project(place: Place) -> None:
    write_record(clone(place), "one", "From elsewhere")
    model = StepModel(Say("ok"))
    engine = place.open(model)
    await run(engine)
    text = model.requests[0].items[0].text
    assert '"From elsewhere", category "fact", scope "project project"' in text
    assert text.index("<UNTRUSTED-INPUT") < text.index("From elsewhere") < text.index("</UNTRUSTED-INPUT>")


async def test_what_was_written_here_came_with_nobody(place: Place) -> None:
    from muniment.tools.registry import default_registry

    clone(place)
    stored = call("memory_store", title="Ours", content="x")
    engine = place.open(StepModel(Say(calls=(stored,)), Say("ok")), tools=default_registry(), approver=allow)
    await run(engine)
    await engine.close()
    assert not (place.paths.state / "places").exists()
    assert list((place.project / ".muniment" / "memory").iterdir())
    assert told(place) == []


def test_outside_of_version_control_and_without_records_nothing_is_told(place: Place) -> None:
    write_record(place.project / ".muniment", "one", "one")
    assert told(place) == []
    (place.project / ".git").mkdir()
    assert len(told(place)) == 1
    (place.project / ".muniment" / "memory" / "one.yaml").unlink()
    assert told(place) == []


async def test_a_place_that_cannot_be_noted_costs_the_turn_nothing(place: Place) -> None:
    write_record(clone(place), "one", "one")
    place.paths.state.mkdir(mode=0o700)
    (place.paths.state / "places").write_text("in the way")
    await one_turn(place)
    assert len(told(place)) == 1
