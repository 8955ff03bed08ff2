"""How well search finds: recall of evidence turns on the LoCoMo conversations, read where they lie.

Run with the path of `locomo10.json` as argument or in `LOCOMO`; without it `../shared/data/locomo10.json`
beside the repository is tried. The weights were chosen on conversations 1 to 5 only.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

from muniment.memory.recall.fts import TextTable
from muniment.memory.recall.query import build_query
from muniment.memory.recall.score import Corpus, Scorer
from muniment.memory.recall.stem import stem
from muniment.memory.recall.stopwords import STOP_WORDS
from muniment.memory.recall.tokens import analyse, words_of

DEPTHS = (5, 10, 20)
CANDIDATES = 50
CHOSEN_ON = 5
DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "locomo10.json"
OWN = (("speaker", 2.0), ("own", 1.0))
WITH_SOURCE = (("wide", 0.25), ("near", 0.5), ("speaker", 1.0), ("own", 1.0))
NEAR, WIDE = 1, 3
PLAIN_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said: its id, its conversation's session, who said it and what."""

    id: str
    session: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[int]


Method = Callable[[list[Turn]], Callable[[str], list[int]]]


def load(conversation: dict[str, Any]) -> tuple[list[Turn], list[Question]]:
    """Return the turns of a conversation and the questions whose evidence is among them."""
    talk = conversation["conversation"]
    turns = [
        Turn(each["dia_id"], session, each["speaker"], f"{each['text']} {each.get('blip_caption') or ''}")
        for session in range(1, 100)
        for each in talk.get(f"session_{session}") or []
    ]
    numbers = {turn.id: number for number, turn in enumerate(turns)}
    questions = []
    for each in conversation["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(each.get("evidence") or []))
        evidence = frozenset(numbers[name] for name in named if name in numbers)
        if evidence:
            questions.append(Question(each["question"], evidence))
    return turns, questions


def plain(tokenizer: str) -> Method:
    """Search by the database's own ranking: any word, stop words included."""

    def prepare(turns: list[Turn]) -> Callable[[str], list[int]]:
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(speaker, text, tokenize='{tokenizer}')")
        connection.executemany(
            "INSERT INTO t(rowid, speaker, text) VALUES (?, ?, ?)",
            [(number, turn.speaker, turn.text) for number, turn in enumerate(turns)],
        )

        def search(question: str) -> list[int]:
            asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(PLAIN_WORDS.findall(question)))
            rows = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 50", (asked,))
            return [number for (number,) in rows]

        return search

    return prepare


def tuned(turns: list[Turn]) -> Callable[[str], list[int]]:
    """Rank every turn by BM25 with k1 = 0.9 and b = 0.4 over stems, stop words left out."""
    texts = [Counter(analyse(f"{turn.speaker} {turn.text}")) for turn in turns]
    lengths = [sum(text.values()) for text in texts]
    mean = sum(lengths) / len(lengths)
    holding = Counter(word for text in texts for word in text)

    def search(question: str) -> list[int]:
        words = {stem(word) for word in words_of(question) if word not in STOP_WORDS}
        scores = dict.fromkeys(range(len(texts)), 0.0)
        for word in words:
            worth = log(1 + (len(texts) - holding[word] + 0.5) / (holding[word] + 0.5))
            for number, text in enumerate(texts):
                count = text[word]
                if count:
                    norm = 0.9 * (0.6 + 0.4 * lengths[number] / mean)
                    scores[number] += worth * count * 1.9 / (count + norm)
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [number for number in best[:CANDIDATES] if scores[number] > 0]

    return search


def builder(turns: list[Turn]) -> Callable[[str], list[int]]:
    """Search by our queries and the database's own ranking."""
    return _table(turns, OWN, rescore=False)


def own_text(turns: list[Turn]) -> Callable[[str], list[int]]:
    """Search as records are searched: each turn by its own text."""
    return _table(turns, OWN, rescore=True)


def with_source(turns: list[Turn]) -> Callable[[str], list[int]]:
    """Search each turn by its own text and, with less weight, its neighbours of the same source."""
    return _table(turns, WITH_SOURCE, rescore=True)


def _table(
    turns: list[Turn], columns: tuple[tuple[str, float], ...], *, rescore: bool
) -> Callable[[str], list[int]]:
    table = TextTable("turn", columns)
    connection = sqlite3.connect(":memory:")
    table.create(connection)
    rows = [tuple(_column(turns, at, name) for name, _ in columns) for at in range(len(turns))]
    table.insert(connection, enumerate(rows))
    mean = sum(len(text) for row in rows for text in row) / len(rows)
    weights = [weight for _, weight in columns]

    def search(question: str) -> list[int]:
        query = build_query(question)
        if not query:
            return []
        found = table.candidates(connection, query, CANDIDATES)
        if not rescore:
            return found
        corpus = Corpus(len(rows), mean, table.frequencies(connection, query))
        scorer = Scorer(query, weights)
        scores = {number: scorer.score(scorer.tally(rows[number]), corpus) for number in found}
        return sorted(found, key=lambda number: (-scores[number], number))

    return search


def _column(turns: list[Turn], at: int, name: str) -> str:
    turn = turns[at]
    if name == "speaker":
        return turn.speaker
    if name == "own":
        return turn.text
    reach = NEAR if name == "near" else WIDE
    around = [*range(max(0, at - reach), at), *range(at + 1, min(len(turns), at + reach + 1))]
    return "\n".join(turns[other].text for other in around if turns[other].session == turn.session)


METHODS: tuple[tuple[str, Method], ...] = (
    ("unicode61, any word", plain("unicode61")),
    ("porter, any word", plain("porter unicode61")),
    ("BM25 k1=0.9 b=0.4 over stems", tuned),
    ("our queries, the database's ranking", builder),
    ("ours, own text", own_text),
    ("ours, with source context", with_source),
)


def recall(answers: Sequence[tuple[frozenset[int], list[int]]], depth: int) -> float:
    """Return the mean share of evidence among the first hits, in percent."""
    shares = [len(evidence & set(found[:depth])) / len(evidence) for evidence, found in answers]
    return 100 * sum(shares) / len(shares)


def main(arguments: Sequence[str]) -> int:
    """Print the table; say so and end well where the conversations are missing."""
    path = Path(arguments[0] if arguments else os.environ.get("LOCOMO") or DEFAULT)
    if not path.is_file():
        print(f"{path} is not here; give the path of locomo10.json as argument or in LOCOMO.")
        return 0
    conversations = [load(each) for each in json.loads(path.read_text(encoding="utf-8"))]
    total = sum(len(questions) for _, questions in conversations)
    print(f"{total} questions with evidence; recall at {DEPTHS} in percent")
    print(f"{'ranking':<38} {'1-5 (chosen on)':>20} {'6-10':>20} {'all':>20}")
    for name, method in METHODS:
        answers = []
        for turns, questions in conversations:
            search = method(turns)
            answers.append([(each.evidence, search(each.text)) for each in questions])
        parts = (answers[:CHOSEN_ON], answers[CHOSEN_ON:], answers)
        cells = [
            " ".join(f"{recall([one for each in part for one in each], depth):.1f}" for depth in DEPTHS)
            for part in parts
        ]
        print(f"{name:<38} " + " ".join(f"{cell:>20}" for cell in cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
