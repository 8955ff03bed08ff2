"""Purging a ledger row: what it said is nowhere any more, and what is left says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from muniment.memory.journal import Entry, Journal
from muniment.memory.ledger.database import Database
from muniment.memory.ledger.faults import RowPurged
from muniment.memory.ledger.ledger import Ledger
from muniment.memory.ledger.lifecycle import PURGED
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.safety.errors import MunimentError
from support.command import Inside
from support.environment import user_variables
from support.ledger import ENGINE, HAND, Place, all_rows, row

SECRET = "Quaggamire opens with xyzzyplugh"
WORDS = (b"quaggamir", b"xyzzyplugh", b"volcanicus", b"obsidiane", b"flimflamming")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path)
    for name, value in user_variables(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def cli(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Inside:
    return Inside(monkeypatch, capfdbinary)


def secret(place: Place) -> str:
    """Write a row among others whose every text is remarkable, and judge it, so that the journal keeps it."""
    place.write(*(row(f"Plums number {number} are blue.") for number in range(40)))
    (written,) = place.write(
        row(
            SECRET,
            title="Volcanicus",
            tags=("obsidiane",),
            paths=("src/flimflamming.py",),
            source="note:flimflamming",
        )
    )
    place.ledger().pin(written.id, HAND)
    place.write(*(row(f"Pears number {number} are yellow.") for number in range(40)))
    return written.id


def holding(root: Path) -> set[str]:
    """Return the files below a directory that hold any of the remarkable words."""
    return {
        path.name
        for path in root.rglob("*")
        if path.is_file() and any(word in path.read_bytes().lower() for word in WORDS)
    }


def test_no_file_holds_a_word_of_it_and_a_mark_is_left(place: Place) -> None:
    row_id = secret(place)
    ledger = place.ledger()
    before = ledger.get(row_id)
    assert holding(place.root)
    place.clock.move(days=2)

    done = ledger.purge(row_id, HAND, reason="It was a key.")

    assert holding(place.root) == set()
    assert (done.left, done.already, done.same_text) == ((), False, ())
    assert done.texts_removed == 1
    left = ledger.get(row_id)
    assert left == done.row
    assert (left.id, left.type, left.created_at, left.scope_kind) == (
        row_id,
        before.type,
        before.created_at,
        before.scope_kind,
    )
    assert (left.status, left.title, left.body, left.tags, left.paths) == (
        "retracted",
        PURGED,
        PURGED,
        (),
        (),
    )
    assert (left.purged_at, left.purge_reason) == (place.clock(), "It was a key.")
    assert ledger.search("quaggamire volcanicus obsidiane", all=True).hits == ()
    assert ledger.health().ok
    assert ledger.counts() == {"active": 80, "superseded": 0, "retracted": 1, "expired": 0}


def test_the_journal_says_that_it_was_purged_and_nothing_of_what(place: Place) -> None:
    row_id = secret(place)
    place.ledger().purge(row_id, HAND)
    lines = place.surfaces().journal.history("ledger", row_id)
    assert [(line.entry.action, line.entry.text_before, line.settled) for line in lines] == [
        ("delete", None, True),
        ("replace", None, True),
        ("create", None, True),
    ]
    assert lines[0].entry.origin.actor == "user"


def test_the_same_text_of_the_same_source_stays_away_and_other_text_comes(place: Place) -> None:
    row_id = secret(place)
    ledger = place.ledger()
    ledger.purge(row_id, HAND)
    again = row(
        SECRET,
        title="Volcanicus",
        tags=("obsidiane",),
        paths=("src/flimflamming.py",),
        source="note:flimflamming",
    )

    (kept,) = ledger.upsert([again], ENGINE)
    assert (kept.id, kept.title) == (row_id, PURGED)
    assert holding(place.root) == set()

    (new,) = ledger.upsert([row("Nothing secret.", source="note:flimflamming")], ENGINE)
    assert new.status == "active"
    assert len(all_rows(ledger)) == 82


@pytest.mark.parametrize("judge", [Ledger.pin, Ledger.restore, Ledger.retract])
def test_what_is_purged_is_judged_no_more(place: Place, judge: Callable[..., object]) -> None:
    row_id = secret(place)
    ledger = place.ledger()
    left = ledger.purge(row_id, HAND).row
    with pytest.raises(RowPurged, match="was purged"):
        judge(ledger, row_id, HAND)
    assert ledger.get(row_id) == left


def test_other_rows_that_say_the_very_same_are_named(place: Place) -> None:
    row_id = secret(place)
    (other,) = place.write(row(SECRET, source="elsewhere"))
    assert place.ledger().purge(row_id, HAND).same_text == (other.id,)
    assert place.ledger().get(other.id).body == SECRET


def test_a_row_that_was_changed_since_it_was_seen_keeps_its_text(place: Place) -> None:
    row_id = secret(place)
    ledger = place.ledger()
    seen = ledger.get(row_id)
    place.clock.move(days=1)
    place.ledger().retract(row_id, HAND)
    with pytest.raises(ChangedAfterApproval, match="nothing was purged"):
        ledger.purge(row_id, HAND, seen=seen)
    assert ledger.get(row_id).body == SECRET
    assert next(line for line in ledger.journal.lines() if line.entry.item == row_id).failed
    assert ledger.purge(row_id, HAND, seen=ledger.get(row_id)).row.body == PURGED


def test_a_row_whose_time_has_passed_since_it_was_seen_is_purged_all_the_same(place: Place) -> None:
    (written,) = place.write(row(SECRET, expires_at=place.clock() + timedelta(days=1)))
    place.clock.move(days=2)
    assert place.ledger().get(written.id).status == "expired"
    assert place.ledger().purge(written.id, HAND, seen=written).row.body == PURGED


def test_a_row_that_was_purged_since_it_was_seen_keeps_the_mark_of_that(place: Place) -> None:
    row_id = secret(place)
    seen = place.ledger().get(row_id)
    first = place.ledger().purge(row_id, HAND, reason="A key")
    place.clock.move(days=1)
    second = place.ledger().purge(row_id, HAND, reason="Another word", seen=seen)
    assert second.row == first.row == place.ledger().get(row_id)


def test_while_another_session_reads_its_log_is_said_to_be_left_and_the_next_purge_finishes(
    place: Place,
) -> None:
    row_id = secret(place)
    surfaces = place.surfaces()
    impatient = Ledger(
        place.paths.ledger,
        journal=surfaces.journal,
        clock=place.clock,
        database=Database(place.paths.ledger, wait_seconds=0.05),
    )
    with closing(sqlite3.connect(place.paths.ledger, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchone()
        first = impatient.purge(row_id, HAND)
        assert "-wal still holds the text" in first.left[0]
        reader.execute("ROLLBACK")
    place.clock.move(days=1)

    second = impatient.purge(row_id, HAND)

    assert (second.left, second.already) == ((), True)
    assert second.row == first.row
    assert holding(place.root) == set()


def test_cut_off_between_file_and_journal_the_next_purge_finishes(place: Place) -> None:
    row_id = secret(place)

    class FullDisk(Journal):
        def purge(self, matches: Callable[[Entry], bool]) -> int:
            raise MunimentError("The disk is full.")

    journal = FullDisk(place.paths.journal, clock=place.clock)
    with pytest.raises(MunimentError, match="full"):
        Ledger(place.paths.ledger, journal=journal, clock=place.clock).purge(row_id, HAND)
    assert place.ledger().get(row_id).body == PURGED
    assert holding(place.root)

    place.ledger().purge(row_id, HAND)

    assert holding(place.root) == set()


def test_the_command_asks_says_what_it_did_and_may_be_repeated(place: Place, cli: Inside) -> None:
    row_id = secret(place)
    refused = cli("ledger", "purge", row_id)
    assert refused.code == 1
    assert "--yes" in refused.err
    assert place.ledger().get(row_id).body == SECRET

    done = cli("ledger", "purge", row_id, "--yes", "--json", "--reason", "A key")
    assert done.code == 0, done.err
    assert {name: done.json[name] for name in ("id", "status", "changed", "texts_removed", "reason")} == {
        "id": row_id,
        "status": "retracted",
        "changed": True,
        "texts_removed": 1,
        "reason": "A key",
    }
    assert (done.json["left"], done.json["same_text"]) == ([], [])
    assert "backups" in done.json["out_of_reach"]
    assert holding(place.root) == set()

    again = cli("ledger", "purge", row_id, "--json")
    assert (again.code, again.json["changed"]) == (0, False)
    shown = cli("ledger", "show", row_id, "--json").json["row"]
    assert (shown["purged_at"], shown["purge_reason"]) == (done.json["purged_at"], "A key")
    assert cli("ledger", "restore", row_id).code == 1
    assert cli("ledger", "purge", "M-0123", "--yes").code == 1
