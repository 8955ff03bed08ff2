"""How well records are found: 300 of them, 400 questions of nine kinds, each kind with its least recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from muniment.memory.records.index.search import Hit
from muniment.memory.records.record import Record, encode
from muniment.memory.records.store import RecordStore
from support.records import START, World

DATA = Path(__file__).resolve().parents[1] / "recall"
DEPTH = 5


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    text: str
    answers: tuple[str, ...]


def _lines(name: str) -> list[str]:
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _questions() -> list[Question]:
    found = []
    for line in _lines("queries.txt"):
        kind, rest = line.split(" | ", 1)
        text, answers = rest.rsplit(" |", 1)
        found.append(Question(kind, text, tuple(answers.split())))
    return found


QUESTIONS = _questions()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> RecordStore:
    """A chain of the global scope and one project that hold the set; `x` records have expired."""
    world = World(tmp_path_factory.mktemp("recall"))
    project = world.root / "heron"
    directories = {"g": world.paths.data / "memory", "p": project / ".muniment" / "memory"}
    directories["x"] = directories["p"]
    for directory in directories.values():
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    for line in _lines("records.txt"):
        scope, id_, category, tags, title, content = line.split(" | ", 5)
        ended = START - timedelta(days=1) if scope == "x" else None
        record = Record(
            id=id_,
            category=category,
            title=title,
            content=content,
            tags=tuple(tags.split(",")),
            source="user",
            created_at=START,
            updated_at=START,
            expires_at=ended,
            extras={},
        )
        (directories[scope] / f"{id_}.yaml").write_bytes(encode(record))
    return world.store(project)


def _hits(store: RecordStore, question: Question) -> list[Hit]:
    return list(store.search(question.text, limit=DEPTH).hits)


def test_the_set_has_its_full_size() -> None:
    assert len(_lines("records.txt")) == 300
    assert len(QUESTIONS) == 400


LEAST = {
    # (among the first five, first of all); paraphrases share few words or none with what they ask for.
    "exact": (1.0, 1.0),
    "paraphrase": (0.86, 0.75),
    "neighbours": (1.0, 1.0),
    "superseded": (1.0, 0.96),
    "overridden": (1.0, 0.96),
    "injected": (1.0, 1.0),
    "short-cjk": (1.0, 1.0),
    "identifier": (1.0, 1.0),
}


LEAST_SILENT = 0.75
"""The rest share a word or a part of an identifier with some record, as `HRN-99999` does with `HRN-482`."""


@pytest.mark.parametrize("kind", LEAST)
def test_of_each_kind_of_question_enough_find_their_record(
    kind: str, store: RecordStore, record_property: Callable[[str, object], None]
) -> None:
    asked = [question for question in QUESTIONS if question.kind == kind]
    found = [[hit.meta.id for hit in _hits(store, question)] for question in asked]
    pairs = list(zip(asked, found, strict=True))
    missed = [question.text for question, ids in pairs if not set(ids).issuperset(question.answers)]
    first = [question.text for question, ids in pairs if ids[:1] != list(question.answers[:1])]
    recall, hit = 1 - len(missed) / len(asked), 1 - len(first) / len(asked)
    record_property("measured", f"{kind:11} recall@{DEPTH} {recall:6.1%}  first {hit:6.1%}  of {len(asked)}")
    least_recall, least_hit = LEAST[kind]
    assert recall >= least_recall, missed
    assert hit >= least_hit, first


def test_where_nothing_is_to_be_found_nothing_is_claimed(
    store: RecordStore, record_property: Callable[[str, object], None]
) -> None:
    asked = [question for question in QUESTIONS if question.kind == "nothing"]
    claimed = {question.text: [hit.meta.id for hit in _hits(store, question)] for question in asked}
    silent = sum(not ids for ids in claimed.values())
    record_property("measured", f"{'nothing':11} silent   {silent / len(asked):6.1%}  of {len(asked)}")
    assert silent / len(asked) >= LEAST_SILENT, claimed


def test_no_question_brings_back_what_has_expired_or_is_overridden(store: RecordStore) -> None:
    for question in QUESTIONS:
        for hit in _hits(store, question):
            assert not hit.meta.id.endswith("-formerly"), question
            assert hit.effective, question
            if question.kind == "overridden" and hit.meta.id in question.answers:
                assert hit.meta.scope.kind == "project", question
