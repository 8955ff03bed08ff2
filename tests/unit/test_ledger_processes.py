"""Several processes and one ledger: no reader waits, nothing is written twice, a kill loses no row."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest

from muniment.memory.database_file import create_file
from muniment.memory.ledger.database import Database
from muniment.memory.ledger.faults import LedgerBusy
from muniment.memory.ledger.ledger import Ledger
from support.ledger import ENGINE, HAND, Place, go, row, waiting


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def writer(place: Place, name: str, count: int, *more: str) -> subprocess.Popen[str]:
    return waiting("support.ledger_writer", str(place.paths.ledger), name, str(count), *more)


def test_two_processes_that_make_and_fill_a_ledger_at_once_lose_and_double_nothing(place: Place) -> None:
    place.paths.data.mkdir(parents=True, mode=0o700)
    assert go(writer(place, "one", 15), writer(place, "two", 15)) == [0, 0]
    ledger = place.ledger()
    assert ledger.counts() == {"active": 45, "superseded": 0, "retracted": 0, "expired": 0}
    assert ledger.health().ok


def test_whoever_finds_no_ledger_and_is_slower_takes_nothing_from_the_one_that_was_made(place: Place) -> None:
    faster = place.ledger()
    faster.upsert([row("Plums are blue.")], ENGINE)
    assert place.paths.ledger.with_name("ledger.db-wal").stat().st_size > 0
    create_file(place.paths.ledger)
    slower = place.ledger()
    slower.upsert([row("Pears are yellow.", source="slower")], ENGINE)
    faster.upsert([row("Figs are green.", source="faster")], ENGINE)
    assert faster.counts()["active"] == slower.counts()["active"] == 3
    assert slower.health().ok


def test_a_new_ledger_holds_nothing_of_what_a_removed_one_left_beside_itself(place: Place) -> None:
    ledger = place.ledger()
    ledger.upsert([row("Plums are blue.")], ENGINE)
    companions = {end: place.paths.ledger.with_name(f"ledger.db{end}") for end in ("-wal", "-shm")}
    left = {path: path.read_bytes() for path in companions.values()}
    assert b"Plums" in left[companions["-wal"]]
    ledger.close()
    place.paths.ledger.unlink()
    for path, data in left.items():
        path.write_bytes(data)
    ledger.upsert([row("Pears are yellow.")], ENGINE)
    assert [hit.row.body for hit in ledger.search("").hits] == ["Pears are yellow."]
    assert ledger.health().ok


def test_a_kill_before_the_commit_leaves_no_half_row_and_the_next_run_makes_up_for_it(place: Place) -> None:
    place.paths.data.mkdir(parents=True, mode=0o700)
    assert go(writer(place, "one", 3, "die")) == [-9]
    ledger = place.ledger()
    assert ledger.counts()["active"] == 4
    assert ledger.health().ok
    assert go(writer(place, "one", 3)) == [0]
    assert ledger.counts()["active"] == 6


def test_readers_see_a_whole_state_while_another_connection_writes(place: Place) -> None:
    place.write(row("Plums are blue."))
    held = sqlite3.connect(place.paths.ledger, isolation_level=None)
    try:
        assert held.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        held.execute("BEGIN IMMEDIATE")
        held.execute("UPDATE memory SET status = 'retracted'")
        assert [hit.row.status for hit in place.ledger().search("plums").hits] == ["active"]
        held.execute("COMMIT")
        assert place.ledger().search("plums").hits == ()
    finally:
        held.close()


def test_a_writer_waits_for_another_and_says_so_where_that_takes_too_long(place: Place) -> None:
    (written,) = place.write(row("Plums are blue."))
    surfaces = place.surfaces()
    impatient = Ledger(
        place.paths.ledger,
        journal=surfaces.journal,
        clock=place.clock,
        database=Database(place.paths.ledger, wait_seconds=0.05),
    )
    held = sqlite3.connect(place.paths.ledger, isolation_level=None, check_same_thread=False)
    try:
        held.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusy, match="try again"):
            impatient.retract(written.id, HAND)
        assert surfaces.journal.lines()[0].entry.action == "create"
        patient = threading.Thread(target=lambda: place.ledger().retract(written.id, HAND))
        patient.start()
        held.execute("COMMIT")
        patient.join(20)
    finally:
        held.close()
    assert impatient.get(written.id).status == "retracted"


def test_threads_of_one_process_take_turns(place: Place) -> None:
    ledger = place.ledger()

    def write(name: str) -> None:
        for number in range(10):
            ledger.upsert([row(f"{name} {number}")], ENGINE)
            ledger.search(name)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert ledger.counts()["active"] == 30


def test_a_ledger_that_was_replaced_by_another_file_is_opened_anew(place: Place, tmp_path: Path) -> None:
    ledger = place.ledger()
    ledger.upsert([row("Plums are blue.")], ENGINE)
    other = Place(tmp_path / "other")
    other.write(row("Pears are yellow."))
    other.ledger().close()
    for end in ("-wal", "-shm"):
        place.paths.ledger.with_name(f"ledger.db{end}").unlink(missing_ok=True)
    place.paths.ledger.unlink()
    other_connection = sqlite3.connect(other.paths.ledger)
    other_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    other_connection.close()
    other.paths.ledger.rename(place.paths.ledger)
    assert [hit.row.body for hit in ledger.search("").hits] == ["Pears are yellow."]
