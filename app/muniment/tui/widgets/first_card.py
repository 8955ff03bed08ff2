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
        super().__init__(markup=False)

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        # A key and its words are never parted: where they do not fit on one row, each has its own.
        tries = [Content.assemble((key.upper(), "bold $accent"), f" {name}") for key, name, _ in TRIES]
        room = self.size.width or self.app.size.width
        row = Content("   ").join(tries)
        self.update(
            Content("\n").join(
                [
                    Content.assemble(
                        ("The rehearsal model answers", "bold"), ": offline, no key, a fixed script. Try:"
                    ),
                    *([row] if row.cell_length <= room else tries),
                    Content(
                        "A real model: muniment config init, then model.name and base_url; "
                        "or --model and --base-url."
                    ),
                ]
            )
        )
