"""A record's file: what is read, what is refused, and that what is written reads the same everywhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.records.ids import MAX_RECORD_BYTES
from muniment.memory.records.record import (
    Record,
    RecordFault,
    RecordTooLarge,
    as_dict,
    decode,
    encode,
)
from muniment.memory.records.times import TimeFault, format_time, parse_time

NOON = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)
MTIME = NOON.timestamp()


def record(**changes: object) -> Record:
    fields: dict[str, object] = {
        "id": "r",
        "category": "fact",
        "title": "T",
        "content": "C",
        "tags": (),
        "source": "agent",
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Record(**(fields | changes))  # type: ignore[arg-type]


def read(text: str, stem: str = "r") -> Record:
    return decode(text.encode(), stem, MTIME)


def test_a_record_is_written_with_its_fields_in_order_and_plain_times() -> None:
    written = encode(record(tags=("a", "b"), expires_at=NOON)).decode()
    keys = [line.partition(":")[0] for line in written.splitlines() if not line.startswith(("-", " "))]
    assert keys == [
        "id",
        "category",
        "title",
        "content",
        "tags",
        "source",
        "created_at",
        "updated_at",
        "expires_at",
    ]
    assert "created_at: 2026-01-05T12:00:00Z\n" in written


def test_tags_are_written_even_where_there_are_none_and_expiry_only_where_there_is_one() -> None:
    written = encode(record()).decode()
    assert "tags: []\n" in written
    assert "expires_at" not in written


def test_a_short_file_by_hand_gets_the_defaults_and_the_file_time() -> None:
    found = read("id: r\ntitle: A\ncontent: B\n")
    assert (found.category, found.tags, found.source) == ("fact", (), "user")
    assert found.created_at == found.updated_at == NOON


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("just words\n", "mapping of fields"),
        ("- id: r\n- title: x\n", "mapping of fields"),
        ("title: A\ncontent: B\n", "id is missing"),
        ("id: other\ntitle: A\ncontent: B\n", "other"),
        ("id: r\ntitle:\ncontent: B\n", "title is missing"),
        ('id: r\ntitle: "  "\ncontent: B\n', "title is blank"),
        ("id: r\ntitle: A\n", "content is missing"),
        ("id: r\ntitle: [A]\ncontent: B\n", "title is not text"),
        ("id: r\ntitle: A\ncontent: {a: b}\n", "content is not text"),
        ("id: r\ntitle: A\ncontent: B\ntags: a\n", "tags is not a list"),
        ("id: r\ntitle: A\ncontent: B\ntags: [a, [b]]\n", "tag 2"),
        ("id: r\ntitle: A\ncontent: B\ncategory: [x]\n", "category"),
        ("id: r\ntitle: A\ncontent: B\ncreated_at: soon\n", "created_at"),
        ("id: r\ntitle: A\ncontent: B\nexpires_at: 2026-02-30\n", "expires_at"),
        ("id: r\ntitle: A\ntitle: B\ncontent: C\n", "line 3"),
        ("id: r\ntitle: &a A\ncontent: *a\n", "line 2"),
        ("id: r\ntitle: !x A\ncontent: C\n", "line 2"),
    ],
)
def test_what_is_no_record_is_refused_with_its_reason(text: str, word: str) -> None:
    with pytest.raises(RecordFault) as fault:
        read(text)
    assert word in str(fault.value)


def test_words_that_other_readers_resolve_stay_text() -> None:
    text = "id: no\ncategory: on\ntitle: no\ncontent: yes\ntags: [no, on, 1.10, 12:30, 2026-01-05, 0123, ~]\n"
    found = decode(text.encode(), "no", MTIME)
    assert (found.id, found.category, found.title, found.content) == ("no", "on", "no", "yes")
    assert found.tags == ("no", "on", "1.10", "12:30", "2026-01-05", "0123", "~")


@pytest.mark.parametrize(
    "value", ["08063075", "0017", "1e3", "0o17", "1_000", "007", "no", "~", "", "=", "12:30"]
)
def test_number_like_text_reads_the_same_in_a_yaml_1_1_reader(value: str) -> None:
    data = encode(record(title=f"{value} x", content=value, category=value or "c", tags=(value,)))
    assert decode(data, "r", MTIME).content == value
    seen = yaml.safe_load(data)
    assert (seen["content"], seen["tags"]) == (value, [value])


def test_unknown_fields_are_kept_and_written_after_the_known_ones() -> None:
    text = "id: r\nteam: blue\ntitle: A\nlinks:\n- one\n- {a: b}\ncontent: B\n"
    found = read(text)
    assert found.extras == {"team": "blue", "links": ["one", {"a": "b"}]}
    assert decode(encode(found), "r", MTIME).extras == found.extras
    assert as_dict(found)["extras"]["team"] == "blue"


def test_a_record_of_exactly_the_largest_size_is_written_and_one_byte_more_is_refused() -> None:
    overhead = len(encode(record(content="x" * 100))) - 100
    fits = record(content="x" * (MAX_RECORD_BYTES - overhead))
    data = encode(fits)
    assert len(data) == MAX_RECORD_BYTES
    assert decode(data, "r", MTIME) == fits
    with pytest.raises(RecordTooLarge):
        encode(record(content="x" * (MAX_RECORD_BYTES - overhead + 1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-10-25T03:07:29Z", "2026-10-25T03:07:29Z"),
        ("2026-10-25t03:07:29z", "2026-10-25T03:07:29Z"),
        ("2026-10-25 03:07:29.987Z", "2026-10-25T03:07:29Z"),
        ("2026-10-25T03:07:29+14:00", "2026-10-24T13:07:29Z"),
        ("2026-10-25T03:07:29-11:00", "2026-10-25T14:07:29Z"),
        ("2026-10-25T03:07:29", "2026-10-25T03:07:29Z"),
        ("2026-12-31T23:59:60Z", "2026-12-31T23:59:59Z"),
        ("2026-10-25", "2026-10-25T00:00:00Z"),
    ],
)
def test_times_are_read_in_utc(text: str, expected: str) -> None:
    assert format_time(parse_time(text)) == expected


def test_a_bare_date_means_the_end_of_that_day_where_something_expires() -> None:
    assert format_time(parse_time("2026-10-25", day_ends=True)) == "2026-10-25T23:59:59Z"
    assert read("id: r\ntitle: A\ncontent: B\nexpires_at: 2026-10-25\n").expires_at == datetime(
        2026, 10, 25, 23, 59, 59, tzinfo=UTC
    )
    assert read("id: r\ntitle: A\ncontent: B\ncreated_at: 2026-10-25\n").created_at == datetime(
        2026, 10, 25, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-02-30",
        "2026-10-25T25:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "2026-W01-1",
        "2026-10-25T03:07",
        "٢٠٢٦-10-25",
        "2026-10-25T03:07:29Zjunk",
    ],
)
def test_a_text_that_is_no_time_is_a_fault(text: str) -> None:
    with pytest.raises(TimeFault):
        parse_time(text)


def test_a_time_without_offset_is_refused_where_one_is_required() -> None:
    with pytest.raises(TimeFault, match="offset"):
        parse_time("2026-10-25T03:07:29", zone_required=True)


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
_MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001 - made aware below
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)


@given(
    title=_TEXT.filter(str.strip),
    content=_TEXT,
    category=_TEXT.filter(bool),
    tags=st.lists(_TEXT, max_size=4),
    created=_MOMENTS,
    expires=st.none() | _MOMENTS,
)
def test_every_text_round_trips_exactly_here_and_in_a_yaml_1_1_reader(
    title: str, content: str, category: str, tags: list[str], created: datetime, expires: datetime | None
) -> None:
    written = record(
        title=title,
        content=content,
        category=category,
        tags=tuple(tags),
        created_at=created,
        updated_at=created,
        expires_at=expires,
    )
    data = encode(written)
    assert decode(data, "r", MTIME) == written
    seen = yaml.safe_load(data)
    assert (seen["title"], seen["content"], seen["category"], seen["tags"]) == (
        title,
        content,
        category,
        tags,
    )


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_a_written_time_is_read_back_whatever_its_offset(moment: datetime, minutes: int) -> None:
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    local = moment.replace(microsecond=0)
    try:
        expected = (local - timedelta(minutes=minutes)).replace(tzinfo=UTC)
    except OverflowError:
        with pytest.raises(TimeFault):
            parse_time(f"{local.isoformat()}{zone}")
        return
    assert parse_time(f"{local.isoformat()}{zone}") == expected


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_a_fault_and_nothing_else(data: bytes) -> None:
    try:
        found: Record | RecordFault = decode(data, "r", MTIME)
    except RecordFault as fault:
        found = fault
    assert str(found) if isinstance(found, RecordFault) else found.id == "r"
