"""The keys of every binding by its id, each changed on its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.safety.visible import reading_line
from muniment.settings.keymap import clash_of, fault_of, usable
from muniment.tui.alive import stands
from muniment.tui.begin import begin
from muniment.tui.keymap import Known, known_bindings
from muniment.tui.keynames import key_name
from muniment.tui.looks import Sheet
from muniment.tui.modals.entry import Entry
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing, WordsLine
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.top_line import TopLine

Keep = Callable[[str, str | None], Awaitable[tuple[dict[str, str], str]]]
"""Writes the keys of one id, None for its own, and returns the keymap as it then is, and what went wrong."""
_ID = 26
_KEYS = 20
_KEYS_LEAST = 11
_KEYS_WIDE = 34
_WIDE_FROM = 110
"""From so many cells on there is room for all keys of a binding."""


class KeymapScreen(Sheet[None]):
    """Lists bindings; Enter gives one other keys."""

    AUTO_FOCUS: ClassVar[str | None] = "#keymap-list"
    BINDING_GROUP_TITLE = "Keymap"
    HELP = "Enter gives a binding other keys, several with commas; x gives back its own. / filters."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to the settings", id="keymap.back"),
        Binding(
            "x", "default", "Own keys", tooltip="Give this binding its own keys again", id="keymap.default"
        ),
        Binding(
            "slash", "filter", "Filter", key_display="/", tooltip="Filter as you type", id="keymap.filter"
        ),
    ]

    def __init__(self, keymap: Mapping[str, str], keep: Keep) -> None:
        super().__init__()
        self._keymap = dict(keymap)
        self._keep = keep
        self._shown: list[Known | None] = []
        self._ignored: frozenset[str] | set[str] = frozenset()

    def compose(self) -> ComposeResult:
        yield TopLine("Keymap")
        yield WordsLine("filter by id, key or meaning", id="keymap-filter")
        yield Listing("Change", id="keymap-list")
        yield Static("", id="keymap-say", classes="say", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#keymap-filter").display = False
        self._draw()
        self._say(usable(self._keymap)[1])

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        good, _ = usable(self._keymap)
        self._ignored = self._keymap.keys() - good.keys()
        changed, ignored = len(good), len(self._ignored)
        said = f"{changed} key{'s' * (changed != 1)} changed" if changed or ignored else "as they come"
        said += f", {ignored} ignored" if ignored else ""
        self.query_one(TopLine).say(said)
        options = self.query_one("#keymap-list", Listing)
        kept = self._selected()
        words = self.query_one("#keymap-filter", Input).value.casefold().split()
        options.clear_options()
        self._shown = []
        place = ""
        known: dict[str, Known] = {}
        for one in known_bindings():
            known.setdefault(one.id, one)
        for each in sorted(known.values(), key=lambda one: (one.place != "Everywhere", one.place)):
            keys = good.get(each.id, each.keys)
            if not all(word in f"{each.id} {each.about} {keys} {each.place}".casefold() for word in words):
                continue
            if each.place != place:
                gap = "\n" if place else ""
                place = each.place
                options.add_option(Option(Content.assemble(gap, (place, "bold $primary")), disabled=True))
                self._shown.append(None)
            options.add_option(Option(self._line(each, keys)))
            self._shown.append(each)
        if not self._shown:
            options.tell("No binding matches; Escape shows all of them again.")
            return
        at = next((n for n, one in enumerate(self._shown) if one and kept and one.id == kept.id), 1)
        options.highlighted = at

    def _line(self, known: Known, keys: str) -> Content:
        width = self.size.width - 4
        shown = " ".join(key_name(each.strip()) for each in keys.split(","))
        ignored = known.id in self._ignored
        style = "bold $accent" if known.id in self._keymap and not ignored else "bold"
        # On a narrow screen the id keeps its room: it is what stands in the settings.
        beside = _KEYS_WIDE if width >= _WIDE_FROM else max(_KEYS_LEAST, min(_KEYS, width - _ID - 1))
        room = width - _ID - beside - 2
        parts = [
            Content.styled(reading_line(shown), style).truncate(beside, ellipsis=True, pad=True),
            Content(" "),
            Content(known.id).truncate(min(_ID, width - beside - 1), ellipsis=True, pad=True),
        ]
        if room > 12 or ignored:
            said = f"✗ {self._keymap[known.id]} is ignored" if ignored else known.about
            colour = "$error" if ignored else "$secondary"
            parts.append(Content.styled(f" {reading_line(said)}", colour).truncate(room, ellipsis=True))
        return Content("").join(parts)

    def _selected(self) -> Known | None:
        at = self.query_one("#keymap-list", OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def _say(self, text: str) -> None:
        if stands(self):
            self.query_one("#keymap-say", Static).update(Content(reading_line(text)))

    def _fault(self, id_: str, text: str) -> str:
        if not text.strip():
            return "Type a key such as ctrl+f, f7, slash or x; several with commas."
        fault = fault_of(id_, text)
        keys = ",".join(each.strip() for each in text.split(","))
        return fault or clash_of(id_, usable(self._keymap)[0] | {id_: keys})

    @on(OptionList.OptionSelected, "#keymap-list")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        known = self._shown[event.option_index]
        if known is not None:
            self._ask(known)

    @work(exclusive=True, group="keymap-ask", exit_on_error=True)
    async def _ask(self, known: Known) -> None:
        now = self._keymap.get(known.id, known.keys)
        text = await self.app.push_screen_wait(
            Entry(known.id, known.about, now, lambda text: self._fault(known.id, text))
        )
        if text is not None and text != now:
            await self._change(known, None if text.strip() == known.keys else text.strip())

    async def _change(self, known: Known, keys: str | None) -> None:
        self._keymap, fault = await self._keep(known.id, keys)
        if not stands(self):
            return
        self._draw()
        if fault:
            self._say(fault)
            return
        shown = self._keymap.get(known.id, known.keys)
        self._say(f"{known.id} is {' '.join(key_name(each.strip()) for each in shown.split(','))} now.")

    def action_default(self) -> None:
        """Give a binding its own keys again."""
        known = self._selected()
        if known is not None and known.id in self._keymap:
            begin(self, partial(self._change, known, None), group="keymap-ask", exclusive=True)

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#keymap-filter", Input)
        box.display = True
        box.focus()

    @on(Input.Changed, "#keymap-filter")
    def _filtered(self) -> None:
        self._draw()

    @on(Input.Submitted, "#keymap-filter")
    def _filter_done(self) -> None:
        self.query_one("#keymap-list").focus()

    def action_leave(self) -> None:
        """Close the filter, then the screen."""
        box = self.query_one("#keymap-filter", Input)
        if box.display:
            box.value = ""
            box.display = False
            self.query_one("#keymap-list").focus()
        else:
            self.dismiss(None)
