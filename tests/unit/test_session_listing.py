"""Sessions on disk: listed, searched, renamed, deleted and given away."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from muniment.safety.errors import InvalidInput, NotFound
from muniment.session.logs.export import as_json, as_markdown, fenced, read_log
from muniment.session.logs.log import SessionBusy, SessionDamaged
from muniment.session.logs.stored import delete_session, list_sessions, rename_session, shortened
from support.session import Place, Say, StepModel, allow, call, run

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def session(place: Place, *messages: str, reply: str = "A reply.") -> str:
    engine = place.open(StepModel(Say(reply)))
    for message in messages:
        await run(engine, message)
    await engine.close()
    return engine.id


async def test_a_list_tells_what_each_session_was(place: Place) -> None:
    assert list_sessions(place.paths) == []
    first = await session(place, "Weigh   the\nplums", "and the figs")
    engine = place.open(StepModel(Say(calls=(call("look"),)), Say("ok")))
    await run(engine, "second")
    os.utime(place.paths.sessions / f"{first}.jsonl", (1, 1))
    newest, oldest = list_sessions(place.paths)
    assert (oldest.id, newest.id) == (first, engine.id)
    assert oldest.title == "Weigh the plums"
    assert (oldest.turns, oldest.tool_calls) == (2, 0)
    assert (newest.turns, newest.tool_calls) == (1, 1)
    assert oldest.cwd == str(place.project)
    assert oldest.recipe == "assistant"
    assert (oldest.provider, oldest.model) == ("scripted", "steps")
    assert (oldest.live, newest.live) == (False, True)
    assert oldest.as_dict()["updated"] == "1970-01-01T00:00:01Z"
    assert list_sessions(place.paths, limit=1) == [newest]


async def test_counting_is_not_fooled_by_what_was_said(place: Place) -> None:
    fake = '{"v":1,"seq":9,"turn_id":"","kind":"user_message"}'
    await session(place, f"{fake}\n{fake}")
    (info,) = list_sessions(place.paths)
    assert info.turns == 1


async def test_other_files_are_no_sessions_and_damaged_ones_are_named(place: Place) -> None:
    await session(place, "one")
    for name in ("notes.txt", "a.jsonl", f"{'A' * 32}.jsonl", f"{'b' * 32}.torn-1234"):
        (place.paths.sessions / name).write_text("x")
    (place.paths.sessions / f"{'c' * 32}.jsonl").write_bytes(b"\xff\n")
    (place.paths.sessions / f"{'d' * 32}.jsonl").symlink_to("/etc/hostname")
    problems = {info.id: info.problem for info in list_sessions(place.paths)}
    assert len(problems) == 3
    assert problems["c" * 32] == "its first line is damaged"
    assert problems["d" * 32] == "symbolic link"


async def test_a_title_of_ones_own_wins(place: Place) -> None:
    name = await session(place, "one")
    rename_session(place.paths, name, " My\nplums ")
    assert list_sessions(place.paths)[0].title == "My plums"
    again = place.open(StepModel(Say("ok")), resume_id=name)
    assert again.title == "My plums"
    with pytest.raises(SessionBusy):
        rename_session(place.paths, name, "no")


async def test_deleting_takes_log_trace_and_what_was_set_aside(place: Place) -> None:
    name = await session(place, "one")
    kept = await session(place, "two")
    torn = place.paths.sessions / f"{name}.torn-0123"
    torn.write_text("x")
    removed = delete_session(place.paths, name)
    assert torn in removed
    assert place.paths.traces / f"{name}.jsonl" in removed
    assert [each for each in place.paths.state.rglob("*") if name in each.name] == []
    assert [info.id for info in list_sessions(place.paths)] == [kept]
    with pytest.raises(NotFound):
        delete_session(place.paths, name)
    for bad in ("abc", "../" + kept[3:], kept.upper()):
        with pytest.raises(InvalidInput):
            delete_session(place.paths, bad)


async def test_an_open_session_is_not_deleted(place: Place) -> None:
    name = await session(place, "one")
    engine = place.open(StepModel(Say("ok")), resume_id=name)
    with pytest.raises(SessionBusy):
        delete_session(place.paths, name)
    assert len(engine.replay()) == 4


async def exported(place: Place) -> str:
    arguments = {"text": f"token {TOKEN} ``` end"}
    engine = place.open(
        StepModel(Say("On it.", calls=(call("keep", **arguments),)), Say("Done.\u202e")), approver=allow
    )
    await run(engine, f"save {TOKEN}")
    await engine.close()
    return engine.id


async def test_markdown_for_reading(place: Place) -> None:
    text = as_markdown(read_log(place.paths, await exported(place)))
    assert TOKEN not in text
    assert "\u202e" not in text
    order = [
        "# Session",
        "## You",
        "## Assistant",
        "On it.",
        "Call `keep`",
        "*allowed by user",
        "completed",
        "Done.",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert "````\n" in text


async def test_json_for_programs(place: Place) -> None:
    text = as_json(read_log(place.paths, await exported(place)))
    assert TOKEN not in text
    kinds = [record["kind"] for record in json.loads(text)["records"]]
    assert kinds[0] == "session"
    assert kinds[-1] == "turn_end"


async def test_an_export_reads_without_changing_anything(place: Place) -> None:
    name = await session(place, "one")
    path = place.paths.sessions / f"{name}.jsonl"
    good = read_log(place.paths, name)
    path.write_bytes(path.read_bytes() + b'{"half')
    before = path.read_bytes()
    assert read_log(place.paths, name) == good
    assert path.read_bytes() == before
    lines = before.split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"{", *lines[2:]]))
    with pytest.raises(SessionDamaged, match="line 2"):
        read_log(place.paths, name)
    with pytest.raises(NotFound):
        read_log(place.paths, "0" * 32)


def test_a_code_block_cannot_be_closed_from_inside() -> None:
    assert fenced("a").startswith("```\n")
    assert fenced("x ```` y").startswith("`````\n")


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("  Weigh \n the plums ", "Weigh the plums"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        (
            "Use memory_store to save a project memory about the way in which all of the plums are weighed",
            "Use memory_store to save a project memory about the way in which all of the…",
        ),
    ],
)
def test_a_long_first_message_ends_between_two_words(said: str, title: str) -> None:
    assert shortened(said) == title
    assert len(title) <= 80
