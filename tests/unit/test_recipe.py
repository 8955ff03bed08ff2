"""A recipe is checked whole, on every path alike, and can only tighten."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.approval.policy import matches
from muniment.safety.errors import NotFound
from muniment.safety.files import digest
from muniment.session.recipes.recipe import (
    ASSISTANT,
    NO_TOOLS,
    MemoryPolicy,
    Parameter,
    Recipe,
    RecipeFault,
    RecipeModel,
    check_recipe,
    load_recipe,
    recipe_schema,
    retrieval_state,
)
from muniment.session.recipes.shape import TOOL_NAMES
from muniment.settings import RetrievalSettings, Settings

WHOLE = """\
name: pilot-check
description: Check a pilot
agent: checker
temporary: true
instructions: |
  Look at {{ study }}.
  Be brief.
prompt: |
  Start with {{study}}, then {{ depth }}.
parameters:
  - {name: study, description: Which study, required: true}
  - name: depth
    description: How deep
    default: shallow
model: {provider: openai, name: some-model, base_url: "http://127.0.0.1:8080/v1"}
tools: [memory_*, read_file]
approve: [memory_retrieve]
memory:
  digest: false
  user_memory: false
  retrieval: shadow
  sources: [records]
  top_k: 20
  max_bytes: 512
task: {capture: true}
"""
BARE = "name: x\ndescription: d\n"


def write(tmp_path: Path, text: str, name: str = "r.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path: Path, text: str) -> list[tuple[int, int, str]]:
    path = write(tmp_path, text)
    found = check_recipe(path)
    if found:
        with pytest.raises(RecipeFault) as caught:
            load_recipe(path)
        assert list(caught.value.faults) == found, "running and validating say the same"
        assert all(each.file == str(path) for each in found)
    return [(each.line, each.column, each.key) for each in found]


def test_every_documented_key_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, WHOLE)
    assert check_recipe(path) == []
    recipe = load_recipe(path)
    assert recipe == Recipe(
        name="pilot-check",
        description="Check a pilot",
        agent="checker",
        temporary=True,
        instructions="Look at {{ study }}.\nBe brief.\n",
        prompt="Start with {{study}}, then {{ depth }}.\n",
        parameters=(
            Parameter("study", "Which study", True, None),
            Parameter("depth", "How deep", False, "shallow"),
        ),
        model=RecipeModel("openai", "some-model", "http://127.0.0.1:8080/v1"),
        tools=("memory_*", "read_file"),
        approve=("memory_retrieve",),
        memory=MemoryPolicy(False, False, "shadow", ("records",), 20, 512),
        task=recipe.task,
        path=path,
        digest=digest(path.read_bytes()),
        text=WHOLE,
    )
    assert recipe.task.capture is True


def test_what_is_left_out_has_its_documented_default(tmp_path: Path) -> None:
    recipe = load_recipe(write(tmp_path, BARE))
    assert (recipe.agent, recipe.temporary, recipe.instructions, recipe.prompt) == ("x", False, "", None)
    assert (recipe.tools, recipe.approve, recipe.model, recipe.parameters) == ((), (), None, ())
    assert recipe.memory == MemoryPolicy(True, True, None, ("ledger", "records"), None, None)
    assert recipe.task.capture is None


def test_json_is_yaml_too(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"name": "x", "description": "d", "prompt": "hi"}), "r.json")
    assert load_recipe(path).prompt == "hi"


def test_all_faults_are_told_at_once_with_place_key_allowed_and_suggestion(tmp_path: Path) -> None:
    text = (
        "name: X y\ndescripton: d\nmemmory: {}\nmemory: {top_k: 21, retrieval: of}\n"
        "tools: [memory_stroe]\nmode: bypass\n"
    )
    assert faults(tmp_path, text) == [
        (1, 1, "description"),
        (1, 7, "name"),
        (2, 1, "descripton"),
        (3, 1, "memmory"),
        (4, 17, "memory.top_k"),
        (4, 32, "memory.retrieval"),
        (5, 9, "tools[0]"),
        (6, 1, "mode"),
    ]
    found = {each.key: each for each in check_recipe(tmp_path / "r.yaml")}
    assert found["descripton"].suggestion == "description"
    assert found["memmory"].suggestion == "memory"
    assert found["tools[0]"].suggestion == "memory_store"
    assert found["memory.retrieval"].allowed == "on, off, shadow"
    assert "only tighten" in found["mode"].problem


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("- name: x\n", 1),
        ("just text\n", 1),
        ('name: "x\ndescription: d\n', 3),
        ("name: x\ndescription: d\nparameters:\n\t- name: a\n", 4),
        ("name: x\nx0: &a0 [lol]\ndescription: *a0\n", 2),
        ("name: x\nname: y\ndescription: d\n", 2),
        ("name: x\ndescription: d\n---\nname: y\n", 3),
        ("description: d\nprompt: x\n", 1),
        ("name: x\nprompt: y\n", 1),
    ],
)
def test_a_file_that_is_no_recipe_is_refused_with_a_line(tmp_path: Path, text: str, line: int) -> None:
    (found,) = faults(tmp_path, text)
    assert found[0] == line


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("agent: A b", "agent"),
        ("temporary: maybe", "temporary"),
        ("instructions:", "instructions"),
        ("prompt: ''", "prompt"),
        ("prompt: null", "prompt"),
        ("agent: Null", "agent"),
        ("instructions: ~", "instructions"),
        ("tools: memory_store", "tools"),
        ("tools: [shell]", "tools[0]"),
        ("approve: [memory_retrieve, run_shell]", "approve[1]"),
        ("memory: {top_k: 0}", "memory.top_k"),
        ("memory: {max_bytes: 511}", "memory.max_bytes"),
        ("memory: {max_bytes: 65537}", "memory.max_bytes"),
        ("memory: {sources: [ledger, web]}", "memory.sources[1]"),
        ("memory: {retrieval: true}", "memory.retrieval"),
        ("memory: {directories: [/]}", "memory.directories"),
        ("model: {provider: other}", "model.provider"),
        ("model: {base_url: 'ftp://x'}", "model.base_url"),
        ("model: {base_url: 'http://user:pw@x'}", "model.base_url"),
        ("model: {api_key_env: AWS_KEY}", "model.api_key_env"),
        ("model: {api_key: k}", "model.api_key"),
        ("task: {capture: 1}", "task.capture"),
        ("task: yes", "task"),
        ("yes: true", "yes"),
        ("directories: [/etc]", "directories"),
        ("extends: other.yaml", "extends"),
    ],
)
def test_wrong_and_loosening_keys_are_one_fault_each(tmp_path: Path, line: str, key: str) -> None:
    found = faults(tmp_path, BARE + line + "\n")
    assert [(each[0], each[2]) for each in found] == [(3, key)]


def test_limits_hold_at_the_limit(tmp_path: Path) -> None:
    for memory in ("{top_k: 1, max_bytes: 512}", "{top_k: 20, max_bytes: 65536}"):
        assert faults(tmp_path, f"{BARE}memory: {memory}\n") == []
    assert faults(tmp_path, f"name: {'a' * 64}\ndescription: d\n") == []
    assert faults(tmp_path, f"name: {'a' * 65}\ndescription: d\n") == [(1, 7, "name")]


def test_parameters_that_are_unused_undeclared_or_doubled_are_faults_at_their_place(tmp_path: Path) -> None:
    text = (
        BARE
        + "parameters:\n  - {name: study, description: d}\n  - {name: spare, description: d}\n"
        + "  - {name: study, description: d}\nprompt: |\n  one {{ study }}\n  two {{ stud }}\n"
    )
    assert faults(tmp_path, text) == [
        (5, 12, "parameters[1].name"),
        (6, 12, "parameters[2].name"),
        (9, 7, "prompt"),
    ]
    assert check_recipe(tmp_path / "r.yaml")[2].suggestion == "study"


def test_a_parameter_needs_a_name_and_a_description(tmp_path: Path) -> None:
    text = BARE + 'parameters:\n  - name: a\n  - {name: 9x, description: d}\nprompt: "{{ a }}"\n'
    assert [each[2] for each in faults(tmp_path, text)] == [
        "parameters[0].description",
        "parameters[1].name",
        "parameters[1].name",
    ]


def test_a_file_that_cannot_be_opened_is_one_fault_without_blocking(tmp_path: Path) -> None:
    assert [each.problem for each in check_recipe(tmp_path / "none.yaml")] == [
        "cannot be opened: there is no such file"
    ]
    with pytest.raises(NotFound):
        load_recipe(tmp_path / "none.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "not a regular file" in check_recipe(tmp_path / "pipe.yaml")[0].problem
    assert "a directory" in check_recipe(tmp_path)[0].problem
    big = write(tmp_path, BARE + "# " + "x" * 1_048_576)
    assert "larger than" in check_recipe(big)[0].problem


def test_an_empty_list_of_tools_offers_none(tmp_path: Path) -> None:
    recipe = load_recipe(write(tmp_path, BARE + "tools: []\n"))
    assert recipe.tools == NO_TOOLS
    assert not any(matches(name, recipe.tools) for name in TOOL_NAMES)


def test_a_recipe_survives_the_log_without_its_file(tmp_path: Path) -> None:
    for recipe in (load_recipe(write(tmp_path, WHOLE)), load_recipe(write(tmp_path, BARE)), ASSISTANT):
        stored = json.loads(json.dumps(recipe.as_dict()))
        assert Recipe.from_dict(stored) == replace(recipe, text="")
    assert (
        Recipe.from_dict(stored | {"later": 1, "memory": {"digest": False, "later": 2}}).memory.digest
        is False
    )


def test_the_schema_for_editors_names_every_key() -> None:
    schema = recipe_schema()
    json.dumps(schema)
    assert schema["required"] == ["name", "description"]
    assert set(schema["properties"]) == {
        "name", "description", "agent", "temporary", "instructions", "prompt", "parameters", "model", "tools",
        "approve", "memory", "task",
    }  # fmt: skip
    assert schema["properties"]["parameters"]["items"]["required"] == ["name", "description"]


@pytest.mark.parametrize(
    ("recipe", "settings", "environ", "state"),
    [
        (None, (True, False), {}, "on"),
        (None, (True, True), {}, "shadow"),
        (None, (False, True), {}, "off"),
        ("off", (True, False), {}, "off"),
        ("on", (False, False), {}, "on"),
        ("shadow", (True, False), {}, "shadow"),
        ("on", (True, False), {"MUNIMENT_MEMORY": "0"}, "off"),
        ("off", (False, False), {"MUNIMENT_MEMORY": "1"}, "on"),
        ("shadow", (True, False), {"MUNIMENT_MEMORY": "1"}, "shadow"),
        ("off", (True, False), {"MUNIMENT_MEMORY": "maybe"}, "off"),
    ],
)
def test_recall_follows_environment_then_recipe_then_settings(
    recipe: str | None, settings: tuple[bool, bool], environ: dict[str, str], state: str
) -> None:
    made = replace(ASSISTANT, memory=MemoryPolicy(retrieval=recipe))  # type: ignore[arg-type]
    assert retrieval_state(made, Settings(retrieval=RetrievalSettings(*settings)), environ) == state
