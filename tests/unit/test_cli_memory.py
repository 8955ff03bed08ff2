"""`muniment memory`: the exact JSON of each command, what it changes, and what it asks before."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.command import Inside


def record(directory: Path, name: str, **fields: str) -> Path:
    """Write a record by hand, as a person would."""
    memory = directory / "memory"
    memory.mkdir(parents=True, exist_ok=True, mode=0o700)
    directory.chmod(0o700)
    lines = {"id": name, "title": f"Title of {name}", "content": f"Content of {name}.", **fields}
    path = memory / f"{name}.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def everywhere(user: Path) -> Path:
    return user / "data"


def test_a_list_has_the_effective_records_and_says_what_was_skipped(
    cli: Inside, project: Path, everywhere: Path
) -> None:
    record(project, "rule", category="decision", tags="[pilot, review]")
    record(everywhere, "rule", title="The shallower one")
    record(everywhere, "late", expires_at="2020-01-01")
    bad = record(project, "bad", title="[")
    shown = cli("memory", "list", "--json").json
    assert [
        {
            key: each[key]
            for key in (
                "id",
                "title",
                "category",
                "tags",
                "scope",
                "directory",
                "effective",
                "overridden_by",
                "expires_at",
            )
        }
        for each in shown["records"]
    ] == [
        {
            "id": "rule",
            "title": "Title of rule",
            "category": "decision",
            "tags": ["pilot", "review"],
            "scope": "project",
            "directory": str(project),
            "effective": True,
            "overridden_by": None,
            "expires_at": None,
        }
    ]
    assert [each["path"] for each in shown["skipped"]] == [str(bad)]
    assert shown["skipped"][0]["reason"]

    everything = cli("memory", "list", "--all", "--json").json["records"]
    shallower = next(each for each in everything if each["title"] == "The shallower one")
    assert not shallower["effective"]
    assert shallower["overridden_by"] == {"scope": "project", "directory": str(project)}
    late = next(each for each in everything if each["id"] == "late")
    assert late["expires_at"] == "2020-01-01T23:59:59Z"
    assert not late["effective"]


def test_a_list_can_be_narrowed(cli: Inside, project: Path, everywhere: Path) -> None:
    for number in range(3):
        record(project, f"here-{number}", tags="[odd]" if number == 1 else "[]")
    record(everywhere, "there", category="decision")

    def ids(*options: str) -> list[str]:
        return [each["id"] for each in cli("memory", "list", "--json", *options).json["records"]]

    assert ids("--scope", "global") == ["there"]
    assert sorted(ids("--scope", "project")) == ["here-0", "here-1", "here-2"]
    assert ids("--tag", "odd") == ["here-1"]
    assert ids("--category", "decision") == ["there"]
    assert len(ids("--limit", "2")) == 2


def test_an_empty_list_is_no_failure_and_says_what_to_do(cli: Inside) -> None:
    shown = cli("memory", "list")
    assert shown.code == 0
    assert shown.out == ""
    assert "memory store" in shown.err
    assert cli("memory", "list", "--json").json["records"] == []


def test_show_has_every_field_and_the_copies_that_it_overrides(
    cli: Inside, project: Path, everywhere: Path
) -> None:
    record(project, "rule", tags="[a]", expires_at="2999-01-01T10:00:00+02:00", note="kept")
    record(everywhere, "rule")
    shown = cli("memory", "show", "rule", "--json").json
    assert list(shown["record"])[:8] == [
        "id",
        "category",
        "title",
        "content",
        "tags",
        "source",
        "created_at",
        "updated_at",
    ]
    assert shown["record"]["content"] == "Content of rule."
    assert shown["record"]["expires_at"] == "2999-01-01T08:00:00Z"
    assert (shown["scope"], shown["directory"]) == ("project", str(project))
    assert shown["overrides"] == [{"scope": "global", "directory": str(everywhere)}]
    assert cli("memory", "show", "rule", "--scope", "global", "--json").json["scope"] == "global"


def test_show_writes_what_hides_as_escapes(cli: Inside) -> None:
    cli("memory", "store", "--title", "a\u202eb", "--content", "one\ttwo\nthree \\", "--id", "odd")
    shown = cli("memory", "show", "odd").out
    assert 'title: "a\\u202eb"' in shown
    assert "\u202e" not in shown
    assert "three \\\\" in shown


def test_what_is_not_there_is_exit_1_and_what_cannot_be_an_identifier_exit_2(cli: Inside) -> None:
    assert cli("memory", "show", "nothing-here").code == 1
    assert cli("memory", "show", "No Identifier").code == 2
    assert cli("memory", "delete", "nothing-here", "--yes").code == 1
    assert cli("memory", "undo", "--yes").code == 1


def test_search_ranks_effective_records_and_all_adds_the_others(
    cli: Inside, project: Path, everywhere: Path
) -> None:
    record(project, "rule", content="Show both denominators.")
    record(everywhere, "rule", content="An old word, satisfaction.")
    found = cli("memory", "search", "denominators", "--json").json
    assert [(each["id"], each["scope"], each["effective"]) for each in found["hits"]] == [
        ("rule", "project", True)
    ]
    assert found["hits"][0]["directory"] == str(project)
    assert found["hits"][0]["overridden_by"] is None
    assert "denominators" in found["hits"][0]["snippet"]
    assert isinstance(found["hits"][0]["score"], float)
    assert found["searched"] == 1
    assert found["truncated"] is False

    assert cli("memory", "search", "satisfaction", "--json").json["hits"] == []
    overridden = cli("memory", "search", "satisfaction", "--all", "--json").json["hits"]
    assert [each["overridden_by"] for each in overridden] == [{"scope": "project", "directory": str(project)}]
    assert cli("memory", "search", "nowhere to be found").code == 0


@pytest.mark.parametrize("query", ['"', "a AND", "NEAR(", "*", "col:x", "a-b", "'", "(", "^", "\u202e", "-"])
def test_no_query_is_a_fault(cli: Inside, project: Path, query: str) -> None:
    record(project, "rule")
    done = cli("memory", "search", "--json", "--", query)
    assert done.code == 0, done.err
    assert "hits" in done.json


def test_store_says_where_and_whether_it_is_new(cli: Inside, tmp_path: Path) -> None:
    first = cli(
        "memory", "store", "--title", "A rule", "--content", "x", "--tag", "a", "--tag", "b", "--json"
    )
    assert first.json["id"] == "a-rule"
    assert first.json["created"] is True
    assert first.json["scope"] == "project"
    assert first.json["directory"] == str(tmp_path / ".muniment")
    again = cli(
        "memory",
        "store",
        "--title",
        "A rule",
        "--content",
        "-",
        "--id",
        "a-rule",
        "--json",
        text="from stdin\n",
    )
    assert again.json["created"] is False
    kept = cli("memory", "show", "a-rule", "--json").json["record"]
    assert kept["content"] == "from stdin\n"
    assert kept["tags"] == ["a", "b"]
    assert kept["source"] == "user"
    cleared = cli(
        "memory", "store", "--title", "A rule", "--content", "x", "--id", "a-rule", "--clear", "tags"
    )
    assert cleared.code == 0
    assert cli("memory", "show", "a-rule", "--json").json["record"]["tags"] == []


@pytest.mark.parametrize(
    "options",
    [
        ("--title", "", "--content", "x"),
        ("--title", "t", "--content", ""),
        ("--title", "t", "--content", "x", "--id", "Not An Id"),
        ("--title", "t", "--content", "x", "--expires-at", "tomorrow"),
        ("--title", "t", "--content", "x", "--clear", "title"),
        ("--title", "t\udcff", "--content", "x"),
        ("--title", "t"),
    ],
)
def test_store_refuses_what_is_no_record_and_writes_nothing(
    cli: Inside, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = cli("memory", "store", *options)
    assert done.code == 2
    assert done.err.startswith("muniment: ")
    assert not (tmp_path / ".muniment").exists()


def test_standard_input_that_is_no_utf_8_is_refused(cli: Inside, tmp_path: Path) -> None:
    done = cli("memory", "store", "--title", "t", "--content", "-", text=b"abc\xff")
    assert done.code == 2
    assert "byte 4" in done.err
    assert not (tmp_path / ".muniment").exists()


def test_edit_changes_only_the_fields_that_are_given(cli: Inside, project: Path) -> None:
    record(project, "rule", category="decision", extra="kept")
    assert cli("memory", "edit", "rule", "--content", "New.", "--json").json["created"] is False
    shown = cli("memory", "show", "rule", "--json").json["record"]
    assert (shown["title"], shown["content"], shown["category"]) == ("Title of rule", "New.", "decision")
    assert "extra: kept" in (project / "memory" / "rule.yaml").read_text()


def test_edit_without_options_opens_the_editor_on_a_copy(
    cli: Inside, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(project, "rule")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/^content: .*/content: Edited./" "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    assert cli("memory", "edit", "rule").code == 0
    assert "content: Edited." in path.read_text()

    same = path.read_text()
    editor.write_text('#!/bin/sh\necho "id: [" > "$1"\n')
    assert cli("memory", "edit", "rule").code == 2
    editor.write_text("#!/bin/sh\nexit 3\n")
    assert "code 3" in cli("memory", "edit", "rule").err
    editor.write_text("#!/bin/sh\n")
    assert "as it was" in cli("memory", "edit", "rule").err
    monkeypatch.delenv("EDITOR")
    assert "EDITOR" in cli("memory", "edit", "rule").err
    assert path.read_text() == same


def test_delete_asks_and_without_a_terminal_changes_nothing(
    cli: Inside, project: Path, everywhere: Path
) -> None:
    path = record(project, "rule")
    record(everywhere, "rule")
    refused = cli("memory", "delete", "rule")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert path.exists()

    done = cli("memory", "delete", "rule", "--yes", "--json").json
    assert {key: done[key] for key in ("id", "scope", "directory", "now_effective")} == {
        "id": "rule",
        "scope": "project",
        "directory": str(project),
        "now_effective": {"scope": "global", "directory": str(everywhere)},
    }
    assert not path.exists()
    assert cli("memory", "delete", "rule", "--yes", "--json").json["now_effective"] is None


def test_stats_counts_each_scope_and_distinct_ids_once(cli: Inside, project: Path, everywhere: Path) -> None:
    record(project, "rule")
    record(everywhere, "rule")
    record(everywhere, "other")
    record(project, "bad", title="[")
    counted = cli("memory", "stats", "--json").json
    assert [
        (each["scope"], each["directory"], each["records"], each["skipped"]) for each in counted["chain"]
    ] == [("global", str(everywhere), 2, 0), ("project", str(project), 1, 1)]
    assert counted["distinct"] == 2
    assert counted["excluded"] == []


def test_stats_names_what_is_excluded(cli: Inside, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".muniment").symlink_to(tmp_path / "elsewhere")
    excluded = cli("memory", "stats", "--json").json["excluded"]
    assert [each["directory"] for each in excluded] == [str(tmp_path / ".muniment")]
    assert "link" in excluded[0]["reason"]


def test_undo_twice_goes_two_writes_back(cli: Inside) -> None:
    for text in ("one", "two", "three"):
        cli("memory", "store", "--title", "t", "--content", text, "--id", "rule")

    def content() -> str:
        return str(cli("memory", "show", "rule", "--json").json["record"]["content"])

    refused = cli("memory", "undo")
    assert refused.code == 1
    assert content() == "three"
    assert cli("memory", "undo", "--yes").code == 0
    assert content() == "two"
    assert cli("memory", "undo", "--yes", "--json").json["id"] == "rule"
    assert content() == "one"
    assert cli("memory", "undo", "--yes").code == 0
    assert cli("memory", "show", "rule").code == 1


def test_history_names_the_writes_and_restore_brings_a_text_back(cli: Inside) -> None:
    for text in ("one", "two", "three"):
        cli("memory", "store", "--title", "t", "--content", text, "--id", "rule")
    lines = cli("memory", "history", "rule").out.splitlines()
    assert len(lines) == 3
    assert all(line.endswith(" by user") for line in lines)
    name = lines[0].split()[0]
    item, _, entry = name.partition("@")
    assert item == "rule"
    assert cli("memory", "restore", name).code == 1
    assert cli("memory", "restore", name, "--yes").code == 0
    assert cli("memory", "show", "rule", "--json").json["record"]["content"] == "two"
    assert cli("memory", "restore", entry, "--yes").code == 0
    for wrong in ("0000", f"other@{entry}", "rule@", f"{entry}@rule"):
        refused = cli("memory", "restore", wrong, "--yes")
        assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert len(cli("memory", "history", "--limit", "2", "--json").json["entries"]) == 2
    assert cli("memory", "history", "../x").code == 2


def test_undo_of_what_was_changed_since_asks_and_says_how_to_get_it_back(cli: Inside, project: Path) -> None:
    cli("memory", "store", "--title", "t", "--content", "one", "--id", "rule")
    cli("memory", "store", "--title", "t", "--content", "two", "--id", "rule")
    path = project / "memory" / "rule.yaml"
    by_hand = path.read_text().replace("two", "mine")
    path.write_text(by_hand)
    refused = cli("memory", "undo")
    assert refused.code == 1
    assert path.read_text() == by_hand
    done = cli("memory", "undo", "--yes", "--json")
    assert done.json["changed_since"] is True
    assert cli("memory", "show", "rule", "--json").json["record"]["content"] == "one"
    assert cli("memory", "restore", done.err.split()[-1], "--yes").code == 0
    assert path.read_text() == by_hand


def test_purging_an_entry_of_user_memory_takes_its_earlier_texts_too(cli: Inside, user: Path) -> None:
    for mode, text in (("create", "Quokkas"), ("overwrite", "Harmless")):
        cli("user", "save", "--mode", mode, "--name", "tea", "--type", "user", "--summary", text)
    assert cli("memory", "purge", "tea", "--yes").code == 1
    assert cli("memory", "purge", "tea", "--surface", "user", "--yes", "--json").json["texts_removed"] == 2
    assert not (user / "data" / "user" / "tea.md").exists()
    assert b"Quokkas" not in b"".join(path.read_bytes() for path in user.rglob("*.jsonl"))


def test_a_purge_names_the_copy_that_it_cannot_read_and_leaves(cli: Inside, project: Path) -> None:
    cli("memory", "store", "--title", "t", "--content", "c", "--id", "rule")
    broken = project / "memory" / "rule.yaml"
    broken.write_text("id: [quokka")
    done = cli("memory", "purge", "rule", "--yes")
    assert done.code == 1
    assert str(broken) in done.err
    assert broken.read_text() == "id: [quokka"


def test_purge_leaves_the_text_in_no_file_of_this_user(cli: Inside, tmp_path: Path, user: Path) -> None:
    secret = "Quokkas prefer marmalade"
    cli("memory", "store", "--title", "t", "--content", secret, "--id", "rule")
    cli("memory", "store", "--title", "t", "--content", "harmless", "--id", "rule")
    assert cli("memory", "purge", "rule").code == 1
    done = cli("memory", "purge", "rule", "--yes", "--json").json
    assert done["texts_removed"] >= 1
    assert "backups" in done["out_of_reach"]
    held = [
        path
        for base in (tmp_path, user)
        for path in base.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert held == []
    assert cli("memory", "purge", "rule", "--yes").code == 1


@pytest.mark.parametrize("surface", ["record", "user"])
def test_purge_removes_what_a_killed_writer_left_of_that_file_and_of_no_other(
    surface: str, cli: Inside, user: Path
) -> None:
    record = ("memory", "store", "--scope", "global", "--title", "t", "--content", "c", "--id", "rule")
    entry = ("user", "save", "--name", "rule", "--type", "user", "--summary", "s", "--json")
    assert cli(*(record if surface == "record" else entry)).code == 0
    (path,) = (each for each in user.rglob("rule.*") if each.is_file())
    left = path.with_name(f".{path.name}.0123456789ab.tmp")
    others = path.with_name(f".other-{path.name}.0123456789ab.tmp")
    for each in (left, others):
        each.write_bytes(b"half a text")
    assert cli("memory", "purge", "rule", "--surface", surface, "--yes").code == 0
    assert not left.exists()
    assert others.exists()


def test_an_undo_passes_over_what_was_purged_and_says_so(cli: Inside) -> None:
    cli("memory", "store", "--title", "Kept", "--content", "c", "--id", "kept")
    cli("memory", "store", "--title", "Gone", "--content", "c", "--id", "gone")
    cli("memory", "delete", "gone", "--yes")
    cli("memory", "purge", "gone", "--yes")
    undone = cli("memory", "undo", "--yes")
    assert undone.out.startswith("Removed kept ")
    assert "Passed over: The text of " in undone.err
    assert "was purged" in cli("memory", "undo", "--yes").err


def test_memory_doctor_names_what_is_wrong_and_exits_1(cli: Inside, project: Path) -> None:
    assert cli("memory", "doctor").code == 0
    bad = record(project, "bad", title="[")
    found = cli("memory", "doctor", "--json")
    assert found.code == 1
    assert any(str(bad) in each["text"] and not each["ok"] for each in found.json["findings"])


def test_a_record_is_stamped_in_utc_wherever_it_is_written(
    cli: Inside, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/St_Johns")
    time.tzset()
    cli("memory", "store", "--title", "t", "--content", "one", "--id", "rule")
    text = (project / "memory" / "rule.yaml").read_text()
    stamp = re.search(r"^created_at: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$", text, re.MULTILINE)
    assert stamp
    age = datetime.now(UTC) - datetime.fromisoformat(stamp[1])
    assert timedelta(0) <= age < timedelta(minutes=1)


def test_a_clock_that_went_back_leaves_no_update_before_its_creation(cli: Inside, project: Path) -> None:
    record(project, "rule", created_at="2999-01-01T00:00:00Z", updated_at="2999-01-01T00:00:00Z")
    cli("memory", "edit", "rule", "--content", "New.")
    shown = cli("memory", "show", "rule", "--json").json["record"]
    assert shown["created_at"] == "2999-01-01T00:00:00Z"
    assert shown["updated_at"] >= shown["created_at"]


def test_every_file_and_directory_is_private_whatever_the_umask(
    cli: Inside, tmp_path: Path, user: Path
) -> None:
    before = os.umask(0)
    try:
        cli("memory", "store", "--title", "t", "--content", "one", "--id", "rule")
        cli("memory", "store", "--title", "t", "--content", "one", "--scope", "global")
    finally:
        os.umask(before)
    made = [tmp_path / ".muniment", *(tmp_path / ".muniment").rglob("*"), *(user / "data").rglob("*")]
    assert {oct(path.stat().st_mode & 0o777) for path in made if path.is_dir()} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in made if path.is_file()} == {"0o600"}


def test_purging_takes_the_text_out_of_the_index_as_well(cli: Inside, user: Path) -> None:
    assert cli("memory", "store", "--id", "old", "--title", "Old", "--content", "zanzibarword").code == 0
    assert [hit["id"] for hit in cli("memory", "search", "zanzibarword", "--json").json["hits"]] == ["old"]
    kept = [
        path
        for path in (user / "cache").rglob("*")
        if path.is_file() and b"zanzibarword" in path.read_bytes()
    ]
    assert kept
    assert cli("memory", "purge", "old", "--yes").code == 0
    left = [
        path
        for place in ("cache", "data")
        for path in (user / place).rglob("*")
        if path.is_file() and b"zanzibarword" in path.read_bytes()
    ]
    assert left == []


def test_an_index_is_made_anew_from_the_files_on_request(cli: Inside, user: Path) -> None:
    assert cli("memory", "store", "--id", "one", "--title", "One", "--content", "alpha").code == 0
    done = cli("memory", "reindex", "--json")
    assert done.code == 0
    assert done.json["distinct"] == 1
    assert list((user / "cache" / "memindex").glob("*.db"))
