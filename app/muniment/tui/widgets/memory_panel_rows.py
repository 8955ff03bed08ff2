"""What the memory panel shows, as plain rows: groups, items, and the words for what is not listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len

from muniment.safety.visible import reading_line
from muniment.session.holdings.items import WINDOW, Group, Holdings, Item, narrow

PASSED = "passed"
"""Key of the group of files that are not used."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `left` may be cut, `right` stands at the edge. Items and groups open, hints do not."""

    key: tuple[str, ...]
    left: str
    right: str = ""
    kind: str = "hint"
    """`group`, `item`, `file` or `hint`."""
    quiet: str = ""
    """Words behind `left`, less loud."""
    counts: bool = True
    """Whether an item is in effect."""
    item: Item | None = None
    group: str = ""
    more: bool = False
    """Whether a group holds items that were not read yet."""
    about: str = ""
    """The whole of it in words, for the line below the tree."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A group's row with those below it."""

    row: Row
    rows: tuple[Row, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class View:
    """All that the panel draws."""

    branches: tuple[Branch, ...]
    title: str
    message: str = ""


def view(holdings: Holdings, words: str, opened: Mapping[str, bool]) -> View:
    """Lay out what is held; `opened` says of groups whether a person opened or closed them."""
    shown = narrow(holdings, words)
    filtered = bool(words.split())
    branches = [_branch(group, opened, filtered) for group in shown.groups]
    if shown.passed:
        about = "Files that are not used; each says why. Repair or remove them, then they count again."
        row = Row((PASSED,), "Skipped files", str(len(shown.passed)), "group", group=PASSED, about=about)
        rows = tuple(
            Row(
                (PASSED, each.path),
                _name(each.path),
                "",
                "file",
                reading_line(each.reason),
                about=reading_line(f"{each.path} {each.reason}"),
            )
            for each in shown.passed
        )
        branches.append(Branch(row, rows, opened.get(PASSED, filtered)))
    count = holdings.records
    title = f"Memory  {count:,} record{'' if count == 1 else 's'}"
    message = ""
    if filtered:
        found = shown.count
        title = f"Memory  {found:,} found"
        if not branches:
            message = "Nothing matches; Escape clears the filter."
    elif not holdings.count:
        message = "Nothing is remembered here yet. Ask the model to save a rule, or press + to write one."
    return View(tuple(branches), title, message)


def why_not(verb: str, row: Row | None) -> str:
    """Say why nothing is done with a row that is no item, and what to do instead."""
    what = "copy the id of" if verb == "copy" else verb
    if row is None:
        return f"There is nothing here to {what}."
    if row.kind == "file":
        return f"This file is not used, so there is nothing to {what}: mend it or move it away in the shell."
    if row.kind == "hint":
        return f"To {what} one of these, find it first: / filters."
    return f"{row.left.removesuffix(' !')} is a place, not a thing to {what}: go down to one of its rows."


def _branch(group: Group, opened: Mapping[str, bool], filtered: bool) -> Branch:
    # A scope that holds records needs no word on how to begin.
    hint = "" if group.place and group.items else group.hint
    about = ". ".join(each for each in (reading_line(group.place), group.warning, hint) if each)
    row = Row(
        ("group", group.key),
        group.name if not group.warning else f"{group.name} !",
        group.amount,
        "group",
        reading_line(group.place),
        group=group.key,
        more=group.total > 0,
        about=about,
    )
    rows = [_item_row(each, group) for each in group.items[:WINDOW]]
    rest = group.total - len(rows)
    if rows and rest > 0:
        text = f"… {rest:,} more: / filters"
        about = f"{rest:,} more of {group.name} are not listed; press / and type a word to see them."
        rows.append(Row(("more", group.key), text, about=about))
    is_open = group.total > 0 and (filtered or opened.get(group.key, group.open))
    return Branch(row, tuple(rows), is_open)


def _item_row(item: Item, group: Group) -> Row:
    title = reading_line(item.title[:400])
    name = reading_line(item.id)
    state = f" ({item.state})" if item.state else ""
    left, quiet = (title, item.facts) if item.by_title else (name, title)
    return Row(
        item.key,
        left,
        item.state,
        "item",
        reading_line(quiet),
        counts=not item.state,
        item=item,
        group=group.key,
        about=f"{name}{state}: {title}",
    )


def short_path(shown: str, keep: int) -> str:
    """Return the end of a path in at most so many cells: it tells more than the beginning."""
    if cell_len(shown) <= keep:
        return shown
    kept = ""
    for character in reversed(shown):
        if cell_len(kept) + cell_len(character) + 1 > keep:
            break
        kept = character + kept
    return f"…{kept}" if keep > 0 else ""


def _name(path: str) -> str:
    return reading_line(path.rsplit("/", 1)[-1] or path)
