"""Opening sessions: new and resumed, with the right recipe, directory, model and questions."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from muniment.approval.policy import Mode
from muniment.memory.ledger.row import NewRow
from muniment.memory.origin import Origin
from muniment.model.base import UserItem
from muniment.safety.errors import InvalidInput, MunimentError, NotFound
from muniment.session import events as ev
from muniment.session.engine import TurnRefused
from muniment.session.logs.log import SessionBusy, SessionLog
from muniment.session.recipes.endpoint import EndpointUndecided, allow_endpoint
from muniment.session.start import DirectoryGone
from support.session import Place, Say, StepModel, Tools, allow, call, only, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def notices(opening: tuple[ev.Event, ...]) -> list[str]:
    return [event.text for event in only(opening, ev.Notice)]


def recipe(place: Place, text: str = "", name: str = "fruit") -> Path:
    path = place.project / f"{name}.yaml"
    path.write_text(f"name: {name}\ndescription: About fruit\n{text}")
    return path


async def test_the_opening_says_what_it_is(place: Place) -> None:
    engine = place.open(StepModel(Say("ok")), mode=Mode.ACCEPT_EDITS)
    assert engine.opening[0] == ev.SessionOpened(engine.id, "assistant", "scripted", "steps", "accept-edits")
    assert len(engine.id) == 32


async def test_who_answers_is_told_only_where_it_is_not_the_model_that_was_set_up(place: Place) -> None:
    engine = place.open(None)
    assert [text for text in notices(engine.opening) if "no real model is configured" in text]
    await engine.close()
    place.configure("model: {name: some-model, base_url: 'http://127.0.0.1:9/v1'}\n")
    engine = place.open(None)
    assert (engine.provider, engine.model_name) == ("openai", "some-model")
    assert notices(engine.opening) == []


async def test_opening_and_looking_writes_nothing(place: Place) -> None:
    engine = place.open(StepModel(Say("ok")))
    engine.assemble_preview("x")
    await engine.close()
    assert [each.name for each in place.root.rglob("*")] == ["project"]


async def test_a_resumed_session_goes_on_where_it_was(place: Place) -> None:
    model = StepModel(Say("ok"))
    engine = place.open(model)
    await run(engine, "one")
    with pytest.raises(SessionBusy):
        place.open(model, resume_id=engine.id)
    await engine.close()
    again = place.open(model, resume_id=engine.id)
    assert again.id == engine.id
    assert again.first_prompt is None
    await run(again, "two")
    assert [item.text for item in model.requests[-1].items if isinstance(item, UserItem)] == ["one", "two"]


@pytest.mark.parametrize("bad", ["abc", "A" * 32, "../../etc/passwd"])
def test_a_short_or_odd_id_is_refused(place: Place, bad: str) -> None:
    with pytest.raises(InvalidInput):
        place.open(StepModel(Say("ok")), resume_id=bad)


def test_an_unknown_id_is_not_found(place: Place) -> None:
    with pytest.raises(NotFound):
        place.open(StepModel(Say("ok")), resume_id="0" * 32)


async def begun_with(place: Place, path: Path, model: StepModel) -> str:
    engine = place.open(model, recipe=str(path))
    await run(engine, "one")
    await engine.close()
    return engine.id


async def test_a_resume_keeps_its_recipe_and_says_that_the_file_changed_or_went(place: Place) -> None:
    model = StepModel(Say("ok"))
    path = recipe(place, "instructions: Talk about plums.\ntools: [memory_list]\n")
    session = await begun_with(place, path, model)
    engine = place.open(model, resume_id=session)
    assert not [text for text in notices(engine.opening) if str(path) in text]
    await engine.close()
    recipe(place, "instructions: Talk about figs.\n")
    engine = place.open(model, resume_id=session)
    assert [text for text in notices(engine.opening) if "has changed" in text]
    assert "plums" in engine.assemble_preview().request.instructions
    assert engine.recipe.tools == ("memory_list",)
    assert engine.assemble_preview().request.tools == ()
    await engine.close()
    path.unlink()
    engine = place.open(model, resume_id=session)
    assert [text for text in notices(engine.opening) if "is gone" in text]
    ended, _ = await run(engine, "two")
    assert ended.status == "completed"


async def test_a_resume_works_in_the_directory_it_was_started_in(place: Place) -> None:
    model = StepModel(Say("ok"))
    engine = place.open(model)
    await run(engine, "one")
    await engine.close()
    other = place.root / "other"
    other.mkdir()
    again = place.open(model, cwd=other, resume_id=engine.id)
    assert again.cwd == place.project
    assert again.surfaces.cwd == place.project
    assert any(str(place.project) in text for text in notices(again.opening))
    await again.close()
    shutil.rmtree(place.project)
    with pytest.raises(DirectoryGone, match="continued in the present directory") as gone:
        place.open(model, cwd=other, resume_id=engine.id)
    assert gone.value.directory == str(place.project)
    moved = place.open(model, cwd=other, resume_id=engine.id, continue_here=True)
    assert moved.cwd == other
    await moved.close()
    # The choice is kept: the next resume needs no question.
    later = place.open(model, cwd=place.root, resume_id=engine.id)
    assert later.cwd == other


async def broken_off(place: Place) -> str:
    engine = place.open(StepModel(Say("ok")))
    await run(engine, "one")
    await engine.close()
    log = SessionLog.open(place.paths, engine.id)
    turn = "f" * 32
    log.append("user_message", turn, text="two")
    calls = [{"id": "k", "name": "keep", "arguments": "{}"}]
    log.append("model_response", turn, text="", calls=calls, status="tool_calls", usage={})
    log.append("tool_start", turn, call_id="k", name="keep", arguments="{}")
    log.close()
    return engine.id


async def test_an_unknown_outcome_is_acknowledged_before_the_chat_goes_on(place: Place) -> None:
    session = await broken_off(place)
    tools = Tools()
    model = StepModel(Say("ok"))
    engine = place.open(model, tools=tools, approver=allow, resume_id=session)
    assert engine.unknown_calls == ("keep",)
    assert any("interrupted" in text for text in notices(engine.opening))
    with pytest.raises(TurnRefused, match="keep"):
        await engine.turn("three", lambda event: None)
    engine.acknowledge()
    ended, _ = await run(engine, "three")
    assert ended.status == "completed"
    assert tools.keep.ran == []
    assert "not known" in repr(model.requests[-1].items)
    await engine.close()
    again = place.open(model, resume_id=session)
    assert again.unknown_calls == ()


async def test_a_run_without_a_person_says_it_and_goes_on(place: Place) -> None:
    session = await broken_off(place)
    engine = place.open(StepModel(Say("ok")), resume_id=session, headless=True)
    assert any("keep" in text and "not run again" in text for text in notices(engine.opening))
    ended, _ = await run(engine, "three")
    assert ended.status == "completed"


URL = "http://127.0.0.1:9/v1"
ENDPOINT = f"model: {{provider: openai, name: m, base_url: '{URL}'}}\n"


def test_a_recipes_endpoint_is_asked_about_once_per_text(place: Place) -> None:
    path = recipe(place, ENDPOINT)
    model = StepModel(Say("ok"))
    with pytest.raises(EndpointUndecided, match="--base-url") as asked:
        place.open(model, recipe=str(path))
    question = asked.value.question
    assert URL in question.text
    assert "OPENAI_API_KEY" in question.text
    allow_endpoint(place.paths, question)
    place.open(model, recipe=str(path))
    recipe(place, ENDPOINT + "instructions: Another text.\n")
    with pytest.raises(EndpointUndecided):
        place.open(model, recipe=str(path))


def test_the_flag_is_an_answer(place: Place) -> None:
    path = recipe(place, ENDPOINT)
    engine = place.open(StepModel(Say("ok")), recipe=str(path), base_url=URL)
    assert engine.surfaces.settings.model.base_url == URL
    assert not (place.paths.state / "endpoints.json").exists(), "a flag is for one run only"


def test_a_damaged_memory_of_answers_asks_again(place: Place) -> None:
    path = recipe(place, ENDPOINT)
    place.paths.state.mkdir()
    (place.paths.state / "endpoints.json").write_text("{")
    with pytest.raises(EndpointUndecided):
        place.open(StepModel(Say("ok")), recipe=str(path))


def test_looking_at_the_next_request_asks_nothing(place: Place) -> None:
    path = recipe(place, ENDPOINT)
    assert place.open(StepModel(Say("ok")), recipe=str(path), preview=True).assemble_preview("x")


def test_parameters_are_filled_into_the_first_message(place: Place) -> None:
    path = recipe(
        place, "prompt: Weigh {{ study }}.\nparameters: [{name: study, description: Which, required: true}]\n"
    )
    engine = place.open(StepModel(Say("ok")), recipe=str(path), params={"study": "{{ study }} three"})
    assert engine.first_prompt == "Weigh {{ study }} three."
    with pytest.raises(MunimentError, match="study"):
        place.open(StepModel(Say("ok")), recipe=str(path))


def test_file_tools_are_withheld_where_the_project_holds_our_own_directories(place: Place) -> None:
    class ReadFile(type(Tools().look)):
        name = "read_file"

    from muniment.tools.registry import Registry

    registry = Registry([ReadFile(), Tools().look])
    inside = place.open(StepModel(Say("ok")), tools=registry)
    assert [tool.name for tool in inside.assemble_preview().request.tools] == ["read_file", "look"]
    above = place.open(StepModel(Say("ok")), tools=registry, cwd=place.root)
    assert [tool.name for tool in above.assemble_preview().request.tools] == ["look"]
    assert any("File tools are not offered" in text for text in notices(above.opening))


async def test_a_withheld_tool_does_not_run(place: Place) -> None:
    class ReadFile(type(Tools().look)):
        name = "read_file"

    from muniment.tools.registry import Registry

    tool = ReadFile()
    engine = place.open(
        StepModel(Say(calls=(call("read_file"),)), Say("ok")), tools=Registry([tool]), cwd=place.root
    )
    _, events = await run(engine)
    assert tool.ran == []
    assert only(events, ev.ToolFinished)[0].status == "unknown_tool"


async def test_title_and_clear(place: Place) -> None:
    model = StepModel(Say("ok"))
    engine = place.open(model)
    await run(engine, "one")
    engine.rename("  My \n plums ")
    assert engine.title == "My plums"
    engine.clear()
    assert engine.assemble_preview("x").request.items == (UserItem("x"),)
    await run(engine, "two")
    await engine.close()
    assert [line["text"] for line in place.log_lines(engine.id) if line["kind"] == "user_message"] == ["two"]


async def test_an_ended_session_keeps_no_database_open(place: Place) -> None:
    engine = place.open(StepModel(Say("Fine.")))
    place.project.joinpath(".muniment", "memory").mkdir(parents=True, exist_ok=True)
    row = NewRow("semantic", "global", None, "Tea", "green tea", "human", "by hand")
    engine.surfaces.ledger.upsert([row], Origin("user"))
    engine.surfaces.records.search("tea")
    await run(engine, "Which tea?")
    assert len(databases_open(place.root)) >= 2
    await engine.close()
    assert databases_open(place.root) == []


def databases_open(root: Path) -> list[str]:
    """Return the databases below a directory that this process has open."""
    found = []
    for each in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the listing's own
            found.append(str(Path("/proc/self/fd", each).readlink()))
    return [name for name in found if name.startswith(str(root)) and name.endswith(".db")]
