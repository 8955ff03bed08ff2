"""The front door: every input is seen here first, with the time it was made, before anything may act on it.

Textual's mouse events, clicks and button messages are stamped again on their way through the widgets, and
actions carry no event at all. So times are taken here, and a screen that guards a decision judges each input
here as well: what it does not admit reaches no widget and no binding.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, ClassVar

from rich.console import RenderableType
from textual import _time, events
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import WorkerFailed, active_worker

from muniment.approval.gate import Clock, Heartbeat
from muniment.safety.visible import clean_surrogates, copyable

BEAT_SECONDS = 0.05
COMPOSE_SECONDS = 10.0
"""Input waits at most so long for the widgets of the screen it is meant for."""


def made_clock() -> float:
    """Return the time in seconds on the clock that stamps Textual's events."""
    # Looked up at each call, so that a test that moves the clock moves all of it.
    return _time.get_time()


def _awake_clock() -> float:
    return time.monotonic()


def _asleep_clock() -> float:
    """Return seconds of a clock that goes on while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time()


class InputGuard:
    """What a screen that guards a decision answers to the front door."""

    def admit(self, event: events.Event) -> bool:
        """Judge a key, paste or mouse event; return whether it may be forwarded."""
        raise TypeError(f"{type(self).__name__} guards nothing")

    def shaken(self) -> None:
        """Hear that the frames painted so far may not have been seen: a stall, a stop, a lost focus."""

    def frame_displayed(self) -> None:
        """Hear that a frame has been handed to the terminal."""


class KeyKeeper:
    """A widget that has a word to say about keys that no binding takes."""

    def left_over(self, key: str) -> bool:
        """Hear of a key that was made with the focus in here; return whether anything came of it."""
        raise TypeError(f"{type(self).__name__} keeps no keys")


class FrontDoorApp(App[int]):
    """An app whose guarded screens judge input by the time it was made."""

    # Declaring the palette key here keeps Textual from adding its own binding, which has priority and would
    # open over a dialog.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+p",
            "command_palette",
            "Commands",
            show=False,
            priority=False,
            tooltip="Find and run any command",
            id="app.commands",
        ),
    ]

    heart_clocks: tuple[Clock, ...] = (_awake_clock, _asleep_clock)
    """Clocks by which a stall is noticed; at least one goes on while the machine sleeps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Textual counts an empty NO_COLOR as set; the convention says that it is not.
        if os.environ.get("NO_COLOR") == "":
            del os.environ["NO_COLOR"]
        super().__init__(*args, **kwargs)
        self.last_key_time = float("-inf")
        """When the last key or paste was made that was not meant for a guarded screen, on `made_clock`."""
        self.when_terminal_lost: Callable[[], None] = self.exit
        self._heartbeat: Heartbeat | None = None
        self._watchers: list[InputGuard] = []
        self._farewells: list[Callable[[], None]] = []

    def get_driver_class(self) -> type[Driver]:
        from muniment.tui.key_wire import steady

        return steady(super().get_driver_class(), self.terminal_lost)

    def terminal_lost(self) -> None:
        """Hear, from any thread, that there is no terminal any more."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.when_terminal_lost)

    @property
    def guard(self) -> InputGuard | None:
        """The screen on top, where it guards a decision."""
        top = self._screen_on_top()
        return top if isinstance(top, InputGuard) else None

    def _screen_on_top(self) -> Screen[Any] | None:
        stack = self._screen_stacks.get(self._current_mode)
        return stack[-1] if stack else None

    def watch_for(self, guard: InputGuard) -> None:
        """Keep a heartbeat for a guarded screen while it is open."""
        self._watchers.append(guard)
        if self._heartbeat is None:
            self._heartbeat = Heartbeat(*self.heart_clocks)
            self._beat()

    def stop_watching(self, guard: InputGuard) -> None:
        """End what `watch_for` began."""
        if guard in self._watchers:
            self._watchers.remove(guard)
        if not self._watchers:
            self._heartbeat = None

    def notice_stall(self) -> bool:
        """Tell guarded screens where the process stood still just now; return whether it did."""
        if self._heartbeat is None or not self._heartbeat.beat():
            return False
        self.shake_guards()
        return True

    def shake_guards(self) -> None:
        """Tell all guarded screens, also covered ones, that painted frames no longer count."""
        for guard in tuple(self._watchers):
            guard.shaken()

    def _beat(self) -> None:
        if self._heartbeat is None or self._loop is None:
            return
        self.notice_stall()
        # A plain loop timer: a Textual timer queues behind the very messages whose delay is to be noticed.
        self._loop.call_later(BEAT_SECONDS, self._beat)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.AppBlur, events.AppFocus)):
            self.shake_guards()
        elif self._is_input(event) and not event.is_forwarded:
            await self._screen_ready()
            if not self._admit(event):
                return
        await super().on_event(event)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        if await super()._check_bindings(key, priority):
            return True
        # Only now, and not where the key comes by on its way here, have all keys before it been obeyed.
        around = self.focused.ancestors_with_self if self.focused is not None and not priority else ()
        return any(isinstance(node, KeyKeeper) and node.left_over(key) for node in around)

    async def _screen_ready(self) -> None:
        """Wait until the screen on top has its widgets: what is typed right behind the key that opened it is
        meant for it, and its actions count on them."""
        until = time.monotonic() + COMPOSE_SECONDS
        while (top := self._screen_on_top()) is not None and not (top.is_mounted or self._exit):
            if time.monotonic() > until:
                return
            await asyncio.sleep(0)

    def _handle_exception(self, error: Exception) -> None:
        # Screens lose their widgets one after the other when they leave, and an app its screens: to miss one
        # then is no fault.
        if isinstance(error, WorkerFailed):
            cause: BaseException = error.error
            whose: MessagePump | None = active_worker.get().node
        else:
            cause, whose = error, active_message_pump.get(None)
        leaves = self._exit or not self._running
        if isinstance(cause, (NoMatches, ScreenStackError)) and (leaves or self._has_left(whose)):
            self.log.warning(f"missed by something that came too late: {cause}")
            return
        super()._handle_exception(error)

    def _has_left(self, pump: MessagePump | None) -> bool:
        """Tell whether what runs now, in a handler or in a worker, belongs to a screen that has left."""
        while pump is not None and not isinstance(pump, (Screen, App)):
            pump = pump._parent
        return pump is None or (isinstance(pump, Screen) and pump not in self.screen_stack)

    @staticmethod
    def _is_input(event: events.Event) -> bool:
        return isinstance(event, (events.InputEvent, events.Paste))

    def _admit(self, event: events.Event) -> bool:
        typed = isinstance(event, (events.Key, events.Paste))
        # Input to an app that believes itself unfocused says that the focus came back unseen.
        if not self.app_focus and (typed or isinstance(event, events.MouseDown)):
            self.shake_guards()
        guard = self.guard
        if guard is None:
            if typed:
                self.last_key_time = max(self.last_key_time, event.time)
            return True
        self.notice_stall()
        if isinstance(event, events.Key) and self._quits(event.key):
            guard.admit(event)
            return True
        return guard.admit(event)

    def _quits(self, key: str) -> bool:
        """Tell whether a key closes the app: that denies whatever waits, so it is never held back."""
        bindings = self._bindings.key_to_bindings.get(key, ())
        return any(binding.priority and "quit" in binding.action for binding in bindings)

    def post_display_hook(self) -> None:
        super().post_display_hook()
        guard = self.guard
        if guard is not None and not self._batch_count:
            guard.frame_displayed()

    def action_command_palette(self) -> None:
        from muniment.tui.palette import CommandPalette
        from muniment.tui.place import take_out

        if self.guard is None and not isinstance(self._screen_on_top(), CommandPalette):
            # One that stands below, under the help that was asked for in it, gives way to this one.
            take_out(self, CommandPalette)
            self.push_screen(CommandPalette())

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text; what leaves for the terminal's clipboard can do nothing where it is pasted."""
        super().copy_to_clipboard(copyable(text))
        # Within the app it stays as it was.
        self._clipboard = clean_surrogates(text)

    def before_leaving(self, farewell: Callable[[], None]) -> None:
        """Have a function called when the app ends, in whatever way; it must bear being called twice."""
        self._farewells.append(farewell)

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        self._take_leave()
        super().exit(result, return_code, message)

    def on_unmount(self) -> None:
        self._take_leave()

    def _take_leave(self) -> None:
        for farewell in self._farewells:
            farewell()

    def on_mount(self) -> None:
        self.app_suspend_signal.subscribe(self, lambda _: self.shake_guards(), immediate=True)
        self.app_resume_signal.subscribe(self, self._resumed, immediate=True)

    def _resumed(self, _: App[object]) -> None:
        self.shake_guards()
        # Whoever had the terminal meanwhile has left his own in every cell of it.
        self.refresh(layout=True)
