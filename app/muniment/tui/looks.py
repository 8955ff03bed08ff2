"""The looks that places share: one grid of rows and panes, and one frame for all that asks a question."""

from __future__ import annotations

from typing import ClassVar

from textual.screen import ScreenResultType

from muniment.tui.place import Modal, Place

LOW_BELOW = 24
"""On a screen of fewer rows, what is read and what it is chosen from cannot both have room."""
PAPER = """
        & Input, & Input:focus, & Input.-textual-compact {
            border: none; height: 1; padding: 0 1; background: $panel;
        }
        & Input:focus { background: $primary 15%; }
        & Select > SelectCurrent, & Select.-textual-compact > SelectCurrent {
            border: none; height: 1; padding: 0 1; background: $panel;
        }
        & SelectCurrent .arrow { color: $secondary; }
        & Select:focus > SelectCurrent {
            border: none; background: $primary 15%; background-tint: transparent;
        }
        & .asked { color: $secondary; margin-top: 1; }
        & .fault { height: auto; color: $error; }
        & .hint { height: auto; color: $secondary; }
        & Button.-style-default, & Button.-style-default:hover {
            width: auto; min-width: 8; height: 1; border: none; background: $panel; text-style: bold;
        }
        & Button.-style-default:hover { background: $primary 15%; }
        & Button.-style-default:focus {
            color: $background; background: $foreground; background-tint: transparent; text-style: bold;
        }
        /* The terminal's own colours have no shade for a field, so a bar stands at its edge. */
        & Input:ansi, & TextArea:ansi { border-left: outer $border-blurred !important; }
        & Input:ansi:focus, & TextArea:ansi:focus {
            background: ansi_default; border-left: outer $primary !important;
        }
        & Select:ansi > SelectCurrent { border-left: outer $border-blurred !important; }
        & Select:ansi:focus > SelectCurrent {
            background: ansi_default; border-left: outer $primary !important;
        }
        & Button:ansi.-style-default, & Button:ansi.-style-default:hover {
            background: ansi_default; text-style: bold underline;
        }
        & Button:ansi.-style-default:focus {
            color: ansi_default; background: ansi_default; text-style: bold reverse;
        }
"""
"""What is filled in: fields, the words about them, and buttons of one line."""


class Sheet(Place[ScreenResultType]):
    """A place of its own: rows to choose from, and what the chosen one holds beside or below them."""

    SIDE_FROM: ClassVar[int] = 100
    """From so many cells on a pane stands beside the rows; below, under them."""
    DEFAULT_CSS = f"""
    Sheet {{
        background: $background;
        {PAPER}
        & OptionList {{
            width: 1fr; height: 1fr; padding: 0 1; border: none; background: $background;
            scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis;
        }}
        & OptionList:focus {{ border: none; background-tint: transparent; }}
        & .body {{ height: 1fr; layout: vertical; }}
        & .pane {{
            width: 1fr; height: 1fr; padding: 0 1; background: $surface; scrollbar-size-vertical: 1;
            border: round $border-blurred; border-title-color: $primary; border-title-style: bold;
            border-subtitle-color: $secondary;
        }}
        & .pane:focus {{ border: round $primary; }}
        & .say {{ height: auto; padding: 0 1; color: $warning; }}
        &.-side .body {{ layout: horizontal; }}
        & .body.-reading OptionList {{ height: 3; min-height: 3; max-height: 3; }}
    }}
    """

    @property
    def side(self) -> bool:
        """Whether there is room for a pane beside the rows."""
        return self.size.width >= self.SIDE_FROM

    def on_mount(self) -> None:
        self.set_class(self.side, "-side")

    def on_resize(self) -> None:
        self.set_class(self.side, "-side")
        self._share_rows()

    def on_descendant_focus(self) -> None:
        self._share_rows()

    def _share_rows(self) -> None:
        """On a low screen, leave the room to a pane while it is read; the chosen row stays in view."""
        from textual.widgets import OptionList

        focused = self.focused
        reads = focused is not None and focused.has_class("pane")
        low = self.size.height < LOW_BELOW and not self.side
        for body in self.query(".body"):
            body.set_class(reads and low, "-reading")
        for options in self.query(".body OptionList").results(OptionList):
            self.call_after_refresh(options.scroll_to_highlight)


class Box(Modal[ScreenResultType]):
    """A question in a frame above another place."""

    DEFAULT_CSS = f"""
    Box {{
        align: center middle; background: $background 60%;
        {PAPER}
        & > Vertical {{
            width: 72; max-width: 96%; height: auto; max-height: 100%; padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $foreground; border-title-style: bold;
        }}
        & OptionList {{
            height: auto; padding: 0; border: none; background: $surface; scrollbar-size-vertical: 1;
            text-wrap: nowrap; text-overflow: ellipsis;
        }}
        & OptionList:focus {{ border: none; background-tint: transparent; }}
        & TextArea, & TextArea:focus {{ border: none; padding: 0 1; scrollbar-size-vertical: 1; }}
        & KeyBar {{ padding: 0; background: $surface; }}
        &:ansi {{ background: transparent; }}
    }}
    """
