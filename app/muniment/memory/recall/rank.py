"""The order of what may be recalled: one pure function of candidates, need and time.

The score is a sum, so that each part can be shown beside the memory it let in:

- words (1.0): how well the words fit, as a share of the best fit of all candidates. It leads, because only
  the words tell whether a memory is about this at all.
- scope (agent 0.15, project 0.10, global 0): what was learned nearer to the work fits it better.
- trust (human 0.15, system 0.10, agent 0.05, external 0): between two that fit alike, who wrote it decides.
  Less than the words, so that a trusted memory about something else does not come first.
- paths (0.20 times the share of the named files): naming a file is the most exact thing that a task says.
- recency (0.10, halved every 30 days): of two claims the newer is more often still true. Small, because a
  rule does not get worse with age; a date in the future counts as now.
- importance (0.10) and confidence (0.05): as they stand in the row, 0 to 1.

Without the words all parts together reach 0.75. Equal scores stand newer first, then by id, so the order is
total and the same input gives the same order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from muniment.memory.recall.need import Need
from muniment.memory.recall.stem import stem
from muniment.memory.recall.tokens import analyse, words_of

WORDS = 1.0
SCOPE = {"agent": 0.15, "project": 0.10, "global": 0.0}
TRUST = {"human": 0.15, "system": 0.10, "agent": 0.05, "external": 0.0}
PATHS = 0.20
RECENCY = 0.10
HALF_LIFE_DAYS = 30.0
IMPORTANCE = 0.10
CONFIDENCE = 0.05

NEAR_DUPLICATE = 0.85
"""Bodies with so great a share of words in common say the same, unless a number or a "not" differs."""
_DECIMALS = 6
_NEGATIONS = frozenset(analyse("not no never none cannot without don doesn isn aren won t"))
_DAY_SECONDS = 86_400.0
_SCORE = attrgetter("score")


# Named tuples, since fifty of each are made for every turn and most of them only to be weighed.


class Candidate(NamedTuple):
    """One memory that may be recalled; `fit` is how well its words answer, comparable between candidates.

    `key` is where it is kept: `ledger` or `record`.
    """

    id: str
    key: str
    type: str
    scope: str
    trust: str
    title: str
    body: str
    source: str
    date: datetime
    fit: float
    paths: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.5

    @property
    def content_hash(self) -> str:
        """What two memories with the same body share, whatever their blanks."""
        return hashlib.sha256(" ".join(self.body.split()).encode("utf-8", "replace")).hexdigest()


class Parts(NamedTuple):
    """What each part adds to a score."""

    words: float
    scope: float
    trust: float
    paths: float
    recency: float
    importance: float
    confidence: float

    def as_dict(self) -> dict[str, float]:
        """Return the parts by name."""
        return self._asdict()


class Ranked(NamedTuple):
    """A candidate with its score and what the score is made of, in the order of `Parts`."""

    candidate: Candidate
    score: float
    added: tuple[float, float, float, float, float, float, float]

    @property
    def parts(self) -> Parts:
        """What each part adds to the score."""
        return Parts._make(self.added)


def rank(candidates: Sequence[Candidate], need: Need, now: datetime) -> list[Ranked]:
    """Return all candidates, best first."""
    best = max([each.fit for each in candidates], default=0.0)
    files = need.files
    ranked: list[Ranked] = []
    for each in candidates:
        _, _, _, scope_kind, trusted, _, _, _, date, fit, held, important, confident = each
        age = (now - date).total_seconds() / _DAY_SECONDS
        words = round(WORDS * fit / best, _DECIMALS) if best > 0 else 0.0
        scope = SCOPE.get(scope_kind, 0.0)
        trust = TRUST.get(trusted, 0.0)
        paths = round(PATHS * _overlap(files, held), _DECIMALS) if files else 0.0
        recency = round(RECENCY * 0.5 ** (age / HALF_LIFE_DAYS), _DECIMALS) if age > 0.0 else RECENCY
        importance = _share_of(IMPORTANCE, important)
        confidence = _share_of(CONFIDENCE, confident)
        total = round(words + scope + trust + paths + recency + importance + confidence, _DECIMALS)
        ranked.append(Ranked(each, total, (words, scope, trust, paths, recency, importance, confidence)))
    if len({each.score for each in ranked}) < len(ranked):
        # Sorted by the last key first: each sort keeps the order of those that are equal in its own key.
        ranked.sort(key=lambda each: (each.candidate.key, each.candidate.id))
        ranked.sort(key=lambda each: each.candidate.date, reverse=True)
    ranked.sort(key=_SCORE, reverse=True)
    return ranked


def distinct(ranked: Sequence[Ranked], *, most: int) -> list[Ranked]:
    """Return the best so many that say different things; of two that say the same the better one stays."""
    kept: list[Ranked] = []
    hashes: set[str] = set()
    bags: list[set[str]] = []
    for each in ranked:
        if len(kept) == most:
            break
        words = set(map(stem, words_of(each.candidate.body)))
        for other in bags:
            if _alike(words, other):
                break
        else:
            if not words:
                # Nothing but signs: bodies that are the same are alike in their words, where they have any.
                known = each.candidate.content_hash
                if known in hashes:
                    continue
                hashes.add(known)
            kept.append(each)
            bags.append(words)
    return kept


@lru_cache(maxsize=256)
def _share_of(weight: float, share: float) -> float:
    """Return a weight times a share that most rows have in common."""
    return round(weight * share, _DECIMALS)


def _overlap(named: Sequence[str], held: Sequence[str]) -> float:
    """Return the share of the named files that a memory is about; `app/x.py` and `x.py` are one file."""
    if not named or not held:
        return 0.0
    return sum(1 for name in named if any(_same_file(name, path) for path in held)) / len(named)


def _same_file(one: str, other: str) -> bool:
    first, second = one.removeprefix("./"), other.removeprefix("./")
    return first == second or first.endswith(f"/{second}") or second.endswith(f"/{first}")


def _alike(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    less, more = len(one), len(other)
    if less > more:
        less, more = more, less
    if not less or less < NEAR_DUPLICATE * more:
        return False
    common = len(one & other)
    if common < NEAR_DUPLICATE * (less + more - common):
        return False
    return not any(word in _NEGATIONS or any(map(str.isdigit, word)) for word in one ^ other)
