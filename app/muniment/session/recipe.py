"""Recipes: the files that set up a session. This module is the door; its neighbours do the work."""

from __future__ import annotations

from muniment.session.recipe_fill import RecipeParameters, fill, parse_params
from muniment.session.recipe_find import ListedRecipe, find_recipe, list_recipes, samples_directory
from muniment.session.recipe_load import RecipeFault, check_recipe, load_recipe
from muniment.session.recipe_model import (
    ASSISTANT,
    NO_TOOLS,
    MemoryPolicy,
    Parameter,
    Recipe,
    RecipeModel,
    TaskPolicy,
    retrieval_state,
)
from muniment.session.recipe_shape import recipe_schema

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
