"""The log of one session: appended and on disk before the effect it announces, readable after any crash."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.memory.origin import utc_now
from muniment.paths import Paths
from muniment.safety.errors import InvalidInput, MunimentError, NotFound, reason_of
from muniment.safety.files import (
    FileRefused,
    LockBusy,
    append_durable,
    ensure_private_dir,
    locked,
    read_regular,
    write_atomic,
)
from muniment.session.logs.history import History
from muniment.session.logs.line import (
    FILE_MAX_BYTES,
    RECORD_MAX_BYTES,
    LineFault,
    LogRecord,
    decode,
    encode,
)

_ID = re.compile(r"[0-9a-f]{32}\Z")
SUFFIX = ".jsonl"
_BEGINS_TURN = re.compile(rb'\{"v":\d+,"seq":\d+,"turn_id":"[0-9a-f]*","kind":"user_message"')


class SessionDamaged(MunimentError):  # noqa: N818 - named for what it is
    """A log cannot be read; it stays as it is."""


class SessionBusy(MunimentError):  # noqa: N818 - named for what it is
    """Another process has the session open."""


def new_id() -> str:
    """Return a fresh id: 32 hex digits."""
    return secrets.token_hex(16)


def check_id(session_id: str) -> str:
    """Return the id if it is a whole one; short ids and paths are refused."""
    if not _ID.match(session_id):
        raise InvalidInput(
            "A session is named by its full id of 32 characters; `muniment session list` shows them."
        )
    return session_id


def log_path(paths: Paths, session_id: str) -> Path:
    return paths.sessions / f"{check_id(session_id)}{SUFFIX}"


def clean_title(title: str) -> str:
    """Return a title as it is kept: one line, at most 200 characters."""
    return " ".join(title.split())[:200]


def lock_path(paths: Paths, session_id: str) -> Path:
    return paths.sessions / ".locks" / f"{check_id(session_id)}.lock"


class SessionLog:
    """An open log, held by this process alone. Nothing stands on disk before the first record of a turn.

    A record that cannot be written waits in memory, `fault` says why, and the next append tries it again.
    """

    def __init__(
        self, paths: Paths, session_id: str, *, clock: Callable[[], datetime], scrub: Callable[[str], str]
    ) -> None:
        self.id = check_id(session_id)
        self.path = log_path(paths, session_id)
        self.history = History()
        self.fault: str | None = None
        self.notices: list[str] = []
        self._clock = clock
        self._scrub = scrub
        self._seq = 0
        self._size = 0
        self._pending: list[bytes] = []
        self._header: dict[str, Any] = {}
        self._lock = lock_path(paths, session_id)
        self._held: ExitStack | None = None

    @classmethod
    def create(
        cls,
        paths: Paths,
        *,
        cwd: Path,
        recipe: Mapping[str, Any] | None,
        provider: str,
        model: str,
        session_id: str | None = None,
        skills: Sequence[Mapping[str, str]] = (),
        clock: Callable[[], datetime] = utc_now,
        scrub: Callable[[str], str] = str,
    ) -> SessionLog:
        """Begin a session; its file appears with its first message. `skills` stay those of this session."""
        log = cls(paths, session_id or new_id(), clock=clock, scrub=scrub)
        log._header = {
            "id": log.id,
            "cwd": str(cwd),
            "recipe": None if recipe is None else dict(recipe),
            "provider": provider,
            "model": model,
        }
        log._stage("session", "", log._header)
        if skills:
            log._stage("skills", "", {"entries": [dict(each) for each in skills]})
        return log

    @classmethod
    def open(
        cls,
        paths: Paths,
        session_id: str,
        *,
        clock: Callable[[], datetime] = utc_now,
        scrub: Callable[[str], str] = str,
    ) -> SessionLog:
        """Open a session to go on with it: a torn end is set aside, an interrupted turn is closed."""
        path = log_path(paths, session_id)
        if not os.path.lexists(path):
            raise NotFound(
                f"There is no session {session_id}; `muniment session list` shows those there are."
            )
        log = cls(paths, session_id, clock=clock, scrub=scrub)
        try:
            log._hold()
        except (OSError, FileRefused) as error:
            # A session that cannot be saved can still be read and talked to; the first append says so again.
            log.fault = _unsaved(error)
        try:
            log._load()
            log._recover()
        except BaseException:
            log.close()
            raise
        return log

    def append(self, kind: str, turn_id: str = "", **fields: Any) -> bool:
        """Take a record into the history and onto the disk; False where the disk refused it for now."""
        self._stage(kind, turn_id, fields)
        return self.flush()

    def flush(self) -> bool:
        """Write what waits. A half-written line of a failed try is cut off first."""
        if not self._pending:
            return self.fault is None
        data = b"".join(self._pending)
        try:
            if self._size + len(data) > FILE_MAX_BYTES:
                raise MunimentError(f"its log would grow over {FILE_MAX_BYTES} bytes")
            self._write(data)
        except (OSError, MunimentError) as error:
            self.fault = _unsaved(error)
            return False
        self._size += len(data)
        self._pending.clear()
        self.fault = None
        return True

    def replay(self, *, before: int | None = None, newest: int | None = None) -> tuple[LogRecord, ...]:
        """Return every record there is, oldest first, read from disk and from what waits.

        With `newest` only about so many, from the beginning of a turn on; with `before` those below it.
        """
        data = read_regular(self.path, max_bytes=FILE_MAX_BYTES)[: self._size] if self._size else b""
        lines = (data + b"".join(self._pending)).split(b"\n")[:-1]
        first = 0 if newest is None else _turn_before(lines, len(lines) - newest)
        last = len(lines) if before is None else before - 1
        return tuple(decode(lines[at], at + 1) for at in range(first, last))

    def clear(self) -> None:
        """Drop the whole conversation and keep id, directory and recipe.

        Raise `OSError` where the disk refuses it; then everything stays as it was.
        """
        kept = (self._seq, self._size, self._pending, self.history)
        try:
            self._begin_anew()
        except (OSError, MunimentError):
            self._seq, self._size, self._pending, self.history = kept
            raise
        # Whatever could not be saved before is gone, and what there is now stands on the disk.
        self.fault = None

    def _begin_anew(self) -> None:
        header = dict(self._header) | {"cwd": self.history.cwd}
        skills = self.history.skills
        self._seq, self._size, self._pending = 0, 0, []
        self.history = History()
        self._stage("session", "", header)
        if skills:
            self._stage("skills", "", {"entries": skills})
        if os.path.lexists(self.path):
            data = b"".join(self._pending)
            write_atomic(self.path, data)
            self._size, self._pending = len(data), []

    def close(self) -> None:
        """Write what waits and let another process open the session; safe to call twice."""
        opening = 2 if self.history.skills else 1
        if self._pending and self._seq > opening:
            self.flush()
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def _hold(self) -> None:
        """Keep all other processes out; an id that is not on disk yet is known to nobody else."""
        if self._held is not None:
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self._lock, timeout=0.0))
            except LockBusy:
                raise SessionBusy(
                    f"Session {self.id} is open in another process; close it there or start a new session."
                ) from None
            self._held = stack.pop_all()

    def _stage(self, kind: str, turn_id: str, fields: Mapping[str, Any]) -> None:
        record = LogRecord(
            self._seq + 1, turn_id, kind, self._clock().strftime("%Y-%m-%dT%H:%M:%SZ"), dict(fields)
        )
        line = encode(record)
        scrubbed = self._scrub(line.decode("utf-8")).encode("utf-8")
        if len(scrubbed) > RECORD_MAX_BYTES:
            raise InvalidInput(
                f"A message or reply is larger than {RECORD_MAX_BYTES} bytes and cannot be kept."
            )
        # What was written is what counts: the history sees the record as a later replay will.
        self.history.apply(decode(scrubbed[:-1], record.seq))
        self._seq += 1
        self._pending.append(scrubbed)

    def _write(self, data: bytes) -> None:
        ensure_private_dir(self.path.parent)
        self._hold()
        if self._size == 0:
            write_atomic(self.path, data)
            return
        try:
            found = self.path.lstat().st_size
        except FileNotFoundError:
            raise MunimentError(f"its log {self.path} was removed") from None
        if found < self._size:
            raise MunimentError(f"its log {self.path} was changed by another program")
        if found > self._size:
            os.truncate(self.path, self._size)
        append_durable(self.path, data)

    def _load(self) -> None:
        data = read_regular(self.path, max_bytes=FILE_MAX_BYTES)
        lines = data.split(b"\n")
        unterminated = lines.pop()
        good = 0
        if not data.strip(b"\r\n\0 "):
            # Without its first line nobody knows in which directory and under which recipe it was held.
            raise SessionDamaged(
                f"Session {self.id} cannot be opened: {self.path} is empty, nothing is there to go on with; "
                f"`muniment session delete {self.id}` removes it."
            )
        for number, line in enumerate([*lines, unterminated], 1):
            ended = number <= len(lines)
            if not ended and not line:
                break
            try:
                record = decode(line, number)
                if number == 1 and record.kind != "session":
                    raise LineFault("it does not begin a session")
            except LineFault as fault:
                rest = data[good:]
                if number > 1 and not rest[len(line) :].strip(b"\r\n\0 "):
                    self._set_aside(data, good)
                    return
                raise SessionDamaged(
                    f"Session {self.id} cannot be opened: line {number} of {self.path} is damaged, {fault}; "
                    "the file was left as it is."
                ) from None
            try:
                self.history.apply(record)
            except LineFault as fault:
                raise SessionDamaged(
                    f"Session {self.id} cannot be opened: line {number} of {self.path} does not fit, "
                    f"{fault}; the file was left as it is."
                ) from None
            if number == 1:
                self._header = dict(record.fields)
            self._seq = number
            if ended:
                good += len(line) + 1
            else:
                append_durable(self.path, b"\n")
                good += len(line) + 1
        self._size = good

    def _set_aside(self, data: bytes, good: int) -> None:
        """Keep the whole file beside itself before the torn end is cut from it."""
        backup = self.path.with_name(f"{self.id}.torn-{secrets.token_hex(4)}")
        write_atomic(backup, data)
        write_atomic(self.path, data[:good])
        self._size = good
        self.notices.append(
            "The last line of this session's log was cut off and is left out; the file as it was is kept as "
            f"{backup}."
        )

    def _recover(self) -> None:
        """Close a turn that a crash left open; nothing in it runs again."""
        turn = self.history.active
        if turn is None:
            return
        for call_id, state in list(turn.waiting.items()):
            if state.started:
                status, text = "unknown", UNKNOWN_TEXT
            else:
                status, text = "not_executed", "The session ended before this call ran; it was not executed."
            self.append(
                "tool_result",
                turn.id,
                call_id=call_id,
                name=state.call.name,
                status=status,
                text=text,
                result={"error": text},
                changed=False,
            )
        self.append("turn_end", turn.id, status="interrupted")
        self.notices.append(
            "The last turn was interrupted; what it did is kept, and nothing of it runs again."
        )


UNKNOWN_TEXT = (
    "The session ended while this call ran: whether it took effect is not known. It was not run again; "
    "look at the present state before relying on it."
)


def _unsaved(error: Exception) -> str:
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return f"This session is not being saved: {reason.rstrip('.')}."


def _turn_before(lines: Sequence[bytes], at: int) -> int:
    """Return the place of the newest message of the user up to a place; 0 where there is none."""
    return next((n for n in range(max(0, at), 0, -1) if _BEGINS_TURN.match(lines[n])), 0)
