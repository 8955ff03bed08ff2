"""The classifier: which category a note belongs to, by its name first and then by what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.team.classify import CATEGORIES, as_category, classify, matched


@pytest.mark.parametrize(
    ("name", "content", "category"),
    [
        ("review-findings.md", "", "reviews"),
        ("pr-123.md", "", "reviews"),
        ("PR4-notes.md", "", "reviews"),
        ("feedback-dallas.md", "", "reviews"),
        ("build-report.md", "", "build-reports"),
        ("bt-results.md", "", "build-reports"),
        ("test.md", "build passed successfully", "build-reports"),
        ("test.md", "the BUILD FAILed", "build-reports"),
        ("test.md", "lint is clean", "build-reports"),
        ("findings.md", "architecture overview of it", "architecture"),
        ("notes.md", "system design document", "architecture"),
        ("notes.md", "the data flow through the system", "architecture"),
        ("notes.md", "how it works end to end", "architecture"),
        ("notes.md", "convention: always use strict mode", "conventions"),
        ("notes.md", "best practice for errors", "conventions"),
        ("notes.md", "rule: always validate inputs", "conventions"),
        ("random-note.md", "some general finding", "project-notes"),
        (None, None, "project-notes"),
        ("", "", "project-notes"),
    ],
)
def test_a_note_is_filed_by_its_name_or_its_words(
    name: str | None, content: str | None, category: str
) -> None:
    assert classify(name, content) == category


@pytest.mark.parametrize(
    ("name", "content", "category"),
    [
        ("review-summary.md", "architecture overview", "reviews"),
        ("build-log.md", "conventions and patterns", "build-reports"),
        ("pr-build.md", "build passed", "reviews"),
        ("x.md", "architecture: a pattern, and lint", "build-reports"),
        ("x.md", "a pattern in the architecture", "architecture"),
    ],
)
def test_the_first_rule_that_fits_wins(name: str, content: str, category: str) -> None:
    assert classify(name, content) == category


@given(st.none() | st.text(), st.none() | st.text())
def test_every_name_and_text_has_exactly_one_category(name: str | None, content: str | None) -> None:
    category = classify(name, content)
    assert category in CATEGORIES
    assert matched(name, content) in (category, None)
    assert classify((name or "").upper(), content) == classify((name or "").upper().lower(), content)


def test_what_no_rule_fits_is_told_apart_from_a_project_note() -> None:
    assert matched("x.md", "nothing to see") is None
    assert as_category("project-notes") == "project-notes"
    assert as_category("../reviews") is None
