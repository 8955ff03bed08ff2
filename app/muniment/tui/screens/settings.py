"""The settings: what each is, where it came from, changed in the file and in the running app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from muniment.paths import Paths
from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.settings import Settings
from muniment.tui.alive import stands
from muniment.tui.begin import begin
from muniment.tui.looks import Sheet
from muniment.tui.modals.choose import Choose
from muniment.tui.modals.entry import Entry
from muniment.tui.settings_rows import Row, matching, parsed, rows, typed, words_of
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing, WordsLine
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.top_line import TopLine

_LABEL = 26
_VALUE = 26
_PLACE = 24
_HELP_FROM = 120
_ORIGIN_FROM = 70
"""From so many cells on the origin stands in the row; below, only underneath the list."""


class SettingsScreen(Sheet[None]):
    """Every setting in a list; a change is written at once, checked, with the file's comments kept."""

    AUTO_FOCUS: ClassVar[str | None] = "#settings-list"
    BINDING_GROUP_TITLE = "Settings"
    HELP = (
        "Enter changes a setting, x takes it back to its default, / filters. The file keeps its comments; a "
        "file with a fault is never overwritten."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Back to where you were", id="settings.back"),
        Binding(
            "x", "default", "Default", tooltip="Take this setting out of the file", id="settings.default"
        ),
        Binding(
            "slash", "filter", "Filter", key_display="/", tooltip="Filter as you type", id="settings.filter"
        ),
        Binding("y", "copy", "Copy path", tooltip="Copy the path of the settings file", id="settings.copy"),
    ]
    DEFAULT_CSS = """
    SettingsScreen #settings-about {
        height: auto; min-height: 4; padding: 0 1; border-top: solid $border-blurred;
    }
    """

    def __init__(
        self,
        paths: Paths,
        read: Callable[[], Settings],
        now: Settings,
        applied: Callable[[Settings, str], None],
        look: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._paths = paths
        self._read = read
        self._settings = now
        self._applied = applied
        self._theme = look
        self._rows: tuple[Row, ...] = ()
        self._shown: list[Row | None] = []
        self._fault = ""

    def compose(self) -> ComposeResult:
        yield TopLine("Settings")
        yield WordsLine("filter by name, value or meaning", id="settings-filter")
        yield Listing("Change", id="settings-list")
        yield Static("", id="settings-about", markup=False)
        yield Static("", id="settings-say", classes="say", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#settings-filter").display = False
        self.query_one(TopLine).say("", str(self._paths.config_file))
        self._load()

    def on_resize(self) -> None:
        self._draw()

    @work(exclusive=True, group="settings-read", exit_on_error=True)
    async def _load(self) -> None:
        try:
            self._settings = await asyncio.to_thread(self._read)
            self._fault = ""
        except (MunimentError, OSError) as error:
            told = sentence_of(error)
            self._fault = f"{told} Nothing can be changed here until the file is right; it is left alone."
        if not stands(self):
            return
        self._rows = rows(self._settings)
        self._draw()
        self._say(self._fault)

    # Drawing

    def _draw(self) -> None:
        if not self._rows:
            return
        options = self.query_one("#settings-list", Listing)
        kept = self._selected()
        found = matching(self._rows, self.query_one("#settings-filter", Input).value)
        options.clear_options()
        self._shown = []
        section = ""
        for row in found:
            if row.section != section:
                gap = "\n" if section else ""
                section = row.section
                options.add_option(Option(Content.assemble(gap, (section, "bold $primary")), disabled=True))
                self._shown.append(None)
            options.add_option(Option(self._line(row)))
            self._shown.append(row)
        if not found:
            options.tell("No setting matches; Escape shows all of them again.")
            self._about(None)
            return
        at = next((n for n, row in enumerate(self._shown) if row and kept and row.key == kept.key), None)
        options.highlighted = at if at is not None else 1
        self._about(self._shown[options.highlighted or 0])

    def _line(self, row: Row) -> Content:
        width = self.size.width - 4
        label = min(_LABEL, width * 3 // 5)
        room = _VALUE if width >= _ORIGIN_FROM else width - label - 1
        parts = [
            Content(row.label).truncate(label, ellipsis=True, pad=True),
            Content(" "),
            Content.styled(reading_line(row.shown), "bold $accent" if row.kept else "").truncate(
                room, ellipsis=True, pad=True
            ),
        ]
        if width >= _ORIGIN_FROM:
            place = reading_line(row.place(str(self._paths.config_file)))
            parts.append(Content.styled(f" {place}", "$secondary").truncate(_PLACE, ellipsis=True, pad=True))
            if width >= _HELP_FROM:
                parts.append(Content.styled(f" {row.help}", "$secondary"))
        return Content("").join(parts)

    def _about(self, row: Row | None) -> None:
        box = self.query_one("#settings-about", Static)
        if row is None:
            box.update(Content(""))
            return
        parts: list[Content | str | tuple[str, str]] = [
            (row.key, "bold"),
            f"  {row.help}\n",
            ("allowed  ", "$secondary"),
            f"{row.allowed}\n",
            ("from     ", "$secondary"),
            f"{reading_line(row.origin)}\n",
            ("counts   ", "$secondary"),
            row.when,
        ]
        if row.overruled:
            parts.append((f"; {row.overruled} counts before the file", "$warning"))
        box.update(Content.assemble(*parts))

    def _say(self, text: str) -> None:
        if stands(self):
            self.query_one("#settings-say", Static).update(Content(reading_line(text)))

    def _selected(self) -> Row | None:
        at = self.query_one("#settings-list", OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    @on(OptionList.OptionHighlighted, "#settings-list")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self._about(self._shown[event.option_index])

    # Changing

    @on(OptionList.OptionSelected, "#settings-list")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        row = self._shown[event.option_index]
        if row is None:
            return
        if self._fault:
            self._say(self._fault)
            return
        self._ask(row)

    @work(exclusive=True, group="settings-ask", exit_on_error=True)
    async def _ask(self, row: Row) -> None:
        words = words_of(row)
        if row.key == "tui.keymap":
            from muniment.tui.screens.keymap import KeymapScreen

            await self.app.push_screen_wait(KeymapScreen(row.value, self._keep_key))
            self._load()
            return
        if words:
            preview = self._theme if row.key == "tui.theme" else None
            word = await self.app.push_screen_wait(Choose(row.label, row.help, words, row.shown, preview))
            if word is not None and word != row.shown:
                await self._write(row, word == "on" if words == ("on", "off") else word)
            return
        about = f"{row.help}\nallowed: {row.allowed}"
        text = await self.app.push_screen_wait(
            Entry(row.key, about, typed(row.value), lambda text: parsed(row, text)[1])
        )
        if text is not None and text.strip() != typed(row.value):
            await self._write(row, parsed(row, text)[0])

    async def _write(self, row: Row, value: Any) -> None:
        fault = await self._keep(row.key, value)
        what = "is at its default again" if value is None else "is changed"
        self._say(fault or f"{row.key} {what}; it counts {row.when}.")

    async def _keep(self, key: Any, value: Any) -> str:
        """Write one value and let it take effect; return why not where file or value would not have it."""
        from muniment.settings.edit import change

        try:
            await asyncio.to_thread(change, self._paths, key, value)
            self._settings = await asyncio.to_thread(self._read)
        except (MunimentError, OSError) as error:
            self._theme(self._settings.tui.theme)
            return sentence_of(error)
        self._applied(self._settings, key if isinstance(key, str) else ".".join(key[:2]))
        self._rows = rows(self._settings)
        if stands(self):
            self._draw()
        return ""

    async def _keep_key(self, id_: str, keys: str | None) -> tuple[dict[str, str], str]:
        """Give one binding other keys; return what the keymap then is, and what went wrong."""
        last = keys is None and set(self._settings.tui.keymap) <= {id_}
        # A keymap without an entry is no keymap, so the last entry takes the key with it.
        fault = await self._keep("tui.keymap" if last else ("tui", "keymap", id_), keys)
        return dict(self._settings.tui.keymap), fault

    def action_default(self) -> None:
        """Take a setting out of the file."""
        row = self._selected()
        if row is None or self._fault:
            return
        if not row.kept:
            self._say(f"{row.key} does not stand in the file; its value comes from: {row.origin}.")
        else:
            begin(self, partial(self._write, row, None), group="settings-ask", exclusive=True)

    # Moving about

    def action_filter(self) -> None:
        """Open the filter."""
        box = self.query_one("#settings-filter", Input)
        box.display = True
        box.focus()

    @on(Input.Changed, "#settings-filter")
    def _filtered(self) -> None:
        self._draw()

    @on(Input.Submitted, "#settings-filter")
    def _filter_done(self) -> None:
        self.query_one("#settings-list").focus()

    def action_copy(self) -> None:
        """Copy the path of the file."""
        self.app.copy_to_clipboard(str(self._paths.config_file))
        self._say("The path is copied.")

    def action_leave(self) -> None:
        """Close the filter, then the screen."""
        box = self.query_one("#settings-filter", Input)
        if box.display:
            box.value = ""
            box.display = False
            self.query_one("#settings-list").focus()
        else:
            self.dismiss(None)
