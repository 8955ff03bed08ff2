"""Scoring fifty memories a turn takes short cuts; what comes out is what the long way gives."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from math import log
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from muniment.memory.ledger.row import Places, Row
from muniment.memory.ledger.searching import TEXTS, WEIGHTS, fields_of
from muniment.memory.recall.authors import Authors
from muniment.memory.recall.candidates import gather
from muniment.memory.recall.fts import WordCounts
from muniment.memory.recall.matching import MAX_MATCHES, Matcher
from muniment.memory.recall.need import Need, build_need
from muniment.memory.recall.query import Query, build_query
from muniment.memory.recall.rank import (
    CONFIDENCE,
    HALF_LIFE_DAYS,
    IMPORTANCE,
    RECENCY,
    SCOPE,
    TRUST,
    WORDS,
    rank,
)
from muniment.memory.recall.score import LENGTH_SHARE, SATURATION, Corpus, Scorer
from support.ledger import ENGINE, Place, all_rows, row

PIECES = st.sampled_from(
    [
        *("retry", "retries", "dataStore", "max_retries", "C++", "c#", "plums", "Plum", "the", "parser2"),
        *(
            "XMLParser",
            "agreed",
            "naïve",
            "日本語",
            "“",
            '"',
            "—",
            "2026-10-25",
            "app/paths.py",
            "İ",
            "x" * 70,
        ),
    ]
)
GAPS = st.sampled_from([" ", "", ", ", "\n", "-", " " * 8, "\n" * 9, ".  "])
TEXTS_OF_PIECES = st.lists(st.tuples(PIECES, GAPS).map("".join), max_size=12).map("".join)


@given(TEXTS_OF_PIECES, st.lists(TEXTS_OF_PIECES, min_size=1, max_size=4), st.booleans())
def test_looking_through_texts_together_finds_what_looking_through_each_finds(
    asked: str, texts: list[str], typing: bool
) -> None:
    query = build_query(asked, typing=typing)
    matcher = Matcher(query)
    each = [matcher.match(text) for text in texts]

    counts, spans = matcher.across(texts, spans=True)

    terms = range(len(query.terms))
    assert [counts.get(number, [0] * len(texts)) for number in terms] == [
        [found.counts[number] for found in each] for number in terms
    ]
    assert spans == each[-1].spans
    assert matcher.across(texts, spans=False) == (counts, ())


def test_a_phrase_does_not_reach_from_one_field_into_the_next() -> None:
    matcher = Matcher(build_query('"both denominators"'))
    for gap in ("", " ", "\n" * 20):
        assert matcher.across(["show both" + gap, gap + "denominators here"], spans=False) == ({}, ())


def test_more_places_than_are_looked_at_count_field_by_field() -> None:
    matcher = Matcher(build_query("plum"))
    texts = ["plum " * 150, "plum " * 150, "plum " * (MAX_MATCHES + 50)]
    assert matcher.across(texts, spans=False)[0] == {0: [150, 150, MAX_MATCHES]}


@given(
    TEXTS_OF_PIECES,
    st.tuples(TEXTS_OF_PIECES, TEXTS_OF_PIECES, TEXTS_OF_PIECES),
    st.integers(1, 5_000),
    st.data(),
)
def test_the_fit_of_a_text_is_the_score_of_its_tally(
    asked: str, fields: tuple[str, str, str], size: int, data: st.DataObject
) -> None:
    query = build_query(asked)
    frequencies = data.draw(
        st.lists(st.integers(0, size), min_size=len(query.terms), max_size=len(query.terms))
    )
    corpus = Corpus(size, 200.0, frequencies)
    scorer = Scorer(query, WEIGHTS)
    (fit,) = scorer.fits([fields], corpus)
    assert fit == scorer.score(scorer.tally(fields), corpus) == plain_fit(query, fields, corpus)


@given(
    TEXTS_OF_PIECES,
    st.lists(
        st.tuples(TEXTS_OF_PIECES, TEXTS_OF_PIECES, TEXTS_OF_PIECES, st.sampled_from((0, 0, 0, 300, 900))),
        max_size=8,
    ),
)
@example("plum", [("", "", "", 0), ("plum", "plum", "Plums.", 300), ("", "plums", "", 900)])
def test_many_texts_at_once_fit_as_each_does_alone(
    asked: str, drawn: list[tuple[str, str, str, int]]
) -> None:
    query = build_query(asked)
    texts = [(title, labels, body + " plum retry" * more) for title, labels, body, more in drawn]
    corpus = Corpus(500, 80.0, [number % 500 for number in range(len(query.terms))])
    fits = Scorer(query, WEIGHTS).fits(texts, corpus)
    assert fits == [plain_fit(query, fields, corpus) for fields in texts]


def plain_fit(query: Query, fields: tuple[str, str, str], corpus: Corpus) -> float:
    """BM25 as it is written down, one field and one term after the other."""
    matcher = Matcher(query)
    found = [matcher.match(text).counts for text in fields]
    length = sum(len(text) for text in fields)
    norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * (length / max(corpus.mean_length, 1.0)))
    score = 0.0
    for number, term in enumerate(query.terms):
        count = 0.0
        for counts, weight in zip(found, WEIGHTS, strict=True):
            count += weight * counts[number]
        if term.required and not count:
            return 0.0
        if count:
            holding = corpus.frequencies[number]
            rarity = log(1.0 + max(corpus.size - holding, 0) / (holding + 0.5) + 0.5 / (holding + 0.5))
            score += term.weight * rarity * count * (SATURATION + 1) / (count + norm)
    return score


def plain_order(place: Place, need: Need) -> list[tuple[str, float, list[float]]]:
    """Recall from a small ledger the long way: every row whole, every part by its formula, one sort."""
    rows = [each for each in all_rows(place.ledger()) if Places("here", "me").hold(each)]
    with closing(sqlite3.connect(place.paths.ledger)) as connection:
        frequencies = TEXTS.frequencies(connection, need.query)
    every = all_rows(place.ledger())
    length = sum(sum(len(text) for text in fields_of(each)) - 1 for each in every)
    corpus = Corpus(len(every), length / len(every), frequencies)
    fits = {each.id: plain_fit(need.query, fields_of(each), corpus) for each in rows}
    rows = [each for each in rows if fits[each.id] > 0]
    best = max(fits.values(), default=0.0)
    ranked = [(each, plain_parts(each, fits[each.id] / best, place)) for each in rows]
    ranked.sort(key=lambda each: (-round(sum(each[1]), 6), -each[0].updated_at.timestamp(), each[0].id))
    return [(each.id, round(sum(parts), 6), parts) for each, parts in ranked]


def plain_parts(each: Row, fit: float, place: Place) -> list[float]:
    age = (place.clock() - each.updated_at).total_seconds() / 86_400
    return [
        round(WORDS * fit, 6),
        SCOPE[each.scope_kind],
        TRUST[each.trust],
        0.0,
        round(RECENCY * 0.5 ** (age / HALF_LIFE_DAYS), 6),
        round(IMPORTANCE * each.importance, 6),
        round(CONFIDENCE * each.confidence, 6),
    ]


def test_over_random_rows_order_and_parts_are_those_of_the_long_way(tmp_path: Path) -> None:
    place = Place(tmp_path)
    chance = random.Random(17)
    words = ["plum", "plums", "retry", "dataStore", "maxRetries", "nightly", "C++", "naïve", "parser"]

    def text(size: int) -> str:
        return " ".join(chance.choices(words, k=size)) + f" w{chance.randrange(10**6)}x"

    scopes = [("global", None, None), ("project", "here", "here"), ("agent", "me", "here")]
    scopes += [("project", "there", "there"), ("agent", "you", "here")]
    for _ in range(45):
        kind, key, project = chance.choice(scopes)
        place.write(
            row(
                text(chance.randrange(3, 30)),
                title=text(3),
                scope_kind=kind,
                scope_key=key,
                project=project,
                trust=chance.choice(("human", "system", "agent", "external")),
                tags=tuple(chance.sample(words, chance.randrange(3))),
                importance=chance.random(),
                confidence=chance.random(),
            )
        )
        place.clock.move(hours=chance.randrange(200))
    compared = 0
    for _ in range(40):
        need = build_need(message=" ".join(chance.sample(words, chance.randrange(1, 5))))
        surfaces = place.surfaces()
        found = gather(
            need,
            ledger=surfaces.ledger,
            records=None,
            authors=Authors(surfaces.journal),
            places=Places("here", "me"),
        )
        ranked = rank(found.candidates, need, place.clock())
        made = [(each.candidate.id, each.score, list(each.parts)) for each in ranked]
        assert made == plain_order(place, need)
        compared += len(made)
    assert compared > 200


def test_rows_of_other_places_that_fit_better_keep_no_row_of_this_one_out(tmp_path: Path) -> None:
    place = Place(tmp_path)
    theirs = [
        row(f"Plum plum plum {number}", scope_kind="project", scope_key="there") for number in range(250)
    ]
    ours = [
        row(f"One plum in a long text, {number}", scope_kind="project", scope_key="here")
        for number in range(3)
    ]
    written = place.write(*theirs, *ours)
    ledger = place.ledger()
    pool = ledger.pool(build_query("plum"), Places("here", "me"), limit=50)
    assert [each.id for each in pool.rows] == [each.id for each in written[-3:]]
    assert len(ledger.pool(build_query("plum"), Places("there", "me"), limit=50).rows) == 50
    hits = ledger.search("plum", scopes=Places("here", "me"), limit=2)
    assert len(hits.hits) == 2
    assert hits.truncated


def test_counts_of_words_are_remembered_until_anybody_writes(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(*(row(f"Plum number {number}") for number in range(3)))
    query = build_query('plum pears "plum number"')
    asked: list[str] = []
    with closing(sqlite3.connect(place.paths.ledger)) as connection:
        connection.set_trace_callback(asked.append)
        counts = WordCounts(TEXTS)

        def look() -> tuple[list[int], bool]:
            asked.clear()
            found = counts.of(connection, query)
            return found, any("memory_text_words" in each for each in asked)

        assert look() == ([3, 0, 3], True)
        assert look() == ([3, 0, 3], False)
        place.ledger().upsert([row("A plum and pears")], ENGINE)
        assert look() == ([4, 1, 3], True)
        connection.execute("DELETE FROM memory WHERE body = 'Plum number 0'")
        assert look() == ([3, 1, 2], True)
        assert look() == ([3, 1, 2], False)


def test_a_ledger_that_is_kept_open_counts_what_another_process_wrote(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(row("Plums are blue."))
    kept = place.ledger()
    query, places = build_query("plums"), Places()
    assert kept.pool(query, places, limit=50).corpus.frequencies == [1]
    other = Place(tmp_path)
    other.write(row("Plums are sweet."), row("Plums are ripe."))
    assert kept.pool(query, places, limit=50) == other.ledger().pool(query, places, limit=50)
    assert kept.pool(query, places, limit=50).corpus.frequencies == [3]
