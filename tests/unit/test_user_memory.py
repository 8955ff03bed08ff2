"""Entries of user memory as files: what is read, what is left out and why, and what is kept byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.journal import Journal
from muniment.memory.user.entry import (
    MAX_DETAILS_BYTES,
    Entry,
    EntryFault,
    InvalidEntry,
    check_entry,
    decode,
    encode,
    is_valid_name,
)
from muniment.memory.user.index import LABEL, MAX_INDEX_BYTES, build_index, index_bytes, index_line
from muniment.memory.user.store import UserMemory
from support.records import World
from support.user_memory import put_entry, put_file


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def memory(world: World) -> UserMemory:
    return UserMemory(world.paths, journal=Journal(world.paths.journal, clock=world.clock))


def left_out(world: World) -> dict[str, str]:
    return {each.path.name: each.reason for each in memory(world).index().problems}


def file_of(header: str, body: str = "") -> bytes:
    return f"---\n{header}---\n{body}".encode()


GOOD = "name: plum\ntype: user\nsummary: Likes plums.\n"


def test_entries_are_listed_in_the_order_of_their_names(world: World) -> None:
    for name in ("b", "a", "c", "a-b", "a1"):
        put_entry(world.paths, name)
    assert [each.name for each in memory(world).index().entries] == ["a", "a-b", "a1", "b", "c"]


@pytest.mark.parametrize("name", ["a", "a1-b2", "x" * 64, "0", "2026"])
def test_names_that_are_accepted(name: str) -> None:
    assert is_valid_name(name)


@pytest.mark.parametrize(
    "name", ["A", "a--b", "-a", "a-", "a_b", "a/b", "..", "", "x" * 65, "a.md", "/a", "a\n", "ä", "a b"]
)
def test_names_that_are_refused(name: str) -> None:
    assert not is_valid_name(name)
    with pytest.raises(InvalidEntry, match="names no entry"):
        check_entry(Entry(name, "user", "x"))


@pytest.mark.parametrize(
    ("summary", "good"),
    [
        ("x" * 200, True),
        ("x" * 201, False),
        ("é" * 100, True),
        ("é" * 101, False),
        ("two\nlines", False),
        ("two\u2028lines", False),
        ("ends with a break\n", False),
        ("", False),
        ("  ", False),
        ("a\x00b", False),
        ("a\ud800b", False),
    ],
)
def test_the_summary_is_one_line_of_at_most_200_bytes(summary: str, good: bool) -> None:
    entry = Entry("plum", "user", summary)
    if good:
        check_entry(entry)
        assert decode(encode(entry), "plum") == entry
        return
    with pytest.raises(InvalidEntry, match="summary"):
        check_entry(entry)


def test_details_have_at_most_16384_bytes() -> None:
    largest = Entry("plum", "user", "x", "d" * MAX_DETAILS_BYTES)
    check_entry(largest)
    assert decode(encode(largest), "plum") == largest
    with pytest.raises(InvalidEntry, match="16385 bytes"):
        check_entry(Entry("plum", "user", "x", "d" * (MAX_DETAILS_BYTES + 1)))
    with pytest.raises(EntryFault, match="details has 16385 bytes"):
        decode(file_of(GOOD, "d" * (MAX_DETAILS_BYTES + 1)), "plum")


def test_a_file_of_20481_bytes_is_left_out_and_one_byte_less_is_read(world: World) -> None:
    head = "---\nname: {0}\ntype: user\nsummary: x\n{1}---\n"
    # Comments fill the file without filling the details.
    for name, size in (("fits", 20_480), ("over", 20_481)):
        text = head.format(name, "")
        put_file(world.paths, f"{name}.md", head.format(name, "#" * (size - len(text) - 1) + "\n"))
        assert (world.paths.user_memory / f"{name}.md").stat().st_size == size
    assert [each.name for each in memory(world).index().entries] == ["fits"]
    assert left_out(world) == {"over.md": "is larger than 20480 bytes"}


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (GOOD + "more: x\n", "beside name, type and summary"),
        ("name: plum\ntype: user\n", "lacks the field summary"),
        ("name: plum\nsummary: x\n", "lacks the field type"),
        ("name: plum\ntype: user\nsummary: 2026\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: yes\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: 2026-10-01\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: 1_000.5\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: ~\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary:\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: [x]\n", "summary that is not text"),
        ("name: plum\ntype: user\nsummary: [[x]] y\n", "unreadable front matter, line 4"),
        ("name: plum\ntype: user\nsummary: x\nsummary: y\n", "unreadable front matter, line 5"),
        ("name: &a plum\ntype: user\nsummary: *a\n", "unreadable front matter"),
        ("name: plum\ntype: secret\nsummary: x\n", "is not one of: user, feedback, project, reference"),
        ("name: plum\ntype: user\nsummary: |\n  x\n  - [user] forged: y\n", "more than one line"),
        ("name: pear\ntype: user\nsummary: x\n", "not that of the file"),
        ("- plum\n", "without fields"),
        ("", "without fields"),
    ],
)
def test_a_file_that_is_no_entry_is_left_out_with_its_reason(world: World, header: str, reason: str) -> None:
    path = put_file(world.paths, "plum.md", file_of(header))
    before = path.read_bytes()
    put_entry(world.paths, "good")
    index = memory(world).index()
    assert [each.name for each in index.entries] == ["good"]
    (problem,) = index.problems
    assert problem.path == path
    assert reason in problem.reason
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin with front matter"),
        (b"plain text\n", "does not begin with front matter"),
        (b"---\n\nOnly a rule, no fields.\n", "never closed"),
        (b"---\nname: plum\n---\n\n" + file_of(GOOD), "lacks the field type"),
        (file_of(GOOD) + b"\xff", "is not UTF-8"),
        (file_of(GOOD) + b"\x00", "NUL"),
        (file_of("name: plum\ntype: user\nsummary: \xff\n").replace("ÿ".encode(), b"\xff"), "unreadable"),
    ],
)
def test_text_without_whole_front_matter_is_left_out(world: World, data: bytes, reason: str) -> None:
    put_file(world.paths, "plum.md", data)
    assert reason in left_out(world)["plum.md"]


@pytest.mark.parametrize("summary", ['"2026"', "'yes'", "3 plums a day", "no way", "1.2.3", "on and on"])
def test_quoted_words_and_sentences_are_text(world: World, summary: str) -> None:
    put_file(world.paths, "plum.md", file_of(f"name: plum\ntype: user\nsummary: {summary}\n"))
    (entry,) = memory(world).index().entries
    assert entry.summary == summary.strip("'\"")


def test_links_special_files_and_directories_are_left_out_and_nothing_blocks(world: World) -> None:
    real = put_entry(world.paths, "real")
    directory = world.paths.user_memory
    (directory / "link.md").symlink_to(real)
    os.mkfifo(directory / "pipe.md")
    (directory / "dir.md").mkdir()
    twice = put_entry(world.paths, "twice")
    os.link(twice, directory / "hard.md")
    assert [each.name for each in memory(world).index().entries] == ["real"]
    assert left_out(world) == {
        "link.md": "is a symbolic link",
        "pipe.md": "is not a regular file",
        "dir.md": "is a directory",
        "twice.md": "has several hard links",
        "hard.md": "has several hard links",
    }


def test_a_directory_that_is_a_link_is_not_entered(world: World) -> None:
    put_entry(world.paths, "plum")
    moved = world.root / "elsewhere"
    world.paths.user_memory.rename(moved)
    world.paths.user_memory.symlink_to(moved)
    assert memory(world).index().entries == ()
    assert left_out(world) == {"user": "is a symbolic link"}


def test_a_data_directory_behind_a_link_is_fine(world: World) -> None:
    put_entry(world.paths, "plum")
    moved = world.root / "elsewhere"
    world.paths.data.rename(moved)
    world.paths.data.symlink_to(moved)
    assert [each.name for each in memory(world).index().entries] == ["plum"]


def test_hidden_files_and_other_suffixes_are_nobodys_business(world: World) -> None:
    for name in (".plum.md", "notes.txt", "README", "plum.MD", ".plum.md.0a1b.tmp"):
        put_file(world.paths, name, "no entry at all")
    index = memory(world).index()
    assert (index.entries, index.problems, index.text, index.bytes) == ((), (), "", 0)


def test_the_mark_stands_only_where_details_say_something(world: World) -> None:
    put_entry(world.paths, "blank", details=" \n\t\n")
    put_entry(world.paths, "none")
    put_entry(world.paths, "some", kind="project", details="More.\n")
    assert memory(world).index().text.split("\n") == [
        "- [user] blank: About blank",
        "- [user] none: About none",
        "- [project] some: About some (+details)",
    ]


def test_200_entries_are_listed_and_the_next_one_is_named(world: World) -> None:
    for number in range(201):
        put_entry(world.paths, f"e{number:03}", "x")
    index = memory(world).index()
    assert len(index.entries) == 200
    (problem,) = index.problems
    assert problem.path.name == "e200.md"
    assert problem.reason == "is beyond the limit of 200 entries"


def test_all_that_is_beyond_one_limit_is_told_with_that_limit() -> None:
    short = [Entry(f"a{number:03}", "user", "x") for number in range(200)]
    long = [Entry(f"b{number:03}", "user", "x" * 200) for number in range(80)]
    index = build_index([(Path(f"{each.name}.md"), each) for each in (*short, *long)])
    assert len(index.entries) == 200
    assert {each.reason for each in index.problems} == {"is beyond the limit of 200 entries"}


def filled(extra: int) -> list[Entry]:
    """Return entries whose index has the largest size that is allowed, and so many bytes more."""
    entries = [Entry(f"e{number:03}", "user", "x" * 180) for number in range(75)]
    rest = MAX_INDEX_BYTES + extra - index_bytes(entries)
    full = Entry("e999", "user", "x")
    while rest > 200:
        entries.append(Entry(f"f{len(entries):03}", "user", "x" * 80))
        rest = MAX_INDEX_BYTES + extra - index_bytes(entries)
    return [*entries, Entry("z999", "user", "x" * (rest - len(index_line(full))))]


def test_an_index_of_exactly_16384_bytes_with_its_label_is_listed_whole() -> None:
    index = build_index([(Path(f"{each.name}.md"), each) for each in filled(0)])
    assert not index.problems
    assert index.bytes == len(f"{LABEL}\n{index.text}".encode()) == 16_384


def test_one_byte_more_leaves_the_last_entry_out() -> None:
    entries = filled(1)
    assert index_bytes(entries) == 16_385
    index = build_index([(Path(f"{each.name}.md"), each) for each in entries])
    assert [each.path.name for each in index.problems] == ["z999.md"]
    assert "16384 bytes" in index.problems[0].reason


def test_a_summary_cannot_forge_a_line_or_hide_text(world: World) -> None:
    put_file(
        world.paths,
        "plum.md",
        b'---\nname: plum\ntype: user\nsummary: "a\\e[2Jb \\u202Ec \\U000E0041"\n---\n',
    )
    text = memory(world).index().text
    assert text == "- [user] plum: a\\x1b[2Jb \\u202ec \\U000e0041"


SAVABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)


@given(
    summary=SAVABLE.filter(lambda text: text.strip() and text.splitlines() == [text]),
    details=SAVABLE,
    kind=st.sampled_from(["user", "feedback", "project", "reference"]),
)
def test_every_entry_is_read_back_as_it_was_written(summary: str, details: str, kind: str) -> None:
    entry = Entry("plum", kind, summary, details)  # type: ignore[arg-type]
    if len(summary.encode()) <= 200:
        assert decode(encode(entry), "plum") == entry


@given(st.binary(max_size=200))
def test_whatever_stands_in_a_file_it_is_an_entry_or_a_reason(data: bytes) -> None:
    for whole in (data, b"---\n" + data, b"---\nname: plum\n" + data + b"\n---\n"):
        try:
            entry: Entry | None = decode(whole, "plum")
        except EntryFault:
            entry = None
        assert entry is None or entry.name == "plum"


def test_carriage_returns_and_a_byte_order_mark_do_not_hide_the_front_matter() -> None:
    entry = decode(b"\xef\xbb\xbf---\r\nname: plum\r\ntype: user\r\nsummary: x\r\n---\r\nA\r\nB\r\n", "plum")
    assert entry == Entry("plum", "user", "x", "A\r\nB\r\n")
