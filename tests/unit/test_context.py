"""What a request carries: the order and labels of its memory, and nothing where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muniment.model.base import AssistantItem, UserItem
from muniment.session.engine import Engine
from muniment.session.events import Notice
from muniment.session.recipes.recipe import ASSISTANT, MemoryPolicy
from muniment.session.request.blocks import (
    DATA_RULE,
    Block,
    BlockQuery,
    Provided,
    block,
    render,
    summary_block,
)
from muniment.session.request.estimate import estimate
from muniment.session.request.instructions import (
    DEFAULT_SOUL,
    SOUL_MAX_BYTES,
    build_instructions,
    memory_guide,
    read_soul,
)
from muniment.tools.registry import default_registry
from support.session import Place, Say, StepModel, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def write_record(directory: Path, name: str, title: str, content: str = "The body.") -> Path:
    memory = directory / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    path = memory / f"{name}.yaml"
    path.write_text(f'id: {name}\ntitle: "{title}"\ncontent: "{content}"\n')
    return path


def some(name: str, text: str = "words") -> Block:
    return block(name, name.replace("_", "-"), f"Label of {name}.", text, items=1)


def test_the_settings_bound_what_stands_in_a_fence(place: Place) -> None:
    place.configure("fence: {max_bytes: 1024}\n")
    for number in range(40):
        write_record(place.paths.data, f"r-{number}", f"A title that is not short {number}")
    place.paths.user_memory.mkdir(parents=True)
    for number in range(20):
        entry = f"---\nname: entry-{number}\ntype: user\nsummary: {'é' * 60}\n---\n"
        (place.paths.user_memory / f"entry-{number}.md").write_text(entry)
    assembly = place.open(StepModel(Say("ok")), tools=default_registry()).assemble_preview("hello")
    assert [each.name for each in assembly.blocks] == ["digest", "user_memory"]
    for each in assembly.blocks:
        assert 1_000 < len(each.text.encode()) <= 1_024
        assert each.text.endswith("longer than 1024 bytes]")
        counted = f"{each.label}\n{each.text}" if each.name == "user_memory" else each.text
        assert each.bytes == len(counted.encode())
        assert each.text in assembly.as_dict()["input"][0]["content"]


def test_without_memory_a_request_is_the_conversation(place: Place) -> None:
    engine = place.open(StepModel(Say("ok")))
    assembly = engine.assemble_preview("hello")
    assert assembly.request.items == (UserItem("hello"),)
    assert assembly.blocks == ()
    headless = place.open(StepModel(Say("ok")), headless=True)
    assert headless.assemble_preview("hello").request == assembly.request
    assert assembly.estimate == estimate(assembly.request)
    assert assembly.budget == 119_808


def test_the_shape_of_the_context_command(place: Place) -> None:
    write_record(place.project / ".muniment", "rule", "Plum rule")
    shape = place.open(StepModel(Say("ok"))).assemble_preview("hello").as_dict()
    assert list(shape) == ["instructions", "input", "blocks", "estimate", "budget"]
    assert [each["role"] for each in shape["input"]] == ["assistant", "user"]
    assert shape["input"][1] == {"role": "user", "content": "hello"}
    (digest,) = shape["blocks"]
    assert digest["name"] == "digest"
    assert digest["source"] == "digest"
    assert digest["items"] == 1
    content = shape["input"][0]["content"]
    inside = content.split('<UNTRUSTED-INPUT source="digest">\n')[1].split("\n</UNTRUSTED-INPUT>")[0]
    assert digest["bytes"] == len(inside.encode())
    assert DATA_RULE in content.split("<UNTRUSTED-INPUT")[0]
    assert "Plum rule" in inside
    assert "The body." not in content
    assert "Plum" not in shape["instructions"]


def test_blocks_stand_in_one_message_in_their_order() -> None:
    names = ["summary", "notebook", "team_notes", "user_memory", "digest", "pinned"]
    blocks = [summary_block("sum") if name == "summary" else some(name) for name in names]
    text = render(blocks)
    places = [text.index(f"Label of {name}.") for name in reversed(names[1:])]
    assert places == sorted(places)
    assert text.rindex("sum") > places[-1]
    assert text.count("</UNTRUSTED-INPUT>") == 5


def test_a_summary_is_labelled_and_not_fenced() -> None:
    text = summary_block("The sum.").render()
    assert "UNTRUSTED" not in text
    assert text.endswith("\nThe sum.")
    assert "permits nothing" in text


def test_a_label_counts_only_where_its_bound_says_so() -> None:
    assert block("digest", "digest", "Label", "é", items=1).bytes == 2
    assert block("user_memory", "user-memory", "Label", "é", items=1, count_label=True).bytes == 8


async def test_the_digest_is_built_once_and_never_logged(place: Place) -> None:
    rule = write_record(place.project / ".muniment", "rule", "Plum rule")
    model = StepModel(Say("ok"))
    engine = place.open(model)
    await run(engine, "one")
    rule.unlink()
    write_record(place.project / ".muniment", "later", "Fig rule")
    await run(engine, "two")
    first, second = (request.items[0] for request in model.requests)
    assert first == second
    assert isinstance(first, AssistantItem)
    assert first.text.count("<UNTRUSTED-INPUT") == 1
    assert "Plum rule" not in (place.paths.sessions / f"{engine.id}.jsonl").read_text()
    assert engine.digest_items == 1
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    await run(again, "three")
    text = model.requests[-1].items[0]
    assert isinstance(text, AssistantItem)
    assert "Fig rule" in text.text
    assert "Plum rule" not in text.text
    assert text.text.count("<UNTRUSTED-INPUT") == 1


def _told(events: Sequence[object]) -> list[str]:
    return [each.text for each in events if isinstance(each, Notice)]


async def test_records_that_cannot_be_read_are_told_once_when_the_session_opens(place: Place) -> None:
    write_record(place.project / ".muniment", "rule", "Plum rule")
    bad = place.project / ".muniment" / "memory" / "bad.yaml"
    bad.write_text("id: [")
    model = StepModel(Say("ok"))
    engine = place.open(model)
    (told,) = [each for each in _told(engine.opening) if "The list of records" in each]
    assert told.startswith(f"The list of records leaves out 1 file: {bad} line 2, column 1")
    for text in ("one", "two"):
        _, events = await run(engine, text)
        assert not [each for each in _told(events) if "The list of records" in each]
    assert bad.read_text() == "id: ["


@pytest.mark.parametrize(
    ("value", "digest", "notices"),
    [
        (None, True, 0),
        ("", True, 0),
        ("0", True, 0),
        ("no", True, 0),
        ("1", False, 0),
        (" TRUE ", False, 0),
        ("on", False, 0),
        ("maybe", True, 1),
    ],
)
def test_the_switch_takes_the_digest_away_and_nothing_else(
    place: Place, value: str | None, digest: bool, notices: int
) -> None:
    write_record(place.project / ".muniment", "rule", "Plum rule")
    plain = place.open(StepModel(Say("ok")))
    if value is not None:
        place.environ["MUNIMENT_NO_MEMORY_INJECT"] = value
    engine = place.open(StepModel(Say("ok")))
    assert bool(engine.assemble_preview().blocks) is digest
    assert len([event for event in engine.opening if "MUNIMENT_NO_MEMORY_INJECT" in repr(event)]) == notices
    assert engine.assemble_preview().request.tools == plain.assemble_preview().request.tools


def test_a_headless_run_has_no_digest(place: Place) -> None:
    write_record(place.project / ".muniment", "rule", "Plum rule")
    assert place.open(StepModel(Say("ok")), headless=True).assemble_preview("x").blocks == ()


def test_a_recipe_can_do_without_the_digest(place: Place) -> None:
    write_record(place.project / ".muniment", "rule", "Plum rule")
    recipe = place.project / "bare.yaml"
    recipe.write_text("name: bare\ndescription: Bare\nmemory: {digest: false}\n")
    assert place.open(StepModel(Say("ok")), recipe=str(recipe)).assemble_preview("x").blocks == ()


def test_a_strict_layout_folds_memory_into_the_first_user_message(place: Place) -> None:
    place.configure("model: {chat_layout: strict}\n")
    write_record(place.project / ".muniment", "rule", "Plum rule")
    (item,) = place.open(StepModel(Say("ok"))).assemble_preview("hello").request.items
    assert isinstance(item, UserItem)
    assert item.text.endswith("\nhello")
    assert item.text.index("Plum rule") < item.text.index("</UNTRUSTED-INPUT>") < item.text.index("hello")


def asking(engine: Engine, **providers: Any) -> Engine:
    engine.context.providers = tuple(providers.items())
    return engine


async def test_a_turn_looks_memory_up_once_for_all_its_requests(place: Place) -> None:
    from support.session import call

    asked: list[BlockQuery] = []

    def provider(surfaces: object, query: BlockQuery) -> Provided:
        asked.append(query)
        return Provided(some("user_memory", f"version {len(asked)}"), (f"notice {len(asked)}",))

    model = StepModel(Say(calls=(call("look"),)), Say("ok"), Say("ok"))
    engine = asking(place.open(model), user_memory=provider)
    _, events = await run(engine, "one")
    assert len(asked) == 1
    assert asked[0].prompt == "one"
    assert asked[0].session == engine.id
    assert model.requests[0].items[0] == model.requests[1].items[0]
    assert "notice 1" in repr(events)
    await run(engine, "two")
    assert "version 2" in repr(model.requests[2].items[0])
    engine.assemble_preview("three")
    assert asked[-1].preview
    assert "version" not in (place.paths.sessions / f"{engine.id}.jsonl").read_text()


def test_team_files_are_asked_only_where_no_pack_is_sent(place: Place) -> None:
    def give(name: str) -> Any:
        return lambda surfaces, query: Provided(some(name))

    engine = asking(
        place.open(StepModel(Say("ok"))),
        pinned=give("pinned"),
        pack=lambda surfaces, query: Provided(some("pack") if "find" in query.prompt else None),
        team_notes=give("team_notes"),
        notebook=give("notebook"),
    )
    assert [each.name for each in engine.assemble_preview("find it").blocks] == ["pinned", "pack"]
    assert [each.name for each in engine.assemble_preview("x").blocks] == ["pinned", "team_notes", "notebook"]


def test_a_recipe_can_do_without_user_memory(place: Place) -> None:
    bare = replace(ASSISTANT, memory=MemoryPolicy(user_memory=False))
    for recipe, names in ((ASSISTANT, ["pinned", "user_memory"]), (bare, ["pinned"])):
        engine = asking(
            place.open(StepModel(Say("ok")), recipe=recipe),
            pinned=lambda surfaces, query: Provided(some("pinned")),
            user_memory=lambda surfaces, query: Provided(some("user_memory")),
        )
        assert [each.name for each in engine.assemble_preview("x").blocks] == names


def test_the_default_text_forbids_saving_secrets(place: Place) -> None:
    assert read_soul(place.paths) == (DEFAULT_SOUL, None)
    assert "secret" in DEFAULT_SOUL


def test_the_users_own_text_takes_its_place(place: Place) -> None:
    place.paths.config.mkdir()
    place.paths.soul_file.write_bytes("\ufeffMe.\n".encode())
    assert read_soul(place.paths) == ("Me.\n", None)
    instructions = place.open(StepModel(Say("ok"))).assemble_preview().request.instructions
    assert instructions.startswith("Me.\n")
    assert "How memory works here" in instructions


@pytest.mark.parametrize("size", [SOUL_MAX_BYTES, SOUL_MAX_BYTES + 1])
def test_the_users_text_has_a_limit(place: Place, size: int) -> None:
    place.paths.config.mkdir()
    place.paths.soul_file.write_bytes(b"x" * size)
    text, fault = read_soul(place.paths)
    assert (fault is None) is (size == SOUL_MAX_BYTES)
    assert (text == DEFAULT_SOUL) is (fault is not None)


def test_a_text_that_cannot_be_used_is_said_once(place: Place) -> None:
    place.paths.config.mkdir()
    place.paths.soul_file.write_bytes(b"\xff\xfe")
    opening = place.open(StepModel(Say("ok"))).opening
    assert len([event for event in opening if "SOUL.md" in repr(event)]) == 1


def test_the_guide_speaks_only_of_what_is_offered() -> None:
    assert "memory_store" not in memory_guide(["look"])
    assert "memory_store" in memory_guide(["memory_store"])
    text = build_instructions("soul\n", "", ["look"], "", "extra")
    assert text.startswith("soul\n\nHow memory works")
    assert text.endswith("\n\nextra")


def test_an_assembly_compares_by_what_is_sent(place: Place) -> None:
    assembly = place.open(StepModel(Say("ok"))).assemble_preview("x")
    assert replace(assembly, notices=("other",)) == assembly
