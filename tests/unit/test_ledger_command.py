"""`muniment ledger`: shapes, exit codes, and what an import may and may not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command import Inside
from support.environment import user_variables
from support.ledger import Place, row


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path)
    for name, value in user_variables(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def cli(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Inside:
    return Inside(monkeypatch, capfdbinary)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in rows)


def test_search_prints_the_promised_shape(place: Place, cli: Inside) -> None:
    (written,) = place.write(row("Plums are blue.", source="note:NOTE-1", trust="human"))
    shown = cli("ledger", "search", "plums", "--json")
    assert shown.code == 0
    (hit,) = shown.json["hits"]
    assert hit.keys() >= {"id", "type", "scope", "trust", "status", "title", "source", "date", "score"}
    assert (hit["id"], hit["type"], hit["scope"], hit["trust"]) == (written.id, "semantic", "global", "human")
    assert (hit["status"], hit["source"], hit["date"]) == ("active", "note:NOTE-1", "2026-10-25T03:07:29Z")
    assert hit["score"] > 0
    plain = cli("ledger", "search", "plums")
    assert written.id in plain.out
    assert "from note:NOTE-1" in plain.out


def test_nothing_found_is_no_failure(cli: Inside) -> None:
    assert cli("ledger", "search", "plums", "--json").json == {"hits": [], "searched": 0, "truncated": False}
    assert cli("ledger", "search").code == 0
    assert cli("ledger", "telemetry", "--json").json == {"rows": [], "kept": 0}


def test_listing_takes_scope_limit_and_all(place: Place, cli: Inside) -> None:
    one, two = place.write(row("Plums one."), row("Plums two.", scope_kind="agent", scope_key="a"))
    cli("ledger", "retract", one.id, "--yes")

    def ids(*more: str) -> list[str]:
        return [each["id"] for each in cli("ledger", "search", "plums", "--json", *more).json["hits"]]

    assert ids() == [two.id]
    assert set(ids("--all")) == {one.id, two.id}
    assert ids("--all", "--scope", "global") == [one.id]
    assert len(ids("--all", "--limit", "1")) == 1
    assert cli("ledger", "search", "--limit", "0").code == 2
    assert cli("ledger", "search", "--scope", "team").code == 2


def test_rows_of_another_project_are_listed_only_when_asked_for_everywhere(place: Place, cli: Inside) -> None:
    (theirs,) = place.write(row("Plums.", scope_kind="project", scope_key="elsewhere"))
    assert cli("ledger", "search", "plums", "--all", "--json").json["hits"] == []
    (hit,) = cli("ledger", "search", "plums", "--everywhere", "--json").json["hits"]
    assert hit["id"] == theirs.id


def test_retract_needs_a_yes_and_restore_and_pin_take_it_back(place: Place, cli: Inside) -> None:
    (written,) = place.write(row("Plums are blue."))
    refused = cli("ledger", "retract", written.id)
    assert refused.code == 1
    assert "--yes" in refused.err
    assert place.ledger().get(written.id).status == "active"
    done = cli("ledger", "retract", written.id, "--yes", "--json")
    assert (done.code, done.json["status"], done.json["changed"]) == (0, "retracted", True)
    again = cli("ledger", "retract", written.id, "--json")
    assert (again.code, again.json["changed"]) == (0, False)
    assert cli("ledger", "restore", written.id, "--json").json["status"] == "active"
    pinned = cli("ledger", "pin", written.id, "--json").json
    assert (pinned["trust"], pinned["importance"], pinned["confidence"]) == ("human", 1.0, 1.0)
    assert cli("ledger", "pin", written.id).out.startswith(f"{written.id} is pinned already")


@pytest.mark.parametrize("command", ["show", "pin", "retract", "restore"])
def test_a_row_that_is_not_there_is_one_sentence_and_exit_1(cli: Inside, command: str) -> None:
    result = cli("ledger", command, "M-0123")
    assert result.code == 1
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert "M-0123" in result.err


def test_show_prints_every_field_and_hides_nothing(place: Place, cli: Inside) -> None:
    (written,) = place.write(row("Plums\x1b[31m\nare blue.", tags=("a", "b")))
    shown = cli("ledger", "show", written.id)
    assert "\x1b" not in shown.out
    assert "trust:" in shown.out
    assert cli("ledger", "show", written.id, "--json").json["row"]["body"] == "Plums\x1b[31m\nare blue."


def test_an_import_is_external_whatever_it_claims(place: Place, cli: Inside) -> None:
    claim = {
        "id": "M-chosen",
        "body": "Plums are blue.",
        "trust": "human",
        "status": "active",
        "type": "procedural",
        "source": "wiki",
        "importance": 1,
    }
    done = cli("ledger", "import", "-", "--json", text=lines(claim))
    assert done.code == 0
    assert done.json["added"] == 1
    (hit,) = cli("ledger", "search", "plums", "--json").json["hits"]
    assert hit["trust"] == "external"
    assert hit["id"] != "M-chosen"
    assert hit["source"] == "import:wiki"
    assert cli("context", "--prompt", "plums", "--json").json["blocks"] == []


def test_an_import_is_all_or_nothing_and_names_the_faulty_lines(cli: Inside, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    good = json.dumps({"body": "Plums are blue."})
    bad = ['{"body": 1}', "nonsense", '{"body": "a", "body": "b"}', '{"body": "a", "colour": "b"}']
    file.write_text("\n".join([good, *bad, good]))
    done = cli("ledger", "import", str(file))
    assert done.code == 2
    for said in ("line 2", "line 3", "line 4", "1 more"):
        assert said in done.err
    assert cli("ledger", "search", "--json").json["hits"] == []


@pytest.mark.parametrize(
    "line",
    [
        {"title": "no body"},
        {"body": "x", "type": "gossip"},
        {"body": "x", "scope": "team"},
        {"body": "x", "scope": "agent"},
        {"body": "x", "tags": "a"},
        {"body": "x", "tags": [1]},
        {"body": "x", "importance": "much"},
        {"body": "x", "confidence": 2},
        {"body": "x", "expires_at": "someday"},
        {"body": "x\x00"},
        {"body": "\ud800"},
        {"body": "x" * 65_537},
    ],
)
def test_a_faulty_line_is_invalid_input(cli: Inside, line: dict[str, Any]) -> None:
    done = cli("ledger", "import", "-", text=lines(line))
    assert done.code == 2
    assert "line 1" in done.err
    assert "Traceback" not in done.err


def test_importing_twice_adds_nothing_and_changed_lines_supersede(cli: Inside) -> None:
    first = lines({"title": "Colour", "body": "Plums are blue.", "source": "wiki"})
    assert cli("ledger", "import", "-", "--json", text=first).json["added"] == 1
    assert cli("ledger", "import", "-", "--json", text=first).json["added"] == 0
    second = lines({"title": "Colour", "body": "Plums are red.", "source": "wiki"})
    assert cli("ledger", "import", "-", "--json", text=second).json["added"] == 1
    hits = cli("ledger", "search", "plums", "--all", "--json").json["hits"]
    assert sorted(each["status"] for each in hits) == ["active", "superseded"]


def test_an_import_supersedes_nothing_that_it_did_not_bring(place: Place, cli: Inside) -> None:
    (mine,) = place.write(row("Plums are blue.", source="wiki", title="Colour"))
    cli("ledger", "import", "-", text=lines({"title": "Colour", "body": "Plums are red.", "source": "wiki"}))
    assert place.ledger().get(mine.id).status == "active"


def test_a_dry_run_writes_nothing(place: Place, cli: Inside) -> None:
    done = cli("ledger", "import", "-", "--dry-run", "--json", text=lines({"body": "x", "scope": "project"}))
    assert (done.code, done.json["dry_run"], done.json["added"]) == (0, True, 0)
    assert not place.paths.ledger.exists()
    assert not (place.project / ".muniment" / "project.yaml").exists()


def test_rows_for_the_project_are_put_into_the_project_here(place: Place, cli: Inside) -> None:
    cli("ledger", "import", "-", text=lines({"body": "Plums.", "scope": "project", "scope_key": "another"}))
    (hit,) = cli("ledger", "search", "plums", "--scope", "project", "--json").json["hits"]
    assert hit["scope_key"] == place.surfaces().team.scope_key


def test_a_file_that_is_not_there_or_no_text_is_one_sentence(cli: Inside, tmp_path: Path) -> None:
    assert cli("ledger", "import", str(tmp_path / "nothing.jsonl")).code == 1
    (tmp_path / "bytes").write_bytes(b'{"body": "\xff"}')
    done = cli("ledger", "import", str(tmp_path / "bytes"))
    assert done.code == 2
    assert "UTF-8" in done.err


def test_a_damaged_ledger_is_one_sentence_and_exit_1(place: Place, cli: Inside) -> None:
    place.paths.data.mkdir(parents=True, exist_ok=True)
    place.paths.ledger.write_bytes(b"no database at all " * 500)
    for command in (("search", "plums"), ("show", "M-1"), ("pin", "M-1")):
        done = cli("ledger", *command)
        assert done.code == 1
        assert "is damaged" in done.err
        assert done.err.count("\n") == 1
    assert cli("context", "--prompt", "plums").code == 0


def test_telemetry_lists_what_a_run_recalled(place: Place, cli: Inside) -> None:
    (written,) = place.write(row("Plums are blue."))
    assert cli("run", "--prompt", "what colour are plums", "--provider", "rehearsal").code == 0
    (noted,) = cli("ledger", "telemetry", "--json").json["rows"]
    assert noted.keys() == {
        "time",
        "session",
        "query",
        "candidates",
        "selected",
        "ids",
        "bytes",
        "duration_ms",
        "shadow",
    }
    assert (noted["candidates"], noted["selected"], noted["ids"]) == (1, 1, [written.id])
    assert "1 of 1 candidates" in cli("ledger", "telemetry").out


def test_context_shows_for_each_packed_row_why(place: Place, cli: Inside) -> None:
    (written,) = place.write(row("Plums are blue.", source="note:1"))
    (block,) = cli("context", "--prompt", "what colour are plums", "--json").json["blocks"]
    assert block["name"] == "pack"
    (why,) = block["rows"]
    assert (why["id"], why["source"]) == (written.id, "note:1")
    assert why["parts"]["words"] == 1.0
    assert cli("ledger", "telemetry", "--json").json["rows"] == []
