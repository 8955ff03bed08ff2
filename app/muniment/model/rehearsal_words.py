"""Reading words: field lines, names, types, titles, and what a file demands of its reader."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_SCOPE_OF = re.compile(r"(?i)\b(?:from|in|of|to) (?:the )?(project|global) scope\b")
_FIELD = re.compile(r"(?i)^\s*[-*]?\s*(id|title|category|tags|content|scope|expires_at|clear)\s*:\s?(.*)$")
_LONGEST_HEAD = 600
_INLINE_CONTENT = re.compile(r"(?is)\bcontent\b\s*[:=]?\s*(\S.*)$")
_INLINE_KEY = re.compile(r"(?i)\b(id|title|category)\b\s*[:=]?\s*")
_CONNECTING = re.compile(
    r"(?i)\b(?:to|save|store|add|create|an?|the|new|project|global|memory|record|with|and|whose|using|in|scope)\b"
)
_TRAILING = re.compile(r"(?i)[\s,;]*(?:\b(?:and|with|the)\b[\s,;]*)*$")
_AFTERWARDS = re.compile(r"(?i)^\s*(then|show|retrieve|afterwards|do not infer|keep its)\b")
_SAME_SENTENCE = r"(?:[^.!?\n]|[.!?](?=\S))*"
# "A record" is what a text about memory is full of; only the verb orders something.
_TO_RECORD = (
    r"(?:(?:\b(?:must|should|shall|please|always|now|to)|[,:])\s+record\b"
    r"|\brecord(?=\s+(?:this|that|these|it)\b))"
)
_ORDER = re.compile(
    rf"(?i)\b(?:assistants?|agents?|models?|ai|llms?)\b{_SAME_SENTENCE}"
    rf"(?:\b(?:save|store|remember|memori[sz]e)\b|{_TO_RECORD})"
    rf"|\b(?:save|store|remember|memori[sz]e)\b{_SAME_SENTENCE}\b(?:memory|memories|future sessions?)\b"
    r"|\bmemory_(?:save|store)\b"
)
_WHAT = re.compile(
    r"(?i):\s+(?P<after_colon>\S.*)$|\b(?:save|store|remember|memori[sz]e)\b.*?\bthat\b\s+(?P<after_that>\S.*)$"
)
_PREAMBLE = re.compile(
    r"(?i)^(?:please )?(?:always )?(?:save|store|remember|memori[sz]e)\b(?: (?:this|it))?"
    r"(?: (?:for|in|to) (?:all |your |the )?(?:future |later )?(?:sessions?|memory|memories))?"
    r"(?: that\b)?[\s:,]*"
)


def demand(text: str) -> str | None:
    """Return what a file's text asks its reader to keep, or None where it asks for nothing of the kind."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not _ORDER.search(line):
            continue
        said = _WHAT.search(line)
        if said is not None:
            wanted = said["after_colon"] or said["after_that"]
        else:
            following = (each.strip(" >*-") for each in lines[at + 1 : at + 6])
            below = next((each for each in following if each and not each.startswith("```")), "")
            wanted = below if line.rstrip().endswith(":") and below else line
        wanted = wanted.strip(" >*_")
        return (_PREAMBLE.sub("", wanted) or wanted)[:2_000]
    return None


def kept_title(text: str) -> str | None:
    """Read the title out of what memory_retrieve gave."""
    match = re.search(r"(?m)^title: (.*)$", text)
    if match is None:
        return None
    shown = match[1].strip()
    return unquoted(shown[1:-1]) if len(shown) >= 2 and shown[0] == shown[-1] == '"' else shown


