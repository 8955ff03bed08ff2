"""The ledger: what stands in it, how it changes, and what its index, journal and file know of that."""

from __future__ import annotations

import os
import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muniment.memory.ledger.ledger import Ledger
from muniment.memory.ledger.row import InvalidRow, Places
from muniment.memory.ledger.searching import TEXTS
from muniment.memory.recall.tokens import TOKENIZER
from muniment.safety.errors import NotFound
from support.ledger import ENGINE, HAND, Place, row


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return place.ledger()


def found(ledger: Ledger, text: str, *, everything: bool = False) -> list[str]:
    return [hit.row.body for hit in ledger.search(text, all=everything).hits]


def raw(ledger: Ledger) -> sqlite3.Connection:
    return sqlite3.connect(ledger.path, isolation_level=None)


def test_a_row_is_read_back_whole(ledger: Ledger) -> None:
    expires = datetime(2027, 1, 1, tzinfo=UTC)
    (written,) = ledger.upsert(
        [
            row(
                "Cite both notes.\nThen infer.",
                type="procedural",
                scope_kind="agent",
                scope_key="reviewer",
                project="p1",
                trust="human",
                paths=("app/x.py",),
                tags=("study", "study"),
                importance=0.75,
                expires_at=expires,
            )
        ],
        ENGINE,
    )
    read = ledger.get(written.id)
    assert read == written
    assert read.id.startswith("M-")
    assert (read.type, read.scope_kind, read.scope_key, read.project) == (
        "procedural",
        "agent",
        "reviewer",
        "p1",
    )
    assert (read.paths, read.tags, read.importance, read.expires_at) == (
        ("app/x.py",),
        ("study",),
        0.75,
        expires,
    )
    assert read.body == "Cite both notes.\nThen infer."


def test_writing_the_same_twice_is_writing_it_once(ledger: Ledger) -> None:
    first = ledger.upsert([row("Plums are blue."), row("Apples are green.")], ENGINE)
    assert ledger.upsert([row("Plums are blue."), row("Apples are green.")], ENGINE) == first
    assert sum(ledger.counts().values()) == 2


def test_the_same_row_has_the_same_id_in_every_ledger(tmp_path: Path) -> None:
    one, two = (Place(tmp_path / name).write(row("Plums are blue."))[0] for name in ("a", "b"))
    assert one.id == two.id


def test_newer_content_of_a_source_supersedes_the_older(ledger: Ledger) -> None:
    (old,) = ledger.upsert([row("Plums are blue.", source="knowledge/plums.md")], ENGINE)
    (new,) = ledger.upsert([row("Plums are red.", source="knowledge/plums.md")], ENGINE)
    assert ledger.get(old.id).status == "superseded"
    assert ledger.get(old.id).superseded_by == new.id
    assert found(ledger, "plums") == ["Plums are red."]
    assert sorted(found(ledger, "plums", everything=True)) == ["Plums are blue.", "Plums are red."]


def test_content_that_comes_back_is_a_row_of_its_own(ledger: Ledger) -> None:
    ids = [
        ledger.upsert([row(text, source="k")], ENGINE)[0].id
        for text in ("Blue plums.", "Red plums.", "Blue plums.")
    ]
    assert len(set(ids)) == 3
    assert [ledger.get(each).status for each in ids] == ["superseded", "superseded", "active"]


def test_the_same_source_of_another_project_or_agent_is_left_alone(ledger: Ledger) -> None:
    project = {"scope_kind": "project", "source": "knowledge/plums.md"}
    (theirs,) = ledger.upsert([row("Plums are blue.", scope_key="p1", **project)], ENGINE)
    ledger.upsert([row("Plums are red.", scope_key="p2", **project)], ENGINE)
    assert ledger.get(theirs.id).status == "active"


