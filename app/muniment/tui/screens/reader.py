"""A screen for reading one long text: a record, a recipe, a summary; as fast for a mebibyte as for a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from muniment.tui.place import Modal
from muniment.tui.text import safe_line
from muniment.tui.widgets.exact_lines import Line, Mark, cells
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.reading import Reading

_TONES = {"$secondary": "muted", "$warning": "warning", "$error": "warning", "bold": "heading"}


class Reader(Modal[str | None]):
    """Shows sections under headings; dismissed with None, or with the word of a key that was offered.

    On a wide screen the sections named in `beside` stand in a pane of their own, to the right of the text.
    """

    SIDE_FROM: ClassVar[int] = 140
    """From so many cells on there is room for a text and what is known about it side by side."""
    AUTO_FOCUS: ClassVar[str | None] = "#reader-text"
    BINDING_GROUP_TITLE = "Reading"
    HELP = "Arrow keys scroll; on a wide screen Tab goes to what is known about it. Escape goes back."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", tooltip="Back to where you were", id="reader.back"),
    ]
    DEFAULT_CSS = """
    Reader {
        background: $background 60%;
        & > Horizontal { height: 1fr; }
        & Reading {
            width: 3fr; height: 1fr; padding: 0 2; background: $surface; border: round $border-blurred;
            border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $secondary;
        }
        & Reading:focus { border: round $primary; }
        /* One line stands between the two: that of the text. */
        & #reader-beside, & #reader-beside:focus { width: 2fr; display: none; border-left: none; }
        &.-side #reader-beside, &.-side #reader-beside:focus { display: block; }
    }
    """

    def __init__(
        self,
        title: str,
        sections: Sequence[tuple[str, Content]],
        *,
        beside: Collection[str] = (),
        offers: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        super().__init__()
        self._title = title
        self._sections = sections
        self._beside = [each for each in sections if each[0] in beside]
        self._text = [each for each in sections if each[0] not in beside]
        self._side: bool | None = None
        for key, word, description in offers:
            # Made as bindings of their own, because the palette and the keymap go by tooltip and id.
            offer = Binding(
                key,
                f"choose('{word}')",
                description,
                tooltip=f"{description}: what is shown here",
                id=f"reader.{word}",
            )
            self._bindings.key_to_bindings.setdefault(key, []).append(offer)

    def compose(self) -> ComposeResult:
        with Horizontal():
            text = Reading(id="reader-text")
            text.border_title = safe_line(self._title)
            yield text
            about = Reading(id="reader-beside")
            about.border_title = Content("About it")
            yield about
        yield KeyBar()

    def on_mount(self) -> None:
        self._share()

    def on_resize(self) -> None:
        self._share()

    def _share(self) -> None:
        """Give what there is to one pane or to two."""
        side = self.size.width >= self.SIDE_FROM and bool(self._beside) and bool(self._text)
        if side == self._side:
            return
        self._side = side
        self.set_class(side, "-side")
        self.query_one("#reader-text", Reading).show(lines_of(self._text if side else self._sections))
        self.query_one("#reader-beside", Reading).show(lines_of(self._beside if side else ()))
        if not side:
            self.query_one("#reader-text").focus()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

    def action_choose(self, word: str) -> None:
        """Go back with what was chosen."""
        self.dismiss(word)


def lines_of(sections: Sequence[tuple[str, Content]]) -> list[Line]:
    """Return sections as lines, an empty one before each heading; their colours become tones."""
    lines: list[Line] = []
    for heading, body in sections:
        if heading:
            lines += [Line("")] if lines else []
            lines.append(Line(safe_line(heading).plain, "heading"))
        at = 0
        for text in body.plain.split("\n"):
            end = at + len(text)
            marks: list[Mark] = [
                (max(span.start - at, 0), min(span.end, end) - at, tone)
                for span in body.spans
                if span.start < end and span.end > at and (tone := _TONES.get(str(span.style), ""))
            ]
            lines.append(_in_columns(text, marks))
            at = end + 1
    return lines


def _in_columns(text: str, marks: Sequence[Mark]) -> Line:
    """Return a line whose label, where it has one, stays in a column of its own however the rest breaks."""
    start, label, tone = marks[0] if marks else (0, 0, "")
    if tone != "muted" or start or not label < len(text):
        return Line(text, marks=tuple(marks))
    rest = tuple((first - label, last - label, of) for first, last, of in marks[1:])
    return Line(text[label:], marks=rest, gutter=text[:label], onward=" " * cells(text[:label]))
