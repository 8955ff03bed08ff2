"""What memory holds, read once and again only on change, narrowed by words, and laid out in rows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muniment.memory.surfaces import Surfaces
from muniment.paths import resolve_paths
from muniment.session.holdings import reading
from muniment.session.holdings.items import Group, Holdings, Item, Passed, narrow, numbered, size_text
from muniment.session.holdings.reading import Holder, stamp_of
from muniment.settings import Settings
from muniment.tui.widgets.memory_panel_rows import PASSED, short_path, view
from support.app import project_at, write_record
from support.memory_world import memory_world


def some(count: int, *, state: str = "") -> Holdings:
    items = tuple(Item("record", f"r{n}", f"Title {n}", "/p", state) for n in range(count))
    group = Group("scope:/p", "Project", f"{count}", items, count, "/p", hint="Press +")
    return Holdings((group,), records=count)


def test_nothing_is_made_anew_where_nothing_changed(tmp_path: Path) -> None:
    holder = Holder(Surfaces(resolve_paths(), memory_world(tmp_path), Settings()))
    first = holder.look()
    assert holder.look() is first


def test_files_of_records_are_not_looked_at_while_nobody_tells_of_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_at(tmp_path / "p")
    path = write_record(project / ".muniment", "apples", "About apples")
    # Such a change does not show in the time of the directory; where that is recent, files are looked at.
    os.utime(path.parent, (1, 1))
    surfaces = Surfaces(resolve_paths(), project, Settings())
    changes = 0
    surfaces.records.watched = lambda: changes
    holder = Holder(surfaces)
    monkeypatch.setattr(reading, "AGAIN_SECONDS", 3600.0)
    first = holder.look()
    path.write_text("id: apples\ntitle: About pears\ncontent: Text.\n", encoding="utf-8")
    assert holder.look() is first
    changes += 1
    told = holder.look()
    assert told != first
    path.write_text("id: apples\ntitle: About plums\ncontent: Text.\n", encoding="utf-8")
    monkeypatch.setattr(reading, "AGAIN_SECONDS", 0.0)
    assert holder.look() != told


@pytest.mark.parametrize(
    "name", ["memory/new.yaml", "pinned.md", "notes.md", "notes/inbox/new.md", "knowledge/reviews/new.md"]
)
def test_a_file_that_changes_is_seen_at_the_next_look(tmp_path: Path, name: str) -> None:
    project = memory_world(tmp_path)
    holder = Holder(Surfaces(resolve_paths(), project, Settings()))
    first = holder.look()
    path = project / ".muniment" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "id: new\ntitle: New\ncontent: New\n" if name.endswith(".yaml") else "# New\n\nNew text.\n"
    )
    assert holder.look() != first


def test_the_ledger_is_only_counted_until_it_is_wanted(tmp_path: Path) -> None:
    holder = Holder(Surfaces(resolve_paths(), memory_world(tmp_path), Settings()))
    counted = next(each for each in holder.look().groups if each.key == "ledger")
    assert (counted.total, counted.items) == (5, ())
    whole = next(each for each in holder.look(ledger=True).groups if each.key == "ledger")
    assert len(whole.items) == 5


def test_a_place_without_anything_has_every_group_and_says_what_to_do(tmp_path: Path) -> None:
    holder = Holder(Surfaces(resolve_paths(), project_at(tmp_path / "p"), Settings()))
    held = holder.look()
    assert [each.name for each in held.groups] == [
        "Project",
        "Global",
        "User memory",
        "Inbox",
        "Pinned",
        "Team notes",
        "Notebooks",
        "Knowledge",
        "Ledger",
    ]
    assert all(each.hint for each in held.groups)
    shown = view(held, "", {})
    assert shown.message.startswith("Nothing is remembered here yet.")


def test_outside_of_any_project_the_row_says_that_there_is_none_yet(tmp_path: Path) -> None:
    held = Holder(Surfaces(resolve_paths(), tmp_path, Settings())).look()
    assert (held.groups[0].name, held.groups[0].amount) == ("Project", "none yet")


def test_a_surface_that_cannot_be_read_is_named_and_the_others_stand(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "rule", "A rule")
    resolve_paths().data.mkdir(parents=True, exist_ok=True)
    resolve_paths().ledger.write_bytes(b"no database" * 50)
    held = Holder(Surfaces(resolve_paths(), project, Settings())).look()
    assert [each.id for each in held.groups[0].items] == ["rule"]
    assert any("ledger.db" in each.path for each in held.passed)


def test_narrowing_wants_every_word_and_drops_empty_groups() -> None:
    held = some(30)
    assert [each.id for each in narrow(held, "TITLE 12").groups[0].items] == ["r12"]
    assert narrow(held, "title nothing").groups == ()
    assert narrow(held, "  ") is held
    assert narrow(some(3, state="overridden"), "overridden").count == 3


def test_a_window_of_500_names_the_rest_and_the_filter_reaches_it() -> None:
    shown = view(some(620), "", {})
    rows = shown.branches[0].rows
    assert len(rows) == 501
    assert rows[-1].left == "… 120 more: / filters"
    assert [row.left for row in view(some(620), "r619", {}).branches[0].rows] == ["r619"]


def test_what_a_person_folded_stays_folded_but_not_against_a_filter() -> None:
    assert view(some(3), "", {"scope:/p": False}).branches[0].open is False
    assert view(some(3), "title", {"scope:/p": False}).branches[0].open is True


def test_states_and_files_passed_over_are_words_in_their_rows() -> None:
    held = Holdings(
        some(1, state="overridden").groups, (Passed("/p/memory/bad\x1b[2J.yaml", "is no record\u202e"),), 1
    )
    shown = view(held, "", {})
    assert shown.branches[0].rows[0].right == "overridden"
    assert shown.branches[0].rows[0].counts is False
    passed = shown.branches[1]
    assert passed.row.key == (PASSED,)
    assert "\x1b" not in passed.rows[0].left + passed.rows[0].about
    assert "\u202e" not in passed.rows[0].quiet + passed.rows[0].about


def test_a_path_is_cut_at_its_beginning_and_by_cells() -> None:
    assert short_path("/a/very/long/path", 9) == "…ong/path"
    assert short_path("/short", 9) == "/short"
    assert short_path("/漢字漢字", 6) == "…漢字"
    assert short_path("/漢字", 0) == ""


def test_sizes_and_counts_are_written_for_people() -> None:
    assert [size_text(each) for each in (0, 1023, 1024, 1536, 3 * 1024 * 1024)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.5 KiB",
        "3.0 MiB",
    ]
    assert [numbered(each, "turn") for each in (0, 1, 2, 1200)] == [
        "0 turns",
        "1 turn",
        "2 turns",
        "1,200 turns",
    ]


def test_a_stamp_of_what_is_gone_is_no_fault(tmp_path: Path) -> None:
    gone = stamp_of(tmp_path / "gone")
    (tmp_path / "gone").write_text("x")
    assert stamp_of(tmp_path / "gone") != gone
