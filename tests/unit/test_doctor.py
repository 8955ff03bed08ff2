"""The doctors: what they find, what they put right, and that looking changes nothing."""

from __future__ import annotations

import os
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from muniment.memory.checks import check_modes, check_names, check_strays, walk
from muniment.memory.database_file import remove_database
from support.command import Inside, Result
from support.poll import until
from support.records import put, tree_digest


def wrong(done: Result) -> dict[str, str]:
    return {each["name"]: each["text"] for each in done.json["findings"] if not each["ok"]}


def databases(directory: Path) -> dict[str, bytes]:
    """Return every file but the companions of databases, which come and go with each that is opened."""
    found = tree_digest(directory)
    return {name: data for name, data in found.items() if not name.endswith(("-wal", "-shm"))}


def doctor(cli: Inside, *more: str) -> Result:
    return cli("memory", "doctor", "--json", *more)


@pytest.fixture
def work(cli: Inside, tmp_path: Path) -> Path:
    """A project with two records written by the command, indexed, and everything in order."""
    cli("memory", "store", "--title", "Tea", "--content", "Green only", "--id", "tea")
    cli("memory", "store", "--title", "All", "--content", "Everywhere", "--id", "all", "--scope", "global")
    # A file changed this moment is read again at the next search: wait until the index is sure of both.
    until(lambda: cli("memory", "search", "green").code == 0 and doctor(cli).out.count("agrees with") == 2)
    assert doctor(cli).code == 0, doctor(cli).out
    return tmp_path / ".muniment"


def test_what_is_gone_before_it_is_closed_is_no_fault(work: Path) -> None:
    paths = [work / "memory" / f"{name}.yaml" for name in ("left", "gone")]
    for path in paths:
        path.write_text("x")
        path.chmod(0o644)
    [found] = check_modes(list(walk(paths)))
    assert found.fix is not None
    paths[1].unlink()
    found.fix()
    assert paths[0].stat().st_mode & 0o777 == 0o600


def test_what_others_can_read_is_named_and_closed(cli: Inside, work: Path, user: Path) -> None:
    (work / "memory" / "tea.yaml").chmod(0o644)
    (user / "data" / "journal").chmod(0o755)
    found = doctor(cli)
    assert found.code == 1
    text = wrong(found)["modes"]
    assert str(work / "memory" / "tea.yaml") in text
    assert str(user / "data" / "journal") in text
    assert "2 things" in text
    assert (work / "memory" / "tea.yaml").stat().st_mode & 0o777 == 0o644
    mended = doctor(cli, "--fix")
    assert mended.code == 0
    assert any(each["fixed"] and "only now" in each["text"] for each in mended.json["findings"])
    assert (work / "memory" / "tea.yaml").stat().st_mode & 0o777 == 0o600
    assert (user / "data" / "journal").stat().st_mode & 0o777 == 0o700
    assert doctor(cli).code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_named_and_left(cli: Inside, work: Path) -> None:
    os.chown(work / "memory" / "tea.yaml", 12345, 12345)
    found = doctor(cli, "--fix")
    assert found.code == 1
    assert "another user" in wrong(found)["owners"]
    assert (work / "memory" / "tea.yaml").stat().st_uid == 12345


