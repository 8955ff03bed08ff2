"""The one builder of search queries: what somebody typed becomes terms, never syntax.

Any word may match. Words in double quotes must stand in a hit as a phrase. Stop words count only where
nothing else is asked for. A name made of parts (`max_retries`, `dataStore`, `app/paths.py`) is searched as a
phrase and by its parts; a run of characters without blanks as a phrase and, where it is long, by its pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from muniment.memory.recall.begun import begun_as
from muniment.memory.recall.stem import stem
from muniment.memory.recall.stopwords import STOP_WORDS
from muniment.memory.recall.tokens import ALONE, CODE_NAMES, HUMP, code_name, code_words, words_of
from muniment.safety.pattern import LazyPattern

MAX_TERMS = 32
MAX_QUERY_CHARACTERS = 20_000
MAX_PHRASE_WORDS = 16
MAX_WORD_CHARACTERS = 256
PART_WEIGHT = 0.5
MIN_BEGUN = 2
"""So many characters of a word are needed before longer ones that begin with them are looked for."""

_QUOTED = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\uff02]')
_UNUSABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]+")
_CLITIC = re.compile(r"'(?:s|t|d|m|re|ve|ll)?(?![^\W_])", re.IGNORECASE)
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc", "'''")
_EDGES = "!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…、。，！？；：（）¿¡–—‐"
_IS_ALONE = LazyPattern(ALONE)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_SHORT_RUN = 2


@dataclass(frozen=True, slots=True)
class Term:
    """One word, or several that must follow each other; `weight` is less for parts of a longer name.

    Where it is only `begun`, its last word may go on.
    """

    words: tuple[str, ...]
    weight: float = 1.0
    required: bool = False
    begun: bool = False

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(stem(word) for word in self.words)

    @property
    def expression(self) -> str:
        """The term as an FTS5 string; words hold letters, digits and marks only.

        For a term that is only begun all rows are found that may hold it, and some that do not.
        """
        if not self.begun:
            return _quoted(*self.words)
        *before, last = self.words
        beginning, others = begun_as(last)
        asked = [_quoted(*before, beginning) + "*", *(_quoted(*before, word) for word in others)]
        return f"({' OR '.join(asked)})"


def _quoted(*words: str) -> str:
    return f'"{" ".join(words)}"'


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; `cut` tells that more was asked for than is used."""

    terms: tuple[Term, ...]
    cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def expression(self) -> str:
        """The query in FTS5's language; never empty where there are terms."""
        anything = " OR ".join(term.expression for term in self.terms)
        required = " AND ".join(term.expression for term in self.terms if term.required)
        if not required or all(term.required for term in self.terms):
            return required or anything
        return f"({required}) AND ({anything})"


def build_query(text: str, *, typing: bool = False) -> Query:
    """Build the query for what somebody typed or a model asked; it is empty where no word is in it.

    At most 32 different terms of the first 20,000 characters count, in their order. While somebody is still
    `typing`, a last word that nothing follows finds longer words that begin with it, too.
    """
    cut = len(text) > MAX_QUERY_CHARACTERS
    pieces = _QUOTED.split(_UNUSABLE.sub(" ", text[:MAX_QUERY_CHARACTERS]))
    found: dict[tuple[tuple[str, ...], bool], Term] = {}
    dropped: dict[tuple[tuple[str, ...], bool], Term] = {}
    for number, piece in enumerate(pieces):
        # Every second piece stands between quotes; a last quote that is never closed quotes nothing.
        last = number == len(pieces) - 1
        quoted = number % 2 == 1 and not last
        for term, is_stop_word in _quoted_term(piece) if quoted else _terms(piece, typing and last):
            target = dropped if is_stop_word else found
            key = (term.stems, term.begun)
            known = target.get(key)
            if known is None:
                if len(target) == MAX_TERMS:
                    cut = True
                    continue
                target[key] = term
            elif (term.required, term.weight) > (known.required, known.weight):
                target[key] = term
    return Query(tuple((found or dropped).values()), cut)


def _quoted_term(text: str) -> Iterator[tuple[Term, bool]]:
    words = tuple(word[:MAX_WORD_CHARACTERS] for word in words_of(text)[:MAX_PHRASE_WORDS])
    if words:
        yield Term(words, required=True), False


def _terms(text: str, typing: bool) -> Iterator[tuple[Term, bool]]:
    """Yield the terms of unquoted text, each with whether it is a stop word."""
    chunks = text.translate(_APOSTROPHES).split()
    for number, chunk in enumerate(chunks, 1):
        terms = list(_chunk(chunk))
        yield from terms
        if typing and number == len(chunks) and text[-1].isalnum():
            yield from _begun(terms)


def _begun(terms: list[tuple[Term, bool]]) -> Iterator[tuple[Term, bool]]:
    """Yield once more those terms of something unfinished that end in its last word, as only begun."""
    last = terms[-1][0].words[-1] if terms else ""
    if len(last) < MIN_BEGUN or _IS_ALONE.match(last):
        return
    for term, is_stop_word in terms:
        if term.words[-1] == last:
            yield replace(term, weight=term.weight * PART_WEIGHT, begun=True), is_stop_word


def _chunk(chunk: str) -> Iterator[tuple[Term, bool]]:
    """Yield the terms of something written without blanks."""
    for name in CODE_NAMES.findall(chunk):
        # The letter alone would find every C.
        yield Term((code_name(name),)), False
    for rest in CODE_NAMES.sub(" ", chunk).split():
        yield from _plain_chunk(rest)


def _plain_chunk(chunk: str) -> Iterator[tuple[Term, bool]]:
    core = chunk.strip(_EDGES)
    if core.casefold() in STOP_WORDS:
        for word in words_of(core):
            yield Term((word,)), True
        return
    core = _CLITIC.sub("", core)
    words = [word[:MAX_WORD_CHARACTERS] for word in words_of(core)]
    plain: list[str] = []
    for alone, run in groupby(words, lambda word: not word.isascii() and _IS_ALONE.match(word) is not None):
        if alone:
            yield from _run(tuple(run))
        else:
            plain += run
    if not plain:
        return
    humps = [part.casefold() for part in HUMP.findall(core)] if len(plain) == 1 else []
    if len(humps) > 1 and code_words(core):
        yield Term((plain[0],)), False
        yield from _compound(humps)
    elif len(plain) > 1:
        yield from _compound(plain)
    else:
        yield Term((plain[0],)), plain[0] in STOP_WORDS


def _compound(parts: list[str]) -> Iterator[tuple[Term, bool]]:
    """Yield a name made of parts: all of them in a row, then those that mean something alone."""
    says_nothing = [part in STOP_WORDS or (len(part) == 1 and part.isascii()) for part in parts]
    yield Term(tuple(parts[:MAX_PHRASE_WORDS])), all(part in STOP_WORDS for part in parts)
    for part, nothing in zip(parts, says_nothing, strict=True):
        yield Term((part,), PART_WEIGHT), nothing


def _run(run: tuple[str, ...]) -> Iterator[tuple[Term, bool]]:
    """Yield a run of characters that each are a word: whole, and by its pairs where it is long."""
    yield Term(run[:MAX_PHRASE_WORDS]), False
    if len(run) <= _SHORT_RUN:
        return
    pairs = list(pairwise(run))
    telling = [pair for pair in pairs if not _HIRAGANA.fullmatch("".join(pair))]
    for pair in telling or pairs:
        yield Term(pair, PART_WEIGHT), False
