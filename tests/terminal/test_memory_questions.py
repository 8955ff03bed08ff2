"""What the memory commands ask on a terminal: everything shown before, nothing done on no."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import run
from support.terminal import Terminal


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "study"
    (directory / ".muniment" / "memory").mkdir(parents=True)
    return directory


def asked(project: Path, user: Path, *arguments: str, answer: str) -> tuple[str, int]:
    with Terminal(list(arguments), cwd=project, base=user, columns=240, rows=40) as terminal:
        terminal.wait_for("[y/N]")
        shown = terminal.text
        terminal.send(f"{answer}\r")
        return shown, terminal.exit_code()


def test_an_import_shows_what_it_would_do_and_asks_once_for_all(project: Path, user: Path) -> None:
    (project / "CLAUDE.md").write_text("- Use tabs\n- Sign commits\n")
    record = project / ".muniment" / "memory" / "use-tabs.yaml"
    shown, code = asked(project, user, "memory", "import", "CLAUDE.md", answer="n")
    assert "create   use-tabs" in shown
    assert "Write 2 of 2 records?" in shown
    assert code == 1
    assert not record.exists()
    _, code = asked(project, user, "memory", "import", "CLAUDE.md", answer="y")
    assert code == 0
    assert record.exists()
    (project / "CLAUDE.md").write_text("- Use tabs\n  and spaces\n")
    shown, code = asked(project, user, "memory", "import", "CLAUDE.md", "--replace", answer="no")
    assert "+ and spaces" in shown
    assert code == 1
    assert "spaces" not in record.read_text()


def test_an_undo_of_what_was_changed_since_shows_the_difference_and_does_nothing_on_no(
    project: Path, user: Path
) -> None:
    for content in ("first text", "second text"):
        stored = ("--id", "rule", "--title", "t", "--content", content)
        assert run("memory", "store", *stored, cwd=project, base=user).code == 0
    record = project / ".muniment" / "memory" / "rule.yaml"
    by_hand = record.read_text().replace("second text", "text of mine")
    record.write_text(by_hand)
    shown, code = asked(project, user, "memory", "undo", answer="n")
    assert "was changed since that write" in shown
    assert "- content: text of mine" in shown
    assert "+ content: first text" in shown
    assert (code, record.read_text()) == (1, by_hand)
    _, code = asked(project, user, "memory", "undo", answer="yes")
    assert code == 0
    assert "first text" in record.read_text()


def test_an_undo_of_a_new_record_that_is_gone_promises_nothing(project: Path, user: Path) -> None:
    stored = ("--id", "rule", "--title", "t", "--content", "c")
    assert run("memory", "store", *stored, cwd=project, base=user).code == 0
    (project / ".muniment" / "memory" / "rule.yaml").unlink()
    shown, code = asked(project, user, "memory", "undo", answer="yes")
    assert "is gone already" in shown
    assert "The file stays away" in shown
    assert "changes no file" in shown
    assert code == 0


def test_a_purge_says_what_it_takes_and_leaves_it_on_no(project: Path, user: Path) -> None:
    stored = ("--id", "rule", "--title", "t", "--content", "c")
    assert run("memory", "store", *stored, cwd=project, base=user).code == 0
    shown, code = asked(project, user, "memory", "purge", "rule", answer="")
    assert "every copy of rule" in shown
    assert "cannot be undone" in shown
    assert code == 1
    assert (project / ".muniment" / "memory" / "rule.yaml").exists()


def test_an_answer_about_a_row_that_changed_meanwhile_retracts_nothing(project: Path, user: Path) -> None:
    entry = ("--title", "Plums", "--content", "Plums are blue.")
    assert run("knowledge", "add", *entry, cwd=project, base=user).code == 0
    found = run("ledger", "search", "plums", "--json", cwd=project, base=user)
    (row_id,) = [each["id"] for each in found.json["hits"]]
    with Terminal(["ledger", "retract", row_id], cwd=project, base=user, columns=240) as terminal:
        terminal.wait_for("[y/N]")
        assert run("ledger", "pin", row_id, cwd=project, base=user).code == 0
        terminal.send("y\r")
        assert terminal.exit_code() == 1
        assert "was changed meanwhile, nothing was retracted" in terminal.text
    shown = run("ledger", "show", row_id, "--json", cwd=project, base=user)
    assert (shown.json["row"]["status"], shown.json["row"]["importance"]) == ("active", 1.0)
