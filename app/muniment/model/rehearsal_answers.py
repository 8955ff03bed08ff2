"""What the rehearsal model says: results quoted, memory quoted with its source, and else what it is."""

from __future__ import annotations

import re
import unicodedata

from muniment.model.base import AssistantItem, ModelRequest, ToolItem, UserItem
from muniment.model.rehearsal_turn import Done, MemoryLine, Turn, unfenced

_QUOTE_MAX_CHARS = 6_000
_SUMMARY_MAX_CHARS = 1_600
_SAVED = re.compile(r"(?:Record|Entry) (\S+) (created|updated) \(created: (true|false)\) in (.+)$")
_GONE = re.compile(r"Record (\S+) deleted from (\w+ scope), (.+?)\. (.+)$")
_BLOCKS = {
    "pinned": "the pinned context",
    "digest": "the digest of records",
    "user-memory": "user memory",
    "memory-retrieval": "the recalled pack",
    "team-notes": "the team notes",
}
_STOP_WORDS = """
a about an and any are as at be been but by can could did do does for from had has have how i if in into is it
its me my of on or our please should so tell that the their them there these they this to us was we were what
when where which who why will with would you your know remember say said
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"\w+")


def answer(turn: Turn) -> str:
    """Say what the calls of this turn gave, quoting them."""
    return "\n\n".join(_told(done) for done in turn.done)


def _told(done: Done) -> str:
    tool, text = done.call.name, done.text.strip()
    first, _, rest = text.partition("\n")
    if done.refused:
        return f"{tool} was refused: {_sentence(text)} I do not try it again."
    saved = _SAVED.match(first)
    if saved is not None:
        word = "new" if saved[3] == "true" else "not new, it replaces what was there"
        said = f"{saved[1]} is {saved[2]} (created: {saved[3]}, that is {word}) in {saved[4]}"
        return said + (f"\n\n{_quoted(rest)}" if rest.strip() else "")
    gone = _GONE.match(first)
    if gone is not None:
        said = f"{gone[1]} is deleted from {gone[2]}, {gone[3]}. {gone[4]}"
        return said + (f"\n\n{_quoted(rest)}" if rest.strip() else "")
    return f"{tool} gave:\n\n{_quoted(text)}"


def quote_memory(turn: Turn) -> str | None:
    """Answer from the memory blocks with the line that fits best, or None where none does."""
    asked = set(_terms(turn.message))
    if not asked:
        return None
    best: tuple[int, MemoryLine] | None = None
    for line in turn.memory_lines():
        score = len(asked & set(_terms(f"{line.title} {line.text}")))
        if score and (best is None or score > best[0]):
            best = (score, line)
    if best is None or best[0] * 2 < len(asked):
        return None
    block = best[1].source
    name = _BLOCKS.get(block) or (f"the notebook of {block[9:]}" if block.startswith("notebook:") else block)
    return f"{name[0].upper()}{name[1:]} that I was given says:\n\n{_quoted(best[1].text)}"


def explain(turn: Turn) -> str:
    """Say what this is, what it can do here, and how to have a real model answer."""
    tries = [
        text
        for tool, text in (
            ("memory_store", "“Use memory_store to save a project memory:” with lines title: and content:"),
            ("memory_save", "“Remember for future sessions: my projects install with pnpm”"),
            ("memory_search", "“search for denominators”"),
            ("read_file", "“read README.md”"),
        )
        if tool in turn.offered
    ]
    given = sum(1 for _ in turn.memory_lines())
    lines = "line" if given == 1 else "lines"
    unfit = f" Nothing in the {given} {lines} of memory that I was given fits your message." if given else ""
    can = f" You can try {'; or '.join(tries)}." if tries else ""
    return (
        "I am the offline stand-in of Muniment. I follow plain requests to use a tool and quote what I was "
        f"given, and I know nothing else.{unfit}{can} To have a real model answer, set model.name and "
        "model.base_url (or a key) in the settings, whose place `muniment config path` prints, or start with "
        "--provider openai --model NAME --base-url URL."
    )


def summarise(request: ModelRequest) -> str:
    """Write a summary that is good enough to go on from: what was asked, what the tools did, in order."""
    lines = ["Summary by the rehearsal model."]
    items = request.items[:-1] if request.items and isinstance(request.items[-1], UserItem) else request.items
    for item in items:
        if isinstance(item, UserItem):
            lines.append(f"User: {_short(item.text, 120)}")
        elif isinstance(item, ToolItem):
            lines.append(f"{item.name}: {_short(item.text, 100)}")
        elif isinstance(item, AssistantItem) and item is items[0] and item.text:
            lines.append(f"Before: {_short(item.text, 400)}")
    while len("\n".join(lines)) > _SUMMARY_MAX_CHARS and len(lines) > 2:
        # The newest matter most: the oldest lines go first.
        del lines[1]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as a code block that nothing in the text can close."""
    plain = unfenced(text).strip("\n")
    if len(plain) > _QUOTE_MAX_CHARS:
        plain = plain[:_QUOTE_MAX_CHARS] + "\n… (the rest is in the tool's result)"
    longest = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{plain}\n{fence}"


def _sentence(text: str) -> str:
    line = _short(text, 400)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _short(text: str, limit: int) -> str:
    line = " ".join(unfenced(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _terms(text: str) -> list[str]:
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text.casefold())
        if not unicodedata.combining(letter)
    )
    return [
        _stem(word) for word in _WORD.findall(plain.replace("_", " ")) if word not in _STOP and len(word) > 1
    ]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) - len(ending) >= 4 and word.endswith(ending):
            return word[: -len(ending)]
    return word
