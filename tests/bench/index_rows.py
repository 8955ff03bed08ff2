"""Timings of the search index beside bare scripts that do the same work on the same files."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import yaml

from bench.measure import Row, compare
from muniment.memory.recall.query import build_query
from muniment.memory.records.index.catalog import Catalog
from muniment.memory.records.index.place import index_path
from muniment.memory.records.scope import Scope, ScopeChain

Pair = tuple[Callable[[], float], Callable[[], float]]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
_SPLIT = "tokenize='porter unicode61 remove_diacritics 2'"


def index_rows(root: Path, rounds: int, count: int) -> list[Row]:
    """Measure the search index of one scope in this process."""
    bench = IndexBench(root, count)
    few, many = max(3, rounds // 3), rounds * 12
    here = f"of {count:,}"
    return [
        compare(f"first index build {here} / bare build", *bench.build(), target=1.3, rounds=few),
        compare(
            f"search {here}, files looked at / bare",
            *bench.search(trust=False),
            target=1.3,
            rounds=many,
            each_differs=True,
        ),
        compare(
            f"search {here} in a running session / bare",
            *bench.search(trust=True),
            target=1.5,
            rounds=many,
            each_differs=True,
        ),
        compare(
            f"one file {here} changed, then search / bare", *bench.one_changed(), target=1.5, rounds=rounds
        ),
    ]


class IndexBench:
    """A scope with records of made-up words, as frequent as words are, and both ways to search it."""

    def __init__(self, root: Path, count: int) -> None:
        self.directory = root / "scope"
        self.memory = self.directory / "memory"
        self.cache = root / "index"
        self.bare_file = root / "bare.db"
        self._random = random.Random(7)
        self._write(count)
        scope = Scope("global", self.directory)
        self.chain = ScopeChain(root, self.directory, (scope,))
        self.catalog = Catalog(self.cache)
        self._asked = 0
        self._question = ""

    def _write(self, count: int) -> None:
        self.memory.mkdir(parents=True, mode=0o700)
        self._words = [
            "".join(self._random.choice("bdfgklmnprst") + self._random.choice("aeiou") for _ in range(size))
            for size in self._random.choices((2, 3, 4), k=8_000)
        ]
        frequent = [1 / (rank + 1) for rank in range(len(self._words))]
        self._texts: list[list[str]] = []
        for number in range(count):
            text = self._random.choices(self._words, frequent, k=75)
            self._texts.append(text)
            self._record(number, text)

    def _record(self, number: int, text: list[str]) -> None:
        (self.memory / f"record-{number:06}.yaml").write_text(
            f"id: record-{number:06}\ncategory: fact\ntitle: {' '.join(text[:6])}\n"
            f"content: {' '.join(text[6:])}\ntags:\n- {text[0]}\n- {text[3]}\nsource: agent\n"
            "created_at: 2026-10-25T03:07:29Z\nupdated_at: 2026-10-25T03:07:29Z\n"
        )

    def _next_question(self) -> str:
        self._asked += 1
        text = self._random.choice(self._texts)
        return " ".join(self._random.sample(text, 1 + self._asked % 6))

    def build(self) -> Pair:
        """First build of the index, against scandir, read, bare events and a bare insert."""

        def ours() -> float:
            self.catalog.close()
            shutil.rmtree(self.cache, ignore_errors=True)
            return _timed(lambda: self.catalog.search(self.chain, "word", now=NOW))

        def bare() -> float:
            self.bare_file.unlink(missing_ok=True)
            return _timed(self._bare_build)

        return ours, bare

    def search(self, *, trust: bool) -> Pair:
        """One search, with the files looked at first or not, against the bare match, fetch and cut."""

        def ours() -> float:
            self._question = self._next_question()
            return _timed(lambda: self.catalog.search(self.chain, self._question, now=NOW, trust=trust))

        def bare() -> float:
            with closing(sqlite3.connect(index_path(self.cache, self.directory))) as connection:
                self._bare_search(connection, "word")

                def work() -> None:
                    if not trust:
                        {entry.name: entry.stat() for entry in os.scandir(self.memory)}
                    self._bare_search(connection, self._question)

                return _timed(work)

        return ours, bare

    def one_changed(self) -> Pair:
        """A search after one file changed, against a look at all, one read, one update and the search."""

        def change() -> int:
            number = self._random.randrange(len(self._texts))
            self._record(number, self._random.choices(self._words, k=75))
            return number

        def ours() -> float:
            change()
            taken = _timed(lambda: self.catalog.search(self.chain, "word tobu", now=NOW))
            self.catalog.tidy()
            return taken

        def bare() -> float:
            number = change()
            path = self.memory / f"record-{number:06}.yaml"

            def work() -> None:
                {entry.name: entry.stat() for entry in os.scandir(self.memory)}
                values = _scalars(path.read_bytes())
                with closing(sqlite3.connect(self.bare_file)) as connection:
                    connection.execute(
                        "UPDATE texts SET title = ?, content = ? WHERE rowid = ?",
                        (values[6], values[8], number + 1),
                    )
                    connection.commit()
                    connection.execute(
                        "SELECT rowid, content FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10",
                        ('"word" OR "tobu"',),
                    ).fetchall()

            return _timed(work)

        return ours, bare

    def _bare_build(self) -> None:
        rows = []
        with os.scandir(self.memory) as entries:
            for entry in entries:
                values = _scalars(Path(entry.path).read_bytes())
                rows.append((values[6], values[8], " ".join(values[10:-6])))
        with closing(sqlite3.connect(self.bare_file)) as connection:
            connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(title, content, tags, {_SPLIT})")
            connection.executemany("INSERT INTO texts(title, content, tags) VALUES (?, ?, ?)", rows)
            connection.commit()

    def _bare_search(self, connection: sqlite3.Connection, question: str) -> list[str]:
        asked = build_query(question).expression
        found = connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10", (asked,)
        ).fetchall()
        snippets = []
        for (number,) in found:
            row = connection.execute(
                "SELECT record.*, content FROM record JOIN body USING (number) WHERE number = ?", (number,)
            ).fetchone()
            at = max(0, row[-1].find(question.split()[0]) - 50)
            snippets.append(row[-1][at : at + 200])
        return snippets


def _scalars(data: bytes) -> list[str]:
    return [
        "",
        *(event.value for event in yaml.parse(data, yaml.CBaseLoader) if type(event) is yaml.ScalarEvent),
    ]


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
