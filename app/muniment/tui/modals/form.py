"""A form for something new: fields, a check of all of them, and what should be known before it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Select, Static, TextArea

from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.tui.looks import Box
from muniment.tui.text import safe_line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.typing_fields import LineField, TextField

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """One field; `choices` make it a list to choose from, `long` a text of several lines."""

    name: str
    label: str
    about: str = ""
    value: str = ""
    choices: tuple[str, ...] = ()
    long: bool = False


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """What would be written, and what should be known before it is."""

    plan: T
    warnings: tuple[str, ...] = ()


class Form(Box[object]):
    """Dismissed with the plan of a check that was passed, with None where it is left."""

    AUTO_FOCUS: ClassVar[str | None] = "Input, TextArea"
    BINDING_GROUP_TITLE = "Form"
    HELP = "Tab moves between fields; Ctrl+S checks and keeps; what is wrong or worth knowing is said below."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Check the fields and write", id="form.keep"),
        Binding("escape", "leave", "Back", tooltip="Back without writing", id="form.back"),
    ]
    DEFAULT_CSS = """
    Form {
        & > Vertical { width: 84; max-width: 100%; padding: 0; }
        & VerticalScroll { height: auto; padding: 0 2; background: $surface; scrollbar-size-vertical: 1; }
        & TextArea, & TextArea:focus { height: 6; background: $panel; }
        & TextArea:focus { background: $primary 15%; }
        & Select { height: auto; }
        & .fault { padding: 0 2; max-height: 8; }
        & .fault.-warn { color: $warning; }
        & Button { margin: 1 0; }
        & KeyBar { padding: 0 2; background: $panel; }
    }
    """

    def __init__(
        self, title: str, asks: Sequence[Ask], check: Callable[[Mapping[str, str]], Checked[object]]
    ) -> None:
        super().__init__()
        self._title = title
        self._asks = asks
        self._check = check
        self._warned: Mapping[str, str] | None = None
        self._leaving: Mapping[str, str] | None = None

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = safe_line(self._title)
            with VerticalScroll(can_focus=False):
                for ask in self._asks:
                    about = f"  {ask.about}" if ask.about else ""
                    yield Static(Content.assemble((ask.label, "bold"), about), markup=False, classes="asked")
                    if ask.choices:
                        yield Select(
                            [(each, each) for each in ask.choices],
                            value=ask.value or ask.choices[0],
                            allow_blank=False,
                            compact=True,
                            id=f"form-{ask.name}",
                        )
                    elif ask.long:
                        area = TextField(ask.value, id=f"form-{ask.name}", soft_wrap=True, compact=True)
                        area.cursor_blink = False
                        yield area
                    else:
                        yield LineField(ask.value, id=f"form-{ask.name}", compact=True)
                yield Button("Keep", id="form-keep", compact=True)
            yield Static("", id="form-say", classes="fault", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Leave room below the fields for what is wrong and for the keys, however many fields there are."""
        below = self.query_one("#form-say").outer_size.height + self.query_one(KeyBar).outer_size.height
        room = self.size.height - below - self.query_one(Vertical).gutter.height
        self.query_one(VerticalScroll).styles.max_height = max(1, room)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Bring a field into view together with the words above it."""
        at = self.query_one(VerticalScroll).children
        field = event.widget if event.widget in at else event.widget.parent
        if field in at and (number := at.index(field)):
            at[number - 1].scroll_visible(animate=False, immediate=True)

    def values(self) -> dict[str, str]:
        """Return what stands in the fields."""
        found: dict[str, str] = {}
        for ask in self._asks:
            widget = self.query_one(f"#form-{ask.name}")
            if isinstance(widget, TextArea):
                found[ask.name] = widget.text
            elif isinstance(widget, Input):
                found[ask.name] = widget.value
            elif isinstance(widget, Select):
                found[ask.name] = str(widget.value)
        return found

    @on(Button.Pressed, "#form-keep")
    def _pressed(self) -> None:
        self.action_keep()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    def action_keep(self) -> None:
        """Check the fields; keep them where nothing is wrong, warnings only at a second press."""
        self._keep()

    @work(exclusive=True, group="form", exit_on_error=True)
    async def _keep(self) -> None:
        values = self.values()
        try:
            checked = await asyncio.to_thread(self._check, values)
        except (MunimentError, OSError, ValueError) as error:
            # A ValueError is a text that is no time, as the reader of times says it.
            said = str(error) if isinstance(error, ValueError) else sentence_of(error)
            self._say(said, warn=False)
            return
        if checked.warnings and self._warned != values:
            self._warned = values
            lines = "\n".join(f"! {reading_line(each)}" for each in checked.warnings)
            self._say(f"{lines}\nCtrl+S again writes it all the same.", warn=True)
            return
        self.dismiss(checked.plan)

    def action_leave(self) -> None:
        """Go back; what was written is dropped only by a second press with nothing typed in between."""
        values = self.values()
        if values in (self._untouched, self._leaving):
            self.dismiss(None)
            return
        self._leaving = values
        self._say("Esc again drops what you wrote.", warn=True)

    @property
    def _untouched(self) -> dict[str, str]:
        return {ask.name: ask.value or (ask.choices[0] if ask.choices else "") for ask in self._asks}

    def _say(self, text: str, *, warn: bool) -> None:
        line = self.query_one("#form-say", Static)
        line.set_class(warn, "-warn")
        line.update(Content(text if warn else f"✗ {reading_line(text)}"))
        self.call_after_refresh(self._fit)
