"""The keys that do something here and now, in one line: the place's own first, help and commands last."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

LAST = ("app.help", "app.commands")
"""Ids of the bindings that always stand at the end and are never left out."""
_GAP = 2
Entry = tuple[str, str, ActiveBinding]
"""Key, word and binding."""


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
        if not self.is_attached or not self.size.width:
            return
        room = self.size.width - 2
        first, last = self._split()
        needed = sum(_width(*each[:2]) for each in last)
        parts: list[tuple[str, str]] = []
        self._spans = []
        at = 1
        for number, (key, word, active) in enumerate(first):
            more = "… " if number + 1 < len(first) else ""
            if at - 1 + _width(key, word) + len(more) + needed > room:
                parts.append(("… ", "$secondary"))
                at += 2
                break
            at = self._put(parts, at, key, word, active)
        for key, word, active in last:
            if at - 1 + _width(key, word) - _GAP > room:
                break
            at = self._put(parts, at, key, word, active)
        self.update(Content.assemble(*parts))

    def _put(self, parts: list[tuple[str, str]], at: int, key: str, word: str, active: ActiveBinding) -> int:
        parts += [(key, "bold $accent"), (f" {word}", "$foreground"), (" " * _GAP, "")]
        end = at + _width(key, word)
        self._spans.append((at, end - _GAP, active))
        return end

    def _split(self) -> tuple[list[Entry], list[Entry]]:
        first: list[Entry] = []
        last: list[Entry] = []
        for active in shown(self.screen):
            binding = active.binding
            entry = (key_name(self.app.get_key_display(binding)), binding.description, active)
            (last if binding.id in LAST else first).append(entry)
        last.sort(key=lambda each: LAST.index(each[2].binding.id or ""))
        return first, last

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does."""
        for start, end, active in self._spans:
            if start <= event.x < end:
                await self.app.run_action(active.binding.action, default_namespace=active.node)


def shown(screen: Screen[object]) -> Iterator[ActiveBinding]:
    """Yield the bindings to be shown, from the focus outwards, each action once."""
    places = {id(node): depth for depth, (node, _) in enumerate(screen._modal_binding_chain)}
    seen: set[tuple[int, str]] = set()
    found = [each for each in screen.active_bindings.values() if each.binding.show and each.enabled]
    # The chain begins at the focus; keys of one node keep the order in which they were declared.
    for each in sorted(found, key=lambda one: places.get(id(one.node), len(places))):
        what = (id(each.node), each.binding.action)
        if what not in seen and each.binding.description:
            seen.add(what)
            yield each


def key_name(display: str) -> str:
    """Return a key as this product writes it: F1, ^P, Esc, Enter."""
    if len(display) > 1 and display[0] in "fF" and display[1:].isdigit():
        return display.upper()
    if display.startswith("^"):
        return display.upper()
    names = {"escape": "Esc", "esc": "Esc", "enter": "Enter", "⏎": "Enter", "tab": "Tab", "delete": "Del"}
    return names.get(display.casefold(), display)


def binding_key(binding: Binding, display: str) -> str:
    """Return how a binding's key is written in help and palette."""
    return binding.key_display or key_name(display)


def _width(key: str, word: str) -> int:
    return len(key) + 1 + len(word) + _GAP