def test_nothing_takes_the_place_of_what_is_trusted_more(ledger: Ledger) -> None:
    (mine,) = ledger.upsert([row("Plums are blue.", source="k", trust="human")], HAND)
    ledger.upsert([row("Plums are poison.", source="k", trust="agent")], ENGINE)
    assert ledger.get(mine.id).status == "active"
    assert ledger.get(mine.id).trust == "human"
    ledger.upsert([row("Plums are sweet.", source="k", trust="human")], HAND)
    assert found(ledger, "plums") == ["Plums are sweet."]


def test_a_retracted_row_is_found_no_more_and_stays_so_when_it_is_written_again(ledger: Ledger) -> None:
    (written,) = ledger.upsert([row("Plums are blue.")], ENGINE)
    ledger.retract(written.id, HAND)
    assert found(ledger, "plums") == []
    ledger.upsert([row("Plums are blue.")], ENGINE)
    assert found(ledger, "plums") == []
    assert ledger.restore(written.id, HAND).after.status == "active"
    assert found(ledger, "plums") == ["Plums are blue."]


def test_a_row_expires_when_it_is_read_and_not_by_a_timer(place: Place) -> None:
    ledger = place.ledger()
    expires = datetime(2026, 10, 26, tzinfo=UTC)
    (written,) = ledger.upsert([row("Plums are blue.", expires_at=expires)], ENGINE)
    assert ledger.get(written.id).status == "active"
    place.clock.now = expires
    assert ledger.get(written.id).status == "expired"
    assert found(ledger, "plums") == []
    assert found(ledger, "plums", everything=True) == ["Plums are blue."]
    assert ledger.counts()["expired"] == 1
    with raw(ledger) as connection:
        assert connection.execute("SELECT status FROM memory").fetchone() == ("active",)


@pytest.mark.parametrize("end", ["retracted", "superseded", "expired"])
def test_a_pin_makes_a_row_your_own_and_active_whatever_it_was(place: Place, end: str) -> None:
    ledger = place.ledger()
    more = {"expires_at": datetime(2026, 10, 26, tzinfo=UTC)} if end == "expired" else {}
    (written,) = ledger.upsert([row("Plums are blue.", source="k", **more)], ENGINE)
    if end == "retracted":
        ledger.retract(written.id, HAND)
    if end == "superseded":
        ledger.upsert([row("Plums are red.", source="k")], ENGINE)
    place.clock.move(days=2)
    assert ledger.get(written.id).status == end
    pinned_file = place.project / ".muniment" / "pinned.md"
    after = ledger.pin(written.id, HAND).after
    assert ledger.get(written.id) == after
    assert (after.status, after.trust, after.importance, after.confidence) == ("active", "human", 1.0, 1.0)
    assert "Plums are blue." in found(ledger, "blue plums")
    assert not pinned_file.exists()


def test_what_is_not_there_is_said_and_makes_no_file(ledger: Ledger) -> None:
    for change in (ledger.pin, ledger.retract, ledger.restore):
        with pytest.raises(NotFound, match="M-0123"):
            change("M-0123", HAND)
    assert ledger.search("plums").hits == ()
    assert ledger.counts()["active"] == 0
    assert not ledger.path.exists()


def test_every_change_is_in_the_journal_with_the_row_before(place: Place) -> None:
    ledger = place.ledger()
    (written,) = ledger.upsert([row("Plums are blue.")], ENGINE)
    ledger.retract(written.id, HAND)
    lines = place.surfaces().journal.history("ledger", written.id)
    assert [(each.entry.action, each.entry.origin.actor) for each in lines] == [
        ("replace", "user"),
        ("create", "engine"),
    ]
    assert all(each.settled for each in lines)
    assert '"status": "active"' in (lines[0].entry.text_before or "")
    assert lines[1].entry.text_before is None


