"""The context inspector: what the last request carried and the next would, against its bounds, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading
from muniment.session.request.inspecting import Inspected, Part, bar, row_words
from muniment.tui.looks import Sheet
from muniment.tui.text import safe_line
from muniment.tui.widgets.difference_view import exact_source
from muniment.tui.widgets.exact_lines import Line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.reading import Reading

Which = Literal["next", "last"]


class InspectorScreen(Sheet[None]):
    """Parts on the left, what the model receives of one of them on the right."""

    AUTO_FOCUS: ClassVar[str | None] = "#inspector-parts"
    BINDING_GROUP_TITLE = "Context"
    HELP = (
        "Everything that a request carries, taken from the request itself. Arrows choose a part, Tab goes to "
        "its text; t changes between the next request and the last one that was sent, r shows all of it raw."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the session", id="inspector.back"),
        Binding(
            "t", "turn", "Next/last", tooltip="The next request, or the last one sent", id="inspector.turn"
        ),
        Binding(
            "r", "raw", "Raw", tooltip="The whole request as muniment context prints it", id="inspector.raw"
        ),
        Binding("y", "copy", "Copy", tooltip="Copy what is shown", id="inspector.copy"),
    ]
    DEFAULT_CSS = """
    InspectorScreen {
        & #inspector-head { padding: 0 1; background: $panel; height: auto; }
        & OptionList { height: 40%; }
        &.-side OptionList { width: 34%; min-width: 40; max-width: 64; height: 1fr; }
        &.-raw OptionList { display: none; }
    }
    """

    def __init__(self, look: Callable[[], Inspected], last: Callable[[], Inspected] | None) -> None:
        super().__init__()
        self._look = {"next": look, "last": last}
        self._which: Which = "next"
        self._shown: Inspected | None = None
        self._raw = False
        self._text = ""

    def compose(self) -> ComposeResult:
        yield Static("Context  looking the next request up …", id="inspector-head", markup=False)
        with Container(classes="body"):
            yield Listing("Read", id="inspector-parts")
            yield Reading(id="inspector-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self._load()

    def on_resize(self) -> None:
        self._draw()

    @work(exclusive=True, group="inspector", exit_on_error=True)
    async def _load(self) -> None:
        look = self._look[self._which]
        if look is None:
            return
        try:
            self._shown = await asyncio.to_thread(look)
        except (MunimentError, OSError) as error:
            self.query_one("#inspector-head", Static).update(safe_line(f"Context  {sentence_of(error)}"))
            return
        self._draw()

    def _draw(self) -> None:
        shown = self._shown
        if shown is None:
            return
        self.query_one("#inspector-head", Static).update(_head(shown, self.size.width))
        options = self.query_one("#inspector-parts", OptionList)
        at = options.highlighted
        options.clear_options()
        width = 0 if self.side else self.size.width
        options.add_options([Option(_row(each, width)) for each in shown.parts])
        options.highlighted = _first(shown) if at is None else min(at, len(shown.parts) - 1)
        self._read()

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._read()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one(Reading).focus()

    def _read(self) -> None:
        shown = self._shown
        at = self.query_one("#inspector-parts", OptionList).highlighted
        if shown is None or (at is None and not self._raw):
            return
        pane = self.query_one(Reading)
        if self._raw or at is None:
            pane.border_title = Content("Raw, as muniment context --json prints it")
            self._text = shown.raw
            pane.show([Line(each) for each in reading(shown.raw).split("\n")])
            return
        part = shown.parts[at]
        # Why a part is absent is told in the text itself.
        pane.border_title = safe_line(f"{part.title}  {part.amount}" if part.present else part.title)
        self._text = part.text
        pane.show(_part_lines(part))

    def action_turn(self) -> None:
        """Change between the next request and the last."""
        if self._look["last"] is None:
            self.app.notify("No request was sent in this session yet.", markup=False)
            return
        self._which = "last" if self._which == "next" else "next"
        self._load()

    def action_raw(self) -> None:
        """Show the whole request raw, or its parts again."""
        self._raw = not self._raw
        self.set_class(self._raw, "-raw")
        self.query_one(Reading if self._raw else OptionList).focus()
        self._read()

    def action_copy(self) -> None:
        """Copy what is shown."""
        self.app.copy_to_clipboard(self._text)
        self.app.notify("Copied what is shown.", markup=False)

    def action_leave(self) -> None:
        """Leave the raw view, then the screen."""
        if self._raw:
            self.action_raw()
        else:
            self.dismiss(None)


def _first(shown: Inspected) -> int:
    """Return the part to begin with: the first block of memory that is there."""
    return next((n for n, each in enumerate(shown.parts) if each.bounds), 0)


def _head(shown: Inspected, width: int) -> Content:
    over = shown.estimate > shown.budget
    # The words are what counts, so the bar takes what they leave.
    room = max(8, min(len(shown.bar), width - len(shown.words) - 4))
    drawn = bar(shown.estimate, shown.budget, room)
    lines = [
        Content.assemble(("Context  ", "bold $primary"), (safe_line(shown.heading).plain, "bold")),
        Content.assemble((drawn, "$error" if over else "$primary"), f"  {shown.words}"),
        *(Content.styled(safe_line(f"! {each}").plain, "$warning") for each in shown.notices),
    ]
    return Content("\n").join(lines)


def _row(part: Part, width: int) -> Content:
    """One part in the list: on one row of `width` cells, or on two where it stands beside the text."""
    mark = "● " if part.present else "○ "
    name = (part.title, "bold") if part.present else (part.title, "$secondary")
    words: list[tuple[str, str]] = [(part.amount, "$secondary")]
    if part.bounds:
        fullest = max(part.bounds, key=lambda each: each.used / max(each.most, 1))
        drawn = bar(fullest.used, fullest.most, 12)
        words = [(f" {fullest.words}", "$secondary")]
        if not 0 < width < 60:
            words.insert(0, (drawn, "$primary"))
    if width:
        padding = " " * max(19 - len(part.title), 1)
        return Content.assemble(mark, name, padding, *words)
    return Content.assemble(mark, name, "\n  ", *words)


def _part_lines(part: Part) -> list[Line]:
    lines: list[Line] = []
    if part.about:
        lines += [Line(safe_line(part.about).plain, "muted")]
    lines += [Line(bound.words, "muted") for bound in part.bounds]
    if part.rows:
        lines.append(Line(""))
        lines.append(Line("Why each was chosen: what its score is made of", "heading"))
        for number, row in enumerate(part.rows, 1):
            title = safe_line(f"{number}. {row.id}  {row.title}").plain
            lines.append(Line(title))
            lines.append(Line(f"   {row.score:.3f} = {row_words(row)}", "label"))
            lines.append(Line(safe_line(f"   from {row.source}").plain, "muted"))
    if part.text:
        if lines:
            lines += [Line(""), Line("As the model receives it", "heading")]
        lines += _lines(part.text)
    elif not part.present:
        lines.append(Line(part.amount, "muted"))
    return lines


def _lines(text: str) -> list[Line]:
    source = exact_source(text)
    return [Line(line, marks=marks) for line, marks in zip(source.lines, source.marks, strict=True)]