def unquoted(shown: str) -> str:
    """Undo the escapes of a one-line quoted value."""
    short = {"n": "\n", "t": "\t", "r": "\r"}

    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code and int(code, 16) <= 0x10FFFF:
            return chr(int(code, 16))
        return short.get(match[4] or "", match[4] or match[0])

    return re.sub(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", one, shown)


def slug(text: str) -> str:
    """Derive a name from a sentence: its first words, at most 64 letters, digits and hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    if len(words) > 1 and words[0] in ("my", "the", "a", "i", "we", "our"):
        words = words[1:]
    name = ""
    for word in words[:7]:
        longer = f"{name}-{word}" if name else word[:64]
        if len(longer) > 64:
            break
        name = longer
    if name:
        return name
    import hashlib

    return "memory-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def memory_type(text: str) -> str:
    """Choose the type of a user memory by the words of its sentence."""
    if re.search(r"https?://", text):
        return "reference"
    if re.search(r"(?i)\b(always|never|don't|do not|please|prefer|should|stop|avoid)\b", text):
        return "feedback"
    return "user" if re.search(r"(?i)\b(i|i'm|my|mine|me|we|our)\b", text) else "project"


def parts(text: str) -> list[dict[str, Any]]:
    """Return the groups of `key: value` lines with a content; a key that comes again starts a new group."""
    groups: list[list[str]] = [[]]
    seen: set[str] = set()
    for line in text.splitlines():
        match = _FIELD.match(line)
        if match is not None:
            key = match[1].lower()
            if key in seen:
                groups.append([])
                seen.clear()
            seen.add(key)
        groups[-1].append(line)
    return [found for found in (read_fields("\n".join(group)) for group in groups) if found.get("content")]


def read_fields(text: str) -> dict[str, Any]:
    """Read `key: value` lines; the lines after `content:` belong to it until the message goes on."""
    found: dict[str, Any] = {}
    current = ""
    for line in text.splitlines():
        match = _FIELD.match(line)
        if match is not None and match[1].lower() not in found:
            current = match[1].lower()
            found[current] = "" if match[2].strip() in ("|", ">") else match[2].rstrip()
        elif current == "content" and not _AFTERWARDS.match(line):
            found["content"] = f"{found['content']}\n{line}"
        else:
            current = ""
    result: dict[str, Any] = {}
    for name, value in found.items():
        if name in ("tags", "clear"):
            listed = [part.strip(" '\"") for part in value.strip().strip("[]").split(",")]
            result[name] = [part for part in listed if part]
        else:
            result[name] = value.strip("\n") if name == "content" else value.strip()
    return {name: value for name, value in result.items() if value}


def inline_fields(text: str) -> dict[str, str] | None:
    """Read `with id X and content: …` on one line, the content last; None where it is not quite that."""
    content = _INLINE_CONTENT.search(text.strip())
    if content is None or content.start() > _LONGEST_HEAD:
        return None
    before, *pairs = _INLINE_KEY.split(text.strip()[: content.start()])
    if _CONNECTING.sub("", before).strip(" ,;:"):
        return None
    found: dict[str, str] = {}
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        name, bare = key.lower(), _TRAILING.sub("", value).strip(" \n,;`'\"“”")
        if not bare or name in found or (name == "id" and not looks_like_id(bare)):
            return None
        found[name] = bare
    return found | {"content": until_afterwards(content[1]).strip()}


def until_afterwards(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if lines and _AFTERWARDS.match(line):
            break
        lines.append(line)
    return "\n".join(lines)


def scope_of(text: str, named: str | None) -> dict[str, str]:
    match = _SCOPE_OF.search(text)
    word = named or (match[1] if match else None)
    return {"scope": word.lower()} if word else {}


def first_line(text: str, limit: int) -> str:
    """Return the first line, cut at a word within `limit` bytes of UTF-8."""
    line = next((each.strip() for each in text.splitlines() if each.strip()), "")
    if len(line.encode("utf-8", "replace")) <= limit:
        return line
    cut = line.encode("utf-8", "replace")[: limit - 3].decode("utf-8", "ignore")
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def looks_like_id(word: str) -> bool:
    return re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", word) is not None and word not in ("it", "the", "this")
