"""Logs of sessions written without an engine, in the form that it gives them, with fixed ids and times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from muniment.paths import Paths
from muniment.session.logs.line import KINDS, LogRecord, encode

WRITTEN = 1_780_000_000
_TIME = "2026-11-30T08:00:00Z"


def write_session(paths: Paths, number: int, *said: str, cwd: str = "/work/study", title: str = "") -> Path:
    """Write the log of a session whose id is this number; higher numbers are newer."""
    session = f"{number:032x}"
    empty: dict[type, Any] = {str: "", dict: {}, list: [], int: 1, bool: False, type(None): None}
    header = {name: empty[types[0]] for name, types in KINDS["session"].items()}
    header |= {"id": session, "cwd": cwd, "recipe": {"name": "review"}, "provider": "rehearsal"}
    header["model"] = "rehearsal"
    records: list[tuple[str, str, dict[str, Any]]] = [("", "session", header)]
    for turn, text in enumerate(said, 1):
        end = {"status": "completed"}
        records += [(f"{turn:032x}", "user_message", {"text": text}), (f"{turn:032x}", "turn_end", end)]
    if title:
        records.append(("", "title", {"text": title}))
    paths.sessions.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = paths.sessions / f"{session}.jsonl"
    lines = [
        encode(LogRecord(seq, turn, kind, _TIME, fields))
        for seq, (turn, kind, fields) in enumerate(records, 1)
    ]
    path.write_bytes(b"".join(lines))
    os.utime(path, (WRITTEN + number, WRITTEN + number))
    return path
