"""A write by hand that nobody is asked about: planned anew where the place changed before it was done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from muniment.memory.records.plans import ChangedAfterApproval

PlanT = TypeVar("PlanT")
OutcomeT = TypeVar("OutcomeT")
ATTEMPTS = 32
"""Each attempt that fails lets another process's write succeed, so that this many writers get through."""


def settled(plan: Callable[[], PlanT], commit: Callable[[PlanT], OutcomeT]) -> tuple[PlanT, OutcomeT]:
    """Plan and do a write; raise what the last attempt raises.

    An answer to a question holds for the state that was shown and no other. Here nothing was shown: the
    command itself is the decision, and it holds for whatever stands in the place when it is done.
    """
    for _ in range(ATTEMPTS - 1):
        made = plan()
        try:
            return made, commit(made)
        except ChangedAfterApproval:
            continue
    made = plan()
    return made, commit(made)
