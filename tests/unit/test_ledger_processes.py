"""Several processes and one ledger: no reader waits, nothing is written twice, a kill loses no row."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from muniment.memory.ledger.database import Database
from muniment.memory.ledger.faults import LedgerBusy
from muniment.memory.ledger.ledger import Ledger
from support.environment import REPOSITORY
from support.ledger import ENGINE, HAND, Place, row


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def writer(place: Place, name: str, count: int, *more: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "support.ledger_writer", str(place.paths.ledger), name, str(count), *more],
        cwd=REPOSITORY / "tests",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(*processes: subprocess.Popen[str]) -> list[int]:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    codes = [process.wait(60) for process in processes]
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
    return codes


def test_two_processes_that_make_and_fill_a_ledger_at_once_lose_and_double_nothing(place: Place) -> None:
    place.paths.data.mkdir(parents=True, mode=0o700)
    assert go(writer(place, "one", 15), writer(place, "two", 15)) == [0, 0]
    ledger = place.ledger()
    assert ledger.counts() == {"active": 45, "superseded": 0, "retracted": 0, "expired": 0}
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
