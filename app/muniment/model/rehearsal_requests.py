"""Plain requests and what they ask for: what the rehearsal model understands, one parser each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.model.rehearsal_turn import Done, Turn, fenced_body
from muniment.model.rehearsal_words import (
    demand,
    first_line,
    inline_fields,
    kept_title,
    looks_like_id,
    memory_type,
    parts,
    read_fields,
    scope_of,
    slug,
    until_afterwards,
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One call to make; `why` is said before it."""

    tool: str
    arguments: dict[str, Any]
    why: str


Batch = tuple[Ask, ...]
"""Calls that are made together, in one reply."""
Follow = Callable[[Sequence[Done]], Batch | str]
"""What comes next, judged by what the calls so far gave: calls, or a last word that may be empty."""
Step = Batch | Follow
Plan = tuple[Step, ...]

_ID = r"[`'\"“]?(?P<id>[^\s`'\"“”,;]+?)[`'\"”]?"
_END = r"(?=[\s,;]|[.?!](?:\s|$)|$)"
_STORE = re.compile(
    r"(?i)\b(?:use memory_store\b|(?:save|store|add|create) (?:a|an|this|these|the|another|two|three)?\s*"
    r"(?:new )?(?:project |global )?(?:memory|memories|records?)\b)"
)
_UPDATE = re.compile(rf"(?i)\bupdate (?:the )?(?:(?P<scope>project|global) )?(?:memory|record) {_ID}{_END}")
_UPDATE_ID = re.compile(
    r"(?i)\A\s*(?:please )?update [`'\"“]?(?P<id>[a-z0-9][a-z0-9-]{0,63})[`'\"”]?"
    r"(?: (?:with|using) memory_store| in (?:the )?(?P<scope>project|global) scope)*\s*[:.]?[ \t]*\n"
)
_NEW_CONTENT = re.compile(r"(?is)\b(?:replace|set|change) (?:the|its) content (?:with|to)\s*:?\s*\n?(.*)$")
_CHANGE = re.compile(
    r"(?is)^\s*(?:please )?(?:change|update|edit|rewrite|correct|replace) (?:the |my |our )?"
    r"(?:(?P<scope>project|global) )?(?:memory|record|rule|decision|fact)\b(?P<rest>.*)$"
)
_CHANGED_TO = re.compile(
    r"(?is)\s+[`'\"“]?(?P<id>[a-z0-9][a-z0-9-]{0,63})[`'\"”]?\s*(?::|=|\b(?:to|with)\b:?)\s*(?P<content>\S.*)$"
)
_TO_SAVE = re.compile(
    r"(?is)^\s*to (?:save|store|add|create|keep|record|remember)\b"
    r"(?:[^:\n]{0,80}:|\s+that\b)\s*(?P<content>\S.*)$"
)
_ASKS_FIELDS = re.compile(r"(?i)^\s*(?:with|whose|using|to|id|title|content|named|called|under)\b")
_HINT = (
    "I cannot tell which record that is to be, so I ask for nothing. Give each field a line of its own:\n\n"
    "```text\nUse memory_store to save a project memory:\nid: pilot-review-rule\n"
    "title: Pilot comparison review rule\ncontent: Cite Notes A and B.\n```\n\n"
    "With the id of a record that exists it replaces that one."
)
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
    r"(?is)\b(?:search(?: (?:the |my )?(?:memory|memories|records))?(?: for)?"
    r"|use memory_search to \w+(?: for)?)\s*:?\s+(.+)$"
)
_LIST = re.compile(
    r"(?i)\b(?:use memory_list\b|list (?:the |all |my |our )*(?:saved )?(?:records|memories|memory)\b)"
    r"|^\s*list\s*[.!]?\s*$"
)
_STATS = re.compile(r"(?i)\b(?:memory_stats\b|(?:show|give)(?: me)?(?: the)?(?: memory)? stat(?:s|istics)\b)")
_VIEW = re.compile(
    r"(?i)\b(?:use memory_view to \w+|view|show (?:me )?the details of)"
    rf" (?:the )?(?:user )?(?:memory |entry )?{_ID}{_END}"
)
_SKILL = re.compile(rf"(?i)\b(?:use skill_view to \w+|show|view|use) (?:me )?(?:the )?skill {_ID}{_END}")
_NOTE = re.compile(
    r"(?is)\b(?:use note_add to \w+|save|add|write|make|leave) (?:a|an|this|the)?\s*note\b(?: for the inbox)?"
    r"(?:\s+(?:that|saying|titled)\b|\s*:)?\s*(.*)$"
)
_READ = re.compile(
    r"(?i)\b(?:use read_file to \w+|read|open|look at|review:?|summari[sz]e|what does|what is in)\s+"
    r"(?:the )?(?:file )?"
    r"[`'\"“]?(?P<id>[\w./~-]*\w\.\w{1,8}|README|LICENSE|Makefile)[`'\"”]?"
)
_PATH = r"[`'\"]?(?P<id>[\w./-]*\w\.\w{1,8})[`'\"]?"
_QUOTED = r"[`'\"“](.*?)[`'\"”]"
_FILES = re.compile(
    r"(?i)\b(?:use list_files\b|list (?:the |all )?files\b)"
    r"(?: (?:in|of|under) [`'\"]?([\w./-]+?)[`'\"]?(?=[\s.]|$))?"
)
_WRITE = re.compile(
    rf"(?is)\b(?:use write_file to (?:create|write)|write|create) (?:the )?(?:a )?(?:file )?{_PATH}"
    r"(?: with(?: the)?(?: text| content)?)?\s*:\s*\n?(.*)$"
)
_EDIT = re.compile(rf"(?is)\bin {_PATH},? replace {_QUOTED} (?:with|by) {_QUOTED}")
_REPORT = re.compile(
    r"(?i)\b(?:task_report\b|finish (?:the|this) task"
    r"|report (?:the )?(?:task|outcome|success|failure|partial))"
)
_CALL = re.compile(r"(?s)^\s*(?:call|use) (\w+)(?: with)?\s*:?\s*(\{.*\})\s*$")
_THEN = re.compile(r"(?i)\bthen (?:use )?(memory_list|memory_stats|list|show stats)\b")


