"""Markdown as a source of records: what becomes title, text and fields, and that no text is lost unsaid."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.records.carry.markdown import (
    MAX_TITLE,
    item_records,
    item_title,
    note_record,
    points_to,
    read_list,
    shortened,
)
from muniment.memory.records.carry.sources import read_source, read_text
from muniment.memory.records.carry.transfer import plan_import
from muniment.memory.records.ids import is_valid_id
from muniment.memory.records.plans import InvalidRecord
from support.records import START, World

CHANGED = datetime(2025, 3, 1, 12, tzinfo=UTC)


def test_a_note_without_front_matter_is_one_record_named_after_its_file() -> None:
    record = note_record(b"\n# Pilot study, part 2 #\n\nBoth denominators.\n\n- a\n- b\n", "pilot_2", CHANGED)
    assert (record.id, record.title) == ("pilot-2", "Pilot study, part 2")
    assert record.content == "# Pilot study, part 2 #\n\nBoth denominators.\n\n- a\n- b"
    assert (record.created_at, record.updated_at, record.category, record.tags) == (
        CHANGED,
        CHANGED,
        "fact",
        (),
    )


def test_front_matter_gives_the_fields_and_what_is_unknown_is_kept() -> None:
    text = (
        "---\nid: rule-7\ntitle: 'Cite: both'\ntags: [a, '#b', a]\ntype: decision\ncreated: 2024-01-05\n"
        "updated_at: 2024-02-01T10:00:00+02:00\nsource: https://example.org\nmood: fine\naliases: [x, y]\n"
        "---\n\nThe text.\n---\nA rule line is text.\n"
    )
    record = note_record(text.encode(), "file-name", CHANGED)
    assert (record.id, record.title, record.category, record.tags) == (
        "rule-7",
        "Cite: both",
        "decision",
        ("a", "b"),
    )
    assert record.content == "The text.\n---\nA rule line is text."
    assert record.created_at == datetime(2024, 1, 5, tzinfo=UTC)
    assert record.updated_at == datetime(2024, 2, 1, 8, tzinfo=UTC)
    assert record.extras == {
        "original_source": "https://example.org",
        "mood": "fine",
        "aliases": ["x", "y"],
    }
    assert record.source == "import"


def test_an_entry_of_another_memory_keeps_name_type_and_summary() -> None:
    text = "---\nname: tea-rule\ndescription: Green only\ntype: feedback\n---\nNever black tea.\n"
    record = note_record(text.encode(), "tea-rule", CHANGED)
    assert (record.id, record.title, record.category, record.content) == (
        "tea-rule",
        "Green only",
        "feedback",
        "Never black tea.",
    )
    assert record.extras == {}


def test_a_note_that_is_all_front_matter_takes_its_summary_for_text() -> None:
    record = note_record(b"---\ntitle: Tea\nsummary: Green only\n---\n", "x", CHANGED)
    assert (record.title, record.content) == ("Tea", "Green only")


def test_a_foreign_date_that_is_none_is_kept_and_the_files_time_counts() -> None:
    record = note_record(b"---\ndate: last spring\n---\ntext", "x", CHANGED)
    assert record.created_at == CHANGED
    assert record.extras == {"date": "last spring"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("---\ntitle: T\ncreated_at: soon\n---\nx", "created_at"),
        ("---\nexpires_at: [1]\n---\nx", "expires_at"),
        ("---\n- a\n---\nx", "no fields"),
        ("---\ntags: {a: b}\n---\nx", "tags"),
        ("---\ntitle: T\n---\n \n", "no text"),
        ("---\na: 1\na: 2\n---\nx", "line 3"),
        ("", "no text"),
    ],
)
def test_a_note_that_cannot_be_read_rightly_is_refused(text: str, word: str) -> None:
    with pytest.raises(InvalidRecord, match=word):
        note_record(text.encode(), "x", CHANGED)


LIST = """# Rules

Some prose before.

## Review
- **Cite** both notes: `A` and `B`.
  And give the page.

  ```
  - not an item
  # no heading
  ```
- [ ] Ask Ana
1. First of all
   - nested one
   - nested two
lazy line

Prose after.

```
- code, not an item
```

