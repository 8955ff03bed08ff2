"""The card of the first minute: who answers, three things to try, and how to reach a real model."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

_SAVE = """\
Use memory_store to save a project memory:
id: pilot-review-rule
title: Pilot comparison review rule
category: decision
tags: pilot, review
content: Cite Notes A and B; show both denominators; do not infer satisfaction.
Then show the saved identifier, scope and whether it was newly created."""
TRIES = (
    ("f7", "save a rule", _SAVE),
    (
        "f9",
        "fetch it",
        "Use memory_retrieve to fetch pilot-review-rule. Show its complete content and scope.",
    ),
    ("f10", "see what is kept", "Use memory_list to show what is kept here."),
)


class FirstCard(Static):
    """Shown above the composer while the rehearsal model answers and nothing was said yet."""

    DEFAULT_CSS = """
    FirstCard { height: auto; padding: 0 1; border: round $border-blurred; color: $foreground; }
    """

    def __init__(self) -> None:
        lines = Content.assemble(
            ("The rehearsal model answers", "bold"),
            ": offline, no key, a fixed script. Try:\n",
            *(part for key, name, _ in TRIES for part in ((key.upper(), "bold $accent"), f" {name}   ")),
            "\nA real model: muniment config init, then model.name and base_url; or --model and --base-url.",
        )
        super().__init__(lines, markup=False)