def test_what_a_killed_writer_left_is_removed_here_and_in_the_project(
    cli: Inside, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    stray, in_project = (
        work / "memory" / ".tea.yaml.0123456789ab.tmp",
        tmp_path / "src" / ".a.py.ba9876543210.tmp",
    )
    others = [
        work / "memory" / ".tea.yaml.swp",
        tmp_path / "src" / ".mine.tmp",
        tmp_path / ".git" / ".x.0123456789ab.tmp",
        tmp_path / "src" / ".young.0123456789ab.tmp",
    ]
    for path in (stray, in_project, *others):
        path.write_text("half")
        path.chmod(0o600)
        if "young" not in path.name:
            os.utime(path, (1, 1))
    found = doctor(cli)
    texts = [each["text"] for each in found.json["findings"] if each["name"] == "strays"]
    assert [str(stray) in texts[0], str(in_project) in texts[1]] == [True, True]
    assert stray.exists()
    assert doctor(cli, "--fix").code == 0
    assert not stray.exists()
    assert not in_project.exists()
    assert all(path.exists() for path in others)


def test_names_that_are_one_on_a_disk_that_ignores_case_are_named(cli: Inside, work: Path) -> None:
    put(work, "Tea")
    assert "Tea.yaml and tea.yaml" in wrong(doctor(cli))["names"]


def test_an_index_that_lies_is_found_and_made_anew(cli: Inside, work: Path, user: Path) -> None:
    before = databases(user / "cache")
    assert doctor(cli).code == 0
    assert databases(user / "cache") == before
    for path in (user / "cache" / "memindex").glob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE body SET content = 'Black only'")
            connection.commit()
    assert "something else" in wrong(doctor(cli))["index"]
    assert doctor(cli, "--fix").code == 0
    assert cli("memory", "search", "green", "--json").json["hits"][0]["snippet"] == "Green only"
    assert doctor(cli).code == 0


def test_a_damaged_index_is_found_and_made_anew(cli: Inside, work: Path, user: Path) -> None:
    for path in (user / "cache" / "memindex").glob("*.db"):
        path.write_bytes(b"no database at all" * 100)
    assert "damaged" in wrong(doctor(cli))["index"]
    assert doctor(cli, "--fix").code == 0
    assert doctor(cli).code == 0


@pytest.mark.parametrize("nothing", ["no bytes", "no tables"])
def test_an_index_that_a_full_disk_left_empty_is_no_damage_and_is_filled_by_the_next_search(
    cli: Inside, work: Path, user: Path, nothing: str
) -> None:
    for path in (user / "cache" / "memindex").glob("*.db"):
        remove_database(path)
        path.write_bytes(b"")
        path.chmod(0o600)
        if nothing == "no tables":
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA user_version = 1")
                connection.commit()
    found = doctor(cli)
    assert found.code == 0
    assert found.out.count("is empty; the next search makes it") == 2
    assert cli("memory", "search", "green", "--json").json["hits"][0]["id"] == "tea"
    assert doctor(cli).out.count("is empty") == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [("id: [", "line 2"), ("name: x\n", "no id"), ("- a\n", "no keys"), ("id: ''\n", "no id")],
)
def test_a_project_file_without_an_id_that_can_be_read_is_named(
    cli: Inside, work: Path, text: str, why: str
) -> None:
    path = work / "project.yaml"
    path.write_text(text)
    for command in (("memory", "doctor", "--json"), ("doctor", "--json")):
        found = cli(*command)
        assert found.code == 1
        told = wrong(found)["project"]
        assert str(path) in told
        assert why in told
    assert path.read_text() == text
    path.unlink()
    path.symlink_to(work / "elsewhere.yaml")
    assert "symbolic link" in wrong(doctor(cli))["project"]
    path.unlink()
    assert "project" not in wrong(doctor(cli))


def test_an_index_that_is_only_behind_is_nothing_wrong(cli: Inside, work: Path) -> None:
    put(work, "new").chmod(0o600)
    found = doctor(cli)
    assert found.code == 0
    assert any("behind by" in each["text"] for each in found.json["findings"])


def test_an_index_of_a_directory_that_is_gone_is_removed(
    cli: Inside, work: Path, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".muniment" / "memory").mkdir(parents=True, mode=0o700)
    put(elsewhere / ".muniment", "secret", content="quokkas")
    monkeypatch.chdir(elsewhere)
    cli("memory", "search", "quokkas")
    monkeypatch.chdir(tmp_path)
    (elsewhere / ".muniment").rename(tmp_path / "elsewhere" / "gone")
    held = [path for path in (user / "cache").rglob("*.db") if b"quokkas" in path.read_bytes()]
    assert "1 search index" in wrong(doctor(cli))["index"]
    assert doctor(cli, "--fix").code == 0
    assert [path for path in held if path.exists()] == []
    assert doctor(cli).code == 0


def test_files_that_are_skipped_are_named_with_their_reason_and_stay(cli: Inside, work: Path) -> None:
    bad = put(work, "bad", "id: [")
    bad.chmod(0o600)
    found = doctor(cli, "--fix")
    assert found.code == 1
    assert str(bad) in wrong(found)["records"]
    assert bad.read_text() == "id: ["


