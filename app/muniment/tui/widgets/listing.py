"""A list whose Enter says in the key bar what it does here."""

from __future__ import annotations

from textual.binding import Binding

from muniment.tui.keynames import key_name
from muniment.tui.widgets.options import OptionList


class Listing(OptionList):
    """An option list without markup; `verb` is the word for taking the row under the cursor."""

    def __init__(self, verb: str, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False)
        take = Binding(
            "enter",
            "select",
            verb,
            key_display=key_name("enter"),
            tooltip=f"{verb} the row under the cursor",
            id="list.take",
        )
        self._bindings.key_to_bindings["enter"] = [take]
