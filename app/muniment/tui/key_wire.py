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
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.keys import Keys
from textual.message import Message

_HOW = re.compile(r"(\x1b\[[\d:]*;\d*):([123])([;\d:]*[A-Za-z~])")
"""An extended key with the way it moved: 1 pressed, 2 repeated, 3 let go."""
_LET_GO = "3"
_PASTE_BEGINS = "\x1b[200~"
_PASTE_ENDS = "\x1b[201~"
_WITH_ALT = re.compile(r"\x1b[^\x1b\[OPX\]^_]", re.DOTALL)
"""A key with Alt from a terminal without extended keys; what begins a longer sequence is none."""
_OUTPUT_CHARS = 65_536


class KeyParser(XTermParser):
    """Reads a paste as one thing, extended keys with the way they moved, and passes over what is no key."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._last = ""
        """The newest characters, in which the mark of a beginning or an end may have begun."""
        self._pasted: list[str] | None = None

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events of what came.

        What is pasted goes to no parser: it would take an escape sequence in it apart and press what stands
        there as keys, a line break as Enter among them.
        """
        if not data:
            yield from super().feed(data)
        while data:
            mark = _PASTE_BEGINS if self._pasted is None else _PASTE_ENDS
            seen = self._last + data
            at = seen.find(mark)
            end = len(data) if at < 0 else at + len(mark) - len(self._last)
            self._last = seen[1 - len(mark) :] if at < 0 else ""
            part, data = data[:end], data[end:]
            if self._pasted is None:
                yield from super().feed(part)
                self._pasted = None if at < 0 else []
                continue
            self._pasted.append(part)
            if at >= 0:
                text, self._pasted = "".join(self._pasted)[: -len(mark)], None
                yield events.Paste(text.replace("\0", ""))
                # The parser waits for the end as well, and tells of an empty paste there.
                yield from (each for each in super().feed(mark) if not isinstance(each, events.Paste))

    def tick(self) -> Iterable[Message]:
        """Yield what is certain once nothing follows for a while: an escape that begins no sequence."""
        if self._timeout_time is not None and get_time() >= self._timeout_time:
            self._last = ""
        yield from super().tick()

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

    ours_too = {"run_input_thread": run_input_thread, "_sigcont_application": _going_on(driver)}
    return cast("type[Driver]", type(driver.__name__, (driver,), ours_too))


def _going_on(driver: type[Driver]) -> Callable[..., None]:
    """Return what a driver does when its process goes on after a stop.

    A stop that could be heard has given the terminal back, and it is taken again. One that could not has left
    everything as it was: to take the terminal again then would have two threads read the keyboard, of which
    one never ends, and would keep the app's own way of typing as the one to give back at the end.
    """

    def renew(self: Any) -> None:
        if self._auto_restart and _reads(self):
            self.suspend_application_mode()
            self._must_signal_resume = True
            self.resume_application_mode()

    def sigcont(self: Any, *signal: object) -> None:
        if not _reads(self):
            driver._sigcont_application(self, *signal)  # type: ignore[attr-defined]  # only those with signals
        elif self._app._loop is not None:
            # Not here: what was interrupted may hold the lock that writing takes.
            self._app._loop.call_soon_threadsafe(renew, self)

    return sigcont


def _reads(driver: Any) -> bool:
    return driver._key_thread is not None and driver._key_thread.is_alive()
