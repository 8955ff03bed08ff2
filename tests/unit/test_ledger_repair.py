"""A ledger that is damaged, of another version, or in a Python without full-text search."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

import pytest

from muniment.memory.ledger.database import VERSION, Database
from muniment.memory.ledger.faults import LedgerBusy, LedgerDamaged, LedgerFault
from muniment.memory.ledger.ledger import Ledger
from muniment.memory.ledger.repair import COMPANIONS, set_aside
from muniment.memory.ledger.searching import NO_FULL_TEXT
from support.ledger import ENGINE, HAND, Place, all_rows, go, packed, provided, row, waiting


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def settled(place: Place) -> Path:
    """Bring everything into the one file and let it go."""
    connection = sqlite3.connect(place.paths.ledger)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.close()
    return place.paths.ledger


def spoil(path: Path, needle: bytes) -> None:
    """Overwrite every page that holds some bytes."""
    data = path.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    path.write_bytes(b"".join(b"\xff" * 4096 if needle in page else page for page in pages))


def filled(place: Place, count: int = 300) -> None:
    place.write(
        *(row(f"Plum number {number} is kept in basket {number * 7}. " * 4) for number in range(count))
    )


def without_full_text(place: Place) -> Ledger:
    surfaces = place.surfaces()
    return Ledger(
        place.paths.ledger,
        journal=surfaces.journal,
        clock=place.clock,
        database=Database(place.paths.ledger, full_text=False),
    )


def test_a_file_that_is_no_database_is_said_in_one_sentence_and_left_alone(place: Place) -> None:
    place.write(row("Plums are blue."))
    path = settled(place)
    garbage = b"no database at all " * 500
    path.write_bytes(garbage)
    for use in (lambda: place.ledger().search("plums"), lambda: place.write(row("Pears are yellow."))):
        with pytest.raises(LedgerDamaged, match=r"is damaged \(.*\); muniment doctor --fix"):
            use()
    assert path.read_bytes() == garbage
    health = place.ledger().health()
    assert health.problem == "damaged"
    assert str(path) in health.sentence


def test_repair_sets_the_damaged_file_aside_and_writes_what_the_files_hold(place: Place) -> None:
    place.write(row("Plums are blue.", source="knowledge/plums.md"))
    path = settled(place)
    path.write_bytes(b"no database at all " * 500)
    ledger = place.ledger()
    done = ledger.rebuild([row("Plums are blue.", source="knowledge/plums.md")], ENGINE)
    assert done.set_aside is not None
    assert done.set_aside.read_bytes().startswith(b"no database")
    assert (done.saved, done.written, done.rows) == (0, 1, 1)
    assert str(done.set_aside) in done.sentence
    assert [hit.row.body for hit in ledger.search("plums").hits] == ["Plums are blue."]
    assert ledger.health().ok


def test_repair_saves_the_rows_that_can_still_be_read_with_all_that_was_decided_about_them(
    place: Place,
) -> None:
    filled(place)
    ledger = place.ledger()
    first = ledger.search("", limit=300).hits
    kept, gone = first[5].row, first[6].row
    ledger.pin(kept.id, HAND)
    ledger.retract(gone.id, HAND)
    ledger.close()
    path = settled(place)
    spoil(path, b"Plum number 250 is kept")
    assert ledger.health().problem == "damaged"
    done = ledger.rebuild([], ENGINE)
    assert 200 < done.saved < 300
    assert done.rows == done.saved
    after = {each.id: each for each in all_rows(ledger)}
    assert after[kept.id].trust == "human"
    assert after[gone.id].status == "retracted"
    assert ledger.health().ok
    assert ledger.search("basket", limit=5).truncated


def test_a_ledger_that_is_made_while_the_damaged_one_is_set_aside_keeps_its_log(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(row("Plums are blue."))
    path = settled(place)
    path.write_bytes(b"no database at all " * 500)
    other = place.ledger()
    rename = Path.rename

    def and_then_somebody_writes(self: Path, target: Path) -> Path:
        done = rename(self, target)
        if not path.exists():
            other.upsert([row("Pears are yellow.", source="other")], ENGINE)
        return done

    monkeypatch.setattr(Path, "rename", and_then_somebody_writes)
    set_aside(path, place.clock())
    other.upsert([row("Figs are green.", source="other")], ENGINE)
    assert {each.body for each in all_rows(place.ledger())} == {"Pears are yellow.", "Figs are green."}


def test_four_repairs_at_once_set_one_file_aside_and_lose_no_row_that_one_would_have_saved(
    place: Place, tmp_path: Path
) -> None:
    filled(place)
    path = settled(place)
    spoil(path, b"Plum number 250 is kept")
    alone = Place(tmp_path / "alone")
    alone.paths.data.mkdir(parents=True)
    shutil.copy(path, alone.paths.ledger)
    expected = alone.ledger().rebuild([], ENGINE).rows
    assert 200 < expected < 300
    assert go(*(waiting("support.ledger_mender", str(path)) for _ in range(4))) == [0, 0, 0, 0]
    assert len(all_rows(place.ledger())) == expected
    [aside] = [each for each in path.parent.glob("ledger.db.damaged-*") if not each.name.endswith(COMPANIONS)]
    assert b"Plum number 20 is kept" in aside.read_bytes()
    assert not list(path.parent.glob(".*.tmp*"))


def test_repair_waits_for_no_row_and_a_writer_follows_to_the_file_that_took_the_place(place: Place) -> None:
    filled(place)
    path = settled(place)
    spoil(path, b"Plum number 250 is kept")
    database = Database(path)
    late = Ledger(path, journal=place.surfaces().journal, clock=place.clock, database=database)
    opened = database._file.open

    def and_then_somebody_repairs(*, make: bool) -> sqlite3.Connection | None:
        connection = opened(make=make)
        database._file.open = opened  # type: ignore[method-assign]
        assert place.ledger().rebuild([], ENGINE).set_aside is not None
        return connection

    database._file.open = and_then_somebody_repairs  # type: ignore[method-assign]
    late.upsert([row("Pears are yellow.", source="late")], ENGINE)
    assert [hit.row.body for hit in place.ledger().search("pears").hits] == ["Pears are yellow."]
    assert place.ledger().health().ok


def test_a_repair_that_is_cut_off_leaves_the_damaged_file_where_the_next_one_finds_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place)
    path = settled(place)
    spoil(path, b"Plum number 250 is kept")
    damaged = path.read_bytes()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "adopt", full)
        with pytest.raises(OSError, match="No space"):
            place.ledger().rebuild([], ENGINE)
    assert path.read_bytes() == damaged
    assert 200 < place.ledger().rebuild([], ENGINE).saved < 300


def test_a_repair_does_not_read_what_another_process_is_just_writing(place: Place) -> None:
    filled(place)
    path = settled(place)
    spoil(path, b"Plum number 250 is kept")
    before = path.read_bytes()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerBusy):
        place.ledger().rebuild([], ENGINE)
    writer.close()
    assert path.read_bytes() == before
    assert place.ledger().rebuild([], ENGINE).set_aside is not None


def test_a_second_damaged_file_does_not_replace_the_first_that_was_set_aside(place: Place) -> None:
    ledger = place.ledger()
    names = set()
    for text in (b"first damage " * 500, b"second damage " * 500):
        place.write(row("Plums are blue."))
        settled(place).write_bytes(text)
        done = ledger.rebuild([], ENGINE)
        assert done.set_aside is not None
        names.add(done.set_aside)
    assert len(names) == 2
    assert {each.read_bytes()[:5] for each in names} == {b"first", b"secon"}


def test_a_damaged_index_is_made_anew_from_the_rows_and_nothing_is_set_aside(place: Place) -> None:
    filled(place, 50)
    with sqlite3.connect(place.paths.ledger) as connection:
        connection.execute("DELETE FROM memory_text_docsize WHERE id < 20")
    ledger = place.ledger()
    assert ledger.health().problem == "stale index"
    done = ledger.rebuild([], ENGINE)
    assert done.set_aside is None
    assert "anew" in done.sentence
    assert ledger.health().ok
    assert done.rows == 50


def test_a_sound_ledger_stays_as_it_is(place: Place) -> None:
    filled(place, 3)
    before = all_rows(place.ledger())
    assert "sound" in place.ledger().rebuild([], ENGINE).sentence
    assert all_rows(place.ledger()) == before


def test_damage_costs_a_turn_its_pack_and_nothing_else(place: Place) -> None:
    place.write(row("Plums are blue."))
    settled(place).write_bytes(b"no database at all " * 500)
    surfaces = place.surfaces()
    result = provided(surfaces, "what colour are plums")
    assert result.block is None
    assert "is damaged" in result.notices[0]
    assert result.alerts[0][0] == "Recall failed"
    again = provided(surfaces, "what colour are plums")
    assert (again.block, again.notices, again.alerts) == (None, (), ())


def test_a_ledger_of_a_newer_version_is_not_touched(place: Place) -> None:
    place.write(row("Plums are blue."))
    with sqlite3.connect(place.paths.ledger) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = settled(place).read_bytes()
    with pytest.raises(LedgerFault, match="newer Muniment"):
        place.ledger().search("plums")
    with pytest.raises(LedgerFault, match="newer Muniment"):
        place.write(row("Pears are yellow."))
    assert place.ledger().health().problem == "unusable"
    assert place.paths.ledger.read_bytes() == before


def test_a_database_of_something_else_is_not_taken_over(place: Place) -> None:
    place.paths.data.mkdir(parents=True)
    with sqlite3.connect(place.paths.ledger) as connection:
        connection.execute("CREATE TABLE cookies(name TEXT)")
    with pytest.raises(LedgerFault, match="something else"):
        place.write(row("Plums are blue."))


def test_without_full_text_search_every_row_is_read_and_that_is_said(place: Place) -> None:
    place.write(row("Plums are blue."), row("Pears are yellow."))
    ledger = without_full_text(place)
    result = ledger.search("plum")
    assert [hit.row.body for hit in result.hits] == ["Plums are blue."]
    assert result.notice == NO_FULL_TEXT
    assert ledger.health().ok


def test_what_is_written_without_full_text_search_is_found_by_the_next_that_has_it(place: Place) -> None:
    place.write(row("Plums are blue."))
    without_full_text(place).upsert([row("Pears are yellow.")], ENGINE)
    ledger = place.ledger()
    assert [hit.row.body for hit in ledger.search("pears").hits] == ["Pears are yellow."]
    assert ledger.search("pears").notice is None
    assert ledger.health().ok


def test_recall_works_without_full_text_search_and_says_so_once(place: Place) -> None:
    place.write(row("Plums are blue."))
    surfaces = place.surfaces()
    surfaces.ledger = without_full_text(place)
    first = provided(surfaces, "what colour are plums")
    assert first.block is not None
    assert first.notices == (NO_FULL_TEXT,)
    assert provided(surfaces, "plums again").notices == ()
    assert "Plums are blue." in packed(surfaces, "plums").text


def test_texts_are_analysed_again_where_words_were_cut_in_another_way(place: Place) -> None:
    place.write(row("東京の天気は晴れ"))
    with sqlite3.connect(place.paths.ledger) as connection:
        connection.execute("UPDATE memory SET body_words = 'nonsense', title_words = 'nonsense'")
        connection.execute("UPDATE about SET value = 'an earlier way' WHERE key = 'analysis'")
    ledger = place.ledger()
    assert len(ledger.search("天気").hits) == 1
    assert ledger.search("nonsense").hits == ()
    assert ledger.health().ok
