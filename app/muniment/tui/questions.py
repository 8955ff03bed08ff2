"""Questions that the app puts up."""

from __future__ import annotations

from muniment.approval.policy import Mode
from muniment.tui.modals.question import Question

_MODE_TEXT = {
    Mode.ACCEPT_EDITS: "Let file edits run unasked in this session? Memory still asks.",
    Mode.BYPASS: "Let everything run unasked in this session, writes to memory included? What ran is shown.",
}


def loosening_question(mode: Mode) -> Question:
    """Return the question before a looser mode."""
    return Question(_MODE_TEXT.get(mode, f"Go to {mode}?"), yes=f"Go to {mode}", no="Stay")
