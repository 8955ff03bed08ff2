"""What every screen has in common: it leaves once, and hears nothing that was meant for what is gone.

Keys, clicks and rows wait in the queues of screens and widgets. One that is handled after its screen has left
would take the screen below with it, which ends in an empty terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingsMap, Keymap
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.screen import ModalScreen, Screen, ScreenResultType

from muniment.tui.front_door import InputGuard

if TYPE_CHECKING:
    from textual.message import Message


ScreenT = TypeVar("ScreenT", bound=Screen[Any])
_ASKS = "A question is open here; answer it or leave it first."


class Place(Screen[ScreenResultType]):
    """A screen that leaves only once, and only itself."""

    ASKS: ClassVar[bool] = False
    """Whether an answer is given here, perhaps half typed: then it is not left for another place."""

    @property
    def stands(self) -> bool:
        """Whether this screen is among those that are open."""
        return self in self.app.screen_stack

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave with a result; does nothing where this screen has left, or another lies on it."""
        if not self.stands or self.app.screen is not self:
            return AwaitComplete()
        waits = self._result_callbacks[-1] if self._result_callbacks else None
        if waits is not None and waits.future is not None and waits.future.done():
            # Whoever asked was cancelled meanwhile, and nobody takes the answer.
            waits.future = None
        return super().dismiss(result)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Run nothing on a screen that has left."""
        return super().check_action(action, parameters) if self.stands else False

    @property
    def _modal_binding_chain(self) -> list[tuple[DOMNode, BindingsMap]]:
        chain = super()._modal_binding_chain
        if self.app._keymap:
            _give_way(chain, self.app._keymap)
        return chain

    async def _on_message(self, message: Message) -> None:
        if not _stale(message):
            await super()._on_message(message)

    def _forward_event(self, event: events.Event) -> None:
        if not (isinstance(event, events.MouseDown) and self._on_nothing(event)):
            super()._forward_event(event)

    def _on_nothing(self, event: events.MouseDown) -> bool:
        """Tell whether a widget was pressed that is still drawn and already gone."""
        try:
            widget, _ = self.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return widget is not self and widget.parent is None


class Modal(ModalScreen[ScreenResultType], Place[ScreenResultType]):
    """A question above another screen that leaves only once, and only itself."""

    ASKS: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        if not isinstance(self, InputGuard):
            # The app's own keys end at a modal; over a dialog that guards a decision nothing opens at all.
            tooltip = "Keys of this place, and how memory works"
            shown = Binding("f1", "app.show_help", "Help", tooltip=tooltip, id="app.help")
            self._bindings.key_to_bindings.setdefault("f1", []).append(shown)


def _give_way(chain: list[tuple[DOMNode, BindingsMap]], keymap: Keymap) -> None:
    """Let no editing key of a text field stand before a key that the user gave to something around it."""
    given: set[str] = set()
    for _, held in reversed(chain):
        for key, bindings in list(held.key_to_bindings.items()):
            if key in given and not any(each.id for each in bindings):
                del held.key_to_bindings[key]
        given |= {key for key, bindings in held if bindings.id in keymap}


def returned_to(app: App[Any], kind: type[ScreenT]) -> ScreenT | None:
    """Go back to the place of this kind, where one stands already; None where none does.

    So no place stands twice, and going from place to place never ends in a pile of them.
    """
    found = next((each for each in app.screen_stack if isinstance(each, kind)), None)
    if found is not None:
        leave_for(app, found)
    return found


def leave_for(app: App[Any], place: Screen[Any]) -> bool:
    """Leave what lies above a place; stop at a question and say so. Return whether the place was reached."""
    while (above := app.screen) is not place:
        if isinstance(above, Place) and above.ASKS:
            app.notify(_ASKS, markup=False)
            return False
        above.dismiss(None)
        if app.screen is above:
            return False
    return True


def take_out(app: App[Any], kind: type[Screen[Any]]) -> None:
    """Take places of this kind away from below others, before another one opens above them."""
    stack = app._screen_stack
    for each in stack[1:-1]:
        if isinstance(each, kind):
            stack.remove(each)
            each._pop_result_callback()
            app.call_next(app._replace_screen, each)


def _stale(message: Message) -> bool:
    """Tell whether a row was taken that its list does not hold at that place any more."""
    # Known by its parts: to load all lists with the first screen would delay it.
    rows, at = getattr(message, "option_list", None), getattr(message, "option_index", None)
    if rows is None or at is None:
        return False
    return bool(
        at >= rows.option_count or rows.get_option_at_index(at) is not getattr(message, "option", None)
    )
