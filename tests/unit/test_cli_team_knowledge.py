"""`muniment consolidate` and `muniment knowledge`: shapes, exit codes, and what a pipe may not do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.command import Inside
from support.consolidation import FACTS
from support.server import Reply, serve
from support.team import tree


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / ".muniment"
    directory.mkdir()
    return directory


def fill(directory: Path, count: int) -> None:
    place = directory / "notes" / "inbox"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (place / f"ripley-{number}.md").write_text(f"# Finding {number}\n\n{FACTS[number]}\n")


def waiting(directory: Path) -> int:
    return len(list((directory / "notes" / "inbox").glob("*.md")))


# consolidate


@pytest.mark.parametrize("options", [(), ("--yes",), ("--dry-run",)])
def test_too_few_notes_are_said_plainly_and_no_failure(
    options: tuple[str, ...], cli: Inside, project: Path
) -> None:
    fill(project, 4)
    done = cli("consolidate", *options)
    assert done.code == 0
    assert done.out == "Nothing to do: 4 notes wait in the inbox, a consolidation needs 5.\n"
    shape = cli("consolidate", *options, "--json")
    assert (shape.code, shape.json["applied"], shape.json["eligible"], shape.json["enough"]) == (
        0,
        False,
        4,
        False,
    )
    assert waiting(project) == 4


def test_a_dry_run_shows_everything_and_changes_nothing(cli: Inside, project: Path) -> None:
    fill(project, 5)
    before = tree(project)
    done = cli("consolidate", "--dry-run")
    assert done.code == 0
    assert "ripley-3.md" in done.out
    assert "knowledge/project-notes/" in done.out
    assert "trust agent" in done.out
    assert "Added to the team notes:\n  ### " in done.out
    shape = cli("consolidate", "--dry-run", "--json").json
    assert shape["applied"] is False
    assert shape["digest"].startswith("### ")
    assert [set(each) >= {"name", "category", "knowledge", "notebook", "row"} for each in shape["notes"]] == [
        True
    ] * 5
    assert tree(project) == before


def test_without_yes_and_without_a_terminal_nothing_changes(cli: Inside, project: Path) -> None:
    fill(project, 5)
    before = tree(project)
    for options in ((), ("--json",)):
        done = cli("consolidate", *options)
        assert (done.code, done.out) == (1, "")
        assert "--yes answers in advance" in done.err
    assert tree(project) == before


def test_with_yes_it_is_done_once(cli: Inside, project: Path) -> None:
    fill(project, 5)
    done = cli("consolidate", "--yes", "--json")
    assert done.code == 0
    shape = done.json
    assert shape["applied"] is True
    assert (shape["by"], shape["breaker"], shape["rows"]) == ("rules", False, 5)
    assert len(shape["archived"]) == len(shape["knowledge"]) == 5
    assert waiting(project) == 0
    assert (project / "notes.md").read_text().count("\n### ") == 1
    again = cli("consolidate", "--yes")
    assert (again.code, again.out.startswith("Nothing to do: 0 notes wait")) == (0, True)
    hits = cli("ledger", "search", "workspace lock", "--json").json["hits"]
    assert any(hit["title"] == "Finding 0" and hit["trust"] == "agent" for hit in hits)


def test_a_digest_can_be_given_from_standard_input(cli: Inside, project: Path) -> None:
    fill(project, 5)
    done = cli("consolidate", "--yes", "--digest", "-", "--json", text="### Mine\n\nOnly this.\n")
    assert (done.code, done.json["by"]) == (0, "user")
    assert (project / "notes.md").read_text().endswith("### Mine\n\nOnly this.\n")
    fill(project, 5)
    assert cli("consolidate", "--yes", "--digest", "no heading").code == 2
    assert waiting(project) == 5


def test_a_note_can_be_filed_elsewhere_by_its_name(cli: Inside, project: Path) -> None:
    fill(project, 5)
    plain = cli("consolidate", "--dry-run", "--json").json
    assert {each["category"] for each in plain["notes"]} == {"project-notes"}
    assert cli("consolidate", "--yes", "--category", "ripley-1=gossip").code == 2
    assert cli("consolidate", "--yes", "--category", "ripley-1").code == 2
    assert cli("consolidate", "--yes", "--category", "nobody=reviews").code == 1
    assert waiting(project) == 5
    options = ("--category", "ripley-1=reviews", "--category", "ripley-2.md=architecture")
    done = cli("consolidate", "--yes", "--json", *options)
    assert done.code == 0
    assert len(list((project / "knowledge" / "reviews").glob("*.md"))) == 1
    assert len(list((project / "knowledge" / "architecture").glob("*.md"))) == 1
    assert "knowledge/architecture/" in (project / "notes.md").read_text()


def test_a_storm_of_one_note_is_archived_and_nothing_is_learned(cli: Inside, project: Path) -> None:
    place = project / "notes" / "inbox"
    place.mkdir(parents=True)
    for number in range(6):
        (place / f"a-{number}.md").write_text("again")
    assert "mostly repeat one text" in cli("consolidate", "--dry-run").out
    refused = cli("consolidate", "--dry-run", "--category", "a-1=reviews")
    assert (refused.code, "none of it is filed" in refused.err) == (2, True)
    shape = cli("consolidate", "--yes", "--json").json
    assert (shape["breaker"], shape["digest"], shape["knowledge"], shape["rows"]) == (True, "", [], 0)
    assert waiting(project) == 0
    assert not (project / "notes.md").exists()


def test_what_a_note_says_reaches_the_terminal_without_control_characters(cli: Inside, project: Path) -> None:
    fill(project, 4)
    (project / "notes" / "inbox" / "ripley-\x1b]0;x\x07.md").write_text(
        "# A \x1b[31mred\u202e\n\nalways \x1b[2J clear the whole screen\n"
    )
    done = cli("consolidate", "--dry-run")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
    assert cli("consolidate", "--yes").code == 0
    assert b"\x1b" not in (project / "notes.md").read_bytes()


@pytest.mark.parametrize(
    ("text", "by"), [("long enough, but without the heading that a digest needs", "rules"), (None, "model")]
)
def test_a_configured_model_writes_the_digest_and_the_rules_where_it_writes_none(
    text: str | None, by: str, cli: Inside, project: Path
) -> None:
    digest = "### 2026-11-30: Locks\n\n#### Bugs and gotchas\n\n- **Locks**: take them first [ripley]\n"
    fill(project, 5)
    with serve([Reply(text=text or f"```\n{digest}```", usage=(90, 30))]) as server:
        config = Path(os.environ["MUNIMENT_CONFIG_DIR"])
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.yaml").write_text(
            f"model: {{provider: openai, name: m, base_url: '{server.base_url}'}}\n"
        )
        assert cli("consolidate", "--dry-run", "--json").json["by"] == "rules"
        assert cli("consolidate").code == 1
        assert server.requests == []
        done = cli("consolidate", "--yes", "--json")
        assert len(server.requests) == 1
    shape = done.json
    assert (done.code, shape["applied"], shape["by"]) == (0, True, by)
    assert shape["usage"] == {"input_tokens": 90, "output_tokens": 30}
    assert ("the rules wrote the digest" in done.err) is (by == "rules")
    assert (digest in (project / "notes.md").read_text()) is (by == "model")


# knowledge


def test_an_entry_is_written_listed_and_shown(cli: Inside, project: Path) -> None:
    added = cli(
        "knowledge", "add", "--category", "conventions", "--title", "Locks", "--content", "-",
        "--type", "procedural", "--expires", "2099-12-31", "--json", text="Take the lock first.\n",
    )  # fmt: skip
    assert added.code == 0
    shape = added.json
    assert (shape["category"], shape["row"]["trust"], shape["row"]["scope"]) == (
        "conventions",
        "human",
        "project",
    )
    (entry,) = cli("knowledge", "list", "--json").json["entries"]
    assert entry["name"] == shape["name"]
    assert (entry["type"], entry["expires_at"], entry["held"]) == (
        "procedural",
        "2099-12-31T23:59:59Z",
        False,
    )
    shown = cli("knowledge", "show", shape["name"], "--json").json
    assert "Take the lock first." in shown["entry"]["content"]
    assert shown["row"]["id"] == shape["row"]["id"]
    assert "Take the lock first." in cli("knowledge", "show", shape["name"]).out
    hits = cli("ledger", "search", "lock", "--json").json["hits"]
    assert [(hit["id"], hit["type"], hit["trust"]) for hit in hits] == [
        (shape["row"]["id"], "procedural", "human")
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("knowledge", "list", "--category", "nonsense"), 2),
        (("knowledge", "show", "nothing"), 1),
        (("knowledge", "show", "../../etc/passwd"), 2),
        (("knowledge", "hold", "nothing"), 1),
        (("knowledge", "add", "--category", "nonsense", "--title", "A", "--content", "b"), 2),
        (("knowledge", "add", "--category", "reviews", "--title", " ", "--content", "b"), 2),
        (
            (
                "knowledge",
                "add",
                "--category",
                "reviews",
                "--title",
                "A",
                "--content",
                "b",
                "--expires",
                "soon",
            ),
            2,
        ),
        (
            (
                "knowledge",
                "add",
                "--category",
                "reviews",
                "--title",
                "A",
                "--content",
                "b",
                "--type",
                "episodic",
            ),
            2,
        ),
        (("knowledge", "list"), 0),
        (("knowledge", "sweep"), 0),
    ],
)
def test_each_way_of_asking_wrongly_has_its_exit_code(
    arguments: tuple[str, ...], code: int, cli: Inside, project: Path
) -> None:
    done = cli(*arguments)
    assert done.code == code
    assert "Traceback" not in done.err
    assert tree(project) == {}


def test_a_sweep_asks_before_it_moves_anything(cli: Inside, project: Path) -> None:
    for _ in range(2):
        cli("knowledge", "add", "--category", "reviews", "--title", "Same", "--content", "same text")
    before = tree(project)
    asked = cli("knowledge", "sweep")
    assert asked.code == 1
    assert "duplicate: reviews/" in asked.out
    assert "--yes answers in advance" in asked.err
    shape = cli("knowledge", "sweep", "--json")
    assert (shape.code, shape.json["applied"]) == (1, False)
    (item,) = shape.json["items"]
    assert (item["kind"], item["category"], item["target"]) == ("duplicate", "reviews", None)
    assert tree(project) == before
    done = cli("knowledge", "sweep", "--yes", "--json")
    assert (done.code, done.json["applied"], done.json["swept"]) == (0, True, [item["name"]])
    assert len(cli("knowledge", "list", "--json").json["entries"]) == 1
    assert len(list((project / "knowledge" / "_swept").glob("*.md"))) == 1


def test_a_held_entry_is_left_out_of_the_sweep_until_it_is_released(cli: Inside, project: Path) -> None:
    names = [
        cli(
            "knowledge", "add", "--category", "reviews", "--title", "Same", "--content", "same", "--json"
        ).json["name"]
        for _ in range(2)
    ]
    for name in names:
        assert cli("knowledge", "hold", name, "--json").json["held"] is True
    assert cli("knowledge", "sweep", "--json").json["items"] == []
    assert cli("knowledge", "release", names[0], "--json").json["held"] is False
    assert len(cli("knowledge", "sweep", "--json").json["items"]) == 1


def test_expired_entries_are_listed_only_when_all_are_asked_for(cli: Inside, project: Path) -> None:
    cli(
        "knowledge",
        "add",
        "--category",
        "reviews",
        "--title",
        "Old",
        "--content",
        "x",
        "--expires",
        "2020-01-01",
    )
    assert cli("knowledge", "list", "--json").json["entries"] == []
    (entry,) = cli("knowledge", "list", "--all", "--json").json["entries"]
    assert entry["expired"] is True
    assert cli("knowledge", "list", "--scope", "global", "--all", "--json").json["entries"] == []
