"""Recipes: the files that set up a session. This module is the door; its neighbours do the work."""

from __future__ import annotations

from muniment.session.recipes.fill import RecipeParameters, fill, parse_params
from muniment.session.recipes.find import ListedRecipe, find_recipe, list_recipes, samples_directory
from muniment.session.recipes.load import RecipeFault, check_recipe, load_recipe
from muniment.session.recipes.model import (
    ASSISTANT,
    NO_TOOLS,
    MemoryPolicy,
    Parameter,
    Recipe,
    RecipeModel,
    TaskPolicy,
    retrieval_state,
)
from muniment.session.recipes.shape import recipe_schema

__all__ = [
    "ASSISTANT",
    "NO_TOOLS",
    "ListedRecipe",
    "MemoryPolicy",
    "Parameter",
    "Recipe",
    "RecipeFault",
    "RecipeModel",
    "RecipeParameters",
    "TaskPolicy",
    "check_recipe",
    "fill",
    "find_recipe",
    "list_recipes",
    "load_recipe",
    "parse_params",
    "recipe_schema",
    "retrieval_state",
    "samples_directory",
]
