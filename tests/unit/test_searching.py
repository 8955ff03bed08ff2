"""The search over everything: one ranking, truth before rank, filters, counts, and giving up."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.memory.surfaces import Surfaces
from muniment.paths import resolve_paths
from muniment.session.holdings.items import KINDS, Kind
from muniment.session.holdings.search import ALL_KINDS, Answer, Ask, Scope, Stopped, search_all
from muniment.settings import Settings
from support.app import project_at, write_record
from support.memory_world import memory_world


@pytest.fixture
def surfaces(tmp_path: Path) -> Surfaces:
    return Surfaces(resolve_paths(), memory_world(tmp_path), Settings())


def found(answer: Answer) -> list[tuple[str, str]]:
    return [(hit.item.kind, hit.item.id) for hit in answer.hits]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("who counted", "record"),
        ("pnpm", "user"),
        ("agree", "inbox"),
        ("thursday noon", "pinned"),
        ("numbered from one", "notes"),
        ("missing", "notebook"),
        ("one pass", "knowledge"),
        ("finding", "ledger"),
    ],
)
def test_each_surface_is_found_by_words_of_its_text(surfaces: Surfaces, words: str, kind: str) -> None:
    answer = search_all(surfaces, Ask(words))
    assert kind in {hit.item.kind for hit in answer.hits}
    assert answer.hits[0].score >= answer.hits[-1].score


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("who coun", "record"),
        ("pnp", "user"),
        ("agreeme", "inbox"),
        ("thurs", "pinned"),
        ("numb", "notes"),
        ("missi", "notebook"),
        ("one pas", "knowledge"),
        ("findi", "ledger"),
    ],
)
def test_while_somebody_types_half_a_word_finds_in_each_surface(
    surfaces: Surfaces, words: str, kind: str
) -> None:
    answer = search_all(surfaces, Ask(words, typing=True))
    assert kind in {hit.item.kind for hit in answer.hits}
    whole = search_all(surfaces, Ask(words))
    assert kind not in {hit.item.kind for hit in whole.hits}


def test_what_is_not_in_effect_comes_only_on_demand_and_says_why(surfaces: Surfaces) -> None:
    plain = search_all(surfaces, Ask("pilot words"))
    assert not any(hit.item.state for hit in plain.hits)
    both = search_all(surfaces, Ask("pilot words", everything=True))
    copies = [hit for hit in both.hits if hit.item.id == "pilot-terms"]
    assert [hit.item.state for hit in copies] == ["", "overridden"]
    held = search_all(surfaces, Ask("late answers", everything=True))
    assert [hit.item.state for hit in held.hits if hit.item.kind == "inbox"] == ["held"]
    assert not any(hit.item.kind == "inbox" for hit in search_all(surfaces, Ask("late answers")).hits)


def test_the_effective_copy_stands_before_an_overridden_one_that_says_more(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(resolve_paths().data, "rule", "A heron rule", "Heron heron heron heron.")
    write_record(project / ".muniment", "rule", "A rule", "One heron, and much else that is said here.")
    surfaces = Surfaces(resolve_paths(), project, Settings())
    answer = search_all(surfaces, Ask("heron", everything=True))
    assert [hit.item.state for hit in answer.hits] == ["", "overridden"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_alone_is_searched_and_counted(surfaces: Surfaces, kind: Kind) -> None:
    answer = search_all(surfaces, Ask("pilot sheet sheets pnpm answers", frozenset((kind,)), everything=True))
    assert {hit.item.kind for hit in answer.hits} <= {kind}
    assert set(answer.searched) == {kind}
    assert answer.total > 0


@pytest.mark.parametrize("scope", ["project", "global"])
def test_a_scope_alone_is_searched(surfaces: Surfaces, scope: Scope) -> None:
    answer = search_all(surfaces, Ask("pilot sheet pnpm", ALL_KINDS, scope))
    assert answer.hits
    kinds = {hit.item.kind for hit in answer.hits}
    assert ("user" in kinds) is (scope == "global")
    assert ("pinned" in kinds) is (scope == "project")
    for hit in answer.hits:
        if hit.item.kind == "record":
            assert hit.scope.startswith(scope)


def test_the_places_of_the_words_are_marked_in_title_and_snippet(surfaces: Surfaces) -> None:
    hit = next(hit for hit in search_all(surfaces, Ask("sheet")).hits if hit.item.kind == "knowledge")
    assert [hit.item.title[start:end] for start, end in hit.title_spans] == ["sheets"]
    marked = [hit.snippet.text[start:end].lower() for start, end in hit.snippet.spans]
    assert all(word.startswith("sheet") for word in marked)


def test_more_hits_than_are_shown_are_said(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    for number in range(130):
        write_record(project / ".muniment", f"rule-{number:03}", f"Heron {number}")
    answer = search_all(Surfaces(resolve_paths(), project, Settings()), Ask("heron"))
    assert len(answer.hits) == 100
    assert answer.cut
    assert answer.searched["record"] == 130


def test_one_surface_that_cannot_be_read_hides_no_other(surfaces: Surfaces) -> None:
    resolve_paths().ledger.unlink()
    resolve_paths().ledger.write_bytes(b"this is no database at all" * 100)
    answer = search_all(surfaces, Ask("pilot"))
    assert answer.notices
    assert "record" in {hit.item.kind for hit in answer.hits}


def test_a_search_that_is_given_up_ends_at_its_next_step(surfaces: Surfaces) -> None:
    steps = iter([False, True])
    with pytest.raises(Stopped):
        search_all(surfaces, Ask("pilot"), stopped=lambda: next(steps))


@pytest.mark.parametrize("text", ["", "   ", "…", '""'])
def test_nothing_is_searched_for_no_words(surfaces: Surfaces, text: str) -> None:
    assert search_all(surfaces, Ask(text)) == Answer(Ask(text))


def test_the_same_search_gives_the_same_order(surfaces: Surfaces) -> None:
    ask = Ask("pilot sheet finding", everything=True)
    assert found(search_all(surfaces, ask)) == found(search_all(surfaces, ask))
