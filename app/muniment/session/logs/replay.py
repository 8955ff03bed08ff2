"""A log told again as the events of its turns, for a screen that shows an earlier conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from muniment.approval.proposal import DecidedBy, Decision
from muniment.session.calls import object_or_text
from muniment.session.events import (
    Compacted,
    Decided,
    Event,
    Notice,
    ReplyEnded,
    ToolCalled,
    ToolFinished,
    TurnEnded,
    TurnStatus,
    UserSaid,
)
from muniment.session.logs.history import CUT_MARKS
from muniment.session.logs.line import LogRecord


def replay_events(records: Iterable[LogRecord]) -> Iterator[Event]:
    """Yield what a screen would have been told; a decision of the past allows nothing."""
    pending: dict[str, dict[str, str]] = {}
    ends: list[int] = []
    for record in records:
        match record.kind:
            case "user_message":
                yield UserSaid(record["text"])
            case "model_response":
                yield from _reply(record, pending)
            case "decision":
                yield from _called(pending, record["call_id"])
                by = cast(DecidedBy, record["by"])
                yield Decided(
                    record["call_id"], Decision(record["decision"] == "allowed", by, record["reason"])
                )
            case "tool_result":
                yield from _called(pending, record["call_id"])
                yield ToolFinished(
                    record["call_id"],
                    record["name"],
                    record["status"],
                    record["result"],
                    record["text"],
                    record["changed"],
                )
            case "context_compaction":
                covered = [seq for seq in ends if seq <= record["covered_seq"]]
                del ends[: len(covered)]
                yield Compacted(record["text"], len(covered))
            case "task":
                yield Notice(f"The task ended by {record['by']}: {record['outcome'] or 'no report'}.")
            case "turn_end" if record["status"] == "interrupted":
                ends.append(record.seq)
                yield Notice("This turn was interrupted; nothing of it ran again.")
                yield TurnEnded("cancelled")
            case "turn_end":
                ends.append(record.seq)
                yield TurnEnded(cast(TurnStatus, record["status"]))
            case _:
                continue


def _reply(record: LogRecord, pending: dict[str, dict[str, str]]) -> Iterator[Event]:
    calls = record["calls"]
    if record["text"] or calls:
        mark = CUT_MARKS.get(record["status"])
        text = record["text"] if mark is None else f"{record['text']}\n\n{mark}"
        yield ReplyEnded(text, len(calls))
    for call in calls:
        pending[call["id"]] = call


def _called(pending: dict[str, dict[str, str]], call_id: str) -> Iterator[Event]:
    call = pending.pop(call_id, None)
    if call is None:
        return
    yield ToolCalled(call_id, call["name"], object_or_text(call["arguments"]))


def covered_by(records: Iterable[LogRecord], summary: str) -> list[LogRecord]:
    """Return the records that a summary with this text stands for, those an earlier one covered included."""
    seen: list[LogRecord] = []
    found: list[LogRecord] = []
    for record in records:
        if record.kind == "context_compaction" and record["text"] == summary:
            found = [each for each in seen if each.seq <= record["covered_seq"]]
        seen.append(record)
    return found
