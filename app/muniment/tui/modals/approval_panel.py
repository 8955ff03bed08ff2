"""The body of the approval dialog: it draws a proposal and the state of the gate, and decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from muniment.approval.proposal import Proposal
from muniment.safety.visible import reading_line
from muniment.tui.begin import begin
from muniment.tui.modals.approval_choices import Choice, ChoiceRow, Offer
from muniment.tui.modals.approval_document import NARROW, Document, View, build_document, size_of
from muniment.tui.modals.approval_reason import ReasonField
from muniment.tui.widgets.arming_bar import ArmingBar, BarState
from muniment.tui.widgets.exact_lines import lay_out, wrap
from muniment.tui.widgets.exact_text import ExactText

_STANDING_SHARE = 6
"""The standing line may take this part of the screen; beyond it only what is covered stays in sight."""
TALL = 30
"""Rows from which the dialog is only as high as it needs to be."""
MOST_WIDTH = 116
"""Columns that the style sheet grants at most."""
_SIDES = 4
"""Columns of the border and the padding."""
_ROWS_AROUND = 8
"""Rows of the border, the place, the choices, the bar, and the empty rows between on a tall screen."""
THREAD_FROM = 40_000
"""Characters from which the text is prepared in a thread."""


class ApprovalPanel(Vertical):
    """Shows all of a proposal, scrolls it, and knows which of its ends has been drawn."""

    def __init__(self, proposal: Proposal, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._proposal = proposal
        self._large = size_of(proposal) >= THREAD_FROM
        self._document: Document | None = None
        self._view: View | None = None
        self._layout: tuple[bool, bool] | None = None
        self.text = ExactText(id="text")
        self.place = Static(" ", id="place", markup=False)
        self.standing = Static(self._standing_words(cramped=False), id="standing", markup=False)
        self.reason = ReasonField(id="reason")
        self.choices = ChoiceRow(id="choices")
        self.bar = ArmingBar(id="bar")

    def compose(self) -> ComposeResult:
        yield from (self.text, self.place, self.standing, self.reason, self.choices, self.bar)

    def on_mount(self) -> None:
        if self._large:
            begin(self, self._prepare, group="approval-document", exclusive=True)
        else:
            self._take_document(build_document(self._proposal))

    async def _prepare(self) -> None:
        self._take_document(await asyncio.to_thread(build_document, self._proposal))

    def _take_document(self, document: Document) -> None:
        self._document = document
        self._view = document.views[0] if document.views else None
        self._show_view()
        self.fit_height()

    # -- views -----------------------------------------------------------------------------------------------

    @property
    def other_view(self) -> View | None:
        """The view that comes next, or None where there is only one."""
        views = self._document.views if self._document is not None else ()
        if self._view is None or len(views) < 2:
            return None
        return views[(views.index(self._view) + 1) % len(views)]

    def show_other_view(self) -> None:
        """Switch between difference, new and old text."""
        self._view = self.other_view or self._view
        self._show_view()
        self.fit_height()

    @property
    def end_drawn(self) -> bool:
        """Whether the end of what is to be approved was drawn: of the new text, the difference, what goes."""
        views = self._document.views if self._document is not None else ()
        counts = self._document is not None and (self._view != "old" or len(views) == 1)
        return counts and self.text.end_drawn and self.text.display

    def _show_view(self, top: int = 0) -> None:
        cramped = self._cramped
        standing = self._standing_words(cramped=cramped)
        if standing != self.standing.content:
            self.standing.update(standing)
        document, view, width = self._document, self._view, self.size.width
        if document is None:
            return
        if not self._large:
            self.text.show(document.lines(view, width, with_later=cramped), top=top)
            return

        async def show_large() -> None:
            lines = await asyncio.to_thread(document.lines, view, width, with_later=cramped)
            self.text.show(lines, top=top)

        self.text.show((), top=top)
        begin(self, show_large, group="approval-view", exclusive=True)

    def _standing_words(self, *, cramped: bool) -> Content:
        told = (self._proposal.coverage, "" if cramped else self._proposal.shown_later)
        return Content(reading_line(" ".join(told).strip()))

    # -- size and place --------------------------------------------------------------------------------------

    @property
    def _cramped(self) -> bool:
        """Whether the whole standing line would take too much room from the text."""
        width, height = self.screen.size
        inner = max(min(width, MOST_WIDTH) - _SIDES, 1)
        return len(wrap(self._standing_words(cramped=False).plain, inner)) > height // _STANDING_SHARE

    def on_resize(self, event: events.Resize) -> None:
        layout = (self._cramped, event.size.width < NARROW)
        if layout != self._layout:
            self._layout = layout
            self._show_view(self.text.top_line())
        self.fit_height()

    def fit_height(self) -> None:
        """On a tall screen, be as high as the proposal needs; else fill the screen."""
        width, height = self.screen.size
        if height >= TALL and self._document is not None and not self._large:
            # Reckoned and not measured, so that the first frame is right already.
            inner = min(width, MOST_WIDTH) - _SIDES
            lines = self._document.lines(self._view, inner)
            rows = len(lay_out(lines, inner - self.text.styles.scrollbar_size_vertical))
            standing = len(wrap(self._standing_words(cramped=self._cramped).plain, inner))
            height = min(height, max(rows + standing + _ROWS_AROUND + self.reason.display, TALL // 2))
        self.styles.height = height

    @on(ExactText.Moved)
    def _tell_place(self) -> None:
        first, last = self.text.visible_rows
        total = self.text.row_count
        hidden = self._document.hidden if self._document is not None else 0
        width = self.text.size.width
        telling = " shown as escapes" if width >= NARROW else ""
        warning = f" {hidden:,} hidden{telling} " if hidden else ""
        if not self.text.laid_out:
            words = "preparing the text …"
        else:
            lines = f"lines {first}–{last} of {total}"
            more = f"▼ {total - last:,} more below" if last < total else "■ end"
            words = f"── {lines} · {more} "
            if len(words) + len(warning) > width:
                words = f"{lines} ▼ " if last < total else f"{lines} "
        content = Content(words)
        if warning:
            ansi = self.app.current_theme.ansi
            content += Content.styled(
                warning, "$text-warning bold reverse" if ansi else "$foreground on $warning-muted bold"
            )
        self.place.update(content)

    def scroll_text(self, action: str) -> None:
        """Move the text; the name is one of the scrolling actions."""
        page = max(self.text.size.height - 1, 1)
        match action:
            case "top":
                self.text.scroll_to(y=0, animate=False)
            case "bottom":
                self.text.scroll_to(y=self.text.row_count, animate=False)
            case _:
                step = {"up": -1, "down": 1, "page_up": -page, "page_down": page}[action]
                self.text.scroll_relative(y=step, animate=False)

    # -- state -----------------------------------------------------------------------------------------------

    def entitle(self, number: int, total: int) -> None:
        """Say what would happen, and which of how many waiting proposals this is."""
        counted = f" · {number} of {total}" if total > 1 else ""
        self.border_title = Content(f"{reading_line(self._proposal.title)}{counted}")

    def tell(
        self,
        state: BarState,
        progress: float,
        offers: Sequence[Offer],
        chosen: Choice | None,
        *,
        too_small: bool,
    ) -> None:
        """Draw the state by word, shape and colour."""
        self.bar.tell(state, progress, too_small=too_small)
        self.choices.offer(offers, chosen)
        self.set_class(state is BarState.ARMED, "-armed")
        self.set_class(state in (BarState.LOCKED, BarState.REASONED), "-locked")
