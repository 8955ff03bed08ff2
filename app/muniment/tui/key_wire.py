"""What the keyboard's bytes say, read so that no sequence of them can end the app.

Terminals send more than the framework reads: a neighbour that broke off may have left the keyboard telling
of every release, and a paste without brackets may hold any escape sequence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.keys import Keys

_HOW = re.compile(r"(\x1b\[[\d:]*;\d*):([123])([;\d:]*[A-Za-z~])")
"""An extended key with the way it moved: 1 pressed, 2 repeated, 3 let go."""
_LET_GO = "3"


class KeyParser(XTermParser):
    """Reads extended keys with the way they moved, and passes over what is no key at all."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (told := _HOW.fullmatch(sequence)) is not None:
            if told[2] == _LET_GO:
                yield _nothing(sequence)
                return
            sequence = told[1] + told[3]
        try:
            keys = list(super()._sequence_to_key_events(sequence, alt))
        except (ValueError, OverflowError):
            # A number that is no character, or no number.
            keys = [_nothing(sequence)]
        for key in keys:
            # Half of a character cannot be written to any terminal or file.
            half = key.character is not None and "\ud800" <= key.character <= "\udfff"
            yield _nothing(sequence) if half else key


def _nothing(sequence: str) -> events.Key:
    """Return the key that nobody hears of; with no key at all the bytes would be typed one by one."""
    return events.Key(Keys.Ignore, sequence)


def reading_keys(driver: type[Driver]) -> type[Driver]:
    """Have a driver read its keyboard with `KeyParser`; it takes the parser by the name in its module."""
    for each in driver.__mro__:
        module = sys.modules.get(each.__module__)
        if getattr(module, "XTermParser", None) is XTermParser:
            setattr(module, "XTermParser", KeyParser)  # noqa: B010 - the module has no such type for mypy
    return driver
