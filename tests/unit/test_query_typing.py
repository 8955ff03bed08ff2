"""A search while somebody types: the last word may be half a word, and finds what begins so."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.recall.fts import TextTable
from muniment.memory.recall.matching import Matcher
from muniment.memory.recall.query import MAX_TERMS, Query, build_query
from muniment.memory.recall.score import rank_texts
from muniment.memory.recall.stem import stem

TABLE = TextTable("t", (("body", 1.0),))


def indexed(query: Query, *texts: str) -> list[int]:
    """Return the texts that the index finds."""
    with closing(sqlite3.connect(":memory:")) as connection:
        TABLE.create(connection)
        TABLE.insert(connection, [(number, (text,)) for number, text in enumerate(texts)])
        found = TABLE.candidates(connection, query, 100) if query else []
        # What is counted for a term that is only begun is never less than what it finds.
        if query:
            assert max(TABLE.frequencies(connection, query)) <= len(texts)
        return found


def found(text: str, *texts: str) -> list[int]:
    """Return the texts that somebody finds who has typed so far, best first."""
    query = build_query(text, typing=True)
    ranked = [number for number, _, _ in rank_texts(query, [(each,) for each in texts], (1.0,))]
    assert set(ranked) <= set(indexed(query, *texts))
    return ranked


@given(st.text(max_size=200))
def test_no_text_that_is_being_typed_is_a_syntax_error(text: str) -> None:
    query = build_query(text, typing=True)
    assert len(query.terms) <= MAX_TERMS
    indexed(query, "something", text)


@given(st.text("ab\"*^:()-+' NEARORND", max_size=40))
def test_no_sign_of_the_index_is_syntax_while_somebody_types(text: str) -> None:
    query = build_query(text, typing=True)
    indexed(query, "something", text)
    for term in query.terms:
        assert not set(" ".join(term.words)) & set("\"*^:()-+'")


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("denom", "Show both denominators."),
        ("both denom", "Show both denominators."),
        ("cachi", "It is caching all day."),
        ("cachin", "It is caching all day."),
        ("hopp", "They were hopping about."),
        ("applyi", "Applying the patch."),
        ("relatio", "A relational table."),
        ("alway", "alwaysInline is set."),
        ("sto", "the dataStore of it"),
        ("max_retr", "set max_retries there"),
        ("dataSt", "the data store of it"),
        ("Dénom", "Les denominateurs."),
        ("plum", "naïve plums"),
        ("слов", "много словами"),
        ('"show both" denom', "Show both denominators."),
        ('both "denom', "Show both denominators."),
    ],
)
def test_half_a_word_finds_the_word(typed: str, text: str) -> None:
    assert found(typed, "nothing of it", text) == [1]
    assert not Matcher(build_query(typed)).match("nothing of it").spans


@pytest.mark.parametrize("typed", ["denom ", '"denom"', "denom,", "d", "茶", "denom\n"])
def test_a_word_that_is_done_or_too_short_is_only_itself(typed: str) -> None:
    assert not any(term.begun for term in build_query(typed, typing=True).terms)
    assert found(typed, "Show both denominators.") == []


@pytest.mark.parametrize("typed", ["denom", "max_retr", "the", "dataSt"])
def test_commands_and_tools_ask_for_whole_words(typed: str) -> None:
    assert not any(term.begun for term in build_query(typed).terms)


def test_what_holds_the_very_word_stands_before_what_only_begins_so() -> None:
    assert found("plan", "planning and planets", "the plan", "nothing") == [1, 0]


def test_what_shares_a_stem_with_a_longer_word_but_does_not_begin_so_is_not_found() -> None:
    assert found("cachi", "a cache of it", "caching it") == [1]


def test_the_word_that_was_begun_is_marked_whole() -> None:
    query = build_query("rare denom", typing=True)
    text = "Show rare denominators."
    assert {text[start:end] for start, end, _ in Matcher(query).match(text).spans} == {"rare", "denominators"}


BEGINNINGS = st.text("abdeghilnoprstuy", min_size=2, max_size=7)
ENDINGS = st.sampled_from(
    ["", "s", "ed", "ing", "ies", "ying", "er", "ization", "ations", "fulness", "ically", "ably", "e", "ment"]
)


@given(st.tuples(BEGINNINGS, ENDINGS).map("".join), st.data())
def test_every_beginning_of_a_word_finds_it(word: str, data: st.DataObject) -> None:
    typed = word[: data.draw(st.integers(2, len(word)))]
    assert found(typed, f"x {word} x") == [0], stem(word)
