"""A full-text table: how texts come into FTS5 and how candidates come out of it, the same for every store.

The table holds words only; the texts stand in a table of the store's own. To take a row out the texts that
were put in must be given again. All text goes through `tokens.spread`, all queries through `query`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.memory.recall.tokens import TOKENIZER, code_words, spread

if TYPE_CHECKING:
    import sqlite3

    from muniment.memory.recall.query import Query, Term

CODE_COLUMN = "code"
CODE_WEIGHT = 0.5
MAX_COUNTED = 4_096
"""So many words have their counts remembered."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """An FTS5 table with named columns and their weights; a column for parts of names is added."""

    name: str
    columns: tuple[tuple[str, float], ...]

    def create(self, connection: sqlite3.Connection) -> None:
        """Create the table and its vocabulary; raise `sqlite3.OperationalError` where FTS5 is missing."""
        names = ", ".join([*(name for name, _ in self.columns), CODE_COLUMN])
        tokenizer = TOKENIZER.replace("'", "''")
        connection.execute(
            f"CREATE VIRTUAL TABLE {self.name} USING fts5({names}, content='', tokenize='{tokenizer}')"
        )
        connection.execute(f"CREATE VIRTUAL TABLE {self.name}_words USING fts5vocab({self.name}, 'row')")
        weights = ", ".join([*(str(weight) for _, weight in self.columns), str(CODE_WEIGHT)])
        connection.execute(
            f"INSERT INTO {self.name}({self.name}, rank) VALUES ('rank', 'bm25({weights})')"  # noqa: S608 - names of ours
        )

    def insert(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Put rows in: a number and the texts of the columns."""
        marks = ", ".join("?" * (len(self.columns) + 2))
        columns = ", ".join([*(name for name, _ in self.columns), CODE_COLUMN])
        connection.executemany(
            f"INSERT INTO {self.name}(rowid, {columns}) VALUES ({marks})",  # noqa: S608 - names of ours
            (prepare(number, texts) for number, texts in rows),
        )

    def remove(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Take rows out; the texts must be those that were put in."""
        marks = ", ".join("?" * (len(self.columns) + 2))
        columns = ", ".join([*(name for name, _ in self.columns), CODE_COLUMN])
        connection.executemany(
            f"INSERT INTO {self.name}({self.name}, rowid, {columns}) VALUES ('delete', {marks})",  # noqa: S608 - names of ours
            (prepare(number, texts) for number, texts in rows),
        )

    def candidates(self, connection: sqlite3.Connection, query: Query, limit: int) -> list[int]:
        """Return the numbers of at most so many rows, best first, by this table's own counts."""
        if not query:
            # FTS5 has no expression that asks for nothing.
            return []
        rows = connection.execute(
            f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH ? ORDER BY rank, rowid LIMIT ?",  # noqa: S608 - names of ours
            (query.expression, limit),
        )
        return [number for (number,) in rows]

    def frequencies(
        self, connection: sqlite3.Connection, query: Query, known: dict[str, int] | None = None
    ) -> list[int]:
        """Return for each term how many rows hold it; a phrase is in no more rows than its rarest word.

        `known` is what was counted before in the same state of the table; it takes up what is counted now.
        """
        statement = f"SELECT doc FROM {self.name}_words WHERE term = ?"  # noqa: S608 - names of ours
        known = {} if known is None else known
        counts: list[int] = []
        for term in query.terms:
            if term.begun:
                counts.append(self._count(connection, term))
                continue
            stems = term.stems
            for stem in stems:
                if stem not in known:
                    row = connection.execute(statement, (stem,)).fetchone()
                    known[stem] = row[0] if row else 0
            counts.append(min([known[stem] for stem in stems]))
        return counts

    def _count(self, connection: sqlite3.Connection, term: Term) -> int:
        """Count the rows that may hold words that begin so."""
        counted = f"SELECT count(*) FROM {self.name} WHERE {self.name} MATCH ?"  # noqa: S608 - names of ours
        return int(connection.execute(counted, (term.expression,)).fetchone()[0])

    def optimize(self, connection: sqlite3.Connection) -> None:
        """Rewrite the whole table, so that words of removed rows are in it no longer."""
        connection.execute(f"INSERT INTO {self.name}({self.name}) VALUES ('optimize')")  # noqa: S608 - names of ours


class WordCounts:
    """How many rows of a table hold each word, remembered until anybody changes the database.

    Counting reads the whole list of rows of a word, which for frequent words takes as long as a search.
    Only for reads outside of transactions that change something.
    """

    def __init__(self, table: TextTable) -> None:
        self._table = table
        self._known: dict[str, int] = {}
        self._connection: sqlite3.Connection | None = None
        self._state = (0, 0)

    def of(self, connection: sqlite3.Connection, query: Query) -> list[int]:
        """Return for each term of a query how many rows hold it now."""
        # The first counts what other connections did, the second what this one did.
        others = connection.execute("PRAGMA data_version").fetchone()[0]
        state = (others, connection.total_changes)
        if connection is not self._connection or state != self._state or len(self._known) > MAX_COUNTED:
            self._known = {}
            self._connection, self._state = connection, state
        return self._table.frequencies(connection, query, self._known)


def prepare(number: int, texts: Sequence[str]) -> tuple[object, ...]:
    """Return a row as it is given to FTS5."""
    return (number, *map(spread, texts), code_words(" ".join(texts)))