def test_where_the_journal_cannot_be_kept_nothing_is_changed(place: Place) -> None:
    ledger = place.ledger()
    (written,) = ledger.upsert([row("Plums are blue.")], ENGINE)
    journal = place.paths.journal
    journal.rename(journal.with_name("away"))
    journal.write_text("no directory")
    with pytest.raises(Exception, match="journal"):
        ledger.retract(written.id, HAND)
    with pytest.raises(Exception, match="journal"):
        ledger.upsert([row("Apples are green.")], ENGINE)
    assert ledger.get(written.id).status == "active"
    assert found(ledger, "apples") == []


def test_a_large_batch_is_one_entry_of_the_journal(place: Place) -> None:
    place.write(*(row(f"Plum number {number}.") for number in range(100)))
    assert len(place.surfaces().journal.lines()) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "gossip"},
        {"trust": "god"},
        {"scope_kind": "team"},
        {"scope_kind": "project"},
        {"scope_key": "p1"},
        {"importance": 1.1},
        {"confidence": float("nan")},
        {"source": " \n"},
        {"paths": tuple(map(str, range(65)))},
        {"body": "x" * 65_537},
        {"body": " \n "},
    ],
)
def test_what_cannot_stand_in_the_ledger_is_refused_before_anything_is_written(
    ledger: Ledger, bad: dict[str, object]
) -> None:
    with pytest.raises(InvalidRow):
        ledger.upsert([row("fine"), row(**({"body": "Plums."} | bad))], ENGINE)  # type: ignore[arg-type]
    assert not ledger.path.exists()


def test_a_body_at_the_limit_is_kept(ledger: Ledger) -> None:
    (written,) = ledger.upsert([row("x" * 65_536)], ENGINE)
    assert len(ledger.get(written.id).body) == 65_536


@pytest.mark.parametrize(
    "change",
    [
        "status = 'gone'",
        "trust = 'god'",
        "type = 'gossip'",
        "scope_kind = 'team'",
        "scope_key = 'p1'",
        "importance = 2.0",
        "confidence = 'much'",
        "paths = 'a, b'",
        "superseded_by = 'M-1'",
        "status = 'superseded'",
        "expires_at = 'tomorrow'",
        "source = ''",
        "content_hash = 'x'",
    ],
)
def test_the_database_itself_refuses_what_may_not_be(ledger: Ledger, change: str) -> None:
    ledger.upsert([row("Plums are blue.")], ENGINE)
    with raw(ledger) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(f"UPDATE memory SET {change}")


def test_the_index_follows_every_change_in_its_own_transaction(ledger: Ledger) -> None:
    ledger.upsert([row("Plums are blue.")], ENGINE)
    with raw(ledger) as connection:
        connection.execute("BEGIN")
        connection.execute("UPDATE memory SET body = 'Pears are yellow.'")
        assert found_words(connection, "pears") == 1
        connection.execute("ROLLBACK")
        assert (found_words(connection, "pears"), found_words(connection, "plums")) == (0, 1)
        connection.execute("UPDATE memory SET body = 'Pears are yellow.', title = 'Pears'")
        assert (found_words(connection, "pears"), found_words(connection, "plums")) == (1, 0)
        connection.execute("DELETE FROM memory")
        assert found_words(connection, "pears") == 0
        assert dict(connection.execute("SELECT key, value FROM about"))["size"] == 0
        assert dict(connection.execute("SELECT key, value FROM about"))["characters"] == 0
    assert ledger.health().ok


def found_words(connection: sqlite3.Connection, word: str) -> int:
    return len(
        connection.execute("SELECT rowid FROM memory_text WHERE memory_text MATCH ?", (word,)).fetchall()
    )


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("Die Straße nach Łódź", "lodz"),
        ("naïve café", "naive cafe"),
        ("東京の天気は晴れ", "天気"),
        ("call dataStore.put", "store"),
        ("written in C++ only", "C++"),
        ("installs packages", "install"),
    ],
)
def test_search_finds_accents_scripts_names_and_stems(ledger: Ledger, body: str, asked: str) -> None:
    ledger.upsert([row(body), row("something else entirely")], ENGINE)
    assert found(ledger, asked) == [body]


