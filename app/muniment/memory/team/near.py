"""Which entries of the knowledge base somebody may mean who does not know the exact name of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from muniment.memory.team.entry import SUFFIX, Entry

MOST_NAMED = 5
_LEAST_ALIKE = 0.6
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-")


@dataclass(frozen=True, slots=True)
class Near:
    """The entries that a word names by title or by the name without its date, else those with a like name."""

    meant: tuple[Entry, ...]
    close: tuple[Entry, ...]


def near(word: str, entries: Sequence[Entry]) -> Near:
    """Compare a word with titles and names, letter cases and the suffix aside."""
    wanted = _plain(word)
    names = {each.key: _names(each) for each in entries}
    meant = tuple(each for each in entries if wanted and wanted in names[each.key])
    if meant or not wanted:
        return Near(meant, ())
    ranked = sorted(((_alike(wanted, names[each.key]), each) for each in entries), key=lambda pair: -pair[0])
    return Near((), tuple(each for share, each in ranked if share >= _LEAST_ALIKE)[:MOST_NAMED])


def _names(entry: Entry) -> tuple[str, ...]:
    return (_plain(entry.title), _plain(_DATE.sub("", entry.name, count=1)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().removesuffix(SUFFIX).split())


def _alike(wanted: str, names: Sequence[str]) -> float:
    from difflib import SequenceMatcher

    def share(name: str) -> float:
        if len(wanted) > 3 and wanted in name:
            return 1.0
        return SequenceMatcher(None, wanted[:200], name[:200]).ratio()

    return max(map(share, names))
