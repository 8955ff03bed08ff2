"""A request taken apart: blocks against bounds, the same object as the request, and why rows are in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muniment.memory.recall.rank import Parts
from muniment.session.engine import Engine
from muniment.session.request.blocks import ORDER
from muniment.session.request.inspecting import Bound, Inspected, bar, inspect, row_words
from support.memory_world import memory_world
from support.session import Place, Say, StepModel, run


def taken_apart(engine: Engine, prompt: str = "") -> Inspected:
    return inspect(
        engine.assemble_preview(prompt),
        "next",
        limits=engine.context.limits,
        settings=engine.surfaces.settings,
        recipe=engine.recipe,
        retrieval=engine.context.retrieval,
    )


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    place = Place(tmp_path)
    for name, path in (("CONFIG", "config"), ("DATA", "data"), ("STATE", "state"), ("CACHE", "cache")):
        monkeypatch.setenv(f"MUNIMENT_{name}_DIR", str(tmp_path / path))
    project = memory_world(tmp_path)
    return place.open(StepModel(Say("fine")), cwd=project)


async def test_every_block_is_there_or_said_to_be_absent_in_the_order_of_the_request(engine: Engine) -> None:
    shown = taken_apart(engine, "how are pilot sheets coded?")
    assert [each.key for each in shown.parts] == ["instructions", *ORDER, "conversation", "tools"]
    by_key = {each.key: each for each in shown.parts}
    assert by_key["pinned"].bounds[0].most == 4_096
    assert by_key["digest"].bounds[0] == Bound(4, 100, "records")
    assert by_key["user_memory"].bounds[0] == Bound(2, 200, "entries")
    assert not by_key["summary"].present
    assert "absent" in by_key["summary"].amount
    await engine.close()


async def test_the_raw_view_is_what_the_context_command_prints(engine: Engine) -> None:
    shown = taken_apart(engine, "pilot")
    assert json.loads(shown.raw) == json.loads(json.dumps(engine.assemble_preview("pilot").as_dict()))
    text = json.loads(shown.raw)["input"][0]["content"]
    for part in shown.parts:
        if part.bounds:
            assert part.text in text
    await engine.close()


async def test_the_last_request_shows_what_was_sent(engine: Engine) -> None:
    await run(engine, "remember the heron")
    sent = engine.last_assembly
    assert sent is not None
    shown = inspect(
        sent,
        "last",
        limits=engine.context.limits,
        settings=engine.surfaces.settings,
        recipe=engine.recipe,
        retrieval=engine.context.retrieval,
    )
    talk = next(each for each in shown.parts if each.key == "conversation")
    assert "remember the heron" in talk.text
    assert talk.amount == "1 message"
    await engine.close()


@pytest.mark.parametrize(
    ("used", "most", "full"),
    [(0, 10, 0), (1, 1_000_000, 1), (5, 10, 12), (10, 10, 24), (30, 10, 24), (1, 0, 24)],
)
def test_a_bar_shows_something_as_soon_as_something_is_used(used: int, most: int, full: int) -> None:
    assert bar(used, most) == "█" * full + "░" * (24 - full)


def test_the_budget_is_said_in_words() -> None:
    def words(estimate: int) -> str:
        return Inspected("x", (), estimate, 1_000, 800, "").words

    assert words(100) == "100 of 1,000 tokens (10 %); a summary is made above 800"
    assert words(117).startswith("117 of 1,000 tokens (12 %)")
    assert words(900) == "900 of 1,000 tokens (90 %); above 800, so a summary is made first"
    assert words(1_001).endswith("over the budget: it cannot be sent")


def test_a_row_says_its_parts_the_largest_first_and_leaves_out_what_adds_nothing() -> None:
    from muniment.memory.recall.pack import RecalledRow

    row = RecalledRow("M-1", "t", "s", 1.0, Parts(0.2, 0.1, 0.5, 0.0, 0.05, 0.1, 0.05))
    assert row_words(row).startswith("trust 0.500 + words 0.200 + ")
    assert "paths" not in row_words(row)


@pytest.mark.parametrize(
    ("retrieval", "why"),
    [
        ("off", "absent: recall is off"),
        ("shadow", "absent: recall is in shadow: it chooses and is noted, and nothing of it is sent"),
        ("on", "absent: recall found nothing that fits"),
    ],
)
async def test_why_nothing_was_recalled_is_told_and_not_what_it_may_be(
    tmp_path: Path, retrieval: str, why: str
) -> None:
    place = Place(tmp_path)
    place.paths.config.mkdir(parents=True, exist_ok=True)
    lines = {"off": "enabled: false", "shadow": "enabled: true\n  shadow: true", "on": "enabled: true"}
    place.paths.config_file.write_text(f"retrieval:\n  {lines[retrieval]}\n", encoding="utf-8")
    engine = place.open(StepModel(Say("fine")))
    assert engine.context.retrieval == retrieval
    pack = next(each for each in taken_apart(engine, "plums").parts if each.key == "pack")
    assert pack.amount == why
    await engine.close()
