"""How well a text answers a query: BM25 over weighted fields, comparable between stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from muniment.memory.recall.matching import Matcher
from muniment.memory.recall.query import Query

SATURATION = 0.9
LENGTH_SHARE = 0.4
FREQUENT_SHARE = 0.2
FREQUENT_FROM = 1_000
"""Words in more than this share of the records are left out, in stores of at least so many records."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all texts searched: how many, how long on average, how many hold each stem."""

    size: int
    mean_length: float
    frequencies: dict[str, int]

    def frequent(self) -> frozenset[str]:
        """Return the stems that are too frequent to tell one record from another."""
        if self.size < FREQUENT_FROM:
            return frozenset()
        limit = self.size * FREQUENT_SHARE
        return frozenset(one for one, count in self.frequencies.items() if count > limit)


@dataclass(frozen=True, slots=True)
class Scored:
    """The worth of one text, and where in its last field the terms stand."""

    score: float
    spans: tuple[tuple[int, int, int], ...]


class Scorer:
    """Scores texts for one query; a higher score is better, 0 means that no term is in it."""

    def __init__(self, query: Query, corpus: Corpus, weights: Sequence[float]) -> None:
        self._matcher = Matcher(query)
        self._weights = weights
        self._rarity = [
            term.weight * _rarity(corpus.size, min(corpus.frequencies.get(one, 0) for one in term.stems))
            for term in query.terms
        ]
        self._required = [number for number, term in enumerate(query.terms) if term.required]
        self._mean = max(corpus.mean_length, 1.0)

    def score(self, fields: Sequence[str]) -> Scored:
        """Score the fields of one text, given in the order of the weights; the last one is the body."""
        match = self._matcher.match
        total = [0.0] * len(self._rarity)
        spans: tuple[tuple[int, int, int], ...] = ()
        length = 0
        for text, weight in zip(fields, self._weights, strict=True):
            length += len(text)
            found = match(text)
            spans = found.spans
            for number, count in enumerate(found.counts):
                if count:
                    total[number] += weight * count
        norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / self._mean)
        score = 0.0
        for count, rarity in zip(total, self._rarity, strict=True):
            if count:
                score += rarity * count * (SATURATION + 1.0) / (count + norm)
        if any(not total[number] for number in self._required):
            score = 0.0
        return Scored(score, spans)


def _rarity(size: int, holding: int) -> float:
    return log(1.0 + (size - holding + 0.5) / (holding + 0.5)) if holding <= size else log(1.5)
