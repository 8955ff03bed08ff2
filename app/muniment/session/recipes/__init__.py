"""Recipes: found, read, checked and filled."""
