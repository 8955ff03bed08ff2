"""Where a query's terms stand in a text as it was written, for ranking and for marking."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import mul

from muniment.memory.recall.query import Query, Term
from muniment.memory.recall.stem import candidate_prefix, stem
from muniment.memory.recall.tokens import CODE_NAMES, HUMP, RAW_WORDS, code_name, words_of

MAX_MATCHES = 200
"""So many places of one word are looked at; more of them change neither rank nor snippet."""
MAX_COSTLY_CHARACTERS = 100_000
"""So much of a text outside ASCII is looked at, which costs a hundred times as much as plain text."""

Span = tuple[int, int]

_LOOK_AHEAD = 9
"""The words of a phrase have fewer signs and blanks between them than this."""
_APART = "\n" * _LOOK_AHEAD
"""Between texts that are looked through as one, so that no phrase reaches from one into the next."""
_SHORT = 4_096
"""Texts of one group that have no more characters are looked through together with those of other groups."""
_WORD = re.compile(r"[0-9a-z]+")
# Typographic signs that part words as ASCII signs do, and keep their place when the text is lowered.
_BEYOND = re.compile(
    "[^\x00-\x7f\u2010-\u2015\u2018-\u201e\u2022\u2026\u2032\u2033\u2190-\u21ff\u00a0\u00a7\u00ab\u00b7\u00bb\u00d7\u2500-\u257f]"
)


Spans = tuple[tuple[int, int, int], ...]
"""Start, end and number of the term for each word found, in order; end is just behind the word."""


_BEGUN = "*"
"""Ends the name of a word that is only begun among the stems; no stem holds it."""


@dataclass(frozen=True, slots=True)
class Matches:
    """How often each term of the query stands in a text, and where its words are."""

    counts: tuple[int, ...]
    spans: Spans


class Matcher:
    """Finds the terms of one query in any number of texts; agrees with the index on what a word is."""

    def __init__(self, query: Query) -> None:
        self._terms = [_names(term) for term in query.terms]
        self._begun = {term.words[-1] + _BEGUN: term.words[-1] for term in query.terms if term.begun}
        names = dict.fromkeys(name for names in self._terms for name in names)
        self._stems = [one for one in names if one not in self._begun]
        prefixes = [(one, candidate_prefix(one)) for one in self._stems if one.isascii()]
        self._ascii = [(one, prefix, stem(prefix) == one) for one, prefix in prefixes]
        self._codes = frozenset(one for one in self._stems if one.endswith(("plu", "plus", "sharp")))
        self._nothing = (0,) * len(self._terms)

    def match(self, text: str) -> Matches:
        """Find every term; a phrase counts where its words follow each other."""
        places = self._places(text)
        if not places:
            return Matches(self._nothing, ())
        counts: list[int] = []
        spans: list[tuple[int, int, int]] = []
        for number, stems in enumerate(self._terms):
            if len(stems) == 1:
                found: Sequence[Span] = places.get(stems[0], ())
            else:
                found = _phrases(text, [places.get(one, ()) for one in stems])
            counts.append(len(found))
            spans += [(start, end, number) for start, end in found]
        spans.sort()
        return Matches(tuple(counts), tuple(spans))

    def across(self, texts: Sequence[str], *, spans: bool) -> tuple[dict[int, list[int]], Spans]:
        """Return for each term found how often it stands in each text, and where all stand in the last one.

        The same as `match` of each, in one pass where the texts allow it; no places without `spans`.
        """
        if not self._all_plain(texts):
            return self._each(texts, spans)
        text = _APART.join(texts)
        places = self._places_plain(text, MAX_MATCHES)
        if not places:
            return {}, ()
        if max(map(len, places.values())) == MAX_MATCHES:
            # What is too much counts text by text.
            return self._each(texts, spans)
        starts = _starts(texts)
        last = starts[-1]
        counts: dict[int, list[int]] = {}
        standing: list[tuple[int, int, int]] = []
        for number, found in self._standing(text, places):
            counts[number] = here = [0] * len(starts)
            for start, _ in found:
                here[bisect_right(starts, start) - 1] += 1
            if spans and here[-1]:
                standing += [(start - last, end - last, number) for start, end in found if start >= last]
        standing.sort()
        return counts, tuple(standing)

    def weigh(self, groups: Sequence[Sequence[str]], weights: Sequence[float]) -> list[dict[int, float]]:
        """Return for each term the groups of texts that hold it, each with how often, a text by its weight.

        The same as what `across` counts, times the weights; they are such that no sum of them is rounded.
        Groups that are short and plain are looked through as one: to begin with a text costs the most.
        """
        short = [at for at, texts in enumerate(groups) if sum(map(len, texts)) <= _SHORT]
        texts = [text for at in short for text in groups[at]]
        text = _APART.join(texts)
        if self._codes or not text.isascii():
            short = [at for at in short if self._all_plain(groups[at])]
            texts = [text for at in short for text in groups[at]]
            text = _APART.join(texts)
        alone = set(range(len(groups))).difference(short)
        owners = [at for at in short for _ in weights]
        worth = [*weights] * len(short)
        starts = _starts(texts)
        places = self._places_plain(text, len(text))
        for found in places.values():
            if len(found) >= MAX_MATCHES:
                times = Counter(owners[bisect_right(starts, start) - 1] for start, _ in found)
                # What is too much counts text by text.
                alone.update(at for at, count in times.items() if count >= MAX_MATCHES)
        weighed: list[dict[int, float]] = [{} for _ in self._terms]
        for number, standing in self._standing(text, places):
            held = weighed[number]
            for start, _ in standing:
                at = bisect_right(starts, start) - 1
                owner = owners[at]
                held[owner] = held.get(owner, 0.0) + worth[at]
        for at in alone:
            counts, _ = self.across(groups[at], spans=False)
            for number, held in enumerate(weighed):
                held.pop(at, None)
                if number in counts:
                    held[at] = sum(map(mul, weights, counts[number]))
        return weighed

    def _standing(self, text: str, places: dict[str, list[Span]]) -> Iterator[tuple[int, Sequence[Span]]]:
        """Yield the terms that stand in a text, each with its places, in the order of the query."""
        for number, stems in enumerate(self._terms):
            if len(stems) == 1:
                found: Sequence[Span] = places.get(stems[0], ())
            else:
                found = _phrases(text, [places.get(one, ()) for one in stems])
            if found:
                yield number, found

    def _all_plain(self, texts: Sequence[str]) -> bool:
        """Tell whether texts hold nothing but what may be looked through in lower case, each in its place."""
        for text in texts:
            if not text.isascii() and _BEYOND.search(text):
                return False
            if self._codes and ("#" in text or "++" in text):
                return False
        return True

    def _each(self, texts: Sequence[str], spans: bool) -> tuple[dict[int, list[int]], Spans]:
        found = [self.match(text) for text in texts]
        counts = [list(of_term) for of_term in zip(*(each.counts for each in found), strict=True)]
        return {number: each for number, each in enumerate(counts) if any(each)}, found[
            -1
        ].spans if spans else ()

    def _places(self, text: str) -> dict[str, list[Span]]:
        plain = text.isascii() or not _BEYOND.search(text)
        places = self._places_plain(text, MAX_MATCHES) if plain else self._places_any(text)
        if self._codes and ("#" in text or "++" in text):
            for found in CODE_NAMES.finditer(text):
                name = stem(code_name(found.group()))
                if name in self._codes:
                    places.setdefault(name, []).append(found.span())
        return places

    def _places_plain(self, text: str, most: int) -> dict[str, list[Span]]:
        low = text.lower()
        find = low.find
        places: dict[str, list[Span]] = {}
        for wanted, prefix, is_word in self._ascii:
            size = len(prefix)
            found: list[Span] = []
            at = find(prefix)
            while at >= 0:
                if is_word and not (low[at - 1 : at].isalnum() or low[at + size : at + size + 1].isalnum()):
                    found.append((at, at + size))
                elif not (low[at - 1 : at].isalpha() and text[at].islower()):
                    # Inside of a word nothing begins, unless it is a name that is made of several.
                    span = _word_at(text, low, at, wanted)
                    if span is not None:
                        found.append(span)
                if len(found) == most:
                    break
                at = find(prefix, at + 1)
            if found:
                places[wanted] = found
        for name, begun in self._begun.items():
            if begun.isascii():
                longer = _longer_words(text, low, begun, most)
                if longer:
                    places[name] = longer
        return places

    def _places_any(self, text: str) -> dict[str, list[Span]]:
        places: dict[str, list[Span]] = {one: [] for one in (*self._stems, *self._begun)}
        for found in RAW_WORDS.finditer(text, 0, MAX_COSTLY_CHARACTERS):
            for one in _stems_in(found.group()):
                spans = places.get(one)
                if spans is not None and len(spans) < MAX_MATCHES:
                    spans.append(found.span())
            for name, begun in self._begun.items():
                if len(places[name]) < MAX_MATCHES and any(
                    each.startswith(begun) for each in _parts_of(found.group())
                ):
                    places[name].append(found.span())
        return {one: spans for one, spans in places.items() if spans}


def _starts(texts: Sequence[str]) -> list[int]:
    """Return where each text begins once all are joined."""
    ends = accumulate(len(text) + _LOOK_AHEAD for text in texts)
    return [0, *ends][:-1]


def _word_at(text: str, low: str, at: int, wanted: str) -> Span | None:
    """Return the word that begins here and has the stem wanted, as a whole word or as a part of a name."""
    begins = at == 0 or not low[at - 1].isalnum()
    if not begins and not (text[at].isupper() or text[at - 1].isdigit() or text[at].isdigit()):
        return None
    whole = _WORD.match(low, at)
    if whole is None:
        return None
    if begins and stem(whole.group()) == wanted:
        return whole.span()
    hump = HUMP.match(text, at)
    if hump is not None and hump.end() - at >= len(wanted) - 1 and stem(hump.group().lower()) == wanted:
        return hump.span()
    return None


def _longer_words(text: str, low: str, begun: str, most: int) -> list[Span]:
    """Return the words, and the parts of names, that begin so."""
    found: list[Span] = []
    at = low.find(begun)
    while at >= 0 and len(found) < most:
        if not low[at - 1 : at].isalnum():
            whole = _WORD.match(low, at)
            found += [whole.span()] if whole is not None else []
        elif text[at].isupper() or text[at - 1].isdigit() or text[at].isdigit():
            hump = HUMP.match(text, at)
            found += [hump.span()] if hump is not None and hump.end() - at >= len(begun) else []
        at = low.find(begun, at + 1)
    return found


@lru_cache(maxsize=16_384)
def _stems_in(word: str) -> tuple[str, ...]:
    return tuple(map(stem, _parts_of(word)))


def _parts_of(word: str) -> list[str]:
    """Return the folded words of a word as it is written, with the parts of a name."""
    parts = words_of(word)
    if word.isascii():
        humps = HUMP.findall(word)
        if len(humps) > 1:
            parts = parts + [one.lower() for one in humps]
    return parts


def _names(term: Term) -> tuple[str, ...]:
    """Return what the words of a term are looked for by: their stems, but the last as it stands if begun."""
    return (*term.stems[:-1], term.words[-1] + _BEGUN) if term.begun else term.stems


def _phrases(text: str, places: Sequence[Sequence[Span]]) -> list[Span]:
    """Return where the words follow each other with nothing but signs and blanks between."""
    if not all(places):
        return []
    found: list[Span] = []
    following = [dict(spans) for spans in places[1:]]
    for start, end in places[0]:
        at = end
        for spans in following:
            after = _next_word(text, at, spans)
            if after is None:
                break
            at = after
        else:
            found.append((start, at))
    return found


def _next_word(text: str, at: int, spans: dict[int, int]) -> int | None:
    """Return the end of the word that is next after a place, where it is one of these."""
    for ahead in range(at, min(at + _LOOK_AHEAD, len(text))):
        end = spans.get(ahead)
        if end is not None:
            return end
        if text[ahead].isalnum():
            return None
    return None
