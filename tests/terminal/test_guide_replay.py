"""The guided tour of records, step by step, in a real terminal: save, fetch, update, delete, suppress."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from support.command import run
from support.environment import REPOSITORY
from support.journey import allow, begun, leave, say
from support.sayings import DELETE, FETCH, SAVE, UPDATE
from support.terminal import Terminal, flat

RECIPE = str(REPOSITORY / "recipes" / "review-work.yaml")
START = ("run", "--new", "--file", RECIPE, "--provider", "rehearsal", "--no-trace")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "study"
    (directory / ".muniment").mkdir(parents=True, mode=0o700)
    return directory


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "user"


def opened(project: Path, base: Path, **env: str) -> Terminal:
    return begun(project, base, START, columns=90, rows=60, env=env)


def fields(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z_]+): ?(.*)$", text, re.MULTILINE))


def saved(project: Path, base: Path) -> Path:
    """Save the rule by a tool call approved in advance."""
    done = run(
        "tool",
        "call",
        "memory_store",
        "--yes",
        "--json",
        "--args",
        '{"id":"pilot-review-rule","title":"Pilot comparison review rule","category":"decision",'
        '"tags":["pilot","review"],"content":"Cite Notes A and B."}',
        cwd=project,
        base=base,
    )
    assert done.code == 0, done.err
    return project / ".muniment" / "memory" / "pilot-review-rule.yaml"


def test_a_rule_is_saved_after_an_early_key_was_ignored_and_fetched_in_a_new_session(
    project: Path, base: Path
) -> None:
    path = project / ".muniment" / "memory" / "pilot-review-rule.yaml"
    (base / "config").mkdir(parents=True)
    # So long a quiet time leaves a slow machine room for a key that comes too early.
    (base / "config" / "config.yaml").write_text("approval: {quiet_seconds: 4}\n")
    with opened(project, base) as terminal:
        first = re.search(r"review-work · ([0-9a-f]{8})", terminal.text)
        say(terminal, SAVE)
        terminal.wait_for("Create a record", "keys are ignored")
        terminal.press("a")
        terminal.settle(0.3)
        assert not path.exists()
        shown = terminal.wait_for("ARMED", "pilot-review-rule", "Cite Notes A and B")
        assert flat(str(project / ".muniment")) in flat(shown)
        allow(terminal)
        terminal.wait_for("created: true", "pilot-review-rule")
        leave(terminal)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = fields(path.read_text())
    assert list(written) == [
        "id",
        "category",
        "title",
        "content",
        "tags",
        "source",
        "created_at",
        "updated_at",
    ]
    assert written["category"] == "decision"
    assert written["source"] == "agent"
    assert written["created_at"] == written["updated_at"]
    assert path.read_text().count("\n- ") == 2

    with opened(project, base) as terminal:
        second = re.search(r"review-work · ([0-9a-f]{8})", terminal.text)
        assert first
        assert second
        assert first[1] != second[1]
        say(terminal, FETCH)
        terminal.wait_for("do not infer satisfaction", "memory_retrieve", "completed")
        leave(terminal)


def test_an_update_keeps_the_creation_time_and_says_that_nothing_was_created(
    project: Path, base: Path
) -> None:
    path = saved(project, base)
    # As if it had been saved long ago, so that its times can differ.
    path.write_text(re.sub(r"_at: .*", "_at: 2026-01-05T08:00:00Z", path.read_text()))
    before = fields(path.read_text())
    with opened(project, base) as terminal:
        say(terminal, UPDATE)
        terminal.wait_for("Replace a record")
        allow(terminal)
        terminal.wait_for("created: false", "retain missing survey evidence")
        leave(terminal)
    after = fields(path.read_text())
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert after["category"] == "decision"
    assert "missing survey evidence" in path.read_text()


def test_a_deletion_lets_a_shallower_copy_show_through(project: Path, base: Path) -> None:
    path = saved(project, base)
    shallow = run(
        "memory",
        "store",
        "--scope",
        "global",
        "--id",
        "pilot-review-rule",
        "--title",
        "The global rule",
        "--content",
        "Cite something.",
        cwd=project,
        base=base,
    )
    assert shallow.code == 0, shallow.err
    with opened(project, base) as terminal:
        say(terminal, DELETE)
        terminal.wait_for("Delete a record")
        allow(terminal)
        terminal.wait_for("memory_list", "completed", "The global rule")
        leave(terminal)
    assert not path.exists()
    listed = run("memory", "list", "--json", cwd=project, base=base).json["records"]
    assert [(each["id"], each["scope"], each["effective"]) for each in listed] == [
        ("pilot-review-rule", "global", True)
    ]


def test_of_101_records_100_are_listed_and_one_more_is_counted(project: Path, base: Path) -> None:
    memory = project / ".muniment" / "memory"
    memory.mkdir(mode=0o700)
    for n in range(101):
        (memory / f"rule-{n:03}.yaml").write_text(
            f"id: rule-{n:03}\ntitle: Rule number {n}\ncontent: SECRETBODY {n}\n"
        )
    context = run("context", "--json", "--provider", "rehearsal", cwd=project, base=base).json
    digest = context["input"][0]["content"]
    assert len(set(re.findall(r"rule-\d{3}", digest))) == 100
    assert "1 more" in digest
    assert "SECRETBODY" not in digest
    assert [block["items"] for block in context["blocks"] if block["name"] == "digest"] == [100]

    headless = run("context", "--json", "--headless", "--provider", "rehearsal", cwd=project, base=base).json
    assert headless["blocks"] == []
    assert headless["input"] == []


def test_without_the_digest_a_record_can_still_be_fetched(project: Path, base: Path) -> None:
    saved(project, base)
    with opened(project, base, MUNIMENT_NO_MEMORY_INJECT="1") as terminal:
        assert "digest off" in terminal.text
        say(terminal, FETCH)
        terminal.wait_for("Cite Notes A and B", "completed")
        leave(terminal)
    context = run("context", "--json", cwd=project, base=base, env={"MUNIMENT_NO_MEMORY_INJECT": "1"}).json
    assert context["blocks"] == []
