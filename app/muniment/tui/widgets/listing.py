"""Lists and fields whose Enter says in the key bar what it does here."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets.option_list import Option

from muniment.tui.keynames import key_name
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.typing_fields import LineField


class Listing(OptionList):
    """An option list without markup; `verb` is the word for taking the row under the cursor."""

    def __init__(self, verb: str, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False)
        say_enter(self, "select", verb, f"{verb} the row under the cursor", "list.take")

    def tell(self, text: str) -> None:
        """Say in place of rows why there is none; it stands where the eye looks for them."""
        self.clear_options()
        # Rows are cut where they do not fit; a sentence goes on below.
        lines = Content.styled(text, "$secondary").wrap(self.size.width or len(text))
        self.add_option(Option(Content("\n").join(lines), disabled=True))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to take a row only where there is one."""
        if action == "select" and self.highlighted is None:
            return False
        return super().check_action(action, parameters)

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        # What can be done depends on the row, and on whether there is one.
        self.refresh_bindings()


class AskedLine(LineField):
    """A field of one line; `verb` is the word for giving what stands in it."""

    def __init__(
        self,
        verb: str,
        *,
        id: str,  # noqa: A002 - Textual's name
        value: str = "",
        placeholder: str = "",
        select_on_focus: bool = True,
    ) -> None:
        super().__init__(
            value=value, placeholder=placeholder, select_on_focus=select_on_focus, id=id, compact=True
        )
        say_enter(self, "submit", verb, f"{verb} what stands in the field", "field.give")


class WordsLine(LineField):
    """A field whose words narrow a list; Enter goes to what they leave of it."""

    def __init__(
        self,
        placeholder: str,
        *,
        id: str,  # noqa: A002 - Textual's name
        value: str = "",
        compact: bool = True,
    ) -> None:
        super().__init__(value=value, placeholder=placeholder, id=id, compact=compact)
        say_enter(self, "submit", "List", "Go to what the words leave in the list", "field.list")


def say_enter(widget: Widget, action: str, verb: str, about: str, id_: str) -> None:
    """Let the key bar say what Enter does in a widget that has it from the framework without a word."""
    binding = Binding("enter", action, verb, key_display=key_name("enter"), tooltip=about, id=id_)
    widget._bindings.key_to_bindings["enter"] = [binding]
