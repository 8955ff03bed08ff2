"""Searching records by reading them: any word counts, rare words and titles count more."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from muniment.memory.records.listing import Listed
from muniment.memory.records.record import Record
from muniment.memory.records.scan import Meta, read_bodies
from muniment.memory.records.scope import Scope

MAX_TERMS = 32
SNIPPET_CHARACTERS = 200
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+")
_TITLE_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that matches; a higher score is better. The snippet is one line around the first match."""

    meta: Meta
    snippet: str
    score: float
    effective: bool
    overridden_by: Scope | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; `searched` counts the records looked at, `truncated` tells that more matched."""

    hits: tuple[Hit, ...]
    searched: int
    truncated: bool
    notice: str | None = None


def fold(text: str) -> str:
    """Return a text without accents, case and width, for comparing."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(ch for ch in decomposed if not unicodedata.combining(ch))


def terms_of(query: str) -> list[str]:
    """Return the first distinct words of a query, folded."""
    return list(dict.fromkeys(_TOKEN.findall(fold(query[:20_000]))))[:MAX_TERMS]


def search_records(query: str, entries: Sequence[Listed], limit: int) -> SearchResult:
    """Search the given copies by reading each of them."""
    terms = terms_of(query)
    matched: list[tuple[Listed, Record, dict[str, float]]] = []
    seen_in = dict.fromkeys(terms, 0)
    if terms:
        standing = {id(entry.meta): entry for entry in entries}
        for meta, record in read_bodies(entry.meta for entry in entries):
            entry = standing[id(meta)]
            weights = _weigh(terms, record)
            if weights:
                matched.append((entry, record, weights))
                for term in weights:
                    seen_in[term] += 1
    rarity = {term: math.log(1 + len(entries) / count) for term, count in seen_in.items() if count}
    ranked = sorted(
        matched,
        key=lambda each: (-sum(rarity[term] * weight for term, weight in each[2].items()), each[0].meta.id),
    )
    hits = tuple(
        Hit(
            entry.meta,
            snippet_of(record.content, list(weights)),
            round(sum(rarity[term] * weight for term, weight in weights.items()), 4),
            entry.effective,
            entry.overridden_by,
        )
        for entry, record, weights in ranked[:limit]
    )
    return SearchResult(hits, len(entries), len(ranked) > limit)


def _weigh(terms: list[str], record: Record) -> dict[str, float]:
    title = " " + " ".join(_TOKEN.findall(fold(f"{record.title} {record.id}"))) + " "
    rest = (
        " "
        + " ".join(_TOKEN.findall(fold(f"{' '.join(record.tags)} {record.category} {record.content}")))
        + " "
    )
    weights: dict[str, float] = {}
    for term in terms:
        needle = term if re.match(f"[{_CJK}]", term) else f" {term} "
        weight = (_TITLE_WEIGHT if needle in title else 0.0) + math.log1p(rest.count(needle))
        if weight:
            weights[term] = weight
    return weights


def snippet_of(content: str, terms: list[str]) -> str:
    """Return one line of the content around the first word that matches."""
    line = " ".join(content.split())
    if len(line) <= SNIPPET_CHARACTERS:
        return line
    at = 0
    for found in _TOKEN.finditer(line):
        word = fold(found.group())
        if any(term in word for term in terms):
            at = found.start()
            break
    start = max(0, min(at - SNIPPET_CHARACTERS // 4, len(line) - SNIPPET_CHARACTERS))
    end = start + SNIPPET_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
