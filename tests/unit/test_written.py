"""A proposal as plain lines: what the terminal question and the evals show, every part in its place."""

from __future__ import annotations

from muniment.approval.proposal import Asker, Change, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.approval.written import difference_lines, proposal_lines


def lines_of(change: Change | None) -> list[str]:
    fields = (Field("identifier", 'a "rule"'), Field("note", "one\ntwo", "block"))
    return list(proposal_lines(Proposal("call-1", "memory_store", "Create a record", fields, None, change)))


def test_every_part_of_a_proposal_has_its_line() -> None:
    proposal = Proposal(
        "call-1",
        "memory_store",
        "Create a record",
        (Field("identifier", 'a "rule"'), Field("note", "one\ntwo\x1b", "block")),
        None,
        Change("content", None, "first\nsecond\\"),
        (ReviewWarning("secret", "looks like a\nsecret", "content"), ReviewWarning("new", "is new")),
        shown_later="Shown in every session.",
        asker=Asker("5e55", "review-work", "reviewer", "m"),
    )
    assert list(proposal_lines(proposal)) == [
        "── Create a record ──",
        'tool: "memory_store"',
        'identifier: "a \\"rule\\""',
        "note:",
        "  | one",
        "  | two\\x1b",
        "content (new):",
        "  | first",
        "  | second\\\\",
        "! looks like a\\nsecret [content]",
        "! is new",
        "asked by: session 5e55, recipe review-work, agent reviewer, model m",
        "This approval covers this content only, once. Shown in every session.",
    ]


def test_a_change_is_shown_as_a_difference_and_a_deletion_as_what_goes() -> None:
    assert lines_of(Change("content", "one\ntwo", "one\n2"))[6:-1] == [
        "content, as a difference (- old, + new):",
        "    one",
        "  - two",
        "  + 2",
    ]
    assert lines_of(Change("content", "old\ntext", None))[6:-1] == [
        "content (to be deleted):",
        "  | old",
        "  | text",
    ]
    assert lines_of(Change("content", None, ""))[6:-1] == ["content (new):", "  | "]


def test_without_a_change_or_an_asker_nothing_is_said_of_them() -> None:
    assert lines_of(None) == [
        "── Create a record ──",
        'tool: "memory_store"',
        'identifier: "a \\"rule\\""',
        "note:",
        "  | one",
        "  | two",
        "This approval covers this content only, once.",
    ]


def test_a_difference_of_more_than_two_thousand_lines_is_old_and_then_new() -> None:
    old = "\n".join(f"line {n}" for n in range(1_000))
    assert list(difference_lines(old, old)) == [f"    line {n}" for n in range(1_000)]
    shown = list(difference_lines(old, f"{old}\nlast"))
    assert shown[:1_000] == [f"  - line {n}" for n in range(1_000)]
    assert shown[1_000:] == [f"  + line {n}" for n in range(1_000)] + ["  + last"]
