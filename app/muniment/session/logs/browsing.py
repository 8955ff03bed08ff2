"""The list of sessions for a person: newest first, filtered over title and text, piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.paths import Paths
from muniment.safety.files import FileRefused, read_regular
from muniment.session.holdings.items import numbered
from muniment.session.logs.line import FILE_MAX_BYTES
from muniment.session.logs.stored import SessionInfo, describe, session_paths

WINDOW = 300
"""So many sessions are listed; a filter reaches all."""
PIECE = 60
"""So many logs are read before what was found is shown and a newer wish is heard."""
SNIPPET = 100
PLACE = 26
"""So many characters of a project's path stand in a row, its end; the whole of it beside the text."""
_SPOKEN = re.compile(
    rb'^\{"v":1,"seq":\d+,"turn_id":"[0-9a-f]*","kind":"(?:user_message|model_response)".*$', re.MULTILINE
)
_PLAIN = re.compile(r"[a-z0-9 _.:/-]+")


@dataclass(frozen=True, slots=True)
class Listed:
    """A session, and the place of its text that the filter found; spans mark the words in it."""

    info: SessionInfo
    snippet: str = ""
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What was listed so far of so many sessions in all."""

    sessions: tuple[Listed, ...]
    looked: int
    total: int

    @property
    def done(self) -> bool:
        return self.looked >= self.total


def pieces(paths: Paths, words: str, *, cwd: str | None = None) -> Iterator[Found]:
    """List sessions piece by piece; every step reads at most so many logs, so it may run in a thread.

    `words` must all stand in title, project, recipe or text; `cwd` narrows to one project.
    """
    wanted = words.casefold().split()
    logs = session_paths(paths)
    found: list[Listed] = []
    for start in range(0, len(logs), PIECE):
        piece = logs[start : start + PIECE]
        for path in piece:
            one = _look(paths, path, wanted, cwd)
            if one is not None:
                found.append(one)
        looked = start + len(piece)
        if len(found) >= WINDOW:
            yield Found(tuple(found[:WINDOW]), looked, len(logs))
            return
        yield Found(tuple(found), looked, len(logs))
    if not logs:
        yield Found((), 0, 0)


def _look(paths: Paths, path: Path, wanted: Sequence[str], cwd: str | None) -> Listed | None:
    try:
        data = b""
        if wanted:
            data = read_regular(path, max_bytes=FILE_MAX_BYTES)
            low = data.lower() + path.name.encode()
            # A cheap look first: what is plain in the log stands there as it is.
            if any(_PLAIN.fullmatch(word) and word.encode() not in low for word in wanted):
                return None
        info = describe(paths, path)
    except (FileRefused, FileNotFoundError):
        return None
    if cwd is not None and info.cwd != cwd:
        return None
    if not wanted:
        return Listed(info)
    head = f"{info.title} {info.cwd} {info.recipe} {info.id}".casefold()
    left = [word for word in wanted if word not in head]
    texts = list(_spoken(data))
    if any(not any(word in text.casefold() for text in texts) for word in left):
        return None
    snippet, spans = _snippet(texts, left or wanted)
    return Listed(info, snippet, spans)


def _spoken(data: bytes) -> Iterator[str]:
    for match in _SPOKEN.finditer(data):
        try:
            value: Any = json.loads(match.group())
        except ValueError:
            continue
        text = value.get("text") if isinstance(value, dict) else None
        if isinstance(text, str) and text:
            yield " ".join(text.split())


def _snippet(texts: Sequence[str], words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text around the first place of a word, and where all words stand in it."""
    for text in texts:
        low = text.lower()
        if len(low) != len(text):
            continue
        at = min((low.find(word) for word in words if word in low), default=-1)
        if at < 0:
            continue
        start = max(0, at - SNIPPET // 3)
        part = text[start : start + SNIPPET]
        shown = ("…" if start else "") + part + ("…" if start + SNIPPET < len(text) else "")
        return shown, spans_of(shown, words)
    return "", ()


def spans_of(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return where words stand in a text, without regard to case, in order and without overlaps."""
    low = text.lower()
    if len(low) != len(text):
        return ()
    found = sorted(
        (match.start(), match.end()) for word in words for match in re.finditer(re.escape(word), low)
    )
    kept: list[tuple[int, int]] = []
    for start, end in found:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return tuple(kept)


def age(then: datetime, now: datetime) -> str:
    """Say how long ago something was."""
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "just now"
    for size, word in ((60, "min"), (3_600, "h"), (86_400, "d")):
        if seconds < {"min": 3_600, "h": 86_400, "d": 30 * 86_400}[word]:
            return f"{int(seconds // size)} {word} ago"
    return f"{then:%Y-%m-%d}"


def facts(info: SessionInfo, now: datetime) -> str:
    """Say in one line what a session is."""
    place = info.cwd if len(info.cwd) <= PLACE else f"…{info.cwd[1 - PLACE :]}"
    parts = (age(info.updated, now), numbered(info.turns, "turn"), info.recipe, info.id[:8], place)
    return " · ".join(each for each in parts if each)


class Doom:
    """Deletion by two presses on the same session; anything in between takes the first one back."""

    def __init__(self) -> None:
        self.marked = ""

    def press(self, session: str) -> bool:
        """Note a press and tell whether it was the second one."""
        second = self.marked == session
        self.marked = "" if second else session
        return second

    def forget(self) -> bool:
        """Take a first press back; tell whether there was one."""
        had = bool(self.marked)
        self.marked = ""
        return had
