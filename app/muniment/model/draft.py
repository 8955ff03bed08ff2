"""One reply as it comes in: text, calls in shreds, usage and how it ended, whatever wire it came over."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from muniment.model.arguments import judge
from muniment.model.base import Finished, FinishReason, ToolCall, Usage
from muniment.safety.visible import clean_surrogates

MAX_REPLY_CHARS = 8 * 1024 * 1024
ID_MAX = 64
_NOT_IN_ID = re.compile(r"[^!-~]")
CUT_NOTE = "The reply was cut by the output limit; no tool call of it was run."
REFUSED_NOTE = "The model or its server refused to answer this."


class ReplyTooLarge(ValueError):  # noqa: N818 - named for what it is
    """A reply grew beyond `MAX_REPLY_CHARS`."""


@dataclass(slots=True)
class CallParts:
    """What has come of one call."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    cut: bool = False
    size: int = 0
    """So many characters of arguments have come; to put them together for every shred would be slow."""

    @property
    def raw(self) -> str:
        return "".join(self.arguments)

    def add_arguments(self, value: object) -> int:
        """Take a shred of the argument text, or a whole object from a server that sends objects."""
        if isinstance(value, str):
            piece = value
        elif isinstance(value, dict | list):
            piece = json.dumps(value, ensure_ascii=False)
        else:
            return 0
        self.arguments.append(piece)
        self.size += len(piece)
        return len(piece)

    def replace_arguments(self, value: object) -> None:
        """Take the whole argument text that a server repeats at the end; an empty one replaces nothing."""
        if (isinstance(value, str) and value.strip()) or isinstance(value, dict | list):
            self.arguments.clear()
            self.size = 0
            self.add_arguments(value)


class Draft:
    """The text and the calls so far; `finished` judges them once nothing more comes."""

    def __init__(self) -> None:
        self.calls: list[CallParts] = []
        self.usage = Usage()
        self.finish: FinishReason | None = None
        self.refused = False
        self.damaged = False
        """A piece of the stream before its end could not be read: no call may run."""
        self._text: list[str] = []
        self._half = ""
        self._size = 0

    @property
    def begun(self) -> bool:
        """Whether anything that counts has come."""
        return bool(self._text or self._half or self.calls)

    @property
    def text(self) -> str:
        return "".join(self._text)

    def add_text(self, piece: str) -> str:
        """Take text in and return what can be shown of it: half of a split character waits for the other."""
        self.grow(len(piece))
        piece, self._half = self._half + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return self._keep(piece)

    def close_text(self) -> str:
        """Return what was still waiting; call it once, before `finished`."""
        half, self._half = self._half, ""
        return self._keep(half)

    def grow(self, size: int) -> None:
        """Count what comes in; raise `ReplyTooLarge` where a reply has no end."""
        self._size += size
        if self._size > MAX_REPLY_CHARS:
            raise ReplyTooLarge

    def finished(self) -> Finished:
        """Return the reply as it ended; a call that can never run carries its fault."""
        finish = self.finish
        if finish is None or self.damaged:
            return self.broken("it ended before the server said that it was complete")
        if self.refused:
            finish = "refusal"
        if finish == "refusal":
            return Finished(self.text, (), finish, self.usage, REFUSED_NOTE)
        if finish == "broken":
            return self.broken("the server reported an error")
        calls = self._complete()
        if finish == "length":
            cut = tuple(ToolCall(each.id, each.name, each.arguments, CUT_NOTE) for each in calls)
            return Finished(self.text, cut, finish, self.usage, CUT_NOTE)
        return Finished(self.text, calls, "tool_calls" if calls else "stop", self.usage)

    def broken(self, why: str) -> Finished:
        """Return what there is of a reply that has no proper end; none of its calls may run."""
        what = "what had arrived is kept and no tool call of it was run"
        note = f"The reply broke off ({why.rstrip('.')}); {what}."
        return Finished(self.text, (), "broken", self.usage, note)

    def _keep(self, piece: str) -> str:
        clean = clean_surrogates(piece)
        if clean:
            self._text.append(clean)
        return clean

    def _complete(self) -> tuple[ToolCall, ...]:
        taken: set[str] = set()
        calls: list[ToolCall] = []
        for parts in self.calls:
            arguments, fault = judge(clean_surrogates(parts.raw))
            if parts.cut and fault is None:
                fault = CUT_NOTE
            name = clean_surrogates(parts.name).strip()
            if not name:
                fault = "The call names no tool; nothing was run."
            calls.append(ToolCall(unique_id(parts.id, taken), name, arguments, fault))
        return tuple(calls)


def unique_id(wanted: str, taken: set[str]) -> str:
    """Take an id that is free and that servers accept, the wanted one where possible, and return it."""
    usable = _NOT_IN_ID.sub("_", wanted)[:ID_MAX]
    candidate, number = (usable or "call_1"), 1
    while candidate in taken:
        number += 1
        candidate = f"{usable[: ID_MAX - 8] or 'call'}_{number}"
    taken.add(candidate)
    return candidate


def count(value: Any) -> int | None:
    """Return a token count, or None for whatever else a server sends in its place."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