def plan(turn: Turn) -> Plan | None:
    """Return the calls that the message asks for, in order, or None where it asks for none."""
    for parser in _PARSERS:
        steps = parser(turn)
        if steps is None:
            continue
        then = _THEN.search(turn.message)
        word = "" if then is None else "memory_stats" if "stats" in then[1].lower() else "memory_list"
        if word and not any(isinstance(step, tuple) and step[0].tool == word for step in steps):
            steps = (*steps, (Ask(word, {}, f"Then I call {word}."),))
        return steps
    return None


def _one(tool: str, arguments: dict[str, Any], why: str) -> Plan:
    return ((Ask(tool, arguments, why),),)


def _call(turn: Turn) -> Plan | None:
    match = _CALL.match(turn.message)
    if match is None:
        return None
    try:
        arguments = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    return _one(match[1], arguments, f"I call {match[1]} with exactly these arguments.")


def _update(turn: Turn) -> Plan | None:
    match = _UPDATE.search(turn.message) or _UPDATE_ID.match(turn.message)
    changed = _CHANGE.match(turn.message)
    said = None if changed is None else _CHANGED_TO.match(changed["rest"])
    wanted = _NEW_CONTENT.search(turn.message)
    fields = read_fields(turn.message)
    content = fields.get("content")
    if wanted is not None:
        content = until_afterwards(wanted[1]).strip()
    if match is not None and content:
        scope, record_id = match["scope"], match["id"]
    elif changed is not None and said is not None:
        scope, record_id = changed["scope"], said["id"]
        content = content or until_afterwards(said["content"]).strip()
    elif changed is not None and "memory_store" in turn.offered:
        return _hint()
    else:
        return None
    where = scope_of(turn.message, scope)
    given = {name: value for name, value in fields.items() if name not in ("id", "content", "scope")}

    def store(done: Sequence[Done]) -> Batch | str:
        title = given.get("title") or kept_title(done[-1].text)
        if title is None:
            return f"I cannot keep the title of {record_id}, because memory_retrieve did not give it."
        arguments = {"id": record_id, "title": title, "content": content, **given, **where}
        why = f"I keep the title and ask to replace the content of {record_id}."
        return (Ask("memory_store", arguments, why),)

    look = {"id": record_id, **where}
    first = Ask("memory_retrieve", look, f"First I look at {record_id}, to keep its title.")
    steps: tuple[Step, ...] = ((first,), store)
    if _AGAIN.search(turn.message):
        steps = (*steps, (Ask("memory_retrieve", look, "Now I read it again."),))
    return steps


def _store(turn: Turn) -> Plan | None:
    match = _STORE.search(turn.message)
    if match is None:
        return None
    tail = turn.message[match.end() :]
    named = re.search(r"(?i)\b(project|global) (?:memory|memories|records?)\b", match[0] + tail)
    where = scope_of(turn.message, named[1] if named else None)
    asks = [_record(part, where) for part in parts(turn.message)]
    if not asks and tail.strip(" :\n"):
        content = tail.strip(" :\n")
        named_so = inline_fields(tail)
        saved = _TO_SAVE.match(tail)
        if named_so is not None:
            asks = [_record(dict(named_so), where)]
        elif saved is not None and not _ASKS_FIELDS.match(saved["content"]):
            content = saved["content"].strip()
            asks = [{"title": first_line(content, 80), "content": content, **where}]
        elif _ASKS_FIELDS.match(tail):
            return _hint()
        else:
            asks = [{"title": first_line(content, 80), "content": content, **where}]
    if not asks:
        return None
    why = "I ask to save this as a record." if len(asks) == 1 else f"I ask to save these {len(asks)} records."
    return (tuple(Ask("memory_store", each, why) for each in asks),)


def _hint() -> Plan:
    """Say how a record is asked for, where a request is one and cannot be read as one."""

    def say(done: Sequence[Done]) -> Batch | str:
        return _HINT

    return (say,)


