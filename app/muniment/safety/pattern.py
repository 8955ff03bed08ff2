"""Regular expressions that are compiled when first used: wide character classes take milliseconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class LazyPattern:
    """A pattern with the methods that this product uses; a start that never meets it never pays for it."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def match(self, text: str) -> re.Match[str] | None:
        return self._compiled.match(text)

    def findall(self, text: str) -> list[str]:
        return self._compiled.findall(text)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text, start, len(text) if end is None else end)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._compiled.sub(replacement, text)
