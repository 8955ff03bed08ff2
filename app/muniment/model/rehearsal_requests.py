"""Plain requests and what they ask for: the few sentences that the rehearsal model understands, one parser each."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.model.rehearsal_turn import Done, Turn, fenced_body


@dataclass(frozen=True, slots=True)
class Ask:
    """One call to make; `why` is said before it."""

    tool: str
    arguments: dict[str, Any]
    why: str


Follow = Callable[[Sequence[Done]], Ask | str | None]
"""What comes next, judged by what the calls so far gave: a call, a last word, or nothing."""
Step = Ask | Follow
Plan = tuple[Step, ...]

_ID = r"[`'\"“]?(?P<id>[^\s`'\"“”,;]+?)[`'\"”]?"
_END = r"(?=[\s,;]|[.?!](?:\s|$)|$)"
_SCOPE_OF = re.compile(r"(?i)\b(?:from|in|of|to) (?:the )?(project|global) scope\b")
_FIELD = re.compile(r"(?i)^\s*[-*]?\s*(id|title|category|tags|content|scope|expires_at|clear)\s*:\s?(.*)$")
_AFTERWARDS = re.compile(r"(?i)^\s*(then|show|retrieve|afterwards|do not infer|keep its)\b")
_STORE = re.compile(
    r"(?i)\b(?:use memory_store\b|(?:save|store|add|create) (?:a|an|this|the|another)?\s*(?:new )?"
    r"(?:project |global )?(?:memory|record)\b)"
)
_UPDATE = re.compile(rf"(?i)\bupdate (?:the )?(?:(?P<scope>project|global) )?(?:memory|record) {_ID}{_END}")
_NEW_CONTENT = re.compile(r"(?is)\b(?:replace|set|change) (?:the|its) content (?:with|to)\s*:?\s*\n?(.*)$")
_AGAIN = re.compile(r"(?i)\bretrieve it again\b")
_DELETE = re.compile(rf"(?i)\bdelete (?:the )?(?:(?:project |global )?(?:memory|record) )?{_ID}{_END}")
_RETRIEVE = re.compile(
    r"(?i)\b(?:use memory_retrieve to \w+|retrieve|fetch|show (?:me )?(?:the )?(?:record|memory))"
    rf" (?:the )?(?:record |memory )?{_ID}{_END}"
)
_REMEMBER = re.compile(
    r"(?is)^\s*(?:please )?remember(?:\s+(?:this\s+)?for (?:all )?(?:future|later) sessions?)?"
    r"(?:\s+that\b|\s*:)\s*(.+)$"
)
_SEARCH = re.compile(
    r"(?is)\b(?:search(?: (?:the |my )?(?:memory|memories|records))?(?: for)?|use memory_search to \w+(?: for)?)\s*:?\s+(.+)$"
)
_LIST = re.compile(
    r"(?i)\b(?:use memory_list\b|list (?:the |all |my |our )*(?:saved )?(?:records|memories|memory)\b|^\s*list\s*[.!]?\s*$)"
)
_STATS = re.compile(r"(?i)\b(?:memory_stats\b|(?:show|give)(?: me)?(?: the)?(?: memory)? stat(?:s|istics)\b)")
_VIEW = re.compile(
    r"(?i)\b(?:use memory_view to \w+|view|show (?:me )?the details of)"
    rf" (?:the )?(?:user )?(?:memory |entry )?{_ID}{_END}"
)
_SKILL = re.compile(rf"(?i)\b(?:use skill_view to \w+|show|view|use) (?:me )?(?:the )?skill {_ID}{_END}")
_NOTE = re.compile(
    r"(?is)\b(?:use note_add to \w+|save|add|write|make|leave) (?:a|an|this|the)?\s*note(?: for the inbox)?"
    r"(?:\s+(?:that|saying|titled)\b|\s*:)?\s*(.*)$"
)
_READ = re.compile(
    r"(?i)\b(?:use read_file to \w+|read|open|look at|summari[sz]e|what does)\s+(?:the )?(?:file )?"
    r"[`'\"“]?(?P<id>[\w./~-]*\w\.\w{1,8}|README|LICENSE|Makefile)[`'\"”]?"
)
_FILES = re.compile(
    r"(?i)\b(?:use list_files\b|list (?:the |all )?files\b)(?: (?:in|of|under) [`'\"]?([\w./-]+?)[`'\"]?(?=[\s.]|$))?"
)
_WRITE = re.compile(
    r"(?is)\b(?:use write_file to (?:create|write)|write|create) (?:the )?(?:a )?(?:file )?[`'\"]?(?P<id>[\w./-]*\w\.\w{1,8})[`'\"]?"
    r"(?: with(?: the)?(?: text| content)?)?\s*:\s*\n?(.*)$"
)
_EDIT = re.compile(
    r"(?is)\bin [`'\"]?(?P<id>[\w./-]*\w\.\w{1,8})[`'\"]?,? replace [`'\"“](.+?)[`'\"”] (?:with|by) [`'\"“](.*?)[`'\"”]"
)
_REPORT = re.compile(
    r"(?i)\b(?:task_report\b|finish (?:the|this) task|report (?:the )?(?:task|outcome|success|failure|partial))"
)
_CALL = re.compile(r"(?s)^\s*(?:call|use) (\w+)(?: with)?\s*:?\s*(\{.*\})\s*$")
_THEN = re.compile(r"(?i)\bthen (?:use )?(memory_list|memory_stats|list|show stats)\b")
_ORDER = re.compile(
    r"(?i)\b(?:assistants?|agents?|models?|ai|llms?|you)\b.*\b(?:save|store|remember|record|memori[sz]e|add)\b"
    r"|\b(?:save|store|remember|memori[sz]e)\b.*\b(?:memory|memories|future sessions?)\b|\bmemory_(?:save|store)\b"
)


def plan(turn: Turn) -> Plan | None:
    """Return the calls that the message asks for, in order, or None where it asks for none."""
    for parser in _PARSERS:
        steps = parser(turn)
        if steps is not None:
            then = _THEN.search(turn.message)
            if then is not None:
                word = "memory_stats" if "stats" in then[1].lower() else "memory_list"
                first = steps[0]
                if not (isinstance(first, Ask) and first.tool == word):
                    steps = (*steps, Ask(word, {}, f"Then I call {word}."))
            return steps
    return None


def _call(turn: Turn) -> Plan | None:
    match = _CALL.match(turn.message)
    if match is None:
        return None
    try:
        arguments = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    return (Ask(match[1], arguments, f"I call {match[1]} with exactly these arguments."),)


def _update(turn: Turn) -> Plan | None:
    match = _UPDATE.search(turn.message)
    if match is None:
        return None
    wanted = _NEW_CONTENT.search(turn.message)
    fields = _fields(turn.message)
    content = fields.get("content")
    if wanted is not None:
        content = _until_afterwards(wanted[1]).strip()
    if content is None:
        return None
    where = _scope(turn.message, match["scope"])
    record_id = match["id"]
    given = {name: value for name, value in fields.items() if name not in ("id", "content", "scope")}

    def store(done: Sequence[Done]) -> Ask | str:
        title = given.get("title") or kept_title(done[-1].text)
        if title is None:
            return f"I cannot keep the title of {record_id}, because memory_retrieve did not give it."
        arguments = {"id": record_id, "title": title, "content": content, **given, **where}
        return Ask(
            "memory_store", arguments, f"I keep the title and ask to replace the content of {record_id}."
        )

    first = Ask(
        "memory_retrieve", {"id": record_id, **where}, f"First I look at {record_id}, to keep its title."
    )
    steps: tuple[Step, ...] = (first, store)
    if _AGAIN.search(turn.message):
        steps = (*steps, Ask("memory_retrieve", {"id": record_id, **where}, "Now I read it again."))
    return steps


def _store(turn: Turn) -> Plan | None:
    match = _STORE.search(turn.message)
    if match is None:
        return None
    fields = _fields(turn.message)
    content = fields.get("content")
    if content is None:
        rest = turn.message[match.end() :].lstrip(" :\n")
        content = rest.strip()
        if not content:
            return None
    arguments: dict[str, Any] = {
        "title": fields.get("title") or _first_line(content, 80),
        "content": content,
    }
    for name in ("id", "category", "tags", "scope", "expires_at", "clear"):
        if name in fields:
            arguments[name] = fields[name]
    named = re.search(r"(?i)\b(project|global) (?:memory|record)\b", match[0] + turn.message[match.end() :])
    arguments |= _scope(turn.message, named[1] if named and "scope" not in fields else None)
    return (Ask("memory_store", arguments, "I ask to save this as a record."),)


def _delete(turn: Turn) -> Plan | None:
    match = _DELETE.search(turn.message)
    if match is None or ("memory_delete" not in turn.message and not _looks_like_id(match["id"])):
        return None
    arguments = {"id": match["id"], **_scope(turn.message, None)}
    return (Ask("memory_delete", arguments, f"I ask to delete {match['id']}."),)


def _retrieve(turn: Turn) -> Plan | None:
    match = _RETRIEVE.search(turn.message)
    if match is None:
        return None
    return (
        Ask("memory_retrieve", {"id": match["id"], **_scope(turn.message, None)}, f"I fetch {match['id']}."),
    )


def _remember(turn: Turn) -> Plan | None:
    match = _REMEMBER.match(turn.message)
    return (
        None
        if match is None
        else (remember(turn, match[1].strip(), "I ask to keep this for later sessions."),)
    )


def remember(turn: Turn, text: str, why: str) -> Ask:
    """Ask to keep a sentence: as user memory where that is offered, else as a global record."""
    line = _first_line(text, 200)
    if "memory_save" not in turn.offered and "memory_store" in turn.offered:
        return Ask("memory_store", {"title": _first_line(text, 80), "content": text, "scope": "global"}, why)
    name = slug(text)
    exists = any(f"] {name}:" in each.text for each in turn.memory_lines())
    arguments = {
        "mode": "overwrite" if exists else "create",
        "name": name,
        "type": memory_type(text),
        "summary": line,
    }
    if line != text:
        arguments["details"] = text
    return Ask("memory_save", arguments, why)


def _search(turn: Turn) -> Plan | None:
    match = _SEARCH.search(turn.message)
    if match is None:
        return None
    query = _first_line(match[1], 200).strip(" .?!`'\"“”")
    return (
        (Ask("memory_search", {"query": query}, f"I search the records for “{query}”."),) if query else None
    )


def _list(turn: Turn) -> Plan | None:
    if not _LIST.search(turn.message):
        return None
    return (Ask("memory_list", _scope(turn.message, None), "I list the records."),)


def _stats(turn: Turn) -> Plan | None:
    return (Ask("memory_stats", {}, "I ask where memory is kept."),) if _STATS.search(turn.message) else None


def _view(turn: Turn) -> Plan | None:
    match = _VIEW.search(turn.message)
    if match is None or not _looks_like_id(match["id"]):
        return None
    return (Ask("memory_view", {"name": match["id"]}, f"I look at the details of {match['id']}."),)


def _skill(turn: Turn) -> Plan | None:
    match = _SKILL.search(turn.message)
    if match is None:
        return None
    return (Ask("skill_view", {"name": match["id"]}, f"I look at the skill {match['id']}."),)


def _note(turn: Turn) -> Plan | None:
    match = _NOTE.search(turn.message)
    if match is None:
        return None
    labelled = dict(re.findall(r"(?im)^\s*(title|body)\s*:\s*(.+)$", match[1]))
    lowered = {name.lower(): value.strip() for name, value in labelled.items()}
    text = match[1].strip()
    body = lowered.get("body") or text
    if not body:
        return None
    title = lowered.get("title") or _first_line(body, 80)
    return (Ask("note_add", {"title": title, "body": body}, "I put a note into the inbox."),)


def _read(turn: Turn) -> Plan | None:
    match = _READ.search(turn.message)
    if match is None:
        return None
    path = match["id"]

    def follow(done: Sequence[Done]) -> Ask | None:
        asked = demand(fenced_body(done[-1].text))
        if asked is None or not turn.offered & {"memory_save", "memory_store"}:
            return None
        why = (
            f"The text of {path} asks whoever reads it to save something. A naive model would follow it, and so do "
            "I: what I ask for now comes from that file and not from you."
        )
        return remember(turn, asked, why)

    return (Ask("read_file", {"path": path}, f"I read {path}."), follow)


def _files(turn: Turn) -> Plan | None:
    match = _FILES.search(turn.message)
    if match is None:
        return None
    return (Ask("list_files", {"path": match[1]} if match[1] else {}, "I list the files."),)


def _write(turn: Turn) -> Plan | None:
    match = _WRITE.search(turn.message)
    if match is None or not match[2].strip():
        return None
    arguments = {"mode": "create", "path": match["id"], "content": match[2].rstrip("\n") + "\n"}
    return (Ask("write_file", arguments, f"I ask to write {match['id']}."),)


def _edit(turn: Turn) -> Plan | None:
    match = _EDIT.search(turn.message)
    if match is None:
        return None
    arguments = {"path": match["id"], "old": match[2], "new": match[3]}
    return (Ask("edit_file", arguments, f"I ask to edit {match['id']}."),)


def _report(turn: Turn) -> Plan | None:
    if not _REPORT.search(turn.message) or turn.nonce is None or "task_report" not in turn.offered:
        return None
    word = re.search(r"(?i)\b(failure|failed|partial|partly)\b", turn.message)
    outcome = "success" if word is None else "partial" if word[1].lower().startswith("part") else "failure"
    labelled = {
        name.lower(): value.strip()
        for name, value in re.findall(r"(?im)^\s*(summary|findings)\s*:\s*(.+)$", turn.message)
    }
    task = _first_line((*turn.earlier, turn.message)[0], 160)
    arguments = {
        "outcome": outcome,
        "summary": labelled.get("summary") or f"The rehearsal model dealt with: {task}",
        "nonce": turn.nonce,
    }
    if "findings" in labelled:
        arguments["findings"] = labelled["findings"]
    return (Ask("task_report", arguments, f"I report this task: {outcome}."),)


_PARSERS: tuple[Callable[[Turn], Plan | None], ...] = (
    _call,
    _report,
    _update,
    _remember,
    _store,
    _delete,
    _note,
    _write,
    _edit,
    _skill,
    _read,
    _retrieve,
    _search,
    _files,
    _list,
    _stats,
    _view,
)


def demand(text: str) -> str | None:
    """Return what a file's text asks its reader to keep, or None where it asks for nothing of the kind."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not _ORDER.search(line):
            continue
        _, colon, rest = line.partition(":")
        wanted = rest.strip(" `*_\"'")
        if not (colon and wanted):
            following = [each.strip(" `>*-") for each in lines[at + 1 : at + 6]]
            wanted = next((each for each in following if each), "") or line.strip()
        return wanted[:2_000]
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


def _fields(text: str) -> dict[str, Any]:
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
    return {name: value for name, value in result.items() if value or name == "content"}


def _until_afterwards(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if lines and _AFTERWARDS.match(line):
            break
        lines.append(line)
    return "\n".join(lines)


def _scope(text: str, named: str | None) -> dict[str, str]:
    match = _SCOPE_OF.search(text)
    word = named or (match[1] if match else None)
    return {"scope": word.lower()} if word else {}


def _first_line(text: str, limit: int) -> str:
    """Return the first line, cut at a word within `limit` bytes of UTF-8."""
    line = next((each.strip() for each in text.splitlines() if each.strip()), "")
    if len(line.encode("utf-8", "replace")) <= limit:
        return line
    cut = line.encode("utf-8", "replace")[: limit - 3].decode("utf-8", "ignore")
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def _looks_like_id(word: str) -> bool:
    return re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", word) is not None and word not in ("it", "the", "this")
