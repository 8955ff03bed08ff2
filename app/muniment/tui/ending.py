"""Ended from outside: by a signal, or because the terminal went away.

Either ends the app as its own key does: what waits is denied, the turn is closed, the terminal is given back.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from muniment.tui.begin import begin

if TYPE_CHECKING:
    from muniment.tui.app import MunimentApp

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 128 + signal.SIGINT
"""The code of an interrupted program; the same for every signal that ends the screen."""


class Ending:
    """Hears the signals for the block; afterwards `happened` says whether one came."""

    def __init__(self, app: MunimentApp) -> None:
        self._app = app
        self._before: dict[int, Any] = {}
        self._asked = False
        self.happened = False
        app.when_terminal_lost = self._leave

    def __enter__(self) -> Self:
        for number in SIGNALS:
            before = signal.getsignal(number)
            # Who was told to outlive its terminal, or runs behind a shell's back, does.
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._told)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _told(self, number: int, frame: FrameType | None) -> None:
        loop = self._app._loop
        if loop is None:
            # Nothing is on the screen yet, or nothing any more.
            raise SystemExit(EXIT_CODE)
        # Whoever asks twice does not want to wait for the end of what runs.
        at_once = self._asked and number != signal.SIGHUP
        loop.call_soon_threadsafe(self._app.exit if at_once else self._leave)
        self._asked = True

    def _leave(self) -> None:
        if not self.happened:
            self.happened = True
            with self._app._context():
                begin(self._app, self._app.action_quit, group="quit")
