"""The review: everything that waits, one after the other with one key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from muniment.memory.team.consolidate_plan import Preview
from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.session.holdings.review import Review, Waiting
from muniment.tui.alive import stands
from muniment.tui.keynames import key_name
from muniment.tui.looks import Sheet
from muniment.tui.text import safe
from muniment.tui.widgets.facts import Facts
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.top_line import TopLine

if TYPE_CHECKING:
    from muniment.tui.reviewing import Reviewer

LOOK_SECONDS = 1.0
_MARKS = {"proposal": "⏸", "consolidation": "●", "sweep": "●", "summary": "●", "skipped": "▲"}
_TEXTS = {"consolidation": "The digest", "summary": "The entries", "proposal": "The new text"}
_WITH_A_ROW = frozenset({"open", "read", "move", "edit", "file_elsewhere", "copy"})
_EMPTY = "Nothing waits for you."
_COMES = (
    ("⏸ proposals", "what the model wants to write, before it is written"),
    ("● inbox", "a consolidation, once enough notes wait there"),
    ("● knowledge", "a sweep of its base: duplicates, stale and misfiled entries"),
    ("● notebooks", "summaries of long ones, where the settings ask for them"),
    ("▲ files", "what of memory cannot be used, with the reason"),
)
_THEN = "This is what will appear here. /note puts a note of yours into the inbox. Escape goes back."


class _Rows(Listing):
    """The list of what waits; it is short, so the keys that turn pages are left to the text beside it."""

    def __init__(self, verb: str, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(verb, id=id)
        for key in ("pagedown", "pageup"):
            self._bindings.key_to_bindings.pop(key, None)


class ReviewScreen(Sheet[None]):
    """Lists what waits; Enter opens it, and the dialog behind it decides."""

    AUTO_FOCUS: ClassVar[str | None] = "#review-list"
    BINDING_GROUP_TITLE = "Review"
    HELP = (
        "Enter opens what is marked; the dialog that follows decides, by the same rules as ever. PageDown "
        "and PageUp read its text. e changes a digest before, c files one of its notes elsewhere. n and p "
        "move; what was decided leaves the list."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Stop what is prepared, or go back", id="review.back"),
        Binding("enter", "open", "Open", tooltip="Open what is marked", id="review.open"),
        Binding(
            "pagedown",
            "read(1)",
            "Read on",
            key_display=key_name("pagedown"),
            tooltip="Read on in the text of what is marked",
            id="review.read-on",
        ),
        Binding(
            "pageup",
            "read(-1)",
            "Read back",
            show=False,
            tooltip="Read back in the text of what is marked",
            id="review.read-back",
        ),
        Binding("n", "move(1)", "Next", tooltip="Go to the next thing that waits", id="review.next"),
        Binding(
            "p", "move(-1)", "Previous", show=False, tooltip="Go to the one before", id="review.previous"
        ),
        Binding("e", "edit", "Edit digest", tooltip="Change the digest first", id="review.edit"),
        Binding(
            "c",
            "file_elsewhere",
            "File elsewhere",
            show=False,
            tooltip="Give a note of a consolidation another category",
            id="review.category",
        ),
        Binding("y", "copy", "Copy path", tooltip="Copy the path that this is about", id="review.copy"),
        Binding("r", "look", "Look again", show=False, tooltip="Look at everything again", id="review.look"),
    ]
    DEFAULT_CSS = """
    ReviewScreen {
        & OptionList { height: auto; max-height: 45%; min-height: 4; }
        &.-side OptionList { width: 2fr; height: 1fr; max-height: 100%; }
        &.-side .pane { width: 3fr; }
        &.-empty OptionList { display: none; }
        & #review-text { height: auto; margin-top: 1; }
    }
    """

    def __init__(self, look: Callable[[], Review], reviewer: Reviewer) -> None:
        super().__init__()
        self._look_at = look
        self._reviewer = reviewer
        self._review: Review | None = None
        self._edited: Preview | None = None
        self._busy = ""

    def compose(self) -> ComposeResult:
        yield TopLine("Review")
        with Container(classes="body"):
            yield _Rows("Open", id="review-list")
            with VerticalScroll(id="review-pane", classes="pane"):
                yield Facts(id="review-facts")
                yield Static("", id="review-text", markup=False)
        yield Static("", id="review-say", classes="say", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TopLine).say("looking …")
        self._look()
        self.set_interval(LOOK_SECONDS, self._look_again)

    def on_screen_resume(self) -> None:
        if self._review is not None:
            self._look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer nothing that is done with a row while there is none, or none of its kind."""
        if action in _WITH_A_ROW and self.has_class("-empty"):
            return False
        if action in ("edit", "file_elsewhere") and self.is_mounted:
            waiting = self.selected
            if waiting is None or not isinstance(waiting.ref, Preview):
                return False
        return super().check_action(action, parameters)

    # Looking

    def _look_again(self) -> None:
        if self.is_current and not self._busy:
            self._look()

    @work(exclusive=True, group="review-look", exit_on_error=True)
    async def _look(self) -> None:
        try:
            review = await asyncio.to_thread(self._look_at)
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
            return
        if stands(self):
            self._draw(self._with_edit(review))

    def _with_edit(self, review: Review) -> Review:
        """Lay the user's or the model's digest over the preview, as long as the same notes wait."""
        edited = self._edited
        if edited is None:
            return review
        from muniment.session.holdings.review import consolidation_row

        items = list(review.items)
        for at, each in enumerate(items):
            if isinstance(each.ref, Preview):
                seen = [one.note.digest for one in each.ref.notes]
                if seen == [one.note.digest for one in edited.notes] and each.ref.state == edited.state:
                    place = dict(each.facts)["workspace"]
                    items[at] = replace(consolidation_row(edited, place), key=each.key)
                    return replace(review, items=tuple(items))
        self._edited = None
        self._say("The notes changed meanwhile; the digest was made anew.")
        return review

    def _draw(self, review: Review) -> None:
        if review == self._review:
            return
        options = self.query_one("#review-list", OptionList)
        kept, at = self.selected, options.highlighted or 0
        self._review = review
        options.clear_options()
        options.add_options([Option(_line(each)) for each in review.items])
        self.set_class(not review.items, "-empty")
        self.refresh_bindings()
        self.query_one(TopLine).say(review.words or "nothing waits")
        if review.faults:
            self._say(" ".join(review.faults))
        if not review.items:
            self._show(None)
            return
        keys = [each.key for each in review.items]
        # What was decided leaves the list, and the cursor then stands on what came after it.
        options.highlighted = keys.index(kept.key) if kept and kept.key in keys else min(at, len(keys) - 1)
        self._show(self.selected)
        options.focus()

    @property
    def selected(self) -> Waiting | None:
        """What the cursor stands on."""
        at = self.query_one("#review-list", OptionList).highlighted
        if self._review is None or at is None or at >= len(self._review.items):
            return None
        return self._review.items[at]

    def _show(self, waiting: Waiting | None) -> None:
        facts, text = self.query_one(Facts), self.query_one("#review-text", Static)
        if waiting is None:
            facts.tell(_EMPTY, _COMES)
            text.update(Content(_THEN))
            return
        facts.tell(waiting.title, (("next", self._next(waiting)), *waiting.facts))
        heading = _TEXTS.get(waiting.kind, "Text")
        body = Content.assemble((f"{heading}\n", "bold $primary"), safe(waiting.text))
        text.update(body if waiting.text else Content(""))
        self.query_one("#review-pane").scroll_home(animate=False)

    def _next(self, waiting: Waiting) -> str:
        match waiting.kind:
            case "proposal":
                return "Enter opens the dialog; proposals are asked in order"
            case "consolidation" if self._wants_model(waiting):
                return "Enter lets the model write the digest; e writes your own"
            case "consolidation":
                return "Enter opens the dialog with all of it; e changes the digest before"
            case "summary":
                return "Enter lets the model write the summary, then opens the dialog"
            case "sweep":
                return "Enter opens the dialog with all of it"
            case _:
                return "y copies the path"

    def _wants_model(self, waiting: Waiting) -> bool:
        preview = waiting.ref
        return (
            isinstance(preview, Preview)
            and preview.by == "rules"
            and not preview.why
            and not preview.breaker
            and self._reviewer.asks_model
        )

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self._show(self.selected)

    # Deciding

    @on(OptionList.OptionSelected)
    def _opened(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open what is marked; from its text as well, where Enter has no other meaning."""
        waiting = self.selected
        if waiting is None or self._busy:
            return
        if not waiting.decides:
            self._say("This file is left as it is. y copies its path, so that you can mend or move it.")
            return
        self._decide(waiting)

    @work(exclusive=True, group="review-decide", exit_on_error=True)
    async def _decide(self, waiting: Waiting) -> None:
        try:
            if self._wants_model(waiting) and isinstance(waiting.ref, Preview):
                self._begin("the model writes the digest …")
                self._edited = await self._reviewer.with_model_digest(waiting.ref)
                self._say("Read the digest; Enter opens the dialog.")
            else:
                self._begin("the model writes the summary …" if waiting.kind == "summary" else "")
                said = await self._reviewer.decide(waiting)
                self._edited = None
                self._say(said)
        except (MunimentError, OSError) as error:
            self._say(sentence_of(error))
        finally:
            self._begin("")
        if stands(self):
            self._look()

    def _begin(self, busy: str) -> None:
        self._busy = busy
        review = self._review
        if stands(self):
            words = f"{busy}  Esc stops" if busy else (review.words if review else "") or "nothing waits"
            self.query_one(TopLine).say(words)

    def action_edit(self) -> None:
        """Change the digest."""
        waiting = self.selected
        if waiting is None or not isinstance(waiting.ref, Preview):
            return
        if waiting.ref.breaker:
            self._say("This batch goes to the archive as a whole; it has no digest.")
        else:
            self._edit(waiting.ref)

    @work(exclusive=True, group="review-edit", exit_on_error=True)
    async def _edit(self, preview: Preview) -> None:
        from muniment.tui.modals.edit_text import EditText

        def fault(text: str) -> str:
            try:
                preview.with_digest(text)
            except MunimentError as error:
                return error.sentence
            return ""

        text = await self.app.push_screen_wait(EditText("The digest", preview.digest, fault))
        if text is not None and text != preview.digest:
            self._edited = preview.with_digest(text)
            self._say("The digest is yours now; nothing is written yet. Enter opens the dialog.")
            self._look()

    def action_file_elsewhere(self) -> None:
        """Give a note of a consolidation another category."""
        waiting = self.selected
        if waiting is None or not isinstance(waiting.ref, Preview):
            return
        if waiting.ref.breaker:
            self._say("This batch goes to the archive as a whole; none of it is filed.")
        else:
            self._file_elsewhere(waiting.ref)

    @work(exclusive=True, group="review-edit", exit_on_error=True)
    async def _file_elsewhere(self, preview: Preview) -> None:
        from muniment.memory.team.classify import CATEGORIES
        from muniment.tui.modals.choose import Choose

        filed = {each.note.name: each.category for each in preview.notes}
        name = await self.app.push_screen_wait(Choose("Which note?", "Enter takes one.", list(filed), ""))
        if name is None:
            return
        about = f"Where {name} will stand in the knowledge base."
        category = await self.app.push_screen_wait(Choose("Category", about, CATEGORIES, filed[name]))
        if category is not None and category != filed[name]:
            self._edited = preview.with_category(name, category)
            self._say(
                f"{name} will be filed under {category}; nothing is written yet. Enter opens the dialog."
            )
            self._look()

    # Moving about

    def action_read(self, by: int) -> None:
        """Read on or back in the text, wherever the focus is."""
        pane = self.query_one("#review-pane", VerticalScroll)
        if by > 0:
            pane.scroll_page_down(animate=False)
        else:
            pane.scroll_page_up(animate=False)

    def action_move(self, by: int) -> None:
        """Go to the next thing, or to the one before."""
        options = self.query_one("#review-list", OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_copy(self) -> None:
        """Copy the path that this is about."""
        waiting = self.selected
        facts = {} if waiting is None else dict(waiting.facts)
        path = facts.get("file") or facts.get("workspace") or facts.get("notebook") or facts.get("path")
        if path:
            self.app.copy_to_clipboard(path)
            self._say("The path is copied.")
        else:
            self._say("This has no path of its own.")

    def action_look(self) -> None:
        """Look at everything again."""
        self._look()

    def action_leave(self) -> None:
        """Stop what the model writes, else go back."""
        if self._busy:
            self.workers.cancel_group(self, "review-decide")
            self._say("Stopped; nothing was changed.")
        else:
            self.dismiss(None)

    def _say(self, text: str) -> None:
        if stands(self):
            self.query_one("#review-say", Static).update(Content(reading_line(text)))


def _line(waiting: Waiting) -> Content:
    mark = _MARKS[waiting.kind]
    return Content.assemble(
        (f"{mark} ", "$warning" if waiting.kind == "skipped" else "$accent"),
        (reading_line(waiting.title), "bold"),
        (f"\n  {reading_line(waiting.about)}", "$secondary"),
    )
