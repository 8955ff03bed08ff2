"""Everything that memory holds as plain items in groups: what the panel lists, and what a search may find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["record", "user", "inbox", "pinned", "notes", "notebook", "knowledge", "ledger"]
KINDS: tuple[Kind, ...] = ("record", "user", "inbox", "pinned", "notes", "notebook", "knowledge", "ledger")
KIND_WORDS: dict[Kind, str] = {
    "record": "record",
    "user": "user memory",
    "inbox": "inbox note",
    "pinned": "pinned",
    "notes": "team notes",
    "notebook": "notebook",
    "knowledge": "knowledge",
    "ledger": "ledger row",
}
COUNT_WORDS: dict[Kind, tuple[str, str]] = {
    "record": ("record", "records"),
    "user": ("user memory entry", "user memory entries"),
    "inbox": ("inbox note", "inbox notes"),
    "pinned": ("pinned entry", "pinned entries"),
    "notes": ("team note section", "team note sections"),
    "notebook": ("notebook entry", "notebook entries"),
    "knowledge": ("knowledge entry", "knowledge entries"),
    "ledger": ("ledger row", "ledger rows"),
}
"""One and several of each kind."""
WINDOW = 500
"""How many items of one group are listed; the filter reaches the others."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is remembered. `state` is empty where it counts, else the word why it does not."""

    kind: Kind
    id: str
    title: str
    place: str = ""
    """The directory or name that tells it from others of the same kind and id."""
    state: str = ""
    words: str = ""
    """More text that a filter goes by."""
    facts: str = ""
    """A few words more about it."""
    ref: object = None
    """The object of its own surface that it stands for."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same while the item changes."""
        return (self.kind, self.place, self.id)

    @property
    def by_title(self) -> bool:
        """Whether people know it by its title; its id was made by a machine."""
        return self.kind in ("inbox", "knowledge", "ledger")


@dataclass(frozen=True, slots=True)
class Group:
    """A heading with its items; `total` counts those that are there, of which `items` may be a part."""

    key: str
    name: str
    amount: str
    items: tuple[Item, ...] = ()
    total: int = 0
    place: str = ""
    warning: str = ""
    hint: str = ""
    """What to do where nothing is in it."""
    open: bool = True
    """Whether it is open before anybody opened or closed it."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A file that is not used, and why, as words after its name."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Holdings:
    """All groups in the order in which they are shown."""

    groups: tuple[Group, ...] = ()
    passed: tuple[Passed, ...] = ()
    records: int = 0

    @property
    def count(self) -> int:
        return sum(group.total for group in self.groups)


def narrow(holdings: Holdings, text: str) -> Holdings:
    """Keep the items that hold every word of a text in id, title, state or facts; groups without any go."""
    words = text.casefold().split()
    if not words:
        return holdings
    groups: list[Group] = []
    for group in holdings.groups:
        kept = tuple(each for each in group.items if _holds(each, words))
        if kept:
            groups.append(replace(group, items=kept, total=len(kept), open=True))
    passed = tuple(each for each in holdings.passed if _all_in(words, each.path.casefold()))
    return Holdings(tuple(groups), passed, holdings.records)


def _holds(item: Item, words: list[str]) -> bool:
    text = f"{item.id} {item.title} {item.state} {KIND_WORDS[item.kind]} {item.facts} {item.words}".casefold()
    return _all_in(words, text)


def _all_in(words: Iterable[str], text: str) -> bool:
    return all(word in text for word in words)


def size_text(count: int) -> str:
    """Return a number of bytes in a form to be read."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.1f} KiB"
    return f"{count / 1024 / 1024:.1f} MiB"


def numbered(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun: `1 turn`, `2 turns`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
