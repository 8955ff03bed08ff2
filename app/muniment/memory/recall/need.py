"""What a turn needs to remember: one query made of the task, the message and what is known beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from muniment.memory.recall.query import MAX_TERMS, Query, Term, build_query
from muniment.memory.recall.stopwords import STOP_WORDS

MESSAGE_SHARE = 20
"""So many terms are kept for the message, where it has so many: a long task must not drown it."""
BESIDE_WEIGHT = 0.5
"""What a term counts that the message itself does not hold."""

_QUOTES = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\uff02]')
_FILE = re.compile(r"(?<![\w/.@-])(?:[\w.@-]{1,80}/){0,12}[\w@-][\w.@-]{0,80}\.[A-Za-z]\w{0,7}(?![\w/])")
_PLAIN_BRANCHES = frozenset(("main", "master", "trunk", "develop", "dev", "head", "feature", "fix", "bugfix"))
_MOST_FILES = 16


@dataclass(frozen=True, slots=True)
class Need:
    """The terms to look for, at most 32 in their order, and the files that are named."""

    query: Query
    files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.query)

    @property
    def words(self) -> str:
        """The terms as one line of text."""
        return " ".join(" ".join(term.words) for term in self.query.terms)


def build_need(
    *,
    message: str,
    task: str = "",
    files: Iterable[str] = (),
    failure: str = "",
    pr: str = "",
    branch: str = "",
) -> Need:
    """Build the query of a turn; it is empty where nothing in it says what is looked for."""
    named = tuple(dict.fromkeys((*files_in(task), *files_in(message), *files)))[:_MOST_FILES]
    asked = _terms(message)
    beside = [_terms(text) for text in (" ".join(named), failure, pr, _branch(branch))]
    kept: dict[tuple[str, ...], Term] = {}
    spoken = {term.stems for term in asked}
    room = MAX_TERMS - min(len(asked), MESSAGE_SHARE)
    for term in _terms(task)[:room]:
        kept[term.stems] = _weighed(term, spoken)
    for term in (*asked, *(each for terms in beside for each in terms)):
        if term.stems not in kept and len(kept) < MAX_TERMS:
            kept[term.stems] = _weighed(term, spoken)
    return Need(Query(tuple(kept.values())), named)


def files_in(text: str) -> tuple[str, ...]:
    """Return the file paths and names that a text mentions, in order."""
    if "." not in text:
        return ()
    return tuple(dict.fromkeys(name.strip(".") for name in _FILE.findall(text[:20_000])))[:_MOST_FILES]


def _weighed(term: Term, spoken: set[tuple[str, ...]]) -> Term:
    return term if term.stems in spoken else replace(term, weight=term.weight * BESIDE_WEIGHT)


def _terms(text: str) -> list[Term]:
    """Return the telling terms of a text; quotes in it demand nothing, and stop words alone say nothing."""
    if not text:
        return []
    terms = build_query(_QUOTES.sub(" ", text)).terms
    return [term for term in terms if not all(word in STOP_WORDS for word in term.words)]


def _branch(name: str) -> str:
    words = re.split(r"[/_-]+", name)
    return " ".join(word for word in words if word.lower() not in _PLAIN_BRANCHES)
