"""How well a text answers a query: BM25 over weighted fields, comparable between stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from operator import mul

from muniment.memory.recall.matching import Matcher, Spans
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
    spans: Spans

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
        if term.required or term.begun or len(term.words) > 1 or count <= limit
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
        self._matcher = Matcher(query)
        self._weights = weights
        self._required = [number for number, term in enumerate(query.terms) if term.required]
        self._worth: tuple[Corpus, list[float]] | None = None

    def tally(self, fields: Sequence[str]) -> Tally:
        """Count the terms in the fields of one text, given in the order of the weights, the body last."""
        counts = [0.0] * len(self._terms)
        found, standing = self._matcher.across(fields, spans=True)
        for number, by_field in found.items():
            counts[number] = sum(map(mul, self._weights, by_field))
        return Tally(counts, sum(map(len, fields)), standing)

    def score(self, tally: Tally, corpus: Corpus) -> float:
        """Return the worth of a text among all others."""
        counts = tally.counts
        for number in self._required:
            if not counts[number]:
                return 0.0
        norm = _norm(tally.length, corpus)
        score = 0.0
        for worth, count in zip(self._worths(corpus), counts, strict=True):
            if count:
                score += worth * count * (SATURATION + 1) / (count + norm)
        return score

    def fits(self, texts: Sequence[Sequence[str]], corpus: Corpus) -> list[float]:
        """Return what `score` returns for the `tally` of each text, without keeping what was counted."""
        scores = [0.0] * len(texts)
        norms = [_norm(sum(map(len, fields)), corpus) for fields in texts]
        weighed = self._matcher.weigh(texts, self._weights)
        for worth, held in zip(self._worths(corpus), weighed, strict=True):
            for at, count in held.items():
                scores[at] += worth * count * (SATURATION + 1) / (count + norms[at])
        for number in self._required:
            scores = [score if at in weighed[number] else 0.0 for at, score in enumerate(scores)]
        return scores

    def _worths(self, corpus: Corpus) -> list[float]:
        """Return what each term is worth in a corpus; most texts are scored in the same one."""
        if self._worth is None or self._worth[0] is not corpus:
            worths = [
                term.weight * rarity(corpus.size, holding)
                for term, holding in zip(self._terms, corpus.frequencies, strict=True)
            ]
            self._worth = (corpus, worths)
        return self._worth[1]


def _norm(length: int, corpus: Corpus) -> float:
    """Return how much of a term there must be before more of it adds little; more in a long text."""
    share = length / max(corpus.mean_length, 1.0)
    return SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * share)


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
