"""The rules of the house, read from the source: size, layers, sinks, and what each command may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.environment import REPOSITORY, isolated
from support.poll import PATIENCE

APP = REPOSITORY / "app" / "muniment"
SOURCES = sorted(APP.rglob("*.py"))
EVERYTHING = [*SOURCES, *sorted((REPOSITORY / "tests").rglob("*.py"))]
LONGEST = 600


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def imported(path: Path) -> set[str]:
    """Return the first name of every module that a file imports anywhere, even inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {name_of(path): len(path.read_bytes().splitlines()) for path in EVERYTHING}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


@pytest.mark.parametrize(
    ("package", "layer"), [("textual", "tui"), ("rich", "tui"), ("openai", "model")], ids=str
)
def test_only_one_layer_imports(package: str, layer: str) -> None:
    users = {path.relative_to(APP).parts[0] for path in SOURCES if package in imported(path)}
    assert users <= {layer}


def test_nothing_that_this_project_does_without_is_imported() -> None:
    unwanted = {"pydantic", "typer", "click", "requests"}
    assert {name_of(path): imported(path) & unwanted for path in SOURCES if imported(path) & unwanted} == {}


# Markup in a text from outside would be drawn as colour, link or action; whoever needs a colour builds spans.
_SINKS = {
    "Text.from_markup": re.compile(r"\bfrom_markup\("),
    "Rich console markup": re.compile(r"\bmarkup=True"),
    "ANSI from outside": re.compile(r"\bfrom_ansi\("),
}


def test_no_screen_text_goes_through_a_markup_sink() -> None:
    found = [
        f"{name_of(path)}: {kind}"
        for path in SOURCES
        for kind, pattern in _SINKS.items()
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_workers_are_begun_in_one_place_and_never_from_a_coroutine() -> None:
    """A coroutine whose worker is stopped before it begins is never awaited, which Python says on leaving."""
    users = [name_of(path) for path in SOURCES if ".run_worker(" in path.read_text(encoding="utf-8")]
    assert users == ["app/muniment/tui/begin.py"]
    made = re.compile(r"\bbegin\(\s*[\w.]+,\s*(?!partial\()[\w.]+\(")
    found = [name_of(path) for path in SOURCES if made.search(path.read_text(encoding="utf-8"))]
    assert found == []


def _numbered(path: Path) -> list[str]:
    """Return where a handler of the system's errors tells one as Python writes it, with `[Errno …]`."""
    found = []
    for handler in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None or handler.name is None:
            continue
        if "OSError" not in {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}:
            continue
        # What is chosen by its kind, stands behind the system's own words or is only looked at, is meant.
        meant = {
            id(part)
            for each in ast.walk(handler)
            if isinstance(each, ast.IfExp | ast.BoolOp | ast.Compare)
            for part in ast.walk(each)
        }
        for each in ast.walk(handler):
            told: ast.expr | None = None
            if isinstance(each, ast.FormattedValue):
                told = each.value
            elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "str":
                told = each.args[0]
            if isinstance(told, ast.Name) and told.id == handler.name and id(each) not in meant:
                found.append(f"{name_of(path)}:{told.lineno}")
    return found


def test_nothing_waits_in_a_way_that_loses_a_cancellation() -> None:
    # Python 3.11 gives back the result where both come at once: an interrupt would go unheard.
    waits = re.compile(r"\basyncio\.wait_for\(")
    assert [name_of(path) for path in SOURCES if waits.search(path.read_text(encoding="utf-8"))] == []


def test_an_error_of_the_system_is_told_in_words_and_never_with_its_number() -> None:
    assert [place for path in SOURCES for place in _numbered(path)] == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "raise NotImplementedError"])
def test_nothing_in_the_source_is_left_open(word: str) -> None:
    found = [name_of(path) for path in SOURCES if re.search(rf"\b{word}\b", path.read_text(encoding="utf-8"))]
    assert found == []


_UNEXPLAINED = re.compile(r"# (noqa(: [A-Z0-9, ]+)?|type: ignore(\[[^\]]*\])?)\s*$", re.MULTILINE)


def test_each_ignored_rule_says_why() -> None:
    found = [
        f"{name_of(path)}: {match[0].strip()}"
        for path in SOURCES
        for match in _UNEXPLAINED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_files_are_opened_only_where_links_are_refused() -> None:
    """Memory, sessions and settings go through the one place that refuses what is no plain file."""
    allowed = {"app/muniment/safety/files.py"}
    writers = re.compile(r"\.(write_text|write_bytes|read_text|read_bytes)\(|\bos\.(rename|replace)\(")
    layers = ("memory", "session", "settings", "approval")
    found = {
        name_of(path)
        for path in SOURCES
        if path.relative_to(APP).parts[0] in layers and writers.search(path.read_text(encoding="utf-8"))
    }
    assert found - allowed == set()


def loaded(user: Path, cwd: Path, *arguments: str) -> set[str]:
    """Run a command in a process of its own and return the names of all modules that it loaded."""
    script = (
        "import sys; sys.argv = ['muniment', *sys.argv[1:]]\n"
        "from muniment.__main__ import main\n"
        "code = main()\n"
        "sys.stderr.write('\\n'.join(['', *sys.modules]))\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=cwd,
        env=isolated(user),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[:500]
    return set(done.stderr.split("\n"))


def test_the_version_is_answered_before_anything_is_loaded(user: Path, tmp_path: Path) -> None:
    modules = loaded(user, tmp_path, "--version")
    assert {each for each in modules if each.startswith("muniment")} == {"muniment", "muniment.__main__"}
    assert not {"argparse", "json", "pathlib", "importlib.metadata", "yaml", "sqlite3"} & modules


HEAVY = {"textual", "rich", "openai", "httpx", "asyncio", "detect_secrets", "watchfiles", "subprocess"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("memory", "list", "--json"),
        ("memory", "search", "x"),
        ("memory", "stats", "--json"),
        ("config", "path"),
        ("recipe", "schema"),
        ("--help",),
    ],
    ids=" ".join,
)
def test_a_light_command_loads_nothing_heavy(user: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert HEAVY & loaded(user, tmp_path, *arguments) == set()


def test_a_search_that_finds_its_index_fresh_loads_nothing_that_reads_writes_or_plans(
    user: Path, tmp_path: Path
) -> None:
    stored = ("memory", "store", "--title", "A wombat", "--content", "was seen", "--tag", "seen")
    loaded(user, tmp_path, *stored)
    deadline = time.monotonic() + PATIENCE
    needless = {"secrets", "shutil", "random", "subprocess", "muniment.settings", "muniment.memory.journal"}
    needless |= {f"muniment.memory.records.{name}" for name in ("plans", "planning", "record", "store")}
    # A file changed just now is read again until its time tells that it was not changed since.
    while found := needless & loaded(user, tmp_path, "memory", "search", "wombat"):
        assert time.monotonic() < deadline, found


def test_a_run_in_a_pipe_loads_no_screen_and_without_a_server_no_client(user: Path, tmp_path: Path) -> None:
    modules = loaded(user, tmp_path, "run", "--prompt", "hello", "--provider", "rehearsal")
    assert {"textual", "rich", "openai"} & modules == set()
