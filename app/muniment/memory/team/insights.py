"""What a batch of notes says, found by fixed rules: one line an insight, who said it, repeats left out.

Everything here is pure: the same notes give the same digest. A note's text becomes single lines behind the
name of who wrote it, so that it can begin no heading and no section of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from muniment.safety.visible import reading_line

MAX_INSIGHT = 300
MOST_OF_ONE_NOTE = 60
"""Insights taken from one note; whoever wants the rest reads the note, which the digest names."""
MAX_TITLE = 120
MAX_AGENT = 64
UNKNOWN = "unknown"

_LEAST_LINE, _MOST_LINE = 31, 499
_LONGEST_SEARCHED = 2_000
_FINGERPRINT = 80
_KNOWN_WORDS, _LEAST_KNOWN, _LONGEST_WORD = 5, 3, 200
_OVERLAP = 0.7
_NAMED_AGENTS = 5
_MOST_COMPARED = 300
"""Insights that a new one is compared with word by word; a digest has no room for more of them."""

_TITLE = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_ITEM = re.compile(
    r"\s*(?:\d{1,9}[.)]|[-*+•])\s+\*\*(?P<key>[^*]{1,200}?)(?:(?P<inside>:)\s*\*\*|\*\*\s*(?:--|[—–:-]))\s*(?P<text>\S.*)"
)
_TELLING = re.compile(
    r"\b(?:must|never|always|convention|pattern|gotcha|warning|important|rule|tip|note that)\b", re.IGNORECASE
)
_LIST_MARK = re.compile(r"\s*(?:\d{1,9}[.)]|[-*+•])\s+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}(?=\s[^\sa-z])|[。！？]")
_NO_TEXT = re.compile(r"[\W_]+|`{3}.*")
"""A line that says nothing: a rule, a fence of code, a row of dots."""
_PREFIX = re.compile(r"(\w+)-")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_BUG = re.compile(r"bug|fix", re.IGNORECASE)

HEADINGS = ("Reviews", "Feedback", "Build results", "Exploration", "Bugs and fixes", "Learnings")


@dataclass(frozen=True, slots=True)
class Source:
    """A note as the digest sees it; `reference` is where the whole note will stand."""

    name: str
    agent: str
    title: str
    body: str
    reference: str


@dataclass(slots=True)
class Insight:
    """One line with everybody who said it."""

    text: str
    heading: str
    agents: list[str]
    reference: str
    words: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class RuleDigest:
    """A section for the team notes, with how many insights it has and how many repeats it leaves out."""

    text: str
    insights: int
    duplicates: int


def title_of(body: str, name: str) -> str:
    """Return a note's first level-1 heading, else its file's name without suffix; one line."""
    found = _TITLE.search(body)
    text = one_line(found[1]) if found else ""
    return cut(text or one_line(name.removesuffix(".md")) or UNKNOWN, MAX_TITLE)


def agent_of(name: str, claimed: str, known: Collection[str] = ()) -> str:
    """Return who wrote a note: what its front matter says, else its file's prefix up to a hyphen.

    A known agent whose name has hyphens of its own is found as a whole; part of a name is never enough.
    """
    if claimed.strip():
        return safe_agent(claimed)
    longest = max((each for each in known if name.startswith(f"{each}-")), key=len, default="")
    if longest:
        return safe_agent(longest)
    found = _PREFIX.match(name)
    return safe_agent(found[1]) if found else UNKNOWN


def safe_agent(text: str) -> str:
    """Return a name that can stand in a heading and in a file's name; never empty, no path, no dot first."""
    bare = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text)).strip("-.")
    return bare[:MAX_AGENT].rstrip("-.") or UNKNOWN


def heading_of(name: str, body: str) -> str:
    """Return the digest's heading for a note, by its file's name first."""
    low = name.lower()
    if any(part in low for part in ("review", "pr-", "pr4")):
        return "Reviews"
    if "feedback" in low:
        return "Feedback"
    if "build" in low or "bt-" in low:
        return "Build results"
    if "explore" in low:
        return "Exploration"
    return "Bugs and fixes" if _BUG.search(body) else "Learnings"


def insights_of(body: str) -> list[str]:
    """Return the lines of a note that say something lasting, each at most 300 characters."""
    found: list[str] = []
    for line in body.splitlines():
        if len(found) == MOST_OF_ONE_NOTE:
            break
        if not line.strip() or _HEADING.match(line):
            continue
        item = _ITEM.match(line[:_LONGEST_SEARCHED])
        if item:
            key, text = one_line(item["key"]), one_line(item["text"])
            if key and text:
                found.append(cut(f"{key}: {text}", MAX_INSIGHT))
            continue
        bare = one_line(_LIST_MARK.sub("", line[: _MOST_LINE + 1], count=1))
        if _LEAST_LINE <= len(line.strip()) <= _MOST_LINE and _TELLING.search(bare):
            found.append(cut(bare, MAX_INSIGHT))
    return found


