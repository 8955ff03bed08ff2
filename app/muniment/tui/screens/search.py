"""Search over everything that is remembered, best first, as you type; the last query wins."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.memory.surfaces import Surfaces
from muniment.safety.errors import MunimentError, sentence_of
from muniment.session.holdings.items import COUNT_WORDS, KIND_WORDS, KINDS, Item, Kind, numbered
from muniment.session.holdings.search import ALL_KINDS, SCOPES, Answer, Ask, Hit, Scope, Stopped, search_all
from muniment.tui.alive import stands
from muniment.tui.looks import Sheet
from muniment.tui.text import marked, safe_line
from muniment.tui.widgets.exact_lines import Line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing, WordsLine
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.reading import Reading

QUIET_SECONDS = 0.08
"""So long nothing is typed before a search begins."""
_HINT = (
    "Type words. Everything is searched: records, user memory, inbox, pinned, notes, notebooks, knowledge "
    'and ledger. Words in "double quotes" must stand together.'
)


class SearchScreen(Sheet[None]):
    """Finds, and opens what is chosen above itself."""

    AUTO_FOCUS: ClassVar[str | None] = "#search-words"
    SIDE_FROM: ClassVar[int] = 120
    """A hit and its text beside it take more room than elsewhere: half of the width each."""
    BINDING_GROUP_TITLE = "Search"
    HELP = (
        "Type words, of the last one half will do; Enter or Down reaches the hits, Enter there opens one and "
        "Escape comes back here; a wide screen shows the hit beside the list. Kind and scope narrow; what is "
        "overridden, expired, held or retracted is shown on demand."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the session", id="search.back"),
        Binding("ctrl+t,k", "kind", "Kind", tooltip="Search the next kind only, then all", id="search.kind"),
        Binding("ctrl+l,s", "scope", "Scope", tooltip="Everywhere, project or global", id="search.scope"),
        Binding(
            "ctrl+o,o",
            "toggle_all",
            "Overridden too",
            tooltip="Show what is overridden, expired, held or retracted",
            id="search.all",
        ),
        Binding("down", "hits", "Hits", show=False, tooltip="Go to the hits", id="search.hits"),
        Binding("slash", "words", "Words", show=False, tooltip="Back to the words", id="search.words"),
        Binding("y", "copy", "Copy id", tooltip="Copy the id of this hit", id="search.copy"),
    ]
    DEFAULT_CSS = """
    SearchScreen {
        & Input, & Input:focus {
            height: 3; border: round $border-blurred; border-title-color: $primary; background: $background;
        }
        & Input:focus { border: round $primary; }
        & Input:ansi { border-left: round $border-blurred !important; }
        & Input:ansi:focus { border-left: round $primary !important; }
        & #search-where { padding: 0 1; }
        & #search-say { padding: 0 1; }
        & .body { margin-top: 1; }
        & .pane { display: none; }
        &.-side.-found .pane { display: block; }
    }
    """

    def __init__(
        self,
        surfaces: Surfaces,
        words: str,
        open_item: Callable[[Item], None],
        read: Callable[[Item], tuple[str, Sequence[Line]]],
    ) -> None:
        super().__init__()
        self._surfaces = surfaces
        self._words = words
        self._open = open_item
        self._read = read
        self._kind: Kind | None = None
        self._scope: Scope = "everywhere"
        self._all = False
        self._answer: Answer | None = None

    def compose(self) -> ComposeResult:
        box = WordsLine(
            "search everything that is remembered", id="search-words", value=self._words, compact=False
        )
        box.border_title = Content("Search")
        yield box
        yield Static("", id="search-where", classes="hint", markup=False)
        yield Static(Content(_HINT), id="search-say", classes="hint", markup=False)
        with Container(classes="body"):
            yield Listing("Open", id="search-hits")
            yield Reading(id="search-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self._tell_where()

    @property
    def hits(self) -> tuple[Hit, ...]:
        return () if self._answer is None else self._answer.hits

    def search_for(self, words: str) -> None:
        """Search for other words; no words leave those that stand there."""
        if words:
            self.query_one("#search-words", Input).value = words

    @on(Input.Changed)
    def _changed(self) -> None:
        self._search()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_hits()

    @work(exclusive=True, group="search", exit_on_error=True)
    async def _search(self) -> None:
        words = self.query_one("#search-words", Input).value
        kinds = ALL_KINDS if self._kind is None else frozenset((self._kind,))
        ask = Ask(words, kinds, self._scope, self._all, typing=True)
        self._tell_where()
        if not words.strip():
            self._show(None)
            return
        await asyncio.sleep(QUIET_SECONDS)
        given_up = threading.Event()
        try:
            # A newer search cancels this one here; the thread learns of it at its next step.
            answer = await asyncio.to_thread(search_all, self._surfaces, ask, stopped=given_up.is_set)
        except Stopped:
            return
        except (MunimentError, OSError) as error:
            self._say(safe_line(sentence_of(error)))
            return
        finally:
            given_up.set()
        self._show(answer)

    def _show(self, answer: Answer | None) -> None:
        self._answer = answer
        options = self.query_one("#search-hits", OptionList)
        options.clear_options()
        options.add_options([Option(_row(hit)) for hit in self.hits])
        self.set_class(bool(self.hits), "-found")
        if self.hits:
            options.highlighted = 0
        self._tell()

    def _tell(self) -> None:
        answer = self._answer
        self._say(Content(_HINT) if answer is None else _summary(answer, self.size.width - 2))

    def on_resize(self) -> None:
        super().on_resize()
        self._tell()
        self._preview()

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._preview()

    @work(exclusive=True, group="search-text", exit_on_error=True)
    async def _preview(self) -> None:
        """Show the hit under the cursor whole, once the cursor rests, where there is room beside."""
        at = self.query_one("#search-hits", OptionList).highlighted
        if not self.side or at is None or at >= len(self.hits):
            return
        item = self.hits[at].item
        await asyncio.sleep(QUIET_SECONDS)
        try:
            title, lines = await asyncio.to_thread(self._read, item)
        except (MunimentError, OSError) as error:
            title, lines = "", [Line(safe_line(sentence_of(error)).plain, "warning")]
        if stands(self):
            pane = self.query_one(Reading)
            pane.border_title = safe_line(title)
            pane.show(lines)

    def _tell_where(self) -> None:
        kind = "all" if self._kind is None else KIND_WORDS[self._kind]
        standing = "also what is not in effect" if self._all else "only what is in effect"
        parts = [("kind ", "$secondary"), (kind, "bold $foreground"), ("  ·  scope ", "$secondary")]
        parts += [(self._scope, "bold $foreground"), (f"  ·  {standing}", "$secondary")]
        self.query_one("#search-where", Static).update(Content.assemble(*parts))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._open(self.hits[event.option_index].item)

    def action_hits(self) -> None:
        """Go to the hits."""
        options = self.query_one("#search-hits", OptionList)
        if self.hits:
            options.focus()
            if options.highlighted is None:
                options.highlighted = 0

    def action_words(self) -> None:
        """Go back to the words."""
        self.query_one("#search-words", Input).focus()

    def action_kind(self) -> None:
        """Search the next kind only, then all again."""
        order: list[Kind | None] = [None, *KINDS]
        self._kind = order[(order.index(self._kind) + 1) % len(order)]
        self._search()

    def action_scope(self) -> None:
        """Search another scope."""
        self._scope = SCOPES[(SCOPES.index(self._scope) + 1) % len(SCOPES)]
        self._search()

    def action_toggle_all(self) -> None:
        """Show what is not in effect too, or not."""
        self._all = not self._all
        self._search()

    def action_copy(self) -> None:
        """Copy the id of the hit under the cursor."""
        at = self.query_one("#search-hits", OptionList).highlighted
        if at is not None and at < len(self.hits):
            item = self.hits[at].item
            self.app.copy_to_clipboard(item.id)
            self.app.notify(safe_line(f"Copied {item.id}.").plain, markup=False)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

    def _say(self, text: Content) -> None:
        self.query_one("#search-say", Static).update(text)


def _row(hit: Hit) -> Content:
    """One hit: its name, kind and place, whether it counts, and where the words stand in it."""
    item = hit.item
    title = marked(item.title, hit.title_spans)
    mark = "● " if not item.state else "○ "
    if item.by_title or item.id == item.title:
        name, title = Content(""), title.stylize_before("bold")
    else:
        name = Content.assemble((safe_line(item.id).plain, "bold"), "  ")
    facts = f"  {KIND_WORDS[item.kind]} · {hit.scope}" + (f" · {item.facts}" if item.facts else "")
    standing = Content.styled(f"  {item.state}", "$warning") if item.state else Content("")
    head = Content.assemble(mark, name, title, standing, (safe_line(facts).plain, "$secondary"))
    snippet = marked(hit.snippet.text, hit.snippet.spans)
    return Content.assemble(head, "\n  ", snippet.stylize_before("$secondary"))


def _summary(answer: Answer, room: int) -> Content:
    parts = ", ".join(numbered(count, *COUNT_WORDS[kind]) for kind, count in answer.searched.items() if count)
    looked = f"{numbered(len(answer.hits), 'hit')} among {answer.total:,} searched"
    more = "; more may match, so say more words." if answer.cut else "."
    # What was searched is said by kind only where that takes no second row.
    whole = f"{looked} ({parts}){more}"
    lines = [whole if parts and cell_len(whole) <= room else looked + more]
    if not answer.hits and not answer.ask.everything:
        lines.append("Nothing that is in effect matches; ^O looks at what is overridden or retracted too.")
    lines += answer.notices
    return Content("\n").join(safe_line(each) for each in lines)
