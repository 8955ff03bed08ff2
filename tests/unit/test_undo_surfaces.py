"""History, undo, restore and purge reach every surface that keeps files, in the order they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Inside
from support.records import tree_digest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir(mode=0o700)
    return directory


WRITES = (
    ("memory", "store", "--title", "Tea", "--content", "Green", "--id", "tea"),
    ("pin", "add", "--title", "Rule", "--content", "Quokkas first"),
    ("note", "add", "--title", "Found", "--body", "A quokka was seen"),
    ("knowledge", "add", "--title", "Quokkas", "--content", "They are small", "--category", "conventions"),
    ("user", "save", "--mode", "create", "--name", "me", "--type", "user", "--summary", "Likes quokkas"),
    ("memory", "store", "--title", "All", "--content", "Everywhere", "--id", "all", "--scope", "global"),
)


def kept(project: Path, user: Path) -> dict[str, bytes]:
    """Return the files of memory, without the journal and what is made with the first write."""
    found = tree_digest(project) | tree_digest(user / "data")
    return {
        path: data
        for path, data in found.items()
        if "/journal/" not in path and "ledger.db" not in path and not path.endswith("project.yaml")
    }


def test_each_undo_takes_back_the_newest_write_whatever_its_surface(
    cli: Inside, project: Path, user: Path
) -> None:
    states = [kept(project, user)]
    for write in WRITES:
        assert cli(*write).code == 0, write
        states.append(kept(project, user))
        assert states[-1] != states[-2], write
    surfaces = [each["surface"] for each in cli("memory", "history", "--json").json["entries"]]
    assert [each for each in surfaces if each != "ledger"] == [
        "record",
        "user",
        "knowledge",
        "inbox",
        "pinned",
        "record",
    ]
    for state in states[-2::-1]:
        done = cli("memory", "undo", "--yes", "--json")
        assert done.code == 0, done.err
        assert kept(project, user) == state, done.json
    assert cli("memory", "undo", "--yes").code == 1


def test_a_pinned_text_is_restored_from_its_history(cli: Inside, project: Path) -> None:
    for number, text in enumerate(("one", "two", "three")):
        assert cli("pin", "add", "--title", f"Rule {number}", "--content", text).code == 0
    before = (project / "pinned.md").read_text()
    entries = [
        each for each in cli("memory", "history", "--json").json["entries"] if each["surface"] == "pinned"
    ]
    name = f"{entries[0]['id']}@{entries[0]['entry']}"
    assert cli("memory", "restore", name, "--yes").code == 0
    assert "three" not in (project / "pinned.md").read_text()
    assert "two" in (project / "pinned.md").read_text()
    assert cli("memory", "undo", "--yes").code == 0
    assert cli("memory", "undo", "--yes").code == 0
    assert (project / "pinned.md").read_text() != before


def test_earlier_texts_of_a_pinned_item_are_purged_even_where_others_were_written(
    cli: Inside, project: Path, user: Path
) -> None:
    cli("pin", "add", "--title", "Rule", "--content", "Quokkas first")
    cli("pin", "add", "--title", "Other", "--content", "Wombats")
    assert cli("pin", "remove", "Rule").code == 0
    assert b"Quokkas first" in journal(user)
    done = cli("memory", "purge", "Rule", "--surface", "pinned", "--yes", "--json")
    assert done.code == 0, done.err
    assert done.json["texts_removed"] == 2
    assert b"Quokkas first" not in journal(user)
    assert b"Wombats" in (project / "pinned.md").read_bytes()


def journal(user: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (user / "data" / "journal").glob("*.jsonl"))


def test_a_write_that_made_no_file_names_the_restore_of_its_own(
    cli: Inside, project: Path, user: Path
) -> None:
    assert cli("knowledge", "add", "--title", "Small", "--content", "Yes", "--category", "reviews").code == 0
    entries = cli("memory", "history", "--json").json["entries"]
    row = next(each for each in entries if each["surface"] == "ledger")
    before = kept(project, user)
    for name in (row["entry"], f"{row['id']}@{row['entry']}"):
        done = cli("memory", "restore", name, "--yes")
        assert done.code == 1
        assert "is a write to the ledger, which has a restore of its own" in done.err
    assert kept(project, user) == before
