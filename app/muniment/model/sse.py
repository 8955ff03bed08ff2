"""Server-sent events from bytes, tolerant of every framing that servers and proxies produce."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_EVENT_CHARS = 16 * 1024 * 1024
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; `data` holds its data lines, none of them empty-only."""

    name: str
    data: tuple[str, ...]


class EventTooLarge(ValueError):  # noqa: N818 - named for what it is
    """A line or event grew beyond `MAX_EVENT_CHARS`."""


class EventDecoder:
    """Feed it bytes as they come; it gives whole events, and the last one although no blank line followed."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
        self._rest = ""
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[ServerEvent]:
        """Yield the events that are complete with this chunk; `last` ends the stream."""
        text = self._rest + self._decode(chunk, last)
        at = 0
        for match in _LINE_END.finditer(text):
            # A carriage return at the very end may be half of a pair whose other half is still to come.
            if match.group() == "\r" and match.end() == len(text) and not last:
                break
            yield from self._line(text[at : match.start()])
            at = match.end()
        self._rest = text[at:]
        if len(self._rest) > MAX_EVENT_CHARS:
            raise EventTooLarge
        if last:
            rest, self._rest = self._rest, ""
            if rest:
                yield from self._line(rest)
            yield from self._line("")

    def _line(self, line: str) -> Iterator[ServerEvent]:
        if not line:
            if self._data:
                yield ServerEvent(self._name, tuple(self._data))
            self._name, self._data, self._size = "", [], 0
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data" and value.strip():
            self._data.append(value)
            self._size += len(value)
            if self._size > MAX_EVENT_CHARS:
                raise EventTooLarge
        elif field == "event":
            self._name = value.strip()
