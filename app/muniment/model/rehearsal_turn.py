"""What the rehearsal model sees of a request: this turn's message, what its calls gave, the memory blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from muniment.model.base import AssistantItem, ModelRequest, ToolCall, ToolItem, UserItem

_FENCE = re.compile(r'<UNTRUSTED-INPUT source="([^"]*)">\n?(.*?)</UNTRUSTED-INPUT>', re.DOTALL)
_FENCE_TAG = re.compile(r"</?UNTRUSTED-INPUT[^>]*>")
_OWN_MESSAGE = "the user's own message:"
_REFUSED = re.compile(r"(?i)(denied\b|not executed\b|there is no tool\b|the user stopped\b)")
_NONCE = re.compile(r"(?i)\bnonce\b\W{1,3}([0-9A-Za-z][0-9A-Za-z-]{5,63})")


@dataclass(frozen=True, slots=True)
class Done:
    """One call of this turn and what it gave."""

    call: ToolCall
    text: str

    @property
    def refused(self) -> bool:
        """Whether it did not run: denied, beyond a limit, or stopped."""
        return _REFUSED.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One line of a memory block, or one memory of a pack; `source` is what the block's fence names."""

    source: str
    text: str
    title: str = ""
    """What a memory of a pack is called; its head and where it comes from are no part of what it says."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The running turn of a request."""

    message: str
    done: tuple[Done, ...]
    memory: str
    offered: frozenset[str]
    nonce: str | None
    earlier: tuple[str, ...]
    """The user's earlier messages, oldest first."""

    def memory_lines(self) -> Iterator[MemoryLine]:
        """Yield the lines inside the memory blocks, in their order; of a pack each memory's whole text."""
        for match in _FENCE.finditer(self.memory):
            if match[1] == "memory-retrieval":
                yield from _memories(match[1], match[2])
                continue
            for line in match[2].splitlines():
                if line.strip():
                    yield MemoryLine(match[1], line.strip())


def read_turn(request: ModelRequest) -> Turn:
    """Find the newest message of the user and what followed it."""
    items = request.items
    start = max((at for at, item in enumerate(items) if isinstance(item, UserItem)), default=-1)
    message, folded = _split(items[start].text) if start >= 0 else ("", "")
    memory = items[0].text if items and isinstance(items[0], AssistantItem) and start != 0 else ""
    calls: dict[str, ToolCall] = {}
    done: list[Done] = []
    for item in items[start + 1 :]:
        if isinstance(item, AssistantItem):
            calls |= {call.id: call for call in item.calls}
        elif isinstance(item, ToolItem) and item.call_id in calls:
            done.append(Done(calls[item.call_id], item.text))
    earlier = tuple(item.text for item in items[: max(start, 0)] if isinstance(item, UserItem))
    if not memory and earlier:
        folded = folded or _split(earlier[0])[1]
    nonce = _NONCE.search(request.instructions)
    return Turn(
        message=message,
        done=tuple(done),
        memory=memory or folded,
        offered=frozenset(spec.name for spec in request.tools),
        nonce=None if nonce is None else nonce[1],
        earlier=tuple(_split(text)[0] for text in earlier),
    )


def _memories(source: str, text: str) -> Iterator[MemoryLine]:
    """Read a pack: a head of three lines for each memory, and its body on indented ones."""
    title = ""
    body: list[str] = []
    for line in [*text.splitlines(), "* "]:
        if line.startswith("* "):
            said = "\n".join(body).strip("\n") or title
            if said:
                yield MemoryLine(source, said, title)
            title, body = "", []
        elif line.startswith("title: "):
            title = line.removeprefix("title: ").strip()
        elif line.startswith("  ") or not line:
            body.append(line[2:])


def unfenced(text: str) -> str:
    """Return a text without the fence's own tags."""
    return "\n".join(line for line in text.splitlines() if not _FENCE_TAG.fullmatch(line.strip()))


def fenced_body(text: str) -> str:
    """Return what stands inside the first fence of a text, or the text where there is none."""
    match = _FENCE.search(text)
    return match[2].strip("\n") if match else text


def _split(text: str) -> tuple[str, str]:
    """Part a message from the memory that a strict layout folds into it."""
    before, label, after = text.rpartition(_OWN_MESSAGE)
    if label and "<UNTRUSTED-INPUT" in before:
        return after.strip("\n"), before
    return text, ""
