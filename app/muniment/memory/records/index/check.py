"""Whether the search indexes say what the files say; nothing is changed by looking."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from muniment.memory.database_file import remove_database
from muniment.memory.records.index.place import index_path
from muniment.memory.records.index.read import look, open_files
from muniment.memory.records.index.rows import packed
from muniment.memory.records.index.schema import META_COLUMNS, VERSION, meta_row
from muniment.memory.records.scope import Scope

MISSING, CURRENT, BEHIND, WRONG = "missing", "current", "behind", "wrong"


def check_index(directory: Path, scope: Scope) -> tuple[str, str]:
    """Compare a scope's index with its files, every text; return what it is and a sentence about it.

    `behind` is nothing to worry about: the next search reads what changed. `wrong` is damage, or an index
    that believes itself up to date and is not.
    """
    path = index_path(directory, scope.directory)
    if not os.path.lexists(path):
        return MISSING, f"{scope.directory} has no search index yet; the first search makes it."
    where = f"The search index of {scope.directory}"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1.0)) as connection:
            return _compare(connection, scope, where)
    except (sqlite3.Error, OSError) as error:
        if "locked" in str(error):
            return CURRENT, f"{where} is being written at this moment and was not looked at."
        return WRONG, f"{where} is damaged."


def _compare(connection: sqlite3.Connection, scope: Scope, where: str) -> tuple[str, str]:
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        return WRONG, f"{where} is damaged."
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
        # What is left where the disk was full at the very beginning; the next search starts over.
        return MISSING, f"{where} is empty; the next search makes it."
    about = dict(connection.execute("SELECT key, value FROM about"))
    if about.get("version") != VERSION:
        return BEHIND, f"{where} is of another version; the next search makes it anew."
    seen = look(scope)
    known = dict(connection.execute("SELECT name, signature FROM file"))
    same = [(name, signature) for name, signature in seen.files if known.get(name) == packed(signature)]
    wrong = sum(1 for _ in _disagreeing(connection, scope, same))
    if wrong:
        return WRONG, f"{where} says something else than the files about {_files(wrong)}."
    changed = len(seen.files) - len(same) + len(known.keys() - {name for name, _ in seen.files})
    if changed and about.get("digest") == seen.digest:
        return WRONG, f"{where} does not know of {_files(changed)} and believes that it does."
    if changed:
        return BEHIND, f"{where} is behind by {_files(changed)}; the next search makes that up."
    return CURRENT, f"{where} agrees with its {_files(len(same))}."


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _disagreeing(
    connection: sqlite3.Connection, scope: Scope, files: Sequence[tuple[str, tuple[int, int, int, int]]]
) -> Iterator[str]:
    """Yield the names of files of which the index says something else."""
    statement = f"SELECT {META_COLUMNS}, content FROM record JOIN body USING (number) WHERE id = ?"  # noqa: S608 - names of ours
    for opened in open_files(scope, files, 0):
        row = connection.execute(statement, (opened.name.removesuffix(".yaml"),)).fetchone()
        record = opened.record
        expected = None if record is None else (*meta_row(record), record.content)
        if row != expected:
            yield opened.name


def leftover_indexes(directory: Path) -> list[Path]:
    """Return the indexes of scopes whose directory is gone; they still hold the text of its records."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".db"))
    except OSError:
        return []
    return [directory / name for name in names if _is_leftover(directory / name)]


def remove_indexes(paths: Sequence[Path]) -> str:
    for path in paths:
        remove_database(path)
    return "They were removed."


def _is_leftover(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1.0)) as connection:
            row = connection.execute("SELECT value FROM about WHERE key = 'scope'").fetchone()
    except sqlite3.Error:
        return False  # its own check says what is wrong with it
    return row is not None and isinstance(row[0], bytes) and not os.path.lexists(row[0])
