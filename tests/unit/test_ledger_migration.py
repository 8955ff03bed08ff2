"""A ledger of an older version is brought to the present one, whole or not at all, by however many."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.ledger.database import MIGRATIONS, VERSION, run_script
from muniment.memory.ledger.faults import LedgerFault
from muniment.memory.ledger.row import Row
from support.ledger import ENGINE, HAND, Place, all_rows, go, row, waiting
from support.poll import PATIENCE

FIRST_COLUMNS = (
    "id, type, scope_kind, scope_key, project, title, body, trust, status, source, source_key, paths, tags,"
    " importance, confidence, content_hash, superseded_by, expires_at, created_at, updated_at, title_words,"
    " labels_words, body_words, code_words"
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def older(place: Place, bodies: int = 30) -> list[Row]:
    """Put a ledger of version 1 with rows of every status where the present one is looked for."""
    newer = Place(place.root / "newer")
    written = newer.write(*(row(f"Plums number {number} are blue.") for number in range(bodies)))
    newer.ledger().retract(written[0].id, HAND)
    newer.write(row("Other plums.", source=written[1].source))
    rows = all_rows(newer.ledger())
    place.paths.data.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(place.paths.ledger, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        run_script(connection, MIGRATIONS[0])
        run_script(connection, "words.sql")
        known = sqlite3.connect(newer.paths.ledger)
        with closing(known):
            (analysis,) = known.execute("SELECT value FROM about WHERE key = 'analysis'").fetchone()
            kept = known.execute(f"SELECT {FIRST_COLUMNS} FROM memory ORDER BY number").fetchall()
        connection.executemany(
            f"INSERT INTO memory({FIRST_COLUMNS}) VALUES ({', '.join('?' * len(kept[0]))})", kept
        )
        connection.execute("INSERT INTO about(key, value) VALUES ('analysis', ?)", (analysis,))
        connection.execute("PRAGMA user_version = 1")
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    return rows


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def schema_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in tables}


def opener(place: Place, *more: str) -> subprocess.Popen[str]:
    return waiting("support.ledger_migrator", str(place.paths.ledger), *more)


def test_an_older_ledger_keeps_every_row_and_can_then_what_the_present_one_can(place: Place) -> None:
    rows = older(place)
    assert version_of(place.paths.ledger) == 1 < VERSION
    ledger = place.ledger()

    assert sorted(all_rows(ledger), key=lambda each: each.id) == sorted(rows, key=lambda each: each.id)
    assert version_of(place.paths.ledger) == VERSION
    assert ledger.search("plums number 7").hits[0].row.body == "Plums number 7 are blue."
    assert ledger.health().ok
    assert ledger.purge(rows[5].id, HAND).row.purged_at == place.clock()


def test_a_migrated_ledger_is_built_like_a_new_one(place: Place, tmp_path: Path) -> None:
    older(place)
    assert place.ledger().health().ok
    new = Place(tmp_path / "new")
    new.write(row("Plums."))
    assert schema_of(place.paths.ledger) == schema_of(new.paths.ledger)


def test_a_kill_at_any_statement_leaves_the_older_ledger_or_the_present_one(place: Place) -> None:
    rows = {each.id for each in older(place)}
    versions = []
    for statements in range(1, 60):
        (code,) = go(opener(place, str(statements)))
        versions.append(version_of(place.paths.ledger))
        with closing(sqlite3.connect(place.paths.ledger)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            columns = {column[1] for column in connection.execute("PRAGMA table_info(memory)")}
            there = {each for (each,) in connection.execute("SELECT id FROM memory")}
        assert ("purged_at" in columns, "purge_reason" in columns) == ((versions[-1] == VERSION),) * 2
        assert rows <= there
        if code == 0:
            break
        assert code == -9
    assert code == 0
    assert set(versions) == {1, VERSION}
    assert versions == sorted(versions)
    assert place.ledger().counts()["active"] == len(rows) - 2 + 1


def test_two_processes_that_open_an_older_ledger_at_once_migrate_it_once(place: Place) -> None:
    rows = older(place)
    assert go(*(opener(place) for _ in range(3))) == [0, 0, 0]
    ledger = place.ledger()
    assert version_of(place.paths.ledger) == VERSION
    assert len(all_rows(ledger)) == len(rows) + 1
    assert ledger.health().ok


def test_a_newer_version_that_comes_while_a_session_is_open_is_not_written_to(place: Place) -> None:
    place.write(row("Plums are blue."))
    ledger = place.ledger()
    assert len(ledger.search("plums").hits) == 1
    with closing(sqlite3.connect(place.paths.ledger, isolation_level=None)) as newer:
        newer.execute("BEGIN IMMEDIATE")
        newer.execute("ALTER TABLE memory ADD COLUMN colour TEXT")
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        newer.execute("COMMIT")
    with pytest.raises(LedgerFault, match="newer Muniment"):
        ledger.upsert([row("Pears.")], ENGINE)
    with pytest.raises(LedgerFault, match="newer Muniment"):
        ledger.search("plums")
    with closing(sqlite3.connect(place.paths.ledger)) as newer:
        assert newer.execute("SELECT body FROM memory").fetchall() == [("Plums are blue.",)]


def test_a_newer_version_that_comes_while_this_one_waits_to_migrate_is_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(place)
    waits = threading.Event()

    class Told(sqlite3.Connection):
        def execute(self, *given: Any) -> sqlite3.Cursor:
            if given[0] == "BEGIN IMMEDIATE":
                waits.set()
            return super().execute(*given)

    refused: list[LedgerFault] = []

    def write() -> None:
        try:
            place.write(row("Pears."))
        except LedgerFault as fault:
            refused.append(fault)

    connect = sqlite3.connect
    with closing(connect(place.paths.ledger, isolation_level=None)) as newer:
        newer.execute("BEGIN IMMEDIATE")
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, factory=Told, **more))
        waiting = threading.Thread(target=write)
        waiting.start()
        assert waits.wait(PATIENCE)
        newer.execute("COMMIT")
        waiting.join(20)
    monkeypatch.undo()
    assert "newer Muniment" in refused[0].sentence
    assert version_of(place.paths.ledger) == VERSION + 1
    assert "purged_at" not in {column[1] for column in schema_of(place.paths.ledger)["memory"]}


def test_a_damaged_ledger_of_an_older_version_gives_its_rows_to_the_present_one(place: Place) -> None:
    rows = older(place, bodies=400)
    data = place.paths.ledger.read_bytes()
    needle = b"Plums number 300 "
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    place.paths.ledger.write_bytes(b"".join(b"\xff" * 4096 if needle in page else page for page in pages))

    done = place.ledger().rebuild([], ENGINE)

    assert done.set_aside is not None
    assert 0 < done.saved < len(rows)
    assert version_of(place.paths.ledger) == VERSION
    assert {each.id for each in all_rows(place.ledger())} < {each.id for each in rows}
