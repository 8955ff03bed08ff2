"""What the terminal itself is told: its title, and one bell when a proposal waits and nobody is looking."""

from __future__ import annotations

from muniment.safety.visible import reading_line
from muniment.tui.front_door import FrontDoorApp

TITLE_MAX = 80
_KEEP = "\x1b[22;0t"
_BACK = "\x1b[23;0t"


def title_sequence(text: str) -> str:
    """Return what sets a terminal's title; nothing in the text can end it early or be anything else."""
    shown = "".join(ch for ch in reading_line(text) if ch.isprintable())[:TITLE_MAX]
    return f"\x1b]0;{shown}\x1b\\"


class Signals:
    """The title says what is open and whether something waits; the one from before comes back at the end."""

    def __init__(self, app: FrontDoorApp) -> None:
        self._app = app
        self._name = ""
        self._waiting = 0
        self._kept = False
        app.before_leaving(self._leave)

    def named(self, name: str) -> None:
        """Say what is open."""
        self._name = name
        self._write_title()

    def waits(self, count: int) -> None:
        """Say how many proposals wait; ring once for a new one that the user cannot see."""
        new = count > self._waiting
        changed = bool(count) != bool(self._waiting)
        self._waiting = count
        if changed:
            self._write_title()
        # Whoever asked for a screen without movement gets one without sound as well.
        if new and not self._app.app_focus and self._app.animation_level != "none":
            self._app.bell()

    def _write_title(self) -> None:
        if not self._app.is_headless:
            text = " · ".join(each for each in ("Muniment", self._name) if each)
            self._write(
                ("" if self._kept else _KEEP) + title_sequence(f"⏸ {text}" if self._waiting else text)
            )
            self._kept = True

    def _leave(self) -> None:
        if self._kept:
            self._kept = False
            self._write(_BACK)

    def _write(self, sequence: str) -> None:
        driver = self._app._driver
        if driver is not None:
            driver.write(sequence)
            driver.flush()