def first_sentence(body: str) -> str:
    """Return what a note without an insight says first, at most 300 characters; else empty."""
    said: list[str] = []
    for line in body.splitlines():
        bare = _LIST_MARK.sub("", line[:_LONGEST_SEARCHED], count=1).strip()
        if bare and not _HEADING.match(line) and not _NO_TEXT.fullmatch(bare):
            said.append(bare)
        elif said:
            break
        if sum(map(len, said)) > _LONGEST_SEARCHED:
            break
    text = one_line(" ".join(said))
    end = _SENTENCE_END.search(text)
    return cut(text[: end.end()] if end else text, MAX_INSIGHT)


def fingerprint(text: str) -> str:
    """Return what makes two insights the same: letters and digits only, in lower case, the first 80."""
    bare = "".join(each if each.isalnum() else " " for each in text.lower())
    return " ".join(bare.split())[:_FINGERPRINT]


def digest_notes(sources: Sequence[Source], existing: str, date: str, *, max_bytes: int) -> RuleDigest:
    """Write the section that a batch of notes adds to the team notes, at most `max_bytes` long.

    `existing` is what the team notes say already; an insight whose leading words all stand there is known.
    """
    known = set(_WORD.findall(existing.lower()))
    kept: list[Insight] = []
    by_print: dict[str, Insight] = {}
    # Numbers tell two findings apart that otherwise use the same words.
    alike: dict[frozenset[str], list[Insight]] = {}
    duplicates = 0
    for source in sources:
        lines = insights_of(source.body)
        for text in lines or [first_sentence(source.body) or f"See the whole note: {source.title}"]:
            mark = fingerprint(text)
            same = by_print.get(mark)
            if same is None and lines:
                if _is_known(text, known):
                    duplicates += 1
                    continue
                same = _alike(text, alike.get(_numbers(text), []))
            if same is not None:
                duplicates += 1
                if source.agent not in same.agents:
                    same.agents.append(source.agent)
                continue
            insight = Insight(
                text,
                heading_of(source.name, source.body),
                [source.agent],
                source.reference,
                _overlap_words(text) if lines else frozenset(),
            )
            kept.append(insight)
            by_print[mark] = insight
            compared = alike.setdefault(_numbers(text), [])
            if len(compared) < _MOST_COMPARED:
                compared.append(insight)
    return RuleDigest(_section(sources, kept, duplicates, date, max_bytes), len(kept), duplicates)


def one_line(text: str) -> str:
    """Return a text as one line with nothing hidden in it, which opens no comment."""
    return reading_line(" ".join(text.split())).replace("<!--", "&lt;!--").strip()


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _section(
    sources: Sequence[Source], kept: Sequence[Insight], duplicates: int, date: str, max_bytes: int
) -> str:
    agents = list(dict.fromkeys(source.agent for source in sources))
    more = len(agents) - _NAMED_AGENTS
    who = ", ".join(agents[:_NAMED_AGENTS]) + (f" and {more} more" if more > 0 else "")
    groups = {name: [each for each in kept if each.heading == name] for name in HEADINGS}
    topics = ", ".join(name.lower() for name, group in groups.items() if group) or "nothing new"
    counted = f"{_counted(len(kept), 'insight')} from {_counted(len(sources), 'note')}"
    lines = [f"### {date}: {topics}, by {who} ({counted})"]
    size = len(lines[0].encode()) + 200  # room for the closing lines
    left = 0
    for name, group in groups.items():
        taken: list[str] = []
        for each in group:
            line = f"- [{', '.join(each.agents)}] {each.text} ({each.reference})"
            size += len(line.encode()) + 1
            if size > max_bytes:
                left += 1
            else:
                taken.append(line)
        if taken:
            lines += ["", f"#### {name} ({len(group)})", "", *taken]
            size += len(name) + 14
    if left:
        lines += [
            "",
            f"_{_counted(left, 'more insight')} did not fit here; the whole notes are in knowledge._",
        ]
    if duplicates:
        lines += ["", f"_{_counted(duplicates, 'duplicate')} left out._"]
    return "\n".join(lines) + "\n"


def _is_known(text: str, known: set[str]) -> bool:
    words = [each for each in _WORD.findall(text.lower()) if 4 < len(each) <= _LONGEST_WORD][:_KNOWN_WORDS]
    return len(words) >= _LEAST_KNOWN and all(each in known for each in words)


def _overlap_words(text: str) -> frozenset[str]:
    return frozenset(each for each in _WORD.findall(text.lower()) if len(each) > 2)


def _alike(text: str, others: Sequence[Insight]) -> Insight | None:
    words = _overlap_words(text)
    if len(words) < _LEAST_KNOWN:
        return None
    for each in others:
        longer = max(len(words), len(each.words))
        if len(each.words) >= _LEAST_KNOWN and len(words & each.words) > _OVERLAP * longer:
            return each
    return None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
