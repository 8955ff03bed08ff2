"""Whole tables and plain lists as one token each, and their text read out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from muniment.tui.widgets.prose_rows import ListText, Point, Side, TableText

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

TABLE = "whole_table"
LIST = "whole_list"
BULLETS = "•▪‣⭑◦"
_PLAIN = frozenset(
    f"{name}_{end}"
    for name in ("bullet_list", "ordered_list", "list_item", "paragraph")
    for end in ("open", "close")
) | {"inline"}

Inline = Callable[["Token"], Content]


def parser() -> MarkdownIt:
    """Return a parser of Markdown that hands over tables, and lists of nothing but text, in one piece."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("gfm-like")
    made.core.ruler.push("whole", _fold)
    return made


def _fold(state: StateCore) -> None:
    state.tokens = list(_folded(state.tokens))


def _folded(tokens: Sequence[Token]) -> Iterator[Token]:
    at = deep = 0
    while at < len(tokens):
        token = tokens[at]
        whole = _whole(tokens, at, deep)
        if whole is None:
            deep += {"bullet_list_open": 1, "bullet_list_close": -1}.get(token.type, 0)
            yield token
            at += 1
        else:
            yield whole
            at += len(whole.children or ())


def _whole(tokens: Sequence[Token], at: int, deep: int) -> Token | None:
    """Return the table or the plain list that begins here, inside so many lists of bullets."""
    from markdown_it.token import Token

    first = tokens[at]
    if first.type not in ("table_open", "bullet_list_open", "ordered_list_open"):
        return None
    closing = first.type.replace("_open", "_close")
    end = next(
        each
        for each in range(at + 1, len(tokens))
        if tokens[each].type == closing and tokens[each].level == first.level
    )
    inner = list(tokens[at : end + 1])
    table = first.type == "table_open"
    if not table and any(each.type not in _PLAIN for each in inner):
        return None
    kind = TABLE if table else LIST
    return Token(kind, "", 0, map=first.map, level=first.level, children=inner, meta={"deep": deep})


def read_table(token: Token, inline: Inline) -> TableText:
    """Return the text of a whole table."""
    head: list[Content] = []
    sides: list[Side] = []
    rows: list[list[Content]] = []
    cells = head
    for each in token.children or ():
        if each.type == "tr_open":
            cells = [] if head else head
            if cells is not head:
                rows.append(cells)
        elif each.type == "th_open":
            sides.append(_side(str(each.attrs.get("style", ""))))
        elif each.type == "inline":
            cells.append(inline(each))
    return TableText(
        tuple(each.stylize_before(".table_head") for each in head),
        tuple(map(tuple, rows)),
        tuple(sides),
    )


def _side(style: str) -> Side:
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"


def read_list(token: Token, inline: Inline) -> ListText:
    """Return the lines of a whole list."""
    points: list[Point] = []
    lists: list[_Open] = []
    deep = int(token.meta.get("deep", 0))
    tokens = token.children or []
    for at, each in enumerate(tokens):
        if each.type == "bullet_list_open":
            lists.append(_Open(f"{BULLETS[deep % len(BULLETS)]} "))
            deep += 1
        elif each.type == "ordered_list_open":
            lists.append(_Open("", _number_width(tokens[at:], each.level)))
        elif each.type in ("bullet_list_close", "ordered_list_close"):
            deep -= 1 if each.type == "bullet_list_close" else 0
            lists.pop()
        elif each.type == "list_item_open":
            lists[-1].begin(each.info)
        elif each.type == "list_item_close" and lists[-1].waits:
            points.append(_point(lists, Content("")))
        elif each.type == "inline":
            points += (_point(lists, line) for line in inline(each).split("\n", allow_blank=True))
    return ListText(tuple(points))


class _Open:
    """A list that is being read: what stands before its next line."""

    def __init__(self, bullet: str, width: int = 0) -> None:
        self._bullet = bullet
        self.width = width or len(bullet)
        self.waits = ""

    def begin(self, number: str) -> None:
        """Begin a point."""
        self.waits = self._bullet or f"{number}. ".rjust(self.width)

    def mark(self) -> str:
        """Return what stands before a line: the mark once, then blanks."""
        mark, self.waits = self.waits, ""
        return mark or " " * self.width


def _point(lists: Sequence[_Open], text: Content) -> Point:
    mark = "".join(each.mark() for each in lists)
    return Point(Content.styled(mark, ".mark"), text)


def _number_width(tokens: Sequence[Token], level: int) -> int:
    """Return the width of the marks of the numbered list that begins these tokens, a blank before them."""
    numbers: list[str] = []
    for each in tokens:
        if each.type == "ordered_list_close" and each.level == level:
            break
        if each.type == "list_item_open" and each.level == level + 1:
            numbers.append(each.info)
    return max(len(f"{number}. ") for number in numbers) + 1
