"""A whole session in a temporary place: real log, real memory, and a model that follows steps."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from muniment.approval.policy import Effect
from muniment.approval.proposal import Approver, Decision, Proposal
from muniment.model.base import (
    AssistantItem,
    Finished,
    FinishReason,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    RetryNotice,
    TextPiece,
    ToolCall,
    ToolItem,
    Usage,
)
from muniment.paths import Paths
from muniment.session.engine import Engine
from muniment.session.events import Event, TurnEnded
from muniment.session.options import StartOptions
from muniment.session.start import open_session
from muniment.tools.base import InvalidArguments, Tool, ToolContext, ToolResult
from muniment.tools.registry import Registry
from support.poll import PATIENCE

WAIT_SECONDS = PATIENCE


@dataclass(frozen=True)
class Say:
    """One reply of the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: FinishReason | None = None
    note: str | None = None
    usage: Usage = field(default_factory=lambda: Usage(10, 5))
    pieces: tuple[str, ...] = ()
    retries: int = 0
    hang: bool = False
    """Stop for ever after the pieces, until the request is cancelled."""
    silent_end: bool = False
    """End the stream without a last event."""
    fail: ModelError | None = None


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, json.dumps(arguments))


class StepModel:
    """Answers request number n with step n; the last step answers all that follow."""

    provider = "scripted"
    name = "steps"

    def __init__(self, *steps: Say | Callable[[ModelRequest], Say]) -> None:
        self.steps = steps
        self.requests: list[ModelRequest] = []
        self.waiting = asyncio.Event()
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        check_valid(request)
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        say = step if isinstance(step, Say) else step(request)
        pieces = say.pieces or ((say.text,) if say.text else ())
        for attempt in range(say.retries):
            for piece in pieces:
                yield TextPiece(piece)
            yield RetryNotice(attempt + 1, say.retries, 0.0, "The server is busy")
        for piece in pieces:
            yield TextPiece(piece)
            await asyncio.sleep(0)
        if say.hang:
            self.waiting.set()
            await asyncio.Event().wait()
        if say.fail is not None:
            raise say.fail
        if say.silent_end:
            return
        finish = say.finish or ("tool_calls" if say.calls else "stop")
        yield Finished(say.text or "".join(pieces), say.calls, finish, say.usage, say.note)

    async def close(self) -> None:
        self.closed = True


def check_valid(request: ModelRequest) -> None:
    """Fail like a strict server for a history in which calls and results do not pair."""
    waiting: list[str] = []
    seen: set[str] = set()
    for item in request.items:
        if isinstance(item, ToolItem):
            assert item.call_id in waiting, f"a result without its call: {item.call_id}"
            waiting.remove(item.call_id)
            continue
        assert not waiting, f"calls without results: {waiting}"
        if isinstance(item, AssistantItem):
            for each in item.calls:
                assert each.id, "a call without id"
                assert each.id not in seen, f"the id {each.id} twice"
                assert isinstance(json.loads(each.arguments), dict), "arguments that are no object"
                seen.add(each.id)
                waiting.append(each.id)
    assert not waiting, f"calls without results: {waiting}"


@dataclass(frozen=True, slots=True)
class TextRequest:
    text: str


class _TextTool(Tool[TextRequest]):
    description: ClassVar[str] = "For tests."
    parameters: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": [],
        "additionalProperties": False,
    }

    def __init__(self) -> None:
        self.ran: list[str] = []

    def prepare(self, arguments: Mapping[str, Any]) -> TextRequest:
        text = arguments.get("text", "")
        if text == "refuse me":
            raise InvalidArguments("look: this text is refused.")
        return TextRequest(text)

    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        request = proposal.plan
        assert isinstance(request, TextRequest)
        self.ran.append(request.text)
        return ToolResult(
            "completed", {"text": request.text}, f"done: {request.text}", self.effect is not Effect.READ
        )


class Look(_TextTool):
    """Reads."""

    name = "look"
    effect = Effect.READ


class Keep(_TextTool):
    """Writes memory."""

    name = "keep"
    effect = Effect.MEMORY


class Queue(_TextTool):
    """Adds to the inbox."""

    name = "queue"
    effect = Effect.QUEUE


class Large(_TextTool):
    """Reads, and answers with as many bytes as its text says."""

    name = "large"
    effect = Effect.READ

    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        request = proposal.plan
        assert isinstance(request, TextRequest)
        self.ran.append(request.text)
        return ToolResult("completed", {}, "x" * int(request.text))


class Stuck(_TextTool):
    """Writes memory and does not come back until it is let go."""

    name = "stuck"
    effect = Effect.MEMORY

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        self.entered.set()
        self.let_go.wait(WAIT_SECONDS)
        return super().execute(proposal, context)


class Faulty(_TextTool):
    """Fails in a way that no tool should."""

    name = "faulty"
    effect = Effect.READ

    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        raise ZeroDivisionError("oops")


@dataclass
class Tools:
    """One of each test tool, to look at afterwards."""

    look: Look = field(default_factory=Look)
    keep: Keep = field(default_factory=Keep)
    queue: Queue = field(default_factory=Queue)
    large: Large = field(default_factory=Large)
    stuck: Stuck = field(default_factory=Stuck)
    faulty: Faulty = field(default_factory=Faulty)

    def registry(self) -> Registry:
        return Registry([self.look, self.keep, self.queue, self.large, self.stuck, self.faulty])


@dataclass
class Place:
    """Directories of one test, and the sessions opened in them."""

    root: Path

    def __post_init__(self) -> None:
        self.project = self.root / "project"
        self.project.mkdir(exist_ok=True)
        self.paths = Paths(*(self.root / name for name in ("config", "data", "state", "cache")))
        self.environ: dict[str, str] = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.root)}

    def configure(self, text: str) -> None:
        self.paths.config.mkdir(mode=0o700, exist_ok=True)
        self.paths.config_file.write_text(text)

    def open(
        self,
        model: Model | None,
        *,
        tools: Tools | Registry | None = None,
        approver: Approver | None = None,
        cwd: Path | None = None,
        **options: Any,
    ) -> Engine:
        registry = Tools() if tools is None else tools
        return open_session(
            StartOptions(**options),
            self.paths,
            cwd or self.project,
            self.environ,
            approver,
            model=model,
            registry=registry if isinstance(registry, Registry) else registry.registry(),
        )

    def log_lines(self, session_id: str) -> list[dict[str, Any]]:
        data = (self.paths.sessions / f"{session_id}.jsonl").read_bytes()
        return [json.loads(line) for line in data.split(b"\n")[:-1]]

    def kinds(self, session_id: str) -> list[str]:
        return [line["kind"] for line in self.log_lines(session_id)]


async def allow(proposal: Proposal) -> Decision:
    return Decision(True, "user")


async def deny(proposal: Proposal) -> Decision:
    return Decision(False, "user", "not this one")


async def run(engine: Engine, text: str = "go") -> tuple[TurnEnded, list[Event]]:
    """Run one turn and return how it ended and all its events."""
    events: list[Event] = []
    ended = await asyncio.wait_for(engine.turn(text, events.append), WAIT_SECONDS)
    assert events[-1] == ended
    return ended, events


def only(events: Iterable[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so; fail after a while."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come about"
        await asyncio.sleep(0.005)


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """Let no file of this process grow over `limit` bytes, as on a full disk: what fits is written first."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
