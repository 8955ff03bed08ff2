"""The slash commands that a draft could become, above the composer."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from muniment.tui.slash import Slash


class SlashList(Static):
    """A list that is there only while a command is being typed."""

    DEFAULT_CSS = """
    SlashList { height: auto; padding: 0 2; color: $foreground; background: $surface; display: none; }
    SlashList.-open { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(markup=False, id=id)

    @property
    def _cursor(self) -> str:
        """The look of the row that was moved to: that of every list, which the terminal's colours lack."""
        return "reverse" if self.app.current_theme.ansi else "on $block-cursor-background"

    def show(self, found: Sequence[Slash], at: int | None) -> None:
        """Show the commands; the one at `at` was moved to."""
        self.set_class(bool(found), "-open")
        if not found:
            return
        width = max(len(each.name) for each in found)
        # While nothing is listed this has no width of its own.
        around = self.parent
        room = max(20, (around.size.width if isinstance(around, Widget) else 0) - 4)
        # The composer below must stay in view, so the list is a window around what is chosen.
        most = max(3, self.app.size.height // 2 - 5)
        # The row that says there are more would hide as much as it tells of, if it were only one.
        most = len(found) if len(found) == most + 1 else most
        first = max(0, min((at or 0) - most // 2, len(found) - most))
        rows = []
        for number, each in enumerate(found[first : first + most], first):
            chosen = number == at
            row = Content.assemble(
                ("▸ " if chosen else "  ", "bold $accent"),
                (each.name.ljust(width), "bold"),
                (f"  {each.summary}", "$foreground"),
                (f"  {each.argument}" if each.argument else "", "$secondary"),
            ).truncate(room, ellipsis=True, pad=True)
            rows.append(row.stylize(self._cursor) if chosen else row)
        if len(found) > most:
            rows.append(Content.styled(f"  … {len(found)} commands", "$secondary"))
        keys = "Tab completes · ↑ ↓ choose · Enter runs"
        self.update(Content("\n").join([*rows, Content.styled(keys, "$secondary")]))
