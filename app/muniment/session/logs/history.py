"""The conversation as the log tells it: the same fold serves a running session and a replay of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from muniment.model.arguments import object_text
from muniment.model.base import AssistantItem, InputItem, ToolCall, ToolItem, UserItem
from muniment.session.logs.line import LineFault, LogRecord

_ID_MAX = 64
STOPPED_MARK = "[The user stopped this reply here.]"
CUT_MARKS = {
    "stopped": STOPPED_MARK,
    "length": "[This reply was cut here by the length limit.]",
    "broken": "[This reply broke off here.]",
}
"""What the model reads behind a text of its own that did not end by itself."""


@dataclass(slots=True)
class CallState:
    """A call that has no result yet."""

    call: ToolCall
    started: bool = False


@dataclass(slots=True)
class Turn:
    """One user message and what followed; `last_seq` is that of its newest record."""

    id: str
    first_seq: int
    last_seq: int
    items: list[InputItem] = field(default_factory=list)
    waiting: dict[str, CallState] = field(default_factory=dict)
    status: str | None = None

    @property
    def replayable(self) -> bool:
        """Whether an ended turn belongs to what the model receives.

        A question that nothing answered stays in the log only; one that the user stopped was still said.
        """
        return self.status is not None and (len(self.items) > 1 or self.status in ("completed", "cancelled"))


class History:
    """What a session holds in memory: turns no summary covers yet, the summary, what is unresolved."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.summary: str | None = None
        self.covered_seq = 0
        self.unknown: dict[str, str] = {}
        """Calls of unknown outcome, by id with the tool's name, until the user acknowledges them."""
        self.header: Mapping[str, Any] = {}
        self.skills: list[dict[str, str]] = []
        """The catalog that this session was started with."""
        self.cwd = ""
        self.title = ""
        self.first_message = ""
        self.task: Mapping[str, Any] | None = None
        """How the session's task ended, as the newest accepted report or the user said it."""
        self._ids: set[str] = set()
        self._open: Turn | None = None

    @property
    def active(self) -> Turn | None:
        """The turn that has not ended."""
        return self._open

    def items(self) -> tuple[InputItem, ...]:
        """Return the conversation as the next request carries it, without summary."""
        return tuple(
            item for turn in self.turns if turn.replayable or turn.status is None for item in turn.items
        )

    def unique_calls(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Return the calls with ids that are usable and new in this session; a good id stays as it is."""
        taken = set(self._ids)
        result: list[ToolCall] = []
        for call in calls:
            usable = 0 < len(call.id) <= _ID_MAX and call.id.isascii() and call.id.isprintable()
            base = call.id[: _ID_MAX - 12] if usable else "call"
            candidate, number = (call.id if usable else "call_1"), 1
            while candidate in taken:
                number += 1
                candidate = f"{base}_{number}"
            taken.add(candidate)
            result.append(call if candidate == call.id else replace(call, id=candidate))
        return tuple(result)

    def apply(self, record: LogRecord) -> None:
        """Take one record in; raise `LineFault` where it cannot follow what came before, changing nothing."""
        match record.kind:
            case "session":
                self._session(record)
            case "skills":
                self._skills(record)
            case "user_message":
                if self._open is not None:
                    raise LineFault("a turn begins before the one before it has ended")
                self._open = Turn(record.turn_id, record.seq, record.seq, [UserItem(record["text"])])
                self.turns.append(self._open)
                self.first_message = self.first_message or record["text"]
            case "model_response":
                self._response(self._turn(record), record)
            case "decision":
                self._turn(record)
            case "tool_start":
                self._waiting(record).started = True
            case "tool_result":
                self._result(record)
            case "context_compaction":
                self._compaction(record)
            case "turn_end":
                turn = self._turn(record)
                if turn.waiting:
                    raise LineFault("a turn ends while one of its calls has no result")
                turn.status, turn.last_seq = record["status"], record.seq
                self._open = None
            case "recovery_ack":
                for call_id in record["call_ids"]:
                    self.unknown.pop(call_id, None)
            case "task":
                self.task = record.fields
            case "title":
                self.title = record["text"]
            case "directory":
                self.cwd = record["cwd"]
        if self._open is not None:
            self._open.last_seq = record.seq

    def _session(self, record: LogRecord) -> None:
        if record.seq != 1:
            raise LineFault("a session begins a second time")
        self.header = {**record.fields, "created": record.time}
        self.cwd = record["cwd"]

    def _skills(self, record: LogRecord) -> None:
        if record.seq != 2:
            raise LineFault("a list of skills stands where none belongs")
        for entry in record["entries"]:
            texts = isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values())
            if not texts or set(entry) != {"name", "description"}:
                raise LineFault("one of its skills is malformed")
        self.skills = record["entries"]

    def _turn(self, record: LogRecord) -> Turn:
        if self._open is None or self._open.id != record.turn_id:
            raise LineFault("it belongs to no turn that is open")
        return self._open

    def _waiting(self, record: LogRecord) -> CallState:
        state = self._turn(record).waiting.get(record["call_id"])
        if state is None:
            raise LineFault("it names a call that is not waiting for a result")
        return state

    def _response(self, turn: Turn, record: LogRecord) -> None:
        if turn.waiting:
            raise LineFault("a reply comes before the calls of the last one have results")
        calls = tuple(_call(value) for value in record["calls"])
        ids = [call.id for call in calls]
        if len(set(ids)) != len(ids) or not self._ids.isdisjoint(ids):
            raise LineFault("it uses the id of a call twice")
        text, mark = record["text"], CUT_MARKS.get(record["status"])
        if mark is not None and not calls:
            text = f"{text}\n\n{mark}" if text else mark
        if text or calls:
            turn.items.append(AssistantItem(text, tuple(_replayable(call) for call in calls)))
        turn.waiting = {call.id: CallState(call) for call in calls}
        self._ids.update(ids)

    def _result(self, record: LogRecord) -> None:
        self._waiting(record)
        turn, call_id = self._turn(record), record["call_id"]
        del turn.waiting[call_id]
        turn.items.append(ToolItem(call_id, record["name"], record["text"]))
        if record["status"] == "unknown":
            self.unknown[call_id] = record["name"]
        if record["name"] == "task_report" and record["status"] == "completed":
            self.task = record["result"]

    def _compaction(self, record: LogRecord) -> None:
        covered = record["covered_seq"]
        ends = {turn.last_seq for turn in self.turns if turn.replayable}
        if covered <= self.covered_seq or covered not in ends:
            raise LineFault("its covered_seq is not the end of a turn that a summary can cover")
        if self.unknown or (self._open is not None and self._open.waiting):
            raise LineFault("it summarises while a call is unresolved")
        if not record["text"].strip():
            raise LineFault("its summary is empty")
        self.summary, self.covered_seq = record["text"], covered
        self.turns = [turn for turn in self.turns if turn.last_seq > covered]


def _call(value: object) -> ToolCall:
    if not isinstance(value, dict) or set(value) != {"id", "name", "arguments"}:
        raise LineFault("one of its calls is malformed")
    if not all(isinstance(part, str) for part in value.values()):
        raise LineFault("one of its calls is malformed")
    return ToolCall(value["id"], value["name"], value["arguments"])


def _replayable(call: ToolCall) -> ToolCall:
    return ToolCall(call.id, call.name, object_text(call.arguments))
