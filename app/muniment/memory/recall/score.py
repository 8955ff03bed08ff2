"""How well a text answers a query: BM25 over weighted fields, comparable between stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from muniment.memory.recall.matching import Matcher
from muniment.memory.recall.query import Query

SATURATION = 0.6
LENGTH_SHARE = 0.25
FREQUENT_SHARE = 0.2
FREQUENT_FROM = 1_000
"""Words in more than this share of the texts are left out, in stores of at least so many."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all texts searched: how many, how long on average, how many hold each term."""

    size: int
    mean_length: float
    frequencies: Sequence[int]
    """For each term of the query how many texts hold it; for a phrase at most so many."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found in one text: the weighted count of each term, and where they stand in its last field."""

    counts: Sequence[float]
    length: int
    spans: tuple[tuple[int, int, int], ...]

    def __bool__(self) -> bool:
        return any(self.counts)


def telling(query: Query, corpus: Corpus) -> tuple[Query, Corpus]:
    """Leave out the words that are too frequent to tell one text from another, but never the last term."""
    if corpus.size < FREQUENT_FROM:
        return query, corpus
    limit = corpus.size * FREQUENT_SHARE
    kept = [
        number
        for number, (term, count) in enumerate(zip(query.terms, corpus.frequencies, strict=True))
        if term.required or len(term.words) > 1 or count <= limit
    ]
    if not kept or len(kept) == len(query.terms):
        return query, corpus
    terms = tuple(query.terms[number] for number in kept)
    counts = [corpus.frequencies[number] for number in kept]
    return Query(terms, query.cut), Corpus(corpus.size, corpus.mean_length, counts)


class Scorer:
    """Scores texts for one query; a higher score is better, 0 means that it is no hit."""

    def __init__(self, query: Query, weights: Sequence[float]) -> None:
        self._terms = query.terms
        self._match = Matcher(query).match
        self._weights = weights
        self._required = [number for number, term in enumerate(query.terms) if term.required]

    def tally(self, fields: Sequence[str]) -> Tally:
        """Count the terms in the fields of one text, given in the order of the weights, the body last."""
        match = self._match
        counts = [0.0] * len(self._terms)
        spans: tuple[tuple[int, int, int], ...] = ()
        length = 0
        for text, weight in zip(fields, self._weights, strict=True):
            length += len(text)
            found = match(text)
            spans = found.spans
            if any(found.counts):
                for number, count in enumerate(found.counts):
                    counts[number] += weight * count
        return Tally(counts, length, spans)

    def score(self, tally: Tally, corpus: Corpus) -> float:
        """Return the worth of a text among all others."""
        if not all(tally.counts[number] for number in self._required):
            return 0.0
        share = tally.length / max(corpus.mean_length, 1.0)
        norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * share)
        score = 0.0
        for term, count, holding in zip(self._terms, tally.counts, corpus.frequencies, strict=True):
            if count:
                score += (
                    term.weight * rarity(corpus.size, holding) * count * (SATURATION + 1) / (count + norm)
                )
        return score


def rarity(size: int, holding: int) -> float:
    """Return how much a term tells that so many of all texts hold."""
    return log(1.0 + max(size - holding, 0) / (holding + 0.5) + 0.5 / (holding + 0.5))


def rank_texts(
    query: Query, texts: Sequence[Sequence[str]], weights: Sequence[float]
) -> list[tuple[int, float, Tally]]:
    """Rank texts held in memory: number, score and tally of each hit, best first; equals keep their order."""
    scorer = Scorer(query, weights)
    tallies = [scorer.tally(fields) for fields in texts]
    corpus = corpus_of(tallies, len(query.terms))
    scored = [(number, scorer.score(tally, corpus), tally) for number, tally in enumerate(tallies) if tally]
    return sorted((each for each in scored if each[1] > 0), key=lambda each: -each[1])


def corpus_of(tallies: Sequence[Tally], terms: int) -> Corpus:
    """Count over texts that were all tallied."""
    frequencies = [sum(1 for tally in tallies if tally.counts[number]) for number in range(terms)]
    return Corpus(len(tallies), sum(tally.length for tally in tallies) / max(len(tallies), 1), frequencies)
