"""The keys that do something here and now, in one line: the place's own first, help and commands last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual import events
from textual.binding import ActiveBinding
from textual.content import Content
from textual.keys import key_to_character
from textual.screen import Screen
from textual.widgets import Static

from muniment.tui.alive import stands
from muniment.tui.keynames import key_name

LAST = ("app.help", "app.commands")
"""Ids of the bindings that stand at the end; help is left out last of all."""
WAYS_OUT = (".back", ".close")
"""Ends of the ids of bindings that leave a place."""
YIELDS = frozenset({"app.quit", "session.mode"})
"""Ids of bindings that give way first where room is short; help and palette name them all the same."""
SHORT = {
    "Commands": "Cmds",
    "Context": "Ctx",
    "Copy path": "Path",
    "Edit digest": "Edit",
    "Look again": "Again",
    "Memory": "Mem",
    "Previous": "Prev",
    "Review": "Rev",
    "Search": "Find",
    "Sessions": "Sess",
    "Settings": "Set",
}
"""Words for narrow screens: a shorter word is better than a key that nobody sees."""
_MORE = "… "
_WRITTEN = {"slash": "/", "backslash": "\\", "plus": "+", "minus": "-", "underscore": "_", "at": "@"}
"""Names of keys that Textual does not lead back to what they write."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its word and what it does."""

    key: str
    word: str
    id: str
    active: ActiveBinding | None = None

    @property
    def width(self) -> int:
        return cell_len(self.key) + 1 + cell_len(self.word)

    def shortened(self) -> Entry:
        """Return the entry with its short word."""
        return replace(self, word=SHORT.get(self.word, self.word))


@dataclass(frozen=True, slots=True)
class Fit:
    """What stands in the line: entries in order, cells between them, and where something is left out."""

    entries: tuple[Entry, ...]
    gap: int
    cut: int | None = None
    """The place before which a sign says that there is more; None where everything is there."""


def fit(entries: Sequence[Entry], room: int) -> Fit:
    """Choose words and gaps so that as many keys as possible stand in `room` cells."""
    kept = [each for each in entries if each.id not in YIELDS]
    short = [each.shortened() for each in kept]
    # A word or two is given up before the gaps: where keys run into each other, none of them is found.
    fewer = [_shortened_behind(kept, count) for count in (1, 2)]
    for some, gap in (
        (entries, 2),
        (kept, 2),
        *((each, 2) for each in fewer),
        (kept, 1),
        (short, 2),
        (short, 1),
    ):
        if _width(some, gap) <= room:
            return Fit(tuple(some), gap)
    cut = len(short)
    first = next((each for each in short if each.id not in LAST), None)
    while short and _width(short, 1) + len(_MORE) > room:
        at = min(range(len(short)), key=lambda at: (_worth(short[at], first), -at))
        cut = min(cut, at)
        del short[at]
    return Fit(tuple(short), 1, cut)


def _shortened_behind(entries: Sequence[Entry], count: int) -> list[Entry]:
    """Shorten the last `count` words that have a short form: those are known best."""
    found = list(entries)
    at = [n for n, each in enumerate(found) if each.word in SHORT]
    for n in at[-count:]:
        found[n] = found[n].shortened()
    return found


def _worth(entry: Entry, first: Entry | None) -> int:
    """Return how long an entry stays where room is short: the first key and the way out tell most."""
    if entry.id == "app.help":
        return 4
    if entry.id.endswith(WAYS_OUT):
        return 3
    if entry is first:
        return 2
    return 1 if entry.id in LAST else 0


def _width(entries: Sequence[Entry], gap: int) -> int:
    return sum(each.width for each in entries) + gap * max(0, len(entries) - 1)


class KeyBar(Static):
    """One line; what does not fit is left out with a sign, and help names it all the same."""

    DEFAULT_CSS = """
    KeyBar { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(markup=False, id=id)
        self._spans: list[tuple[int, int, ActiveBinding]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.call_after_refresh(self.redraw)

    def on_resize(self) -> None:
        self.redraw()

    def _changed(self, _: Screen[object]) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Draw the keys in force."""
        # While the app leaves, its screens go before what waits for them.
        if not self.is_attached or not self.size.width or not stands(self.screen):
            return
        found = fit(self._entries(), self.size.width)
        parts: list[tuple[str, str]] = []
        self._spans = []
        at = 1
        for number, each in enumerate(found.entries):
            if number == found.cut:
                parts.append((_MORE, "$secondary"))
                at += len(_MORE)
            parts += [(each.key, "bold $accent"), (f" {each.word}", "$foreground"), (" " * found.gap, "")]
            if each.active is not None:
                self._spans.append((at, at + each.width, each.active))
            at += each.width + found.gap
        if found.cut == len(found.entries):
            parts.append((_MORE, "$secondary"))
        self.update(Content.assemble(*parts))

    def _entries(self) -> list[Entry]:
        first: list[Entry] = []
        last: list[Entry] = []
        for active in shown(self.screen):
            binding = active.binding
            key = key_name(self.app.get_key_display(binding))
            entry = Entry(key, binding.description, binding.id or "", active)
            (last if entry.id in LAST else first).append(entry)
        last.sort(key=lambda each: LAST.index(each.id))
        if any(each.key == "F2" for each in first):
            # Function keys stand in their own order.
            return (
                [each for each in last if each.key == "F1"]
                + first
                + [each for each in last if each.key != "F1"]
            )
        return [*first, *last]

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does."""
        for start, end, active in self._spans:
            if start <= event.x < end:
                await self.app.run_action(active.binding.action, default_namespace=active.node)


def _typed(screen: Screen[object], key: str) -> bool:
    """Tell whether a key would be written into the field that has the focus."""
    character = _WRITTEN.get(key) or key_to_character(key)
    focused = screen.focused
    return focused is not None and character is not None and focused.check_consume_key(key, character)


def shown(screen: Screen[object]) -> Iterator[ActiveBinding]:
    """Yield the bindings to be shown, from the focus outwards, each action once."""
    places = {id(node): depth for depth, (node, _) in enumerate(screen._modal_binding_chain)}
    seen: set[tuple[int, str]] = set()
    found = [
        each
        for key, each in screen.active_bindings.items()
        if each.binding.show and each.enabled and not _typed(screen, key)
    ]
    # The chain begins at the focus; keys of one node keep the order in which they were declared.
    for each in sorted(found, key=lambda one: places.get(id(one.node), len(places))):
        what = (id(each.node), each.binding.action)
        if what not in seen and each.binding.description:
            seen.add(what)
            yield each
