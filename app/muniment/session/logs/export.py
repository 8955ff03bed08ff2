"""A session as one file for other people and programs: Markdown or JSON, with secrets hidden."""

from __future__ import annotations

import json
from collections.abc import Iterable

from muniment.paths import Paths
from muniment.safety.errors import NotFound
from muniment.safety.files import read_regular
from muniment.session.logs.history import CUT_MARKS
from muniment.session.logs.line import FILE_MAX_BYTES, LineFault, LogRecord, decode
from muniment.session.logs.log import SessionDamaged, log_path


def read_log(paths: Paths, session_id: str) -> tuple[LogRecord, ...]:
    """Read a session's records without opening it for writing; a torn last line is left out."""
    path = log_path(paths, session_id)
    try:
        data = read_regular(path, max_bytes=FILE_MAX_BYTES)
    except FileNotFoundError:
        raise NotFound(
            f"There is no session {session_id}; `muniment session list` shows those there are."
        ) from None
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    records: list[LogRecord] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(decode(line, number))
        except LineFault as fault:
            if number > 1 and not b"".join(lines[number:]).strip(b"\r\0 "):
                break
            raise SessionDamaged(
                f"Session {session_id}: line {number} of {path} is damaged, {fault}."
            ) from None
    return tuple(records)


def as_json(records: Iterable[LogRecord]) -> str:
    """Return the records as one JSON object with one list, secrets hidden."""
    from muniment.safety.redact import redact_value

    body = [redact_value(record.as_dict()) for record in records]
    return json.dumps({"records": body}, ensure_ascii=False, indent=1) + "\n"


def as_markdown(records: Iterable[LogRecord]) -> str:
    """Return the conversation for reading, secrets hidden and hidden characters visible."""
    from muniment.safety.redact import redact
    from muniment.safety.visible import reading

    parts: list[str] = []
    for record in records:
        parts.extend(_section(record))
    return reading(redact("\n\n".join(parts))) + "\n"


def _section(record: LogRecord) -> list[str]:
    match record.kind:
        case "session":
            recipe = record["recipe"] or {}
            facts = {
                "begun": record.time,
                "directory": record["cwd"],
                "recipe": recipe.get("name", ""),
                "model": f"{record['provider']} {record['model']}",
            }
            return [f"# Session {record['id']}", "\n".join(f"- {key}: {text}" for key, text in facts.items())]
        case "user_message":
            return ["## You", record["text"]]
        case "model_response":
            mark = CUT_MARKS.get(record["status"])
            text = "\n\n".join(part for part in (record["text"], mark) if part)
            calls = [f"Call `{call['name']}`\n\n{fenced(call['arguments'])}" for call in record["calls"]]
            return ["## Assistant", *([text] if text else []), *calls]
        case "decision":
            why = f": {record['reason']}" if record["reason"] else ""
            return [f"*{record['decision']} by {record['by']}, {record['mode']} mode{why}*"]
        case "tool_result":
            return [f"Result of `{record['name']}`: {record['status']}", fenced(record["text"])]
        case "context_compaction":
            return ["## Summary of what came before", record["text"]]
        case "turn_end" if record["status"] != "completed":
            return [f"*turn {record['status']}*"]
        case "task":
            return [f"*task ended by {record['by']}: {record['outcome'] or 'no report'}*"]
        case _:
            return []


def fenced(text: str) -> str:
    """Return the text as a code block that no fence inside it can close."""
    longest = run = 0
    for ch in text:
        run = run + 1 if ch == "`" else 0
        longest = max(longest, run)
    marks = "`" * max(3, longest + 1)
    return f"{marks}\n{text}\n{marks}"