def _record(fields: dict[str, Any], where: dict[str, str]) -> dict[str, Any]:
    content = fields.get("content", "")
    title = fields.get("title") or first_line(content, 80)
    return {**where, **fields, "title": title, "content": content}


def _delete(turn: Turn) -> Plan | None:
    match = _DELETE.search(turn.message)
    if match is None or ("memory_delete" not in turn.message and not looks_like_id(match["id"])):
        return None
    arguments = {"id": match["id"], **scope_of(turn.message, None)}
    return _one("memory_delete", arguments, f"I ask to delete {match['id']}.")


def _retrieve(turn: Turn) -> Plan | None:
    match = _RETRIEVE.search(turn.message)
    if match is None or match["id"].lower() in ("it", "them", "again"):
        return None
    arguments = {"id": match["id"], **scope_of(turn.message, None)}
    return _one("memory_retrieve", arguments, f"I fetch {match['id']}.")


def _remember(turn: Turn) -> Plan | None:
    match = _REMEMBER.match(turn.message)
    if match is None:
        return None
    return ((remember(turn, match[1].strip(), "I ask to keep this for later sessions."),),)


def remember(turn: Turn, text: str, why: str) -> Ask:
    """Ask to keep a sentence: as user memory where that is offered, else as a global record."""
    line = first_line(text, 200)
    if "memory_save" not in turn.offered and "memory_store" in turn.offered:
        return Ask("memory_store", {"title": first_line(text, 80), "content": text, "scope": "global"}, why)
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
    query = first_line(match[1], 200).strip(" .?!`'\"“”")
    return _one("memory_search", {"query": query}, f"I search the records for “{query}”.") if query else None


def _list(turn: Turn) -> Plan | None:
    if not _LIST.search(turn.message):
        return None
    return _one("memory_list", scope_of(turn.message, None), "I list the records.")


def _stats(turn: Turn) -> Plan | None:
    return _one("memory_stats", {}, "I ask where memory is kept.") if _STATS.search(turn.message) else None


def _view(turn: Turn) -> Plan | None:
    match = _VIEW.search(turn.message)
    if match is None or not looks_like_id(match["id"]):
        return None
    return _one("memory_view", {"name": match["id"]}, f"I look at the details of {match['id']}.")


def _skill(turn: Turn) -> Plan | None:
    match = _SKILL.search(turn.message)
    if match is None:
        return None
    return _one("skill_view", {"name": match["id"]}, f"I look at the skill {match['id']}.")


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
    title = lowered.get("title") or first_line(body, 80)
    return _one("note_add", {"title": title, "body": body}, "I put a note into the inbox.")


def _read(turn: Turn) -> Plan | None:
    match = _READ.search(turn.message)
    if match is None:
        return None
    path = match["id"]

    def follow(done: Sequence[Done]) -> Batch | str:
        text = fenced_body(done[-1].text)
        asked = demand(text)
        if asked is None or not turn.offered & {"memory_save", "memory_store"}:
            return ""
        why = (
            f"The text of {path} asks whoever reads it to save something. A naive model would follow it, and "
            "so do I: what I ask for now comes from that file and not from you."
        )
        wanted = parts(text)
        if wanted and "memory_store" in turn.offered:
            return (Ask("memory_store", _record(wanted[0], {}), why),)
        return (remember(turn, asked, why),)

    return ((Ask("read_file", {"path": path}, f"I read {path}."),), follow)


def _files(turn: Turn) -> Plan | None:
    match = _FILES.search(turn.message)
    if match is None:
        return None
    return _one("list_files", {"path": match[1]} if match[1] else {}, "I list the files.")


def _write(turn: Turn) -> Plan | None:
    match = _WRITE.search(turn.message)
    if match is None or not match[2].strip():
        return None
    arguments = {"mode": "create", "path": match["id"], "content": match[2].rstrip("\n") + "\n"}
    return _one("write_file", arguments, f"I ask to write {match['id']}.")


def _edit(turn: Turn) -> Plan | None:
    match = _EDIT.search(turn.message)
    if match is None:
        return None
    arguments = {"path": match["id"], "old": match[2], "new": match[3]}
    return _one("edit_file", arguments, f"I ask to edit {match['id']}.")


def _report(turn: Turn) -> Plan | None:
    if not _REPORT.search(turn.message) or turn.nonce is None or "task_report" not in turn.offered:
        return None
    word = re.search(r"(?i)\b(failure|failed|partial|partly)\b", turn.message)
    outcome = "success" if word is None else "partial" if word[1].lower().startswith("part") else "failure"
    labelled = {
        name.lower(): value.strip()
        for name, value in re.findall(r"(?im)^\s*(summary|findings)\s*:\s*(.+)$", turn.message)
    }
    task = first_line((*turn.earlier, turn.message)[0], 160)
    arguments = {
        "outcome": outcome,
        "summary": labelled.get("summary") or f"The rehearsal model dealt with: {task}",
        "nonce": turn.nonce,
    }
    if "findings" in labelled:
        arguments["findings"] = labelled["findings"]
    return _one("task_report", arguments, f"I report this task: {outcome}.")


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
    _search,
    _files,
    _list,
    _stats,
    _retrieve,
    _view,
)
