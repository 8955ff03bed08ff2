"""The search index: never older than the files, never needed, and nothing removed stays in it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muniment.memory.recall.tokens import ANALYSIS
from muniment.memory.records.index.catalog import Catalog
from muniment.memory.records.index.place import index_path
from muniment.memory.records.index.search import SearchResult
from muniment.memory.records.scan import COARSE_CLOCK_NS
from muniment.memory.records.scope import resolve_chain
from muniment.memory.records.store import RecordStore
from support.poll import PATIENCE, until
from support.records import World, put, tree_digest

NOW = datetime(2026, 11, 1, tzinfo=UTC)

_HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


class Desk:
    """A catalog over a global scope and a project, with short ways to ask."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.project = world.directory("work", scope=True)
        self.catalog = Catalog(world.paths.memindex)

    @property
    def scope_dir(self) -> Path:
        return self.project / ".muniment"

    @property
    def index_file(self) -> Path:
        return index_path(self.world.paths.memindex, self.scope_dir)

    def search(self, query: str, **options: object) -> SearchResult:
        chain = resolve_chain(self.project, self.world.paths)
        return self.catalog.search(chain, query, now=NOW, **options)  # type: ignore[arg-type]

    def ids(self, query: str, **options: object) -> list[str]:
        return [hit.meta.id for hit in self.search(query, **options).hits]

    def bytes_in_index(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.index_file.parent.iterdir())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(World(tmp_path))


def test_a_search_answers_with_any_word_and_counts_what_it_looked_at(desk: Desk) -> None:
    put(desk.scope_dir, "rule", content="Cite Notes A and B; show both denominators")
    put(desk.scope_dir, "other", content="Nothing of the kind")
    result = desk.search("denominators satisfaction survey")
    assert [hit.meta.id for hit in result.hits] == ["rule"]
    assert (result.searched, result.truncated, result.notice) == (2, False, None)
    [hit] = result.hits
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["denominators"]


def test_titles_count_more_than_texts(desk: Desk) -> None:
    put(desk.scope_dir, "a-text", title="Something", content="about the harbour and more of it here")
    put(desk.scope_dir, "b-title", title="The harbour", content="about something and more of it here")
    assert desk.ids("harbour") == ["b-title", "a-text"]


def test_equal_hits_have_one_order_deeper_scope_first_then_id(desk: Desk) -> None:
    for name in ("b", "a"):
        put(desk.scope_dir, name, title="same", content="same words", created_at="2026-01-01")
        put(desk.world.global_dir, f"{name}-g", title="same", content="same words", created_at="2026-01-01")
    for path in (*desk.scope_dir.rglob("*.yaml"), *desk.world.global_dir.rglob("*.yaml")):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert [name.removesuffix("-g") for name in desk.ids("words")] == ["a", "b", "a", "b"]
    assert desk.ids("words")[2:] == ["a-g", "b-g"]


def test_a_limit_cuts_and_says_so(desk: Desk) -> None:
    for number in range(5):
        put(desk.scope_dir, f"r{number}", content="common")
    assert (len(desk.search("common", limit=4).hits), desk.search("common", limit=4).truncated) == (4, True)
    assert (len(desk.search("common", limit=5).hits), desk.search("common", limit=5).truncated) == (5, False)


def test_a_removed_file_is_no_hit_at_once_and_its_text_leaves_the_index(desk: Desk) -> None:
    path = put(desk.scope_dir, "secret", content="the word zanzibar")
    put(desk.scope_dir, "stays", content="other")
    assert desk.ids("zanzibar") == ["secret"]
    path.unlink()
    assert desk.ids("zanzibar") == []
    desk.catalog.tidy()
    assert b"zanzibar" not in desk.bytes_in_index()
    assert b"other" in desk.bytes_in_index()


