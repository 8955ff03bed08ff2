"""What goes between the terminal and the app, so that nothing of it can end the app or hold it up.

Terminals send more than the framework reads: a neighbour that broke off may have left the keyboard telling
of every release, and a paste may hold any escape sequence or bytes that are no text. And a terminal may go
away, or take nothing for a while, without a word.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any, cast

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.keys import Keys

_HOW = re.compile(r"(\x1b\[[\d:]*;\d*):([123])([;\d:]*[A-Za-z~])")
"""An extended key with the way it moved: 1 pressed, 2 repeated, 3 let go."""
_LET_GO = "3"
_WITH_ALT = re.compile(r"\x1b[^\x1b\[OPX\]^_]", re.DOTALL)
"""A key with Alt from a terminal without extended keys; what begins a longer sequence is none."""
_OUTPUT_CHARS = 65_536


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
            if not keys and _WITH_ALT.fullmatch(sequence):
                # Left to the framework, the line break with Alt would be Enter alone, which sends the draft.
                plain = super()._sequence_to_key_events(sequence[1], alt=True)
                keys = [_with_alt(key) for key in plain]
        except (ValueError, OverflowError):
            # A number that is no character, or no number.
            keys = [_nothing(sequence)]
        for key in keys:
            # Half of a character cannot be written to any terminal or file.
            half = key.character is not None and "\ud800" <= key.character <= "\udfff"
            yield _nothing(sequence) if half else key


def _with_alt(key: events.Key) -> events.Key:
    return key if key.key.startswith("alt+") else events.Key(f"alt+{key.key}", None)


def _nothing(sequence: str) -> events.Key:
    """Return the key that nobody hears of; with no key at all the bytes would be typed one by one."""
    return events.Key(Keys.Ignore, sequence)


class KeyDecoder:
    """Makes text of the keyboard's bytes; what is no text is shown as such, instead of ending the app."""

    def __init__(self) -> None:
        self._inner = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def decode(self, data: bytes, final: bool = False) -> str:
        """Return what is whole of the text; raise `EOFError` where nothing can follow."""
        if not data and not final:
            # A terminal that has hung up gives nothing, again and again.
            raise EOFError
        return self._inner.decode(data, final)


def decoder_of_keys(encoding: str) -> type[KeyDecoder]:
    """Return the maker of decoders that stands in for the one of the codecs module."""
    return KeyDecoder


class SteadyOutput:
    """A terminal to write to; one that takes nothing for a while is waited for, one that is gone is not."""

    def __init__(self, file: IO[str]) -> None:
        self._number = file.fileno()
        self._waiting: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Take a text; it is on its way with the next `flush` at the latest."""
        self._waiting.append(text)
        self._size += len(text)
        if self._size > _OUTPUT_CHARS:
            self.flush()

    def flush(self) -> None:
        """Give the terminal all that waits."""
        data = "".join(self._waiting).encode("utf-8", "replace")
        self._waiting.clear()
        self._size = 0
        while data:
            try:
                data = data[os.write(self._number, data) :]
            except BlockingIOError:
                # Another program has set the terminal that both use so that it refuses to wait.
                select.select((), (self._number,), ())
            except OSError:
                # The keyboard tells of its end.
                return

    def fileno(self) -> int:
        return self._number


class SteadyWriter(WriterThread):
    """Writes on whatever happens: were it to end, the app would wait for it for ever."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(cast("IO[str]", SteadyOutput(file)))


_OURS = {
    "XTermParser": KeyParser,
    "getincrementaldecoder": decoder_of_keys,
    "WriterThread": SteadyWriter,
}


def steady(driver: type[Driver], lost: Callable[[], None]) -> type[Driver]:
    """Have a driver read and write with what stands here, which it takes by name from its module.

    `lost` is called, from the thread that reads, where the keyboard cannot be read any more.
    """
    for each in driver.__mro__:
        module = sys.modules.get(each.__module__)
        for name, ours in _OURS.items():
            if module is not None and each is not Driver and hasattr(module, name):
                setattr(module, name, ours)
    read = getattr(driver, "run_input_thread", None)
    if read is None:
        return driver

    def run_input_thread(self: Any) -> None:
        try:
            read(self)
        except (OSError, EOFError):
            lost()

    return cast("type[Driver]", type(driver.__name__, (driver,), {"run_input_thread": run_input_thread}))
