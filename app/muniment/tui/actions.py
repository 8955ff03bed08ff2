"""Questions and readings that the app puts up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.approval.policy import Mode
from muniment.tui.modals.question import Question
from muniment.tui.screens.reader import Reader
from muniment.tui.views import request_sections

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

_MODE_TEXT = {
    Mode.ACCEPT_EDITS: "Let file edits run unasked in this session? Memory still asks.",
    Mode.BYPASS: "Let everything run unasked in this session, writes to memory included? What ran is shown.",
}


def loosening_question(mode: Mode) -> Question:
    """Return the question before a looser mode."""
    return Question(_MODE_TEXT.get(mode, f"Go to {mode}?"), yes=f"Go to {mode}", no="Stay")


def inspect(app: MunimentApp, engine: Engine, draft: str) -> None:
    """Show the last request and the next one."""
    sections = request_sections(engine.assemble_preview(draft), "The next request, with your draft")
    if engine.last_assembly is not None:
        sections += request_sections(engine.last_assembly, "The last request, as sent")
    app.push_screen(Reader("Context", sections))
