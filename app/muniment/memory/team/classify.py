"""The categories of knowledge, and which one a text belongs to by its name and its words."""

from __future__ import annotations

from typing import Literal, get_args

Category = Literal["architecture", "conventions", "project-notes", "build-reports", "reviews"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

_REVIEW_NAMES = ("review", "pr-", "pr4", "feedback")
_BUILD_NAMES = ("build", "bt-")
_BUILD_WORDS = ("build pass", "build fail", "lint")
_ARCHITECTURE_WORDS = ("architecture", "design doc", "system design", "data flow", "how it works")
_CONVENTION_WORDS = ("convention", "pattern", "always use", "never use", "rule:", "best practice")


def matched(name: str | None, content: str | None) -> Category | None:
    """Return the category that the first fitting rule names, None where no rule fits.

    Rules look for parts of words in any case: the file's name first, then what it says.
    """
    called, said = (name or "").lower(), (content or "").lower()
    if _has(called, _REVIEW_NAMES):
        return "reviews"
    if _has(called, _BUILD_NAMES) or _has(said, _BUILD_WORDS):
        return "build-reports"
    if _has(said, _ARCHITECTURE_WORDS):
        return "architecture"
    if _has(said, _CONVENTION_WORDS):
        return "conventions"
    return None


def classify(name: str | None, content: str | None) -> Category:
    """Return the category of a note; what no rule fits is a project note."""
    return matched(name, content) or "project-notes"


def as_category(text: str) -> Category | None:
    """Return a text as a category if it is one."""
    return next((each for each in CATEGORIES if each == text), None)


def _has(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text for part in parts)
