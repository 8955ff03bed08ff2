"""Server-sent events from bytes, tolerant of every framing that servers and proxies produce."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass

MAX_EVENT_CHARS = 16 * 1024 * 1024


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
        plain = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._decode = io.IncrementalNewlineDecoder(plain, translate=True).decode
        self._rest = io.StringIO()
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[ServerEvent]:
        """Yield the events that are complete with this chunk; `last` ends the stream."""
        *lines, rest = self._decode(chunk, last).split("\n")
        for line in lines:
            yield from self._line(self._whole(line))
        # A long line is put together once, at its end: to look through all of it again with every piece that
        # comes would take minutes.
        self._rest.write(rest)
        if self._rest.tell() > MAX_EVENT_CHARS:
            raise EventTooLarge
        if last:
            yield from self._line(self._whole(""))
            yield from self._line("")

    def _whole(self, end: str) -> str:
        """Return the line whose end has come."""
        if not self._rest.tell():
            return end
        self._rest.write(end)
        line, self._rest = self._rest.getvalue(), io.StringIO()
        return line

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
