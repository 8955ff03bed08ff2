"""Where recipes are kept, and which one a name means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from muniment.memory.records.scope import ScopeChain
from muniment.paths import Paths
from muniment.safety.errors import MunimentError, NotFound
from muniment.safety.files import FileRefused, open_directory
from muniment.safety.schema import Fault, nearest
from muniment.session.recipes.load import RecipeFault, load_recipe
from muniment.session.recipes.model import ASSISTANT, Recipe

Source = Literal["built-in", "project", "user", "sample"]
SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class ListedRecipe:
    """One recipe that can be started by its name, or a file that cannot be used and why."""

    name: str
    description: str
    source: Source
    path: Path | None
    recipe: Recipe | None
    faults: tuple[Fault, ...] = ()
    shadowed: bool = False
    """An earlier recipe has the same name; this one starts only by its path."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "path": None if self.path is None else str(self.path),
            "shadowed": self.shadowed,
            "faults": [each.as_dict() for each in self.faults],
        }


def list_recipes(paths: Paths, chain: ScopeChain) -> list[ListedRecipe]:
    """Return all recipes: the built-in one, the project's (deepest first), the user's, the samples."""
    found = [ListedRecipe(ASSISTANT.name, ASSISTANT.description, "built-in", None, ASSISTANT)]
    names = {ASSISTANT.name}
    for source, directory in _directories(paths, chain):
        for path in _files(directory):
            found.append(each := _listed(source, path, names))
            if each.recipe is not None:
                names.add(each.name)
    return found


def find_recipe(name_or_path: str, paths: Paths, chain: ScopeChain) -> Recipe:
    """Return the recipe that a name or a path means; raise `NotFound` or `RecipeFault`.

    Text with a slash or a recipe's suffix is a path, taken from the working directory as it is written.
    """
    if "/" in name_or_path or name_or_path.endswith(SUFFIXES):
        return load_recipe(chain.cwd / name_or_path)
    broken: ListedRecipe | None = None
    known = list_recipes(paths, chain)
    for each in known:
        if each.name == name_or_path:
            if each.recipe is not None:
                return each.recipe
            broken = broken or each
    if broken is not None:
        raise RecipeFault(broken.faults)
    near = nearest(name_or_path, [each.name for each in known]) or nearest(
        name_or_path.replace("_", "-"), [each.name for each in known]
    )
    hint = f" (did you mean {near}?)" if near else ""
    raise NotFound(f"There is no recipe {name_or_path}{hint}; `muniment recipe list` shows those there are.")


def samples_directory() -> Path | None:
    """Return where the sample recipes are: in the installed package, else beside the source tree."""
    package = Path(__file__).resolve().parents[2]
    for place in (package / "_recipes", package.parent.parent / "recipes"):
        if place.is_dir():
            return place
    return None


def _directories(paths: Paths, chain: ScopeChain) -> Iterator[tuple[Source, Path]]:
    for scope in reversed(chain.scopes):
        if scope.kind == "project":
            yield "project", scope.directory / "recipes"
    yield "user", paths.recipes
    samples = samples_directory()
    if samples is not None:
        yield "sample", samples


def _files(directory: Path) -> list[Path]:
    """Return the recipe files of a directory by name; a directory that may not be entered holds none."""
    try:
        with open_directory(directory) as fd:
            names = sorted(os.listdir(fd))
    except (OSError, FileRefused):
        return []
    return [directory / name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]


def _listed(source: Source, path: Path, taken: set[str]) -> ListedRecipe:
    try:
        recipe = load_recipe(path)
    except RecipeFault as fault:
        return ListedRecipe(path.stem, "", source, path, None, fault.faults)
    except MunimentError as error:
        return ListedRecipe(path.stem, "", source, path, None, (Fault(1, 1, "", str(error), file=str(path)),))
    return ListedRecipe(recipe.name, recipe.description, source, path, recipe, (), recipe.name in taken)