## Style
* Tabs
"""


def test_the_items_of_a_list_are_records_with_their_heading_as_tag() -> None:
    listing = read_list(LIST)
    assert [(item.line, item.heading) for item in listing.items] == [
        (6, "Review"),
        (13, "Review"),
        (14, "Review"),
        (26, "Style"),
    ]
    assert listing.items[0].text == (
        "**Cite** both notes: `A` and `B`.\nAnd give the page.\n\n```\n- not an item\n# no heading\n```"
    )
    assert listing.items[2].text == "First of all\n- nested one\n- nested two\nlazy line"
    assert listing.outside == 5
    records = list(item_records(listing, CHANGED))
    assert [record.title for record in records] == [
        "Cite both notes: A and B.",
        "Ask Ana",
        "First of all",
        "Tabs",
    ]
    assert [record.id for record in records] == [
        "cite-both-notes-a-and-b",
        "ask-ana",
        "first-of-all",
        "tabs",
    ]
    assert records[3].tags == ("Style",)
    assert {record.created_at for record in records} == {CHANGED}


def test_equal_items_get_different_ids_and_the_same_ones_again() -> None:
    listing = read_list("- Tabs\n- Tabs\n- Spaces\n")
    ids = [record.id for record in item_records(listing, CHANGED)]
    assert ids == ["tabs", "tabs-2", "spaces"]
    assert [record.id for record in item_records(listing, CHANGED)] == ids


def test_a_pointer_is_told_from_a_fact_with_a_link() -> None:
    [pointer, fact] = read_list("- [Tea](tea.md) — the rule\n- See [Tea](tea.md)\n").items
    assert points_to(pointer) == "tea.md"
    assert points_to(fact) == ""
    assert item_title(pointer.text) == "Tea"


@given(st.text())
def test_any_text_is_taken_apart_without_losing_a_line(text: str) -> None:
    listing = read_list(text)
    headings = sum(1 for line in text.splitlines() if line.startswith("#"))
    filled = sum(1 for line in text.splitlines() if line.strip())
    assert filled - headings <= listing.inside + listing.outside <= filled
    for record in item_records(listing, CHANGED):
        assert is_valid_id(record.id)
        assert record.title.strip()
        assert len(record.title) <= MAX_TITLE
        assert "\n" not in record.title


@given(st.text(max_size=300))
def test_a_shortened_title_is_one_line_within_its_bound(text: str) -> None:
    assert len(shortened(text)) <= MAX_TITLE
    assert len(shortened(text).splitlines()) <= 1


def test_a_memory_directory_is_taken_with_its_list_but_without_what_only_points(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "sub" / ".hidden").mkdir(parents=True)
    (inside / "MEMORY.md").write_text("# Index\n\n- [Tea](tea.md) — rule\n- Never on Fridays\n\nfree text\n")
    (inside / "tea.md").write_text("Green only\n")
    (inside / "sub" / "notes.md").write_text("- a list\n- in a note\n")
    (inside / "sub" / ".hidden" / "x.md").write_text("hidden")
    (inside / "picture.png").write_bytes(b"\x89PNG")
    source = read_source(inside)
    items = plan_import(World(tmp_path).store(), source)
    assert [(item.id, item.name, item.verdict) for item in items] == [
        ("notes", "sub/notes.md", "create"),
        ("tea", "tea.md", "create"),
        ("never-on-fridays", "MEMORY.md, line 4", "create"),
    ]
    assert source.notes == [
        "1 list item that only points to an imported file is not taken.",
        "1 line of MEMORY.md outside of list items is not taken.",
    ]


def test_one_file_is_a_list_where_it_is_mostly_one(tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_text("# Facts\n- one\n- two\n")
    (tmp_path / "essay.md").write_text("A long text.\n\nWith many lines.\n\n- and one item\n\nThe end.\n")
    assert [each.name for each in read_source(tmp_path / "facts.md").candidates] == [
        "facts.md, line 2",
        "facts.md, line 3",
    ]
    assert [each.name for each in read_source(tmp_path / "essay.md").candidates] == ["essay.md"]


def test_standard_input_may_be_a_list_or_a_note_with_front_matter() -> None:
    assert len(read_text(b"- one\n- two\n", START).candidates) == 2
    [note] = read_text(b"---\ntitle: T\n---\ntext", START).candidates
    assert note.record is not None
    assert (note.record.title, note.record.id) == ("T", "t")
