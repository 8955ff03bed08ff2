"""Choosing a recipe: what it is for, its text before it runs, and its parameters in a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Static
from textual.widgets.option_list import Option

from muniment.memory.records.scope import resolve_chain
from muniment.safety.visible import reading_line
from muniment.session.recipes.recipe import ListedRecipe, Recipe, RecipeParameters, fill, list_recipes
from muniment.tui.boot import Boot
from muniment.tui.looks import Sheet
from muniment.tui.text import safe, safe_line
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.listing import Listing
from muniment.tui.widgets.options import OptionList
from muniment.tui.widgets.top_line import TopLine
from muniment.tui.widgets.typing_fields import LineField


@dataclass(frozen=True, slots=True)
class Picked:
    """A recipe and the values of its parameters."""

    recipe: str
    params: dict[str, str]


class RecipePicker(Sheet[Picked | Literal["leave"] | None]):
    """Lists recipes; Enter starts one. None says that something else took its place."""

    ASKS: ClassVar[bool] = True
    AUTO_FOCUS: ClassVar[str | None] = "#recipes"
    SIDE_FROM: ClassVar[int] = 76
    BINDING_GROUP_TITLE = "Recipes"
    HELP = "A recipe sets up a session. Read its text beside the list before you start it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Leave without starting a session", id="picker.back"),
        Binding("f1", "app.show_help", "Help", tooltip="Keys of this place", id="picker.help"),
    ]
    DEFAULT_CSS = """
    RecipePicker {
        & OptionList { text-wrap: wrap; height: 2fr; }
        & .pane { height: 3fr; }
        &.-side OptionList { width: 2fr; height: 1fr; }
        &.-side .pane { width: 3fr; height: 1fr; }
    }
    """

    def __init__(self, boot: Boot) -> None:
        super().__init__()
        self._boot = boot
        self._listed: list[ListedRecipe] = []

    def compose(self) -> ComposeResult:
        yield TopLine()
        with Container(classes="body"):
            yield Listing("Start", id="recipes")
            with VerticalScroll(id="recipe-pane", classes="pane"):
                yield Static("", id="recipe-text", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TopLine).say("choose a recipe for this session", str(self._boot.cwd))
        chain = resolve_chain(self._boot.cwd, self._boot.paths)
        self._listed = [each for each in list_recipes(self._boot.paths, chain) if not each.shadowed]
        options = self.query_one("#recipes", OptionList)
        for number, each in enumerate(self._listed):
            if number:
                # A row of its own, so that the cursor does not lie on it as well.
                options.add_option(Option(" ", disabled=True))
            about = each.description if each.recipe is not None else "cannot be used; see its faults"
            options.add_option(
                Option(
                    Content.assemble(
                        (reading_line(each.name), "bold $primary" if each.recipe else "bold $error"),
                        (f"  {each.source}\n", "$secondary"),
                        # Not indented: the lines that it breaks into would not be.
                        reading_line(about),
                    ),
                    id=str(number),
                )
            )
        options.highlighted = 0

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        each = self._listed[int(event.option_id or 0)]
        if each.recipe is None:
            text = safe("\n".join(fault.sentence for fault in each.faults))
        else:
            text = _text_of(each.recipe)
        self.query_one("#recipe-text", Static).update(text)
        self.query_one("#recipe-pane").border_title = safe_line(each.name)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        each = self._listed[int(event.option_id or 0)]
        if each.recipe is None:
            self.notify("This recipe has faults; they stand beside the list.", markup=False, severity="error")
            return
        name = each.name if each.path is None else str(each.path)
        if each.recipe.parameters:
            self.app.push_screen(ParameterForm(each.recipe), lambda values: self._filled(name, values))
        else:
            self.dismiss(Picked(name, {}))

    def _filled(self, name: str, values: dict[str, str] | None) -> None:
        if values is not None:
            self.dismiss(Picked(name, values))

    def action_leave(self) -> None:
        """Go back without a choice."""
        self.dismiss("leave")


class ParameterForm(Sheet[dict[str, str] | None]):
    """Asks for the values of a recipe's parameters; they are filled in literally, once."""

    ASKS: ClassVar[bool] = True
    AUTO_FOCUS: ClassVar[str | None] = "Input"
    BINDING_GROUP_TITLE = "Parameters"
    HELP = "Tab or Enter goes to the next field; Start checks all of them."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "start", "Start", tooltip="Start the session", id="parameters.start"),
        Binding("escape", "leave", "Back", tooltip="Back to the recipes", id="parameters.back"),
    ]
    DEFAULT_CSS = """
    ParameterForm {
        & #fields { padding: 0 1; width: 1fr; height: 1fr; max-width: 120; scrollbar-size-vertical: 1; }
        & .pane { display: none; }
        &.-side .pane { display: block; }
        & .fault { margin-top: 1; }
        & Button { margin: 1 0; }
    }
    """

    def __init__(self, recipe: Recipe, given: Mapping[str, str] | None = None, fault: str = "") -> None:
        super().__init__()
        self._recipe = recipe
        self._given = given or {}
        self._fault = fault

    def compose(self) -> ComposeResult:
        yield TopLine()
        with Container(classes="body"):
            with VerticalScroll(id="fields", can_focus=False):
                for n, each in enumerate(self._recipe.parameters):
                    need = "required" if each.required else "optional"
                    words = Content.assemble(
                        (safe_line(each.name).plain, "bold"), f" ({need}): ", safe(each.description)
                    )
                    yield Static(words, markup=False, classes="asked")
                    value = self._given.get(each.name, each.default or "")
                    yield LineField(value=value, id=f"parameter-{n}", compact=True)
                yield Static(_fault(self._fault), id="fault", classes="fault", markup=False)
                yield Button("Start", id="start", compact=True)
            with VerticalScroll(id="recipe-pane", classes="pane") as pane:
                pane.border_title = safe_line(self._recipe.name)
                yield Static(_text_of(self._recipe), markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TopLine).say(f"{self._recipe.name}: what this recipe asks for")

    @on(Button.Pressed, "#start")
    def _pressed(self) -> None:
        self.action_start()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    def action_start(self) -> None:
        """Check the values and start."""
        values = {
            each.name: self.query_one(f"#parameter-{n}", Input).value
            for n, each in enumerate(self._recipe.parameters)
        }
        values = {name: value for name, value in values.items() if value}
        try:
            fill(self._recipe, values)
        except RecipeParameters as fault:
            # How parameters are given on a command line is of no use here.
            told = f"Fill in {', '.join(fault.missing)}." if fault.missing else fault.sentence
            self.query_one("#fault", Static).update(_fault(told))
            return
        self.dismiss(values)

    def action_leave(self) -> None:
        """Go back to the recipes."""
        self.dismiss(None)


def _text_of(recipe: Recipe) -> Content:
    """Return what a recipe says, to be read before it runs."""
    return safe(recipe.text or recipe.instructions)


def _fault(text: str) -> Content:
    return Content.assemble("✗ ", safe(text)) if text else Content("")