def test_tags_and_paths_are_searched_too(ledger: Ledger) -> None:
    ledger.upsert(
        [row("One thing.", tags=("orchard",)), row("Two things.", paths=("app/pruning.py",))], ENGINE
    )
    assert found(ledger, "orchard") == ["One thing."]
    assert found(ledger, "pruning") == ["Two things."]


@pytest.mark.parametrize(
    "hostile",
    [
        'foo-bar "x" AND NEAR(col: C++ \'',
        "NUL\x00 in it",
        "",
        '"',
        "++",
        "***",
        "col:foo OR",
        "NOT",
        "\ud800",
    ],
)
def test_no_query_is_syntax(ledger: Ledger, hostile: str) -> None:
    ledger.upsert([row("Plums are blue.")], ENGINE)
    assert {hit.row.body for hit in ledger.search(hostile).hits} <= {"Plums are blue."}


def test_without_words_the_newest_rows_come_first(place: Place) -> None:
    ledger = place.ledger()
    for name in ("one", "two", "three"):
        ledger.upsert([row(name)], ENGINE)
        place.clock.move(hours=1)
    result = ledger.search("", limit=2)
    assert [hit.row.body for hit in result.hits] == ["three", "two"]
    assert (result.searched, result.truncated) == (3, True)


def test_a_search_for_one_place_shows_nothing_of_another(ledger: Ledger) -> None:
    ledger.upsert(
        [
            row("Plums for all."),
            row("Plums of mine.", scope_kind="project", scope_key="p1"),
            row("Plums of theirs.", scope_kind="project", scope_key="p2"),
            row("Plums of an agent.", scope_kind="agent", scope_key="a", project="p1"),
            row("Plums of its namesake.", scope_kind="agent", scope_key="a", project="p2"),
        ],
        ENGINE,
    )

    def bodies(places: Places) -> set[str]:
        return {hit.row.body for hit in ledger.search("plums", scopes=places).hits}

    assert bodies(Places("p1", "a")) == {"Plums for all.", "Plums of mine.", "Plums of an agent."}
    assert bodies(Places("p1", "b")) == {"Plums for all.", "Plums of mine."}
    assert bodies(Places(None, "a")) == {"Plums for all."}
    assert len(bodies(Places(everywhere=True))) == 5


def test_the_file_is_private_whatever_the_umask_and_made_private_again(place: Place) -> None:
    old = os.umask(0)
    try:
        place.write(row("Plums are blue."))
    finally:
        os.umask(old)
    path = place.paths.ledger
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    assert place.ledger().counts()["active"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_ledger_is_never_followed_through_a_link(place: Place, tmp_path: Path) -> None:
    place.write(row("Plums are blue."))
    path = place.paths.ledger
    path.rename(tmp_path / "elsewhere.db")
    path.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(Exception, match=r"ledger\.db is not a file of yours"):
        place.ledger().search("plums")


def test_the_script_and_the_search_agree_on_how_words_are_cut(ledger: Ledger) -> None:
    ledger.upsert([row("Plums are blue.")], ENGINE)
    with raw(ledger) as connection:
        (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'memory_text'").fetchone()
        (weights,) = connection.execute("SELECT v FROM memory_text_config WHERE k = 'rank'").fetchone()
    assert TOKENIZER.replace("'", "''") in made
    assert weights == f"bm25({', '.join(str(weight) for _, weight in TEXTS.columns)}, 0.5)"


def test_a_title_never_has_a_second_line(ledger: Ledger) -> None:
    (written,) = ledger.upsert(
        [row("body", title="a\nb\u2028c\x0bd\x1be\u202ef", source="s\r\nid: forged", tags=("x\ny",))], ENGINE
    )
    assert written.title == "a b c d ef"
    assert written.source == "s id: forged"
    assert written.tags == ("x y",)