def test_a_damaged_ledger_is_set_aside_and_a_sound_one_made(cli: Inside, work: Path, user: Path) -> None:
    ledger = user / "data" / "ledger.db"
    ledger.write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    ledger.chmod(0o600)
    assert "ledger" in wrong(doctor(cli))
    mended = doctor(cli, "--fix")
    assert mended.code == 0
    assert any("set aside" in each["text"] for each in mended.json["findings"])
    assert [path.name for path in ledger.parent.glob("ledger.db.damaged-*")]


def test_a_line_of_the_journal_that_cannot_be_read_is_counted(cli: Inside, work: Path, user: Path) -> None:
    [segment] = (user / "data" / "journal").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes() + b'{"entry": {"torn\n')
    assert "1 line" in wrong(doctor(cli))["journal"]


def test_a_walk_follows_no_link_and_enters_no_hidden_directory_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "node_modules").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").write_text("x")
    (tmp_path / "a" / "link").symlink_to(tmp_path / "out")
    seen = [each.path.name for each in walk([tmp_path / "a", tmp_path / "missing"], everything=False)]
    assert sorted(seen) == ["a", "link"]
    assert not list(check_modes(walk([tmp_path / "a" / "link"])))
    assert not list(check_names(walk([tmp_path])))
    assert not list(check_strays(walk([tmp_path])))


def test_doctor_says_whether_the_model_can_be_reached(cli: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        cli("config", "init")
        config = Path(os.environ["MUNIMENT_CONFIG_DIR"]) / "config.yaml"
        config.write_text(f"model: {{name: m, base_url: 'http://127.0.0.1:{port}/v1'}}\n")
        found = cli("doctor", "--json").json["findings"]
        assert [each["ok"] for each in found if each["name"] == "model"] == [True]
    found = cli("doctor", "--json").json["findings"]
    [model] = [each for each in found if each["name"] == "model"]
    assert (model["ok"], "cannot be reached" in model["text"]) == (False, True)


@pytest.mark.parametrize("command", [("doctor",), ("memory", "doctor")])
def test_settings_that_cannot_be_read_are_one_finding_among_the_others(
    cli: Inside, user: Path, command: tuple[str, ...]
) -> None:
    (user / "config").mkdir(mode=0o700)
    (user / "config" / "config.yaml").write_text("model: {nam: m}\n")
    (user / "data" / "memory").mkdir(mode=0o700, parents=True)
    (user / "data" / "memory" / ".rule.yaml.12345678.tmp").write_text("left")
    (user / "data" / "memory" / "bad.yaml").write_text("title: [")
    told = cli(*command, "--fix", "--json")
    wrong = [each for each in told.json["findings"] if not each["ok"]]
    assert told.code == 1
    assert any(each["name"] == "settings" and "config.yaml:1:9: model.nam" in each["text"] for each in wrong)
    assert any(each["name"] == "records" and "bad.yaml" in each["text"] for each in wrong)
    assert not any(each["fixed"] for each in wrong)
    assert (user / "data" / "memory" / ".rule.yaml.12345678.tmp").exists()


def test_isolation_doctor_says_what_confines_and_what_does_not(cli: Inside, tmp_path: Path) -> None:
    shown = {each["name"]: each["text"] for each in cli("isolation", "doctor", "--json").json["findings"]}
    assert ".env" in shown["files"]
    assert str(tmp_path) in shown["files"]
    assert "Other programs" in shown["others"]
    assert "not encrypted" in shown["storage"]
    assert "bypass" in shown["approval"]
    assert ("rights" in shown) == (os.geteuid() == 0)


def test_a_journal_that_is_a_link_is_named(cli: Inside, user: Path) -> None:
    (user / "data").mkdir(mode=0o700)
    (user / "elsewhere").mkdir(mode=0o700)
    (user / "data" / "journal").symlink_to(user / "elsewhere")
    told = cli("doctor", "--json").json["findings"]
    (journal,) = [each["text"] for each in told if each["name"] == "journal"]
    assert journal == f"{user / 'data' / 'journal'} is a symbolic link: nothing is written to memory so."
    refused = cli(
        "memory", "store", "--title", "Tea", "--content", "Green", "--id", "tea", "--scope", "global"
    )
    assert refused.code == 1
    assert "Nothing was written: the journal in" in refused.err
