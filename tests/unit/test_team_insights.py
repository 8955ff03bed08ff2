"""The digest by rules: what counts as an insight, whose it is, and what is left out as a repeat."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.memory.team.insights import (
    MAX_INSIGHT,
    Source,
    agent_of,
    digest_notes,
    fingerprint,
    first_sentence,
    heading_of,
    insights_of,
    safe_agent,
    title_of,
)

BOUND = 50_000


def source(name: str, body: str, agent: str = "dallas", title: str = "A note") -> Source:
    return Source(name, agent, title, body, f"knowledge/reviews/{name}")


def digest(*sources: Source, existing: str = "", bound: int = BOUND) -> tuple[str, int, int]:
    made = digest_notes(sources, existing, "2026-11-30", max_bytes=bound)
    return made.text, made.insights, made.duplicates


@pytest.mark.parametrize(
    ("line", "insight"),
    [
        ("- **Cache**: it is cleared by every write", "Cache: it is cleared by every write"),
        ("* **Cache** -- it is cleared", "Cache: it is cleared"),
        ("1. **Cache** — it is cleared", "Cache: it is cleared"),
        ("12) **Cache** - it is cleared", "Cache: it is cleared"),
        ("- **Cache:** it is cleared", "Cache: it is cleared"),
        ("You must never write without the lock held.", "You must never write without the lock held."),
        ("- Note that the clock of the tests stands still", "Note that the clock of the tests stands still"),
    ],
)
def test_an_item_with_a_bold_key_and_a_line_with_a_telling_word_are_insights(line: str, insight: str) -> None:
    assert insights_of(line) == [insight]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# You must never write without the lock held.",
        "### You must never write without the lock held.",
        "always",
        "You must be short, at thirty one",
        "The weather in the mountains is fine, people say so.",
        "The mustard is musty, and nevertheless nobody complains of it.",
        "never " * 100,
    ],
)
def test_headings_short_long_and_plain_lines_are_none(line: str) -> None:
    assert insights_of(line[:30] if line.startswith("You must be") else line) == []


def test_an_insight_has_at_most_300_characters_and_says_that_it_was_cut() -> None:
    (long,) = insights_of("- **Key**: " + "word " * 68)
    assert len(long) == MAX_INSIGHT
    assert long.endswith("...")
    (exact,) = insights_of("- **Key**: " + "x" * 295)
    assert len(exact) == 300
    assert not exact.endswith("...")


def test_a_note_without_an_insight_gives_its_first_sentence_and_where_the_rest_is() -> None:
    text, count, _ = digest(
        source("a.md", "# What I saw\n\nThe cache is cold. It warms up.", title="What I saw")
    )
    assert "- [dallas] The cache is cold. (knowledge/reviews/a.md)" in text
    assert count == 1


def test_a_note_that_says_nothing_is_pointed_to_by_its_title() -> None:
    text, count, _ = digest(source("a.md", "# What I saw\n\n---\n", title="What I saw"))
    assert "- [dallas] See the whole note: What I saw (knowledge/reviews/a.md)" in text
    assert count == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("The cache is cold", "The cache is cold"),
        ("# Head\n\n## More\n- The cache\n  is cold! Then warm.", "The cache is cold!"),
        ("One paragraph\n\nanother. More", "One paragraph"),
        ("See e.g. version 1.2 of it. Later more.", "See e.g. version 1.2 of it."),
        ('He said "no." Then he left.', 'He said "no."'),
        ("缓存是冷的。后来变热。", "缓存是冷的。"),
        ("```\ncode\n```", "code"),
        ("***\n\n...\n", ""),
        ("# Only a heading", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_is_that_of_the_first_text_below_the_headings(body: str, sentence: str) -> None:
    assert first_sentence(body) == sentence


def test_a_first_sentence_has_at_most_300_characters() -> None:
    assert first_sentence("x" * 300) == "x" * 300
    assert first_sentence("x" * 301) == "x" * 297 + "..."
    assert len(first_sentence("word\n" * 60_000)) == MAX_INSIGHT
    assert first_sentence("-" * 60_000) == ""


def test_plain_notes_are_never_left_out_of_the_digest_as_known() -> None:
    plain = "Every writer takes the workspace lock first, then writes."
    text, count, _ = digest(source("a.md", plain), existing=f"### old\n\n- [x] {plain}")
    assert plain in text
    assert count == 1


@pytest.mark.parametrize(
    ("name", "body", "heading"),
    [
        ("dallas-review-x.md", "a bug", "Reviews"),
        ("pr-12.md", "", "Reviews"),
        ("feedback-x.md", "", "Feedback"),
        ("bt-x.md", "", "Build results"),
        ("explore-x.md", "", "Exploration"),
        ("x.md", "a Fix for it", "Bugs and fixes"),
        ("x.md", "a thing", "Learnings"),
    ],
)
def test_the_digest_groups_by_the_name_of_the_file_first(name: str, body: str, heading: str) -> None:
    assert heading_of(name, body) == heading


def test_eight_notes_give_their_headings_shared_credit_and_two_duplicates() -> None:
    shared = "- **Locking**: every writer takes the lock of the workspace first"
    known = "- **Journal**: every change stands in the journal before it happens"
    batch = [
        source("ripley-review-api.md", "- **Errors**: each says what to do next", "ripley"),
        source("lambert-feedback-x.md", "- **Naming**: short names are preferred here", "lambert"),
        source("ash-build-7.md", "- **Speed**: the build takes four minutes", "ash"),
        source("kane-explore-db.md", "- **Schema**: tables carry a version column", "kane"),
        source("parker-x.md", "A fix.\n\n- **Crash**: an empty list broke the sorter", "parker"),
        source("ripley-review-lock.md", shared, "ripley"),
        source("dallas-review-lock.md", shared, "dallas"),
        source("ash-review-journal.md", known, "ash"),
    ]
    existing = (
        "### old\n\n- [x] Journal: every change stands in the journal before it happens, happens always"
    )
    text, count, duplicates = digest(*batch, existing=existing)
    headings = re.findall(r"^#### (.+) \(\d+\)$", text, re.MULTILINE)
    assert headings == ["Reviews", "Feedback", "Build results", "Exploration", "Bugs and fixes"]
    assert "- [ripley, dallas] Locking:" in text
    assert "Journal" not in text
    assert (count, duplicates) == (6, 2)
    assert "(6 insights from 8 notes)" in text.partition("\n")[0]
    assert "_2 duplicates left out._" in text


def test_a_batch_that_is_known_already_is_still_a_section() -> None:
    line = "- **Journal**: every change stands somewhere before anything happens"
    text, count, duplicates = digest(source("a.md", line), existing=line)
    assert (count, duplicates) == (0, 1)
    assert text.startswith("### 2026-11-30: nothing new, by dallas (0 insights from 1 note)\n")
    assert "_1 duplicate left out._" in text


def test_nearly_the_same_words_are_one_insight_unless_their_numbers_differ() -> None:
    one = "- **Limit**: the gateway closes every idle connection after 30 seconds without warning"
    same = "- **Limit**: the gateway closes an idle connection after 30 seconds without warning"
    other = one.replace("30", "60")
    assert digest(source("a.md", one, "a"), source("b.md", same, "b"))[1:] == (1, 1)
    assert digest(source("a.md", one, "a"), source("b.md", other, "b"))[1:] == (2, 0)


def test_a_fingerprint_ignores_case_marks_and_spaces() -> None:
    assert fingerprint("  The LOCK,\n is -- held!") == fingerprint("the lock is held")
    assert len(fingerprint("word " * 100)) <= 80


@pytest.mark.parametrize(
    ("name", "claimed", "known", "agent"),
    [
        ("dallas-x.md", "", (), "dallas"),
        ("dallas-x.md", "ripley", (), "ripley"),
        ("code-reviewer-x.md", "", ("code-reviewer", "code"), "code-reviewer"),
        ("ripley-discusses-dallas-x.md", "", ("dallas",), "ripley"),
        ("dallasx.md", "", ("dallas",), "unknown"),
        ("x.md", "", (), "unknown"),
        ("x.md", "../../etc/passwd", (), "etc-passwd"),
        ("x.md", "a] [root", (), "a-root"),
        ("x.md", " ", (), "unknown"),
    ],
)
def test_the_author_is_the_one_in_the_front_matter_else_the_prefix_with_its_hyphen(
    name: str, claimed: str, known: tuple[str, ...], agent: str
) -> None:
    assert agent_of(name, claimed, known) == agent


def test_the_title_is_the_first_heading_else_the_name() -> None:
    assert title_of("text\n# The title \n# Another", "x.md") == "The title"
    assert title_of("## Not this", "some-name.md") == "some-name"
    assert len(title_of("# " + "t" * 500, "x.md")) == 120


PIECES = [
    *"#-*[]()<>!`\n\r\x0b\x85\u2028 \t:a",
    "\u202e",
    "\x1b",
    "always ",
    "**Key**: ",
    "### ",
    "---\n",
    "<!--",
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@settings(max_examples=300)
@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=4), st.integers(300, 2_000))
def test_no_note_writes_a_heading_a_rule_or_a_line_that_is_not_behind_its_author(
    notes: list[tuple[str, str]], bound: int
) -> None:
    batch = [
        Source(
            f"n{number}.md",
            safe_agent(agent),
            title_of(body, "n.md"),
            body,
            f"knowledge/reviews/n{number}.md",
        )
        for number, (agent, body) in enumerate(notes)
    ]
    made = digest_notes(batch, "", "2026-11-30", max_bytes=bound)
    authors = {each.agent for each in batch}
    first, *rest = made.text.split("\n")
    assert first.startswith("### 2026-11-30: ")
    assert made.text.splitlines() == made.text.split("\n")[:-1]
    for line in rest:
        if line.startswith("- ["):
            named = line[3:].partition("]")[0].split(", ")
            assert set(named) <= authors
            assert re.search(r"\(knowledge/reviews/n\d+\.md\)$", line)
        else:
            assert re.fullmatch(r"|#### [A-Z][a-z ]+ \(\d+\)|_[^_]+_", line)


@given(HOSTILE | st.text())
def test_every_insight_is_one_bounded_line_with_nothing_hidden(body: str) -> None:
    for each in [*insights_of(body), *filter(None, [first_sentence(body)])]:
        assert 0 < len(each) <= MAX_INSIGHT
        assert each.splitlines() == [each]
        assert "<!--" not in each
        assert "\x1b" not in each
        assert "\u202e" not in each


@settings(max_examples=50)
@given(st.integers(200, 4_000))
def test_a_digest_stays_within_its_bound_and_counts_what_did_not_fit(bound: int) -> None:
    lines = "\n".join(
        f"- **Key {n} {n * 7919}**: thing number {n} stands alone {'é' * (n % 40)}" for n in range(60)
    )
    text, count, _ = digest(source("a.md", lines), bound=bound)
    shown = text.count("\n- [")
    assert count == 60
    assert len(text.encode()) <= max(bound, 400)
    if shown < count:
        assert f"_{count - shown} more insight" in text


def test_a_very_long_line_is_looked_at_quickly() -> None:
    for line in ("- **" + "a" * 60_000, "* " * 30_000, "1. **k**" + " " * 60_000, "always " + "\t" * 60_000):
        assert insights_of(line) == []


def test_the_largest_batch_of_the_busiest_notes_is_digested_within_its_bound() -> None:
    batch = [
        source(
            f"a{note}.md",
            "\n".join(f"- **K{note} {n}**: word{n * 31 % 97} always never must {note}" for n in range(60)),
        )
        for note in range(200)
    ]
    text, count, _ = digest(*batch)
    assert count > 1_000
    assert len(text.encode()) <= BOUND
