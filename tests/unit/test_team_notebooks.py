"""Notebooks: one file an agent, newest entries last, bounded by dropping the oldest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.memory.team import notebook_summary
from muniment.memory.team.consolidate_prompt import DigestRejected
from muniment.memory.team.notebooks import demoted, entry_text, joined, split
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session.team.digesting import summarised
from muniment.settings import Settings
from muniment.settings.values import NotebookSettings, SummarySettings
from support.session import Say, StepModel
from support.team import USER, Workspace


def workspace(root: Path, **bounds: object) -> Workspace:
    return Workspace(root, settings=Settings(notebooks=replace(NotebookSettings(), **bounds)))  # type: ignore[arg-type]


def test_the_301st_entry_pushes_the_oldest_out(tmp_path: Path) -> None:
    made = workspace(tmp_path)
    book = made.team.notebooks
    path = book.path_of("ripley")
    path.parent.mkdir(parents=True)
    path.write_text(joined("ripley", "", [f"### 2026-01-01 E{number}\n\ntext" for number in range(300)]))
    book.append("ripley", "### 2026-11-30 New\n\ntext", USER)
    kept = book.entries("ripley")
    assert len(kept) == 300
    assert kept[0].startswith("### 2026-01-01 E1\n")
    assert kept[-1] == "### 2026-11-30 New\n\ntext"
    assert path.read_text().startswith("# Notebook of ripley\n")


def test_the_byte_window_is_kept_and_the_newest_entry_always(tmp_path: Path) -> None:
    made = workspace(tmp_path, max_bytes=1_000)
    book = made.team.notebooks
    for number in range(12):
        book.append("ripley", f"### 2026-11-30 E{number}\n\n{'é' * 100}", USER)
        assert len(book.path_of("ripley").read_bytes()) <= 1_000
        assert book.entries("ripley")[-1].startswith(f"### 2026-11-30 E{number}\n")
    book.append("ripley", f"### 2026-11-30 Big\n\n{'x' * 2_000}", USER)
    assert [each.partition("\n")[0] for each in book.entries("ripley")] == ["### 2026-11-30 Big"]


def test_the_newest_entries_within_a_bound_are_whole_and_in_order(tmp_path: Path) -> None:
    made = workspace(tmp_path)
    book = made.team.notebooks
    for number in range(3):
        book.append("ripley", f"### E{number}\n\ntext", USER)
    assert book.newest("ripley", 1_000) == "### E0\n\ntext\n\n### E1\n\ntext\n\n### E2\n\ntext"
    assert (
        book.newest("ripley", len("### E1\n\ntext\n\n### E2\n\ntext")) == "### E1\n\ntext\n\n### E2\n\ntext"
    )
    assert book.newest("ripley", 5) == "### E"
    assert book.newest("nobody", 100) == ""


@settings(max_examples=25)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=8), st.integers(1, 6), st.integers(100, 900))
def test_whatever_the_bounds_the_newest_entry_stays_and_only_oldest_ones_go(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], most: int, window: int
) -> None:
    made = workspace(tmp_path_factory.mktemp("book"), max_entries=most, max_bytes=window)
    book = made.team.notebooks
    written = [f"### 2026-11-30 E{number}\n\n{'x' * size}" for number, size in enumerate(sizes)]
    book.extend("ripley", written, USER)
    kept = book.entries("ripley")
    assert kept == written[-len(kept) :]
    assert 1 <= len(kept) <= most
    fits = len(book.path_of("ripley").read_bytes()) <= window
    assert fits or len(kept) == 1
    longer = written[-len(kept) - 1 :]
    if len(longer) > len(kept) and len(longer) <= most:
        assert len(joined("ripley", "", longer).encode()) > window


@pytest.mark.parametrize("text", ["", "text", "## Other\n\nx", "### A\n\nx\n### B\n\ny", "#### A"])
def test_what_is_not_exactly_one_entry_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        workspace(tmp_path).team.notebooks.append("ripley", text, USER)


@pytest.mark.parametrize("agent", ["", "../x", "a/b", ".x", "a\x00", "-a", "a b", "x" * 65])
def test_a_name_that_is_a_path_or_worse_has_no_notebook(agent: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        workspace(tmp_path).team.notebooks.append(agent, "### A\n\nx", USER)
    assert list(tmp_path.rglob("*.md")) == []


def test_a_notebook_that_is_a_link_is_not_used_and_not_written_through(tmp_path: Path) -> None:
    made = workspace(tmp_path)
    outside = tmp_path / "outside.md"
    outside.write_text("### Theirs\n\nsecret")
    path = made.team.notebooks.path_of("ripley")
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    assert made.team.notebooks.read("ripley") == ""
    assert made.team.notebooks.problem is not None
    assert made.team.notebooks.problem.reason == "is a symbolic link"
    with pytest.raises(TeamRefused, match="is left alone"):
        made.team.notebooks.append("ripley", "### A\n\nx", USER)
    assert outside.read_text() == "### Theirs\n\nsecret"


@given(st.lists(st.text(st.sampled_from("abc #-\n"), max_size=40), max_size=6))
def test_entries_come_back_as_they_were_put_together(texts: list[str]) -> None:
    entries = [
        entry_text("2026-11-30", f"T{number}", [demoted(text).strip()], "x").strip()
        for number, text in enumerate(texts)
    ]
    assert split(joined("a", "", entries)) == ("# Notebook of a", entries)


def _old_notebook(made: Workspace, count: int) -> list[str]:
    entries = [
        f"### 2026-09-{1 + number % 28:02} E{number}\n\n- fact number {number}, spelled out at length"
        for number in range(count)
    ]
    path = made.team.notebooks.path_of("ripley")
    path.parent.mkdir(parents=True)
    path.write_text(joined("ripley", "", [*entries, "### 2026-11-29 Fresh\n\ntext"]))
    return entries


@pytest.mark.parametrize(("count", "enabled", "due"), [(31, True, 1), (30, True, 0), (31, False, 0)])
def test_a_summary_is_due_only_when_it_is_on_and_more_than_the_threshold_are_old(
    count: int, enabled: bool, due: int, tmp_path: Path
) -> None:
    made = workspace(tmp_path, summary=SummarySettings(enabled=enabled))
    _old_notebook(made, count)
    assert len(notebook_summary.due(made.team)) == due


async def test_an_approved_summary_takes_the_place_of_the_old_entries_only(tmp_path: Path) -> None:
    made = workspace(tmp_path, summary=SummarySettings(enabled=True))
    old = _old_notebook(made, 31)
    (what,) = notebook_summary.due(made.team)
    assert list(what.entries) == old
    answer = "- all the facts of the autumn, in one line that is long enough\n### 2026-11-30 Forged"
    plan = await summarised(what, StepModel(Say(answer)))
    notebook_summary.commit(made.team, plan, USER)
    first, last = made.team.notebooks.entries("ripley")
    assert first.startswith("### 2026-09-03 Summary of 31 entries from 2026-09-01 on\n\n- all the facts")
    assert "#### 2026-11-30 Forged" in first
    assert last == "### 2026-11-29 Fresh\n\ntext"
    entry = next(iter(made.surfaces.journal.entries()))
    assert entry.text_before is not None
    assert old[0] in entry.text_before


async def test_a_summary_is_bound_to_the_entries_as_they_were_and_must_be_shorter(tmp_path: Path) -> None:
    made = workspace(tmp_path, summary=SummarySettings(enabled=True))
    _old_notebook(made, 31)
    (what,) = notebook_summary.due(made.team)
    plan = await summarised(what, StepModel(Say("- " + "short enough to be a summary of them " * 2)))
    path = made.team.notebooks.path_of("ripley")
    path.write_text(path.read_text().replace("fact number 3,", "fact number three,"))
    before = path.read_text()
    with pytest.raises(TeamRefused, match="changed after approval, nothing written"):
        notebook_summary.commit(made.team, plan, USER)
    assert path.read_text() == before
    for answer in ("short", "x" * 9_000):
        with pytest.raises(DigestRejected):
            await summarised(what, StepModel(Say(answer)))
    with pytest.raises(MunimentError, match="needs a model"):
        await summarised(what, None)
