"""The guide: its pages travel with the package, can be searched, and promise only what there is."""

from __future__ import annotations

import re

import pytest

from muniment.cli.main import COMMANDS as COMMAND_WORDS
from muniment.guide import ORDER, Page, page_of, pages, search
from muniment.session.tour import steps
from muniment.settings import Settings
from muniment.tui.slash import COMMANDS

PAGES = pages()


def test_the_pages_of_a_newcomer_are_there_in_order() -> None:
    topics = [each.topic for each in PAGES]
    assert {"start", "memory", "approval", "trouble", "privacy", "accessibility"} <= set(topics)
    named = [each for each in topics if each in ORDER]
    assert named == sorted(named, key=ORDER.index)
    assert topics[: len(named)] == named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.topic)
def test_each_page_has_a_title_and_lines_that_fit(page: Page) -> None:
    assert page.text.startswith(f"# {page.title}\n")
    assert page.text.endswith("\n")
    assert len(page.text) > 300
    assert page.text.count("\n# ") == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.topic)
def test_each_command_that_a_page_names_exists(page: Page) -> None:
    known = {each.name for each in COMMANDS}
    named = set(re.findall(r"`(/[a-z]+)`", page.text))
    assert named <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.topic)
def test_each_setting_that_a_page_names_exists(page: Page) -> None:
    sections = {key.partition(".")[0] for key, _, _ in Settings().leaves()}
    keys = {key for key, _, _ in Settings().leaves()}
    named = set(re.findall(r"`([a-z]+(?:\.[a-z_]+)+)(?:: [^`]*)?`", page.text))
    assert {each for each in named if each.partition(".")[0] in sections} - keys - {"notes.md"} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.topic)
def test_no_page_links_anywhere(page: Page) -> None:
    assert re.findall(r"\]\(|<https?:", page.text) == []


def test_a_search_finds_pages_with_all_words_and_the_line_that_shows_them() -> None:
    found = list(search(PAGES, "NOT saved"))
    assert [each.page.topic for each in found][:1] == ["trouble"] or "trouble" in [
        each.page.topic for each in found
    ]
    line = next(each.line for each in found if each.page.topic == "trouble")
    assert "NOT SAVED" in line


@pytest.mark.parametrize("words", ["", "   ", "zebra-crossing"])
def test_a_search_without_a_match_finds_nothing(words: str) -> None:
    assert list(search(PAGES, words)) == []


def test_a_page_without_a_heading_is_called_by_its_topic() -> None:
    assert page_of("odd", "text\n").title == "Odd"


def test_the_tour_goes_from_a_task_to_a_request_and_says_who_sees_each_step() -> None:
    found = steps()
    assert len(found) >= 8
    assert all(each.title and each.text and each.exhibit and each.caption and each.sees for each in found)
    assert any("UNTRUSTED-INPUT" in each.exhibit for each in found)
    assert max(len(line) for each in found for line in each.text.split("\n")) < 400


def test_the_commands_of_the_guide_are_commands() -> None:
    for page in PAGES:
        for name in re.findall(r"^ {4}muniment ([a-z]+)\b|`muniment ([a-z]+)\b", page.text, re.MULTILINE):
            word = "".join(name)
            assert word in COMMAND_WORDS, f"{page.topic} names muniment {word}"
