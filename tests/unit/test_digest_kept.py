"""The digest after a summary and after a resume: word for word the one, made anew the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.model.base import AssistantItem
from support.session import Place, Say, StepModel, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def rule(place: Place, name: str, title: str) -> None:
    memory = place.project / ".muniment" / "memory"
    memory.mkdir(parents=True, exist_ok=True, mode=0o700)
    (memory / f"{name}.yaml").write_text(f"id: {name}\ntitle: {title}\ncontent: Body of {name}.\n")


def memory_of(request: object) -> str:
    first = request.items[0]  # type: ignore[attr-defined]
    assert isinstance(first, AssistantItem)
    return first.text


async def test_a_summary_leaves_the_digest_word_for_word_and_a_resume_makes_it_anew(place: Place) -> None:
    rule(place, "plums", "Weigh plums twice")
    rule(place, "figs", "Count figs once")
    model = StepModel(
        *[Say(f"Answer {n}. {'words ' * 60}") for n in range(4)], Say("They weighed."), Say("ok")
    )
    engine = place.open(model)
    for number in range(4):
        await run(engine, f"Question {number}")
    before = memory_of(model.requests[0])
    assert "Weigh plums twice" in before
    rule(place, "pears", "Peel pears")
    assert await engine.compact(lambda event: None) is True
    assert all("Weigh plums twice" not in repr(item) for item in model.requests[4].items)
    await run(engine, "go on")
    after = memory_of(model.requests[5])
    assert after.startswith(before)
    assert "They weighed." in after.removeprefix(before)
    assert "Peel pears" not in after
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    await run(again, "and now")
    resumed = memory_of(model.requests[6])
    assert "Peel pears" in resumed
    assert "They weighed." in resumed
    assert "Body of" not in resumed
