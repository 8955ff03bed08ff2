"""The sessions on disk: listed without opening them, removed only when nobody has them open."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muniment.paths import Paths
from muniment.safety.errors import NotFound
from muniment.safety.files import FileRefused, LockBusy, locked, read_regular, remove_file
from muniment.session.logs.line import FILE_MAX_BYTES
from muniment.session.logs.log import SUFFIX, SessionBusy, SessionLog, clean_title, lock_path, log_path

_NAME = re.compile(r"[0-9a-f]{32}\.jsonl\Z")
# The writer puts these keys first and in this order, so that counting needs no JSON reader.
_KIND = re.compile(rb'^\{"v":1,"seq":\d+,"turn_id":"[0-9a-f]*","kind":"([a-z_]+)"', re.MULTILINE)
TITLE_MAX = 80
MESSAGE_LOGS = 200
"""In how many of the newest logs earlier messages are looked for."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a list shows of one session; `title` is the user's own or the beginning of the first message."""

    id: str
    title: str
    cwd: str
    recipe: str
    provider: str
    model: str
    created: str
    updated: datetime
    turns: int
    tool_calls: int
    bytes: int
    live: bool
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "project": self.cwd,
            "recipe": self.recipe,
            "provider": self.provider,
            "model": self.model,
            "created": self.created,
            "updated": self.updated.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "turns": self.turns,
            "tool_calls": self.tool_calls,
            "bytes": self.bytes,
            "live": self.live,
            "problem": self.problem or None,
        }


def session_paths(paths: Paths) -> list[Path]:
    """Return the log files, the most recently written first."""
    try:
        with os.scandir(paths.sessions) as found:
            entries = [
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in found
                if _NAME.match(entry.name)
            ]
    except FileNotFoundError:
        return []
    return [Path(path) for _, path in sorted(entries, reverse=True)]


def list_sessions(paths: Paths, *, limit: int | None = None) -> list[SessionInfo]:
    """Describe the sessions, newest first; a damaged one is listed with its problem."""
    return [describe(paths, path) for path in session_paths(paths)[:limit]]


def shortened(text: str) -> str:
    """Return the beginning of a text on one line, ended between two words where it is too long."""
    line = " ".join(text.split())
    if len(line) <= TITLE_MAX:
        return line
    head = line[:TITLE_MAX]
    # A word that takes half of the line would leave too little, and is cut.
    whole = head[: head.rfind(" ")] if " " in head[TITLE_MAX // 2 :] else head[:-1]
    return f"{whole.rstrip()}…"


def describe(paths: Paths, path: Path) -> SessionInfo:
    """Describe one log without opening the session."""
    session_id = path.name.removesuffix(SUFFIX)
    info = path.lstat()
    header: dict[str, Any] = {}
    title, problem, turns, calls = "", "", 0, 0
    try:
        data = read_regular(path, max_bytes=FILE_MAX_BYTES)
    except FileRefused as refused:
        data, problem = b"", refused.reason
    for match in _KIND.finditer(data):
        kind = match[1]
        turns += kind == b"user_message"
        calls += kind == b"tool_result"
        if kind == b"session" or kind == b"title" or (kind == b"user_message" and not title):
            end = data.find(b"\n", match.start())
            value = _object(data[match.start() : end if end >= 0 else len(data)])
            if kind == b"session":
                header = value
            else:
                title = shortened(str(value.get("text", ""))) or title
    if not header and not problem:
        problem = "its first line is damaged"
    recipe = header.get("recipe")
    return SessionInfo(
        id=session_id,
        title=title,
        cwd=str(header.get("cwd", "")),
        recipe=str(recipe.get("name", "")) if isinstance(recipe, dict) else "",
        provider=str(header.get("provider", "")),
        model=str(header.get("model", "")),
        created=str(header.get("time", "")),
        updated=datetime.fromtimestamp(info.st_mtime, UTC),
        turns=turns,
        tool_calls=calls,
        bytes=info.st_size,
        live=is_live(paths, session_id),
        problem=problem,
    )


def is_live(paths: Paths, session_id: str) -> bool:
    """Tell whether a process has the session open now."""
    lock = lock_path(paths, session_id)
    if not lock.exists():
        return False
    try:
        with locked(lock, timeout=0.0):
            return False
    except LockBusy:
        return True
    except OSError:
        return False


def recent_messages(paths: Paths, *, limit: int = 1_000, cwd: str | None = None) -> list[str]:
    """Return what the user said in all sessions, the oldest first and each text once, at most `limit`.

    With `cwd` only sessions of that directory count. Only the newest logs are read, until there is enough.
    """
    found: dict[str, None] = {}
    try:
        logs = session_paths(paths)[:MESSAGE_LOGS]
    except OSError:
        return []  # what was said before is a help; that nothing can be kept there is told by the log
    for path in logs:
        try:
            data = read_regular(path, max_bytes=FILE_MAX_BYTES)
        except (FileRefused, FileNotFoundError):
            continue
        if cwd is not None and _object(data[: data.find(b"\n")]).get("cwd") != cwd:
            continue
        for match in reversed([each for each in _KIND.finditer(data) if each[1] == b"user_message"]):
            end = data.find(b"\n", match.start())
            text = _object(data[match.start() : end if end >= 0 else len(data)]).get("text")
            if isinstance(text, str) and text.strip():
                found.setdefault(text)
                if len(found) >= limit:
                    return list(reversed(found))
    return list(reversed(found))


def rename_session(paths: Paths, session_id: str, title: str) -> None:
    """Give a session that is not open a title of the user's own."""
    log = SessionLog.open(paths, session_id)
    try:
        log.append("title", text=clean_title(title))
    finally:
        log.close()


def delete_session(paths: Paths, session_id: str) -> list[Path]:
    """Remove a session's log, what was set aside of it and its trace; return what was removed."""
    path = log_path(paths, session_id)
    if not os.path.lexists(path):
        raise NotFound(f"There is no session {session_id}; `muniment session list` shows those there are.")
    try:
        lock = lock_path(paths, session_id)
        with locked(lock, timeout=0.0):
            # Whoever waits for this lock finds no log behind it, so the lock may go with it.
            torn = paths.sessions.glob(f"{session_id}.torn-*")
            doomed = [path, *torn, paths.traces / path.name, lock]
            removed = [each for each in doomed if os.path.lexists(each)]
            for each in removed:
                remove_file(each)
    except LockBusy:
        raise SessionBusy(f"Session {session_id} is open in another process; close it there first.") from None
    return removed


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
