"""What somebody typed becomes words to look for, whatever it is made of."""

from __future__ import annotations

import sqlite3
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.recall.fts import TextTable
from muniment.memory.recall.matching import Matcher
from muniment.memory.recall.query import MAX_TERMS, build_query
from muniment.memory.recall.score import rank_texts
from muniment.memory.recall.snippet import is_border, make_snippet
from muniment.memory.recall.stem import candidate_prefix, stem
from muniment.memory.recall.tokens import analyse, code_words, fold, spread

TABLE = TextTable("t", (("body", 1.0),))


def table(*texts: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    TABLE.create(connection)
    TABLE.insert(connection, [(number, (text,)) for number, text in enumerate(texts)])
    return connection


def found(query: str, *texts: str) -> list[int]:
    built = build_query(query)
    return TABLE.candidates(table(*texts), built, 100) if built else []


@given(st.text(max_size=200))
def test_no_text_is_a_syntax_error(text: str) -> None:
    query = build_query(text)
    assert len(query.terms) <= MAX_TERMS
    if query:
        TABLE.candidates(table("something"), query, 10)


@pytest.mark.parametrize(
    "text",
    ['foo-bar "x" AND NEAR(col: C++ \'', '"', "'", "a\0b*", "^x", "col:y", "(((", "-x", "NOT", "\ud800"],
)
def test_syntax_of_the_index_is_plain_text(text: str) -> None:
    query = build_query(text)
    if query:
        TABLE.candidates(table("x y foo bar"), query, 10)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=100))
def test_index_and_query_agree_on_words_of_ascii(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    TABLE.create(connection)
    TABLE.insert(connection, [(1, (text,))])
    indexed = {term for (term,) in connection.execute("SELECT term FROM t_words")}
    assert set(analyse(text)) <= indexed


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_the_stem_is_that_of_the_index(word: str) -> None:
    connection = table(word)
    [(indexed,)] = connection.execute("SELECT term FROM t_words").fetchall()
    assert stem(word) == indexed
    assert word.startswith(candidate_prefix(indexed))


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text)
    assert fold(once) == once


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("nightly", "先跑nightly检查v2之后再合并"),
        ("v2", "先跑nightly检查v2之后再合并"),
        ("naive", "nai\u0308ve cafe\u0301"),
        ("CAFÉ", "cafe\u0301"),
        ("cafe\u0301", "café"),
        ("strasse", "Straße"),
        ("abc", "ＡＢＣ"),
        ("istanbul", "İstanbul"),
        ("茶", "我喜欢绿茶"),
        ("绿茶", "我喜欢绿茶"),
        ("喜欢", "我喜欢绿茶"),
        ("회의록", "어제 회의록을 썼다"),
        ("ガ", "ｶﾞｽ"),
        ("บ้าน", "กินข้าวที่บ้าน"),
        ("v2", "релизv2"),
        ("елка", "Ёлка"),
        ("denominator", "show both denominators"),
        ("max_retry_count", "set max_retry_count to 3"),
        ("retry", "set max_retry_count to 3"),
        ("dataStore", "class DataStore"),
        ("store", "class DataStore"),
        ("data store", "data_store"),
        ("C++", "written in C++ mostly"),
        ("C#", "written in C# mostly"),
        ("app/paths.py", "see app/paths.py there"),
        ("who am I", "that is who I am"),
        ('"both denominators"', "show both denominators"),
    ],
)
def test_found_however_it_is_written(query: str, text: str) -> None:
    assert found(query, text) == [0]
    [(number, score, tally)] = rank_texts(build_query(query), [(text,)], (1.0,))
    assert number == 0
    assert score > 0
    assert tally.spans


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "the C language and C#"),
        ("茶绿", "我喜欢绿茶"),
        ('"denominators both"', "show both denominators"),
        ('"to be"', "be to"),
    ],
)
def test_not_found_where_the_words_differ_or_stand_otherwise(query: str, text: str) -> None:
    assert found(query, text) == []
    assert rank_texts(build_query(query), [(text,)], (1.0,)) == []


def test_any_word_of_a_sentence_finds_and_stop_words_do_not() -> None:
    texts = ("Cite Notes A and B; show both denominators", "what was the weather in the morning")
    assert found("what was the rule about denominators in the pilot", *texts) == [0]
    assert found("denominators satisfaction survey", *texts) == [0]


def test_terms_are_unique_in_order_and_at_most_32() -> None:
    query = build_query(" ".join(f"word{number % 50}" for number in range(5_000)))
    assert [term.words for term in query.terms] == [(f"word{number}",) for number in range(32)]
    assert query.cut


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "漢" * 100_000,
        "+" * 100_000,
        "a++" * 9_000,
        '"' * 100_000,
        "aB" * 50_000,
        "é " * 50_000,
    ],
)
def test_giant_queries_are_bounded_work(text: str) -> None:
    start = time.process_time()
    assert len(build_query(text).terms) <= MAX_TERMS
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text", ["aB" * 250_000, "a" * 500_000, "e\u0301" * 150_000, "a\u0300\u0300" * 80_000]
)
def test_giant_texts_are_analysed_in_linear_time(text: str) -> None:
    start = time.process_time()
    spread(text)
    code_words(text)
    Matcher(build_query("word")).match(text)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["", "   ", '""', "***", "\0", "_"])
def test_a_query_without_a_word_is_empty(text: str) -> None:
    assert not build_query(text)


@given(st.text(max_size=400), st.integers(2, 60))
def test_a_snippet_is_one_line_within_its_bound_and_its_spans_lie_inside(text: str, size: int) -> None:
    spans = Matcher(build_query(text[:40])).match(text).spans
    snippet = make_snippet(text, spans, characters=size)
    assert len(snippet.text) <= size + 2
    assert not any(ch in snippet.text for ch in "\n\r\t")
    last = 0
    for start, end in snippet.spans:
        assert last <= start < end <= len(snippet.text)
        last = end


def test_a_snippet_shows_the_match_and_cuts_no_character() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = f"{family * 60} needle {family * 60}"
    spans = Matcher(build_query("needle")).match(text).spans
    snippet = make_snippet(text, spans, characters=100)
    assert [snippet.text[start:end] for start, end in snippet.spans] == ["needle"]
    body = snippet.text.strip("…").strip()
    assert text.find(body) >= 0
    assert is_border(text, text.find(body))
    assert is_border(text, text.find(body) + len(body))
