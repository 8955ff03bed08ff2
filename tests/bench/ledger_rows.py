"""Timings of recall and of a whole request beside bare scripts that do the same work on the same files."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.measure import Row, compare
from muniment.memory.ledger.row import NewRow, Places, checked
from muniment.memory.ledger.row import Row as LedgerRow
from muniment.memory.ledger.searching import corpus_of
from muniment.memory.recall.need import build_need
from muniment.memory.recall.query import build_query
from muniment.memory.recall.recall import Bounds
from muniment.memory.recall.score import telling
from muniment.memory.records.index.place import index_path
from muniment.memory.surfaces import Surfaces
from muniment.model.base import UserItem
from muniment.paths import Paths
from muniment.session.recipes.recipe import ASSISTANT
from muniment.session.request.context import Context
from muniment.settings import Settings
from support.records import START

PROJECT = "0" * 32
ENTRIES = 200
_TERMS = (2, 4, 8, 16, 24, 32)
_FEW_TERMS = (2, 3, 4)


class LedgerBench:
    """A ledger, a project and user memory of made-up words, such that every block of a request is full."""

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.paths = Paths(root / "config", root / "data", root / "state", root / "cache")
        self.project = root / "study"
        self.scope = self.project / ".muniment"
        self._random = random.Random(11)
        sounds = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
        self._words = [
            "".join(self._random.choices(sounds, k=size)) for size in self._random.choices((2, 3, 4), k=8_000)
        ]
        self._frequent = [1 / (rank + 1) for rank in range(len(self._words))]
        self.surfaces = Surfaces(self.paths, self.project, Settings(), clock=lambda: START)
        self._fill(count)
        self.question = ""

    def _text(self, words: int = 75) -> list[str]:
        return self._random.choices(self._words, self._frequent, k=words)

    def _fill(self, count: int) -> None:
        (self.scope / "memory").mkdir(parents=True, mode=0o700)
        (self.scope / "project.yaml").write_text(f"id: '{PROJECT}'\nname: study\n")
        (self.scope / "pinned.md").write_text("# Pinned\n\n" + " ".join(self._text(900))[:4_000] + "\n")
        self.paths.user_memory.mkdir(parents=True, mode=0o700)
        for number in range(ENTRIES):
            (self.paths.user_memory / f"entry-{number:03}.md").write_text(
                f"---\nname: entry-{number:03}\ntype: project\nsummary: {' '.join(self._text(7))}\n---\n"
            )
        self.texts = [self._text() for _ in range(count)]
        for number, text in enumerate(self.texts):
            (self.scope / "memory" / f"record-{number:06}.yaml").write_text(
                f"id: record-{number:06}\ncategory: fact\ntitle: {' '.join(text[:6])}\n"
                f"content: {' '.join(text[6:])}\ntags:\n- {text[0]}\n- {text[3]}\nsource: agent\n"
                "created_at: 2026-10-25T03:07:29Z\nupdated_at: 2026-10-25T03:07:29Z\n"
            )
        rows = [
            checked(
                NewRow(
                    "semantic",
                    "project" if number % 2 else "global",
                    PROJECT if number % 2 else None,
                    " ".join(text[6:12]),
                    " ".join(reversed(text)),
                    "agent",
                    f"note:{number}",
                    tags=(text[1],),
                )
            )
            for number, text in enumerate(self.texts)
        ]
        self.surfaces.ledger.adopt([_as_kept(row, number) for number, row in enumerate(rows)])

    def ask(self, terms: Sequence[int] = _TERMS) -> None:
        """Choose another question: words of one text, so many of them as one of these."""
        text = self._random.choice(self.texts)
        self.question = " ".join(self._random.sample(text, self._random.choice(terms)))

    def recall(
        self, *, telling_words: bool, terms: Sequence[int] = _TERMS
    ) -> tuple[Callable[[], float], Callable[[], float]]:
        """Recall from the ledger with its telemetry, against a bare match and its 50 rows.

        The bare match asks for all words of the question, or only for the telling ones that recall asks for.
        """
        bare_connection = sqlite3.connect(self.paths.ledger)

        def expression() -> str:
            if not telling_words:
                return build_query(self.question).expression
            query = build_need(message=self.question).query
            return telling(query, corpus_of(bare_connection, query))[0].expression

        def ours() -> float:
            self.ask(terms)
            return _timed(self._recall)

        def bare() -> float:
            asked = expression()
            return _timed(lambda: _bare_rows(bare_connection, asked))

        _bare_rows(bare_connection, '"warm"')
        return ours, bare

    def _recall(self) -> None:
        recall = self.surfaces.recall
        found = recall.look(
            build_need(message=self.question),
            Places(PROJECT, "assistant"),
            bounds=Bounds(),
            sources=("ledger",),
        )
        recall.note(found, session="bench", shadow=False)

    def request(self) -> tuple[Callable[[], float], Callable[[], float]]:
        """Look up every block of a turn and put the request together, against the same reads and queries."""
        context = Context(
            self.surfaces, ASSISTANT, instructions="", tools=(), retrieval="on", session="bench"
        )
        context.build_digest()
        context.refresh("warm words")
        ledger = sqlite3.connect(self.paths.ledger)
        index = sqlite3.connect(index_path(self.paths.memindex, self.scope))

        def ours() -> float:
            self.ask()

            def work() -> None:
                context.refresh(self.question)
                made = context.assemble((UserItem(self.question),), None)
                if [each.name for each in made.blocks] != ["pinned", "digest", "user_memory", "pack"]:
                    raise SystemExit(f"a block is missing: {[each.name for each in made.blocks]}")

            return _timed(work)

        def bare() -> float:
            def work() -> None:
                (self.scope / "pinned.md").read_bytes()
                with os.scandir(self.paths.user_memory) as entries:
                    for entry in entries:
                        Path(entry.path).read_bytes()
                with os.scandir(self.scope / "memory") as entries:
                    {entry.name: entry.stat() for entry in entries}
                _bare_rows(ledger, build_query(self.question).expression)
                _bare_records(index, self.question)

            return _timed(work)

        return ours, bare


def ledger_rows(root: Path, rounds: int, count: int) -> list[Row]:
    """Measure recall and a whole request at so many rows and records."""
    bench = LedgerBench(root, count)
    more = rounds * 6
    rows = [
        *(
            compare(
                f"recall from {count:,} rows / bare 50, {words} words",
                *bench.recall(telling_words=words == "its"),
                target=2.0,
                rounds=more,
                each_differs=True,
            )
            for words in ("all", "its")
        ),
        *(
            compare(
                f"the same, a question of {terms} words / its words",
                *bench.recall(telling_words=True, terms=(terms,)),
                target=2.0,
                rounds=more * 2,
                each_differs=True,
            )
            for terms in _FEW_TERMS
        ),
        compare(
            f"a request, {count:,} rows and records / bare reads",
            *bench.request(),
            target=1.5,
            rounds=more,
            each_differs=True,
        ),
    ]
    bench.surfaces.records.close()
    return rows


def _bare_rows(connection: sqlite3.Connection, expression: str) -> list[tuple[object, ...]]:
    numbers = connection.execute(
        "SELECT rowid FROM memory_text WHERE memory_text MATCH ? ORDER BY rank LIMIT 50", (expression,)
    ).fetchall()
    marks = ",".join(str(number) for (number,) in numbers)
    return connection.execute(f"SELECT * FROM memory WHERE number IN ({marks})").fetchall()


def _bare_records(connection: sqlite3.Connection, question: str) -> list[tuple[object, ...]]:
    numbers = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 50",
        (build_query(question).expression,),
    ).fetchall()
    marks = ",".join(str(number) for (number,) in numbers)
    with closing(
        connection.execute(
            f"SELECT record.*, content FROM record JOIN body USING (number) WHERE number IN ({marks})"
        )
    ) as found:
        return found.fetchall()


def _as_kept(row: NewRow, number: int) -> LedgerRow:
    from muniment.memory.ledger.row import hash_of, id_of

    at = datetime(2026, 10, 25, tzinfo=UTC) - timedelta(days=number % 90)
    return LedgerRow(
        id_of(row, 0),
        row.type,
        row.scope_kind,
        row.scope_key,
        row.project,
        row.title,
        row.body,
        row.trust,
        "active",
        row.source,
        row.source_key,
        row.paths,
        row.tags,
        row.importance,
        row.confidence,
        hash_of(row.body),
        None,
        None,
        at,
        at,
    )


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
