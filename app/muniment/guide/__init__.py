"""The guide: Markdown pages that travel with the package, one topic each, in a fixed reading order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

ORDER = (
    "start",
    "memory",
    "approval",
    "team",
    "retrieval",
    "trouble",
    "privacy",
    "backup",
    "servers",
    "evals",
    "accessibility",
)
"""The order in which a newcomer would read; a page that is not named here follows by name."""


@dataclass(frozen=True, slots=True)
class Page:
    """One topic; `text` is its Markdown with the heading."""

    topic: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A line of a page that holds all words of a search."""

    page: Page
    line: str


def pages() -> tuple[Page, ...]:
    """Return every page in reading order."""
    found = [
        page_of(each.name.removesuffix(".md"), each.read_text(encoding="utf-8"))
        for each in files(__package__).iterdir()
        if each.name.endswith(".md")
    ]
    return tuple(sorted(found, key=_place))


def page_of(topic: str, text: str) -> Page:
    """Return a page with the title that its first line gives, else the topic's own name."""
    first = text.partition("\n")[0]
    title = first.removeprefix("# ").strip() if first.startswith("# ") else topic.capitalize()
    return Page(topic, title, text)


def search(among: tuple[Page, ...], query: str) -> Iterator[Passage]:
    """Yield for each page that holds all words the line that shows them best; letter case does not matter."""
    words = query.casefold().split()
    if not words:
        return
    for page in among:
        if not all(word in page.text.casefold() for word in words):
            continue
        lines = [line.strip() for line in page.text.splitlines() if line.strip()]
        yield Passage(page, max(lines, key=lambda line: _words_in(line, words)))


def _words_in(line: str, words: list[str]) -> int:
    folded = line.casefold()
    return sum(word in folded for word in words)


def _place(page: Page) -> tuple[int, str]:
    return (ORDER.index(page.topic) if page.topic in ORDER else len(ORDER), page.topic)