def test_text_stays_to_be_removed_while_another_process_reads_and_goes_later(desk: Desk) -> None:
    path = put(desk.scope_dir, "secret", content="the word zanzibar")
    desk.ids("zanzibar")
    reader = sqlite3.connect(desk.index_file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM record").fetchone()
    path.unlink()
    assert desk.ids("zanzibar") == []
    desk.catalog.tidy()
    reader.execute("COMMIT")
    reader.close()
    Catalog(desk.world.paths.memindex).close()
    desk.ids("anything")
    desk.catalog.tidy()
    assert b"zanzibar" not in desk.bytes_in_index()


def test_an_edit_of_the_same_size_with_its_time_set_back_is_seen(desk: Desk) -> None:
    path = put(desk.scope_dir, "word", content="alpha")
    assert desk.ids("alpha") == ["word"]
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(path.read_bytes().index(b"alpha"))
        file.write(b"gamma")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert desk.ids("alpha") == []
    assert desk.ids("gamma") == ["word"]


def test_a_renamed_file_is_read_under_its_new_name(desk: Desk) -> None:
    path = put(desk.scope_dir, "old", content="alpha")
    assert desk.ids("alpha") == ["old"]
    path.rename(path.with_name("new.yaml"))
    assert desk.ids("alpha") == []
    path.with_name("new.yaml").write_text("id: new\ntitle: t\ncontent: alpha\n")
    assert desk.ids("alpha") == ["new"]


def test_an_editors_companions_do_not_count(desk: Desk) -> None:
    path = put(desk.scope_dir, "r", content="alpha")
    for name in (".r.yaml.swp", "r.yaml~", "#r.yaml#", "r.yaml.tmp.123", "4913", ".r.yaml"):
        (path.parent / name).write_bytes(path.read_bytes())
    assert desk.ids("alpha") == ["r"]
    fresh = path.with_name("r.yaml.tmp.124")
    fresh.write_text("id: r\ntitle: t\ncontent: beta\n")
    fresh.replace(path)
    assert desk.ids("alpha") == []
    assert desk.ids("beta") == ["r"]
    assert desk.search("beta").searched == 1


def test_an_overridden_copy_is_no_hit_although_only_it_holds_the_word(desk: Desk) -> None:
    put(desk.world.global_dir, "r", content="ship on friday")
    put(desk.scope_dir, "r", content="never ship late")
    assert desk.ids("friday") == []
    [hit] = desk.search("friday", include_overridden=True).hits
    assert (hit.effective, hit.meta.scope.kind) == (False, "global")
    assert hit.overridden_by is not None
    assert hit.overridden_by.directory == desk.scope_dir
    assert desk.search("ship").searched == 1


@pytest.mark.parametrize("fault", ["expires_at: 2020-01-01\n", "content: [not, text]\n"])
def test_with_the_deeper_copy_expired_or_malformed_the_shallower_counts(desk: Desk, fault: str) -> None:
    put(desk.world.global_dir, "r", content="ship on friday")
    text = (
        f"id: r\ntitle: t\n{fault}"
        if fault.startswith("content")
        else f"id: r\ntitle: t\ncontent: no\n{fault}"
    )
    put(desk.scope_dir, "r", text)
    [hit] = desk.search("friday").hits
    assert hit.effective
    assert hit.overridden_by is None


def test_the_cache_removed_while_running_is_made_anew(desk: Desk) -> None:
    put(desk.scope_dir, "r", content="alpha")
    assert desk.ids("alpha") == ["r"]
    for path in desk.index_file.parent.iterdir():
        path.unlink()
    desk.index_file.parent.rmdir()
    assert desk.ids("alpha") == ["r"]
    assert desk.index_file.is_file()


def test_a_cache_that_is_a_file_is_told_once_and_the_records_are_read(desk: Desk) -> None:
    put(desk.scope_dir, "r", content="alpha")
    before = tree_digest(desk.scope_dir)
    desk.world.paths.memindex.parent.mkdir(parents=True)
    desk.world.paths.memindex.write_text("a file")
    result = desk.search("alpha")
    assert [hit.meta.id for hit in result.hits] == ["r"]
    assert result.notice is not None
    assert "records were read directly" in result.notice
    assert "sqlite" not in result.notice.casefold()
    assert tree_digest(desk.scope_dir) == before


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b"", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_index_is_made_anew(desk: Desk, damage: bytes) -> None:
    put(desk.scope_dir, "r", content="alpha")
    desk.ids("alpha")
    desk.catalog.close()
    desk.index_file.write_bytes(damage)
    result = desk.search("alpha")
    assert [hit.meta.id for hit in result.hits] == ["r"]
    assert result.notice is None


def test_a_file_that_an_earlier_version_could_not_read_is_found(desk: Desk) -> None:
    path = put(desk.scope_dir, "r", content="alpha", expires_at="null")
    # A file that changed just now is read once more.
    until(lambda: time.time_ns() - path.stat().st_ctime_ns > 2 * COARSE_CLOCK_NS)
    desk.ids("alpha")
    desk.catalog.close()
    with sqlite3.connect(desk.index_file) as connection:
        connection.execute("DELETE FROM record")
        assert connection.execute("UPDATE file SET reason = 'has no time'").rowcount == 1
        connection.execute("UPDATE about SET value = ? WHERE key = 'version'", (f"3/{ANALYSIS}",))
    connection.close()
    assert desk.ids("alpha") == ["r"]


def test_an_index_of_another_version_is_made_anew(desk: Desk) -> None:
    put(desk.scope_dir, "r", content="alpha")
    desk.ids("alpha")
    desk.catalog.close()
    with sqlite3.connect(desk.index_file) as connection:
        connection.execute("UPDATE about SET value = 'older' WHERE key = 'version'")
    connection.close()
    assert desk.ids("alpha") == ["r"]


@pytest.mark.parametrize("missing", ["no such module: fts5", "no such tokenizer: porter"])
def test_without_full_text_search_the_records_are_read_and_it_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    class Lean(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if sql.startswith("CREATE VIRTUAL TABLE"):
                raise sqlite3.OperationalError(missing)
            return super().execute(sql, *rest)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: real(*given, factory=Lean, **more))
    put(desk.scope_dir, "r", content="both denominators")
    result = desk.search("denominator")
    assert [hit.meta.id for hit in result.hits] == ["r"]
    assert result.notice is not None
    assert "no full-text search" in result.notice


def test_a_search_answers_rightly_while_another_process_holds_the_write_lock(desk: Desk) -> None:
    put(desk.scope_dir, "old", content="alpha")
    gone = put(desk.scope_dir, "gone", content="alpha")
    assert sorted(desk.ids("alpha")) == ["gone", "old"]
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(desk.index_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        put(desk.scope_dir, "new", content="alpha beta")
        gone.unlink()
        result = desk.search("alpha")
        assert sorted(hit.meta.id for hit in result.hits) == ["new", "old"]
        assert result.searched == 2
        assert result.notice is not None
        assert "another process" in result.notice
        holder.communicate(b"\n", timeout=PATIENCE)
    assert sorted(desk.ids("alpha")) == ["new", "old"]
    assert desk.search("alpha").notice is None


def test_many_processes_build_and_search_one_index(desk: Desk) -> None:
    for number in range(200):
        put(desk.scope_dir, f"r{number}", content=f"common word{number}")
    script = (
        "import sys\nfrom datetime import datetime, UTC\nfrom pathlib import Path\n"
        "from muniment.paths import resolve_paths\n"
        "from muniment.memory.records.index.catalog import Catalog\n"
        "from muniment.memory.records.scope import resolve_chain\n"
        "chain = resolve_chain(Path(sys.argv[1]), resolve_paths())\n"
        "catalog = Catalog(Path(sys.argv[2]))\n"
        "print(catalog.search(chain, 'word7', now=datetime.now(UTC)).hits[0].meta.id)\n"
    )
    command = [sys.executable, "-c", script, str(desk.project), str(desk.world.paths.memindex)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for process in running:
        out, error = process.communicate(timeout=60)
        assert (out, error) == (b"r7\n", b"")


def test_files_of_the_index_are_private(desk: Desk) -> None:
    put(desk.scope_dir, "r", content="alpha")
    desk.ids("alpha")
    put(desk.scope_dir, "s", content="alpha")
    desk.ids("alpha")
    modes = {oct(path.stat().st_mode & 0o777) for path in desk.index_file.parent.iterdir()}
    assert modes == {"0o600"}
    assert desk.index_file.parent.stat().st_mode & 0o777 == 0o700


def test_levels_name_every_copy_and_every_file_that_is_skipped(desk: Desk) -> None:
    put(desk.scope_dir, "good", content="alpha")
    put(desk.scope_dir, "bad", "id: other\ntitle: t\ncontent: c\n")
    link = desk.scope_dir / "memory" / "link.yaml"
    link.symlink_to("good.yaml")
    chain = resolve_chain(desk.project, desk.world.paths)

    def summary(store: Catalog) -> object:
        levels, skipped, counts = store.levels(chain)
        names = [[meta.id for meta in level] for level in levels]
        reasons = [(each.path.name, each.reason) for each in skipped]
        return names, reasons, [(each.records, each.skipped) for each in counts]

    without = summary(desk.catalog)
    desk.ids("alpha")
    assert summary(desk.catalog) == without == summary(Catalog(desk.world.paths.memindex))
    assert ("link.yaml", "is a symbolic link") in without[1]  # type: ignore[index]


def test_what_is_skipped_is_told_without_reading_the_rows_of_records(desk: Desk) -> None:
    put(desk.scope_dir, "good", content="alpha")
    put(desk.scope_dir, "bad", "id: other\ntitle: t\ncontent: c\n")
    chain = resolve_chain(desk.project, desk.world.paths)
    desk.ids("alpha")
    asked: list[str] = []
    states, _ = desk.catalog._states(chain, build=False, trust=False)
    for state in states:
        if state.connection is not None:
            state.connection.set_trace_callback(asked.append)

    def rows_read() -> bool:
        asked.clear()
        assert [each.path.name for each in desk.catalog.skipped(chain)] == ["bad.yaml"]
        assert asked
        return any("FROM record" in each for each in asked)

    # A file changed just now is read again until its time tells that it was not changed since.
    until(lambda: not rows_read(), what="a look without the rows")
    assert desk.catalog.levels(chain)[1] == desk.catalog.skipped(chain)
    assert [each for each in asked if "FROM record" in each]


@pytest.mark.parametrize("query", ["", "***", "\0", "word " * 5_000, "x" * 100_000])
def test_odd_queries_are_answered_politely(desk: Desk, query: str) -> None:
    put(desk.scope_dir, "r", content="a word")
    assert desk.search(query).searched == 1


def test_a_hit_with_a_giant_text_has_a_bounded_snippet(desk: Desk) -> None:
    put(desk.scope_dir, "big", content="filler " * 140_000 + "needle")
    [hit] = desk.search("needle").hits
    assert "needle" in hit.snippet
    assert len(hit.snippet) <= 202


def test_trust_answers_from_the_last_look_until_the_files_are_looked_at_again(desk: Desk) -> None:
    put(desk.scope_dir, "r", content="alpha")
    assert desk.ids("alpha", trust=True) == ["r"]
    put(desk.scope_dir, "s", content="alpha")
    assert desk.ids("alpha", trust=True) == ["r"]
    assert sorted(desk.ids("alpha")) == ["r", "s"]


def test_the_store_searches_by_index_and_a_tool_sees_the_write_of_another_store(tmp_path: Path) -> None:
    world = World(tmp_path)
    project = world.directory("work", scope=True)
    first, second = world.store(project), world.store(project)
    assert isinstance(first, RecordStore)
    path = put(project / ".muniment", "r", content="zanzibar")
    assert [hit.meta.id for hit in first.search("zanzibar").hits] == ["r"]
    path.unlink()
    assert second.search("zanzibar").hits == ()
    index = index_path(world.paths.memindex, project / ".muniment")
    until(lambda: b"zanzibar" not in index.read_bytes(), what="the text gone from the index")
