"""A name means the same recipe everywhere, and the samples work as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.memory.records.scope import ScopeChain, resolve_chain
from muniment.paths import Paths, resolve_paths
from muniment.safety.errors import NotFound
from muniment.session.recipes.load import check_recipe, load_recipe
from muniment.session.recipes.recipe import (
    ASSISTANT,
    RecipeFault,
    find_recipe,
    list_recipes,
    samples_directory,
)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return resolve_paths(
        {f"MUNIMENT_{each}_DIR": str(tmp_path / each) for each in ("CONFIG", "DATA", "STATE", "CACHE")}
    )


@pytest.fixture
def chain(tmp_path: Path, paths: Paths) -> ScopeChain:
    (tmp_path / "outer" / ".muniment" / "recipes").mkdir(parents=True)
    (tmp_path / "outer" / "inner" / ".muniment" / "recipes").mkdir(parents=True)
    paths.recipes.mkdir(parents=True)
    return resolve_chain(tmp_path / "outer" / "inner", paths)


def recipe(directory: Path, name: str, description: str, file: str | None = None) -> Path:
    path = directory / (file or f"{name}.yaml")
    path.write_text(f"name: {name}\ndescription: {description}\n")
    return path


def test_the_built_in_one_comes_first_then_project_user_and_samples(
    tmp_path: Path, paths: Paths, chain: ScopeChain
) -> None:
    recipe(tmp_path / "outer" / ".muniment" / "recipes", "far", "outer")
    recipe(tmp_path / "outer" / "inner" / ".muniment" / "recipes", "near", "inner")
    recipe(paths.recipes, "mine", "user")
    listed = list_recipes(paths, chain)
    assert [(each.name, each.source) for each in listed] == [
        ("assistant", "built-in"),
        ("near", "project"),
        ("far", "project"),
        ("mine", "user"),
        ("code-review", "sample"),
        ("research-notes", "sample"),
        ("review-work", "sample"),
    ]
    assert not any(each.shadowed or each.faults for each in listed)


def test_the_first_of_a_name_wins_and_the_others_are_said_to_be_shadowed(
    tmp_path: Path, paths: Paths, chain: ScopeChain
) -> None:
    recipe(tmp_path / "outer" / ".muniment" / "recipes", "same", "outer")
    recipe(tmp_path / "outer" / "inner" / ".muniment" / "recipes", "same", "inner")
    recipe(paths.recipes, "assistant", "not the real one")
    assert find_recipe("same", paths, chain).description == "inner"
    assert find_recipe("assistant", paths, chain) is ASSISTANT
    shadowed = [(each.name, each.description) for each in list_recipes(paths, chain) if each.shadowed]
    assert shadowed == [("same", "outer"), ("assistant", "not the real one")]


def test_a_broken_recipe_is_listed_with_its_faults_and_hides_no_working_one(
    tmp_path: Path, paths: Paths, chain: ScopeChain
) -> None:
    broken = tmp_path / "outer" / "inner" / ".muniment" / "recipes" / "same.yaml"
    broken.write_text("name: same\npromt: x\n")
    with pytest.raises(RecipeFault, match="did you mean prompt"):
        find_recipe("same", paths, chain)
    recipe(paths.recipes, "same", "works")
    assert find_recipe("same", paths, chain).description == "works"
    (entry,) = (each for each in list_recipes(paths, chain) if each.faults)
    assert (entry.name, entry.path) == ("same", broken)
    assert [each.sentence for each in entry.faults] == [each.sentence for each in check_recipe(broken)]


def test_a_path_is_taken_from_the_working_directory_as_it_is_written(
    tmp_path: Path, paths: Paths, chain: ScopeChain
) -> None:
    odd = chain.cwd / "a$HOME b"
    odd.mkdir()
    recipe(odd, "odd", "by path")
    (chain.cwd / "link").symlink_to(odd)
    for text in (
        "a$HOME b/odd.yaml",
        "./a$HOME b/../a$HOME b/odd.yaml",
        "link/odd.yaml",
        str(odd / "odd.yaml"),
    ):
        found = find_recipe(text, paths, chain)
        assert found.description == "by path"
        assert found.path is not None
        assert found.path.is_absolute()
    recipe(chain.cwd, "here", "beside")
    assert find_recipe("here.yaml", paths, chain).description == "beside"
    with pytest.raises(NotFound, match=r"none\.yaml"):
        find_recipe("none.yaml", paths, chain)


def test_an_unknown_name_is_answered_with_the_nearest(paths: Paths, chain: ScopeChain) -> None:
    with pytest.raises(NotFound, match="did you mean review-work"):
        find_recipe("reviw-work", paths, chain)


def test_recipes_are_not_read_through_a_linked_directory(tmp_path: Path, paths: Paths) -> None:
    project = tmp_path / "p"
    (project / ".muniment").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    recipe(outside, "planted", "from elsewhere")
    (project / ".muniment" / "recipes").symlink_to(outside)
    names = [each.name for each in list_recipes(paths, resolve_chain(project, paths))]
    assert "planted" not in names


def test_every_sample_is_valid_and_opens_without_a_key() -> None:
    directory = samples_directory()
    assert directory is not None
    files = sorted(directory.glob("*.yaml"))
    assert [each.name for each in files] == ["code-review.yaml", "research-notes.yaml", "review-work.yaml"]
    for path in files:
        assert check_recipe(path) == []
        loaded = load_recipe(path)
        assert loaded.name == path.stem
        assert loaded.model is None
        assert "memory_store" in loaded.tools or "memory_*" in loaded.tools


def test_the_pilot_study_sample_opens_idle() -> None:
    directory = samples_directory()
    assert directory is not None
    sample = load_recipe(directory / "review-work.yaml")
    assert sample.prompt is None
    assert sample.parameters == ()
