"""`muniment run` in a pipe and `session list`: what is said once, and what is counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from muniment.cli.session import LISTED
from support.command import Inside


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--provider", "openai"), "model.name"),
        (("--provider", "openai", "--model", "m"), "OPENAI_API_KEY"),
        (("--model", "m", "--base-url", "::bad"), "model.base_url"),
    ],
)
def test_a_run_that_no_model_can_answer_says_why_once_and_fails(
    cli: Inside, arguments: tuple[str, ...], named: str
) -> None:
    done = cli("run", "--prompt", "hello", *arguments)
    assert (done.code, done.out) == (1, "")
    assert len([line for line in done.err.splitlines() if named in line]) == 1
    events = cli("run", "--prompt", "hello", "--json", *arguments)
    assert events.code == 1
    assert [event["event"] for event in events.events if named in event.get("text", "")] == ["error"]
    assert events.events[-1] | {"session": ""} == {
        "event": "turn_end",
        "session": "",
        "status": "failed",
        "usage": events.events[-1]["usage"],
    }


def test_records_that_cannot_be_read_are_named_once_in_a_pipe(cli: Inside, tmp_path: Path) -> None:
    cli("memory", "store", "--title", "Tea", "--content", "Green only", "--id", "tea")
    torn = tmp_path / ".muniment" / "memory" / "torn.yaml"
    torn.write_text('title: "unbalanced\n', encoding="utf-8")
    named = f"The list of records leaves out 1 file: {torn} "

    asked = "Use memory_list to list the project memories."
    done = cli("run", "--provider", "rehearsal", "--prompt", asked)
    assert done.code == 0
    assert [line.count(named) for line in done.err.splitlines() if str(torn) in line] == [1]
    events = cli("run", "--provider", "rehearsal", "--prompt", asked, "--json").events
    told = [each for each in events if named in each.get("text", "")]
    assert [each["event"] for each in told] == ["notice"]
    assert events.index(told[0]) < [each["event"] for each in events].index("text")

    # Where no tool of the run deals with records there is nothing to say about them.
    recipe = tmp_path / "plain.yaml"
    recipe.write_text("name: plain\ndescription: d\ntools: [user_*, note_add]\n", encoding="utf-8")
    assert named not in cli("run", "--provider", "rehearsal", "--file", str(recipe), "--prompt", "hello").err
    torn.unlink()
    assert "leaves out" not in cli("run", "--provider", "rehearsal", "--prompt", asked).err


def test_a_list_ends_after_the_newest_and_all_lists_every_session(cli: Inside, user: Path) -> None:
    assert cli("run", "--prompt", "hello", "--provider", "rehearsal").code == 0
    (log,) = user.rglob("sessions/*.jsonl")
    for number in range(LISTED):
        shutil.copy(log, log.with_name(f"{number:032x}.jsonl"))
    listed = cli("session", "list")
    assert listed.out.count("\n") == LISTED
    assert "1 older session not listed; --all lists them" in listed.err
    assert cli("session", "list", "--json").json["more"] == 1
    everything = cli("session", "list", "--all")
    assert everything.out.count("\n") == LISTED + 1
    assert everything.err == ""
    assert cli("session", "list", "--limit", "2", "--json").json["more"] == LISTED - 1


FAULTY = {
    "empty.yaml": "",
    "list.yaml": "- a\n- b\n",
    "misspelt.yaml": "name: a\ndescription: d\ninstrctions: x\n",
    "no-name.yaml": "description: d\n",
    "quote.yaml": 'name: "a\ndescription: d\n',
    "tab.yaml": "name: a\n\tdescription: d\n",
    "no-about.yaml": "name: a\ndescription: d\nparameters: [{name: x}]\nprompt: '{{ x }}'\n",
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_recipe_is_answered_alike_wherever_it_is_met(cli: Inside, tmp_path: Path, name: str) -> None:
    from muniment.memory.records.scope import resolve_chain
    from muniment.paths import resolve_paths
    from muniment.session.recipes.recipe import list_recipes

    directory = tmp_path / ".muniment" / "recipes"
    directory.mkdir(parents=True)
    path = directory / name
    path.write_text(FAULTY[name])
    checked = cli("recipe", "validate", str(path))
    assert checked.code == 2
    said = [line.removeprefix("muniment: ") for line in checked.err.splitlines()]
    assert said
    assert all(str(path) in line for line in said)
    started = cli("run", "--prompt", "hello", "--file", str(path))
    assert (started.code, started.out) == (2, "")
    listed = next(
        each
        for each in list_recipes(resolve_paths(), resolve_chain(tmp_path, resolve_paths()))
        if each.path == path
    )
    assert listed.recipe is None
    for fault in listed.faults:
        assert fault.sentence in said
        assert fault.sentence.split(": ", 1)[1].split(";")[0] in started.err
