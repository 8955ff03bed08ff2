"""The command palette: everything that a key of the place does, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.command import CommandInput, CommandList, DiscoveryHit, Hit, Hits, Provider, SearchIcon
from textual.command import CommandPalette as FrameworkPalette
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import LoadingIndicator
from textual.widgets.option_list import Option

from muniment.tui.keynames import key_name
from muniment.tui.place import Place
from muniment.tui.slash import COMMANDS
from muniment.tui.widgets.key_bar import Entry, KeyBar
from muniment.tui.widgets.options import ClicksThatStand, can_page

if TYPE_CHECKING:
    from typing import Self

    from textual.widgets._option_list import OptionListContent

_HIDDEN = frozenset({"command_palette", "send", "break_line", "complete", "dialog"})


_SHOWN = ("palette.next", "palette.previous", "palette.close", "app.help")


class _Keys(KeyBar):
    """The keys of the palette: those of its list count although the focus is where the words are typed."""

    def _entries(self) -> list[Entry]:
        screen = self.screen
        keys = {binding.id: (key, binding) for key, binding in reversed(list(screen._bindings))}
        found = [Entry("Enter", "Run", "palette.run")]
        for id_ in _SHOWN:
            key, binding = keys[id_]
            active = ActiveBinding(screen, binding, True, binding.tooltip)
            found.append(Entry(key_name(key), binding.description, id_, active))
        return found


class _Commands(ClicksThatStand, CommandList):
    """The list of commands, which empties with the first click of two; empty, it says what to do."""

    def add_option(self, option: OptionListContent = None) -> Self:
        """Add a row; the framework's one about nothing found says no more than that."""
        if isinstance(option, Option) and option.id == FrameworkPalette._NO_MATCHES:
            told = Content.styled("No command matches; fewer letters find more, Escape closes.", "$secondary")
            option = Option(told, id=option.id, disabled=True)
        return super().add_option(option)


class CommandPalette(FrameworkPalette, Place[None]):
    """The palette, which leaves once and bears a terminal without room for its list."""

    BINDING_GROUP_TITLE = "Commands"
    HELP = "Type letters of a name or of what it does; the arrows choose and Enter runs what is chosen."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "cursor_down", "Next", tooltip="Go to the next command", id="palette.next"),
        Binding(
            "up",
            "command_list('cursor_up')",
            "Previous",
            tooltip="Go to the command before",
            id="palette.previous",
        ),
        Binding(
            "pagedown",
            "command_list('page_down')",
            "Page down",
            show=False,
            tooltip="Go on by a page",
            id="palette.page-down",
        ),
        Binding(
            "pageup",
            "command_list('page_up')",
            "Page up",
            show=False,
            tooltip="Go back by a page",
            id="palette.page-up",
        ),
        Binding(
            "ctrl+home,shift+home",
            "command_list('first')",
            "First",
            show=False,
            tooltip="Go to the first command",
            id="palette.first",
        ),
        Binding(
            "ctrl+end,shift+end",
            "command_list('last')",
            "Last",
            show=False,
            tooltip="Go to the last command",
            id="palette.last",
        ),
        Binding("escape", "escape", "Close", tooltip="Close it and run nothing", id="palette.close"),
        Binding(
            "f1", "app.show_help", "Help", tooltip="Keys of this place, and how memory works", id="app.help"
        ),
    ]
    DEFAULT_CSS = """
    CommandPalette {
        & > KeyBar { dock: bottom; }
        & > #--container, & > #--container:dark {
            width: 96%; max-width: 100; margin-top: 1; background: transparent;
        }
        & #--input, & #--input.--list-visible { height: 3; border: round $primary; background: $surface; }
        & SearchIcon { display: none; }
        & CommandInput, & CommandInput:focus { height: 1; border: none; padding: 0 1; }
        & CommandList, & CommandList:focus {
            max-height: 60vh; border: none; background: $surface; scrollbar-size-vertical: 1;
            text-wrap: nowrap; text-overflow: ellipsis;
        }
        & CommandList > .option-list--option { padding: 0 2; }
        & CommandList:ansi { border: round $border-blurred; }
    }
    """

    def compose(self) -> ComposeResult:
        with Vertical(id="--container"):
            with Horizontal(id="--input"):
                yield SearchIcon()
                yield CommandInput(placeholder=self._placeholder, select_on_focus=False)
            with Vertical(id="--results"):
                yield _Commands()
                yield LoadingIndicator()
        yield _Keys()

    def _action_command_list(self, action: str) -> None:
        rows = self.query(CommandList)
        if rows and (not action.startswith("page") or can_page(rows.first())):
            super()._action_command_list(action)


class PlaceProvider(Provider):
    """Offers the actions bound on the screen and around the focus, and the slash commands."""

    def _commands(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, help and action of each command, every name once, by how near it lies to the hand.

        First what the key bar shows of this place, then the slash commands, then the keys that everybody
        knows without looking them up.
        """
        near: list[tuple[str, str, str]] = []
        far: list[tuple[str, str, str]] = []
        seen: set[str] = set()
        for node, bindings in self.screen._modal_binding_chain:
            for key, binding in bindings:
                name = binding.action.partition("(")[0].rpartition(".")[2]
                # What the framework binds by itself bears no sentence and would say nothing here.
                mine = (isinstance(node, Screen) or node is self.app or binding.id) and binding.tooltip
                if not mine or not binding.description or name in _HIDDEN or binding.description in seen:
                    continue
                seen.add(binding.description)
                about = f"{binding.tooltip}  {key_name(binding.key_display or key)}"
                here = binding.show and node is not self.app
                (near if here else far).append((binding.description, about, binding.action))
        yield from near
        for each in COMMANDS:
            yield each.name, each.summary, f"app.slash('{each.action}')"
        yield from far

    async def discover(self) -> Hits:
        """Offer everything before a letter is typed."""
        for name, about, action in self._commands():
            yield DiscoveryHit(Content(name), self._runner(action), help=Content(about).plain)

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for name, about, action in self._commands():
            score = matcher.match(f"{name} {about}")
            if score > 0:
                yield Hit(score, Content(name), self._runner(action), help=Content(about).plain)

    def _runner(self, action: str) -> Callable[[], Awaitable[None]]:
        screen = self.screen
        focused = screen.focused

        async def run() -> None:
            namespace = focused if focused is not None else screen
            await self.app.run_action(action, default_namespace=namespace)

        return run
