"""Who wrote a record, as this machine's journal knows it; what a file says about itself raises nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from muniment.memory.journal import Journal
from muniment.safety.files import FileRefused, digest, read_regular

_HEAD_END = b',"text_before":'
_RECORD = b'"surface":"record"'
_MAX_RECORD_BYTES = 1_048_576
_TRUST: Mapping[str, str] = {"user": "human", "import": "external"}
_SEGMENT = re.compile(r"[^.].*\.jsonl")


class Authors:
    """Remembers which bytes each path was first given by whom; reads only what the journal has grown by.

    Whoever wrote the same bytes first is their author: bringing an agent's text back by hand does not make
    it the user's own.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._first: dict[tuple[str, str], str] = {}
        self._paths: set[str] = set()
        self._read: dict[str, tuple[int, int]] = {}

    def trust_of(self, path: Path) -> str:
        """Return `human`, `external` or `agent` for a record file as it is now."""
        name = str(path)
        if name not in self._paths:
            return "agent"
        try:
            now = digest(read_regular(path, max_bytes=_MAX_RECORD_BYTES))
        except (OSError, FileRefused):
            return "agent"
        return _TRUST.get(self._first.get((name, now), ""), "agent")

    def refresh(self) -> None:
        """Read what was written since the last look; a journal that was rewritten is read anew."""
        directory = self._journal.directory
        try:
            segments = sorted(each for each in directory.iterdir() if _SEGMENT.fullmatch(each.name))
        except OSError:
            segments = []
        sizes = {}
        for segment in segments:
            try:
                info = segment.stat(follow_symlinks=False)
            except OSError:
                continue
            sizes[segment.name] = (info.st_ino, info.st_size)
        for name, (inode, size) in self._read.items():
            if sizes.get(name, (0, 0))[0] != inode or sizes[name][1] < size:
                # A purge replaces whole files: what is known of the old ones may be gone on purpose.
                self._first.clear()
                self._paths.clear()
                self._read.clear()
                break
        for segment in segments:
            if segment.name in sizes and self._read.get(segment.name) != sizes[segment.name]:
                self._read_on(segment, sizes[segment.name])

    def _read_on(self, segment: Path, seen: tuple[int, int]) -> None:
        begin = self._read.get(segment.name, (0, 0))[1]
        with segment.open("rb") as stream:
            stream.seek(begin)
            data = stream.read(seen[1] - begin)
        whole = data.rfind(b"\n") + 1
        for line in data[:whole].split(b"\n"):
            if _RECORD in line:
                self._take(line)
        self._read[segment.name] = (seen[0], begin + whole)

    def _take(self, line: bytes) -> None:
        """Take the head of a line, which ends before the text; quotes in a text are escaped and end none."""
        head, found, _ = line.partition(_HEAD_END)
        if not found:
            return
        try:
            entry: dict[str, Any] = json.loads(head + b"}}")["entry"]
            if entry["surface"] == "record" and entry["digest_after"] is not None:
                key = (str(entry["path"]), str(entry["digest_after"]))
                self._first.setdefault(key, str(entry["origin"]["actor"]))
                self._paths.add(key[0])
        except (ValueError, TypeError, KeyError):
            return
