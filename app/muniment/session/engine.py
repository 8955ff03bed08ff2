"""The engine: one session's turns, from the user's message to the end of the last reply, told as typed events."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from muniment.approval.policy import Mode
from muniment.model.base import Model, ModelError, ToolCall, Usage, UserItem
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session import compaction
from muniment.session.calls import STOPPED_BEFORE, Calls, Desk, Emit, told
from muniment.session.context import Assembly, Context
from muniment.session.events import (
    Compacted,
    ErrorRaised,
    Event,
    Notice,
    ReplyEnded,
    RequestSent,
    SessionOpened,
    TurnEnded,
    TurnStatus,
    UserSaid,
)
from muniment.session.log import SessionLog
from muniment.session.reply import Reply, receive
from muniment.session.waiting import uncut

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.session.logformat import LogRecord
    from muniment.session.recipe import Recipe
    from muniment.session.trace import Trace

MAX_REQUESTS = 8
MAX_CALLS = 16
MAX_CUT_REPLIES = 3
_UNSAVED = (
    "The chat goes on, but nothing that changes memory or files runs until the log can be written again."
)
T = TypeVar("T")


class TurnRefused(MunimentError):
    """A message was not taken: nothing was written and nothing was sent."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is made of; `session/start.py` puts it together."""

    log: SessionLog
    context: Context
    desk: Desk
    recipe: Recipe
    surfaces: Surfaces
    cwd: Path
    model: Model | None
    """None where no model can be asked; `model_fault` then says why."""
    model_fault: str
    provider: str
    model_name: str
    mode: Mode
    trace: Trace | None = None
    first_prompt: str | None = None
    notices: tuple[str, ...] = ()
    task_nonce: str | None = None


@dataclass(slots=True)
class _Turn:
    """The state of the running turn."""

    id: str
    emit: Emit
    requests: int = 0
    calls: int = 0
    cuts: int = 0
    usage: Usage = field(default_factory=Usage)
    reply: Reply = field(default_factory=Reply)
    compaction_tried: bool = False


class Engine:
    """One open session. One turn at a time; `interrupt` ends it within a moment, whatever it is doing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._log = parts.log
        self._context = parts.context
        self._calls = Calls(parts.desk)
        self._mode = parts.mode
        self._task: asyncio.Task[Any] | None = None
        self._interrupted = False
        self._closed = False
        self._told_unsaved = False
        self.batch = (0, 0)
        """Which call of how many in the running reply is being dealt with."""
        self.last_assembly: Assembly | None = None
        """The newest request of this session, as sent."""

    @property
    def id(self) -> str:
        return self._log.id

    @property
    def recipe(self) -> Recipe:
        return self._parts.recipe

    @property
    def surfaces(self) -> Surfaces:
        return self._parts.surfaces

    @property
    def cwd(self) -> Path:
        return self._parts.cwd

    @property
    def provider(self) -> str:
        return self._parts.provider

    @property
    def model_name(self) -> str:
        return self._parts.model_name

    @property
    def model_fault(self) -> str:
        """Why no model can be asked, in one sentence; empty where one can."""
        return self._parts.model_fault

    @property
    def first_prompt(self) -> str | None:
        """The recipe's first message, for a session that has none yet."""
        return self._parts.first_prompt

    @property
    def title(self) -> str:
        return self._log.history.title

    @property
    def context(self) -> Context:
        return self._context

    @property
    def digest_items(self) -> int:
        """How many records the digest of this session lists; 0 where it has none."""
        return 0 if self._context.digest is None else self._context.digest.items

    @property
    def task_nonce(self) -> str | None:
        return self._parts.task_nonce

    @property
    def opening(self) -> tuple[Event, ...]:
        """The events that every consumer shows first."""
        opened = SessionOpened(self.id, self.recipe.name, self.provider, self.model_name, str(self._mode))
        told_first = [*self._parts.notices]
        if self._parts.model_fault:
            told_first.append(self._parts.model_fault)
        return (opened, *(Notice(text) for text in told_first))

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction runs."""
        return self._task is not None

    @property
    def mode(self) -> Mode:
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Change the mode of this session only; asking before a looser one is the screen's part."""
        self._mode = mode

    @property
    def save_fault(self) -> str | None:
        """Why the session is not being saved now, or None."""
        return self._log.fault

    @property
    def unknown_calls(self) -> tuple[str, ...]:
        """Tools that had started when the session broke off and whose outcome nobody knows."""
        return tuple(self._log.history.unknown.values())

    def acknowledge(self) -> None:
        """Note that the user knows about the unknown outcomes; nothing runs again."""
        if self._log.history.unknown:
            self._log.append("recovery_ack", call_ids=list(self._log.history.unknown))

    def replay(self) -> tuple[LogRecord, ...]:
        """Return every record of the session, oldest first."""
        return self._log.replay()

    def rename(self, title: str) -> None:
        """Give the session a title of the user's own."""
        self._log.append("title", text=" ".join(title.split())[:200])

    def clear(self) -> None:
        """Drop the conversation from the log and from the requests; id, recipe and digest stay."""
        self._check_idle()
        self._log.clear()
        self.last_assembly = None

    async def turn(self, text: str, emit: Emit) -> TurnEnded:
        """Take one message and answer it; raise `TurnRefused` before anything is written where that cannot be."""
        self._check_idle()
        if self._log.history.unknown:
            names = ", ".join(self.unknown_calls)
            raise TurnRefused(
                f"The session broke off while {names} ran and the outcome is not known; acknowledge that first."
            )
        if not text.strip():
            raise TurnRefused("There is nothing to send.")
        if self._parts.model is None:
            raise TurnRefused(self._parts.model_fault)
        return await self._joined(self._run(text, emit))

    async def compact(self, emit: Emit) -> bool:
        """Summarise the older turns now; True where a summary took their place."""
        self._check_idle()
        if self._parts.model is None:
            raise TurnRefused(self._parts.model_fault)
        return await self._joined(self._compact_by_hand(emit))

    def interrupt(self) -> None:
        """End what runs; a second call while it ends does nothing."""
        if self._task is not None and not self._interrupted:
            self._interrupted = True
            self._task.cancel()

    def assemble_preview(self, prompt: str = "") -> Assembly:
        """Return what the next request would carry; looks memory up afresh, sends and records nothing."""
        history = self._log.history
        items = (*history.items(), *((UserItem(prompt),) if prompt else ()))
        blocks, notices = self._context.look_up(prompt, preview=True)
        assembly = self._context.assemble(items, history.summary, turn_blocks=blocks)
        return Assembly(assembly.request, assembly.blocks, assembly.estimate, assembly.budget, notices)

    async def close(self) -> None:
        """End what runs, release the model and the session's lock; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        task = self._task
        self.interrupt()
        if task is not None:
            await asyncio.wait({task}, timeout=5.0)
        self._log.flush()
        self._log.close()
        if self._parts.model is not None:
            await self._parts.model.close()

    def _check_idle(self) -> None:
        if self._closed:
            raise TurnRefused("The session is closed.")
        if self._task is not None:
            raise TurnRefused("A turn is running; wait for its end or interrupt it.")

    async def _joined(self, work: Any) -> Any:
        """Run work as a task of its own, so that an interrupt reaches it and never its caller."""
        self._interrupted = False
        task = self._task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait({task}, timeout=5.0)
            raise
        finally:
            self._task = None

    async def _run(self, text: str, emit: Emit) -> TurnEnded:
        turn = _Turn(secrets.token_hex(16), emit)
        status: TurnStatus
        try:
            status = await self._conduct(turn, text)
        except asyncio.CancelledError:
            status = "cancelled"
        except MunimentError as error:
            emit(ErrorRaised(error.sentence))
            status = "failed"
        except Exception as error:  # noqa: BLE001 - the history must be closed whatever went wrong
            emit(ErrorRaised(f"The turn ended by a fault in Muniment ({type(error).__name__}: {error})."))
            status = "failed"
        await self._settle(turn, status)
        ended = TurnEnded(status, turn.usage)
        emit(ended)
        return ended

    async def _settle(self, turn: _Turn, status: TurnStatus) -> None:
        """Leave a history that the next request can use: partial text kept, every call with one result."""
        active = self._log.history.active
        if active is None or active.id != turn.id:
            return
        log = self._journalist(turn)
        partial = turn.reply.text
        if partial.strip() and not active.waiting:
            cut = "stopped" if status == "cancelled" else "broken"
            await log("model_response", text=partial, calls=[], status=cut, usage=Usage().as_dict())
            turn.emit(ReplyEnded(partial, 0))
        for state in list(active.waiting.values()):
            if status == "cancelled":
                result = told("cancelled", STOPPED_BEFORE)
            else:
                result = told("not_executed", "The turn ended before this call ran; it was not executed.")
            await self._calls.finish(state.call, result, turn.emit, log)
        await log("turn_end", status=status)

    async def _conduct(self, turn: _Turn, text: str) -> TurnStatus:
        for notice in await asyncio.to_thread(self._context.refresh, text):
            turn.emit(Notice(notice))
        self._refuse_oversize(text)
        log = self._journalist(turn)
        try:
            await log("user_message", text=text)
        finally:
            if self._log.history.active is not None:
                turn.emit(UserSaid(text))
        while True:
            assembly = await self._next_request(turn)
            finished = await self._ask(turn, assembly)
            calls = () if finished.finish == "broken" else self._log.history.unique_calls(finished.calls)
            turn.reply.clear()
            if finished.text or calls or finished.finish not in ("broken", "stopped"):
                await self._keep_reply(turn, finished.text, calls, finished.finish, finished.usage)
            if finished.finish == "broken":
                turn.emit(ErrorRaised(finished.note or "The reply broke off; what had arrived is kept."))
                return "failed"
            if finished.note or finished.finish == "length":
                turn.emit(Notice(finished.note or "The reply was cut by the length limit."))
            if not calls:
                if not finished.text.strip():
                    turn.emit(Notice("The model sent an empty reply."))
                return "completed"
            stop = await self._run_calls(turn, calls, runnable=finished.finish in ("stop", "tool_calls"))
            if stop:
                turn.emit(ErrorRaised(stop))
                return "failed"

    async def _keep_reply(
        self, turn: _Turn, text: str, calls: tuple[ToolCall, ...], finish: str, usage: Usage
    ) -> None:
        try:
            await self._journalist(turn)(
                "model_response",
                text=text,
                calls=[{"id": each.id, "name": each.name, "arguments": each.arguments} for each in calls],
                status=finish,
                usage=usage.as_dict(),
            )
        finally:
            turn.emit(ReplyEnded(text, len(calls)))

    async def _run_calls(self, turn: _Turn, calls: tuple[ToolCall, ...], *, runnable: bool) -> str:
        """Deal with the calls of one reply in order; return why the turn stops, or an empty text."""
        log = self._journalist(turn)
        last = turn.requests >= MAX_REQUESTS
        turn.cuts += not runnable
        for number, call in enumerate(calls, 1):
            self.batch = (number, len(calls))
            turn.calls += 1
            if not runnable:
                text = "The reply was cut before this call was whole; it was not executed. Send it again, shorter."
            elif last:
                text = f"Not executed: a turn has at most {MAX_REQUESTS} requests."
            elif turn.calls > MAX_CALLS:
                text = f"Not executed: a turn has at most {MAX_CALLS} tool calls."
            else:
                await self._calls.run(call, lambda: self._mode, turn.emit, log)
                continue
            await self._calls.finish(call, told("not_executed", text), turn.emit, log)
        self.batch = (0, 0)
        if last:
            return f"The turn stopped at its limit of {MAX_REQUESTS} requests; send a message to go on."
        if turn.calls > MAX_CALLS:
            return f"The turn stopped at its limit of {MAX_CALLS} tool calls; send a message to go on."
        if turn.cuts >= MAX_CUT_REPLIES:
            return f"The turn stopped: {turn.cuts} replies were cut inside a tool call."
        return ""

    async def _ask(self, turn: _Turn, assembly: Assembly) -> Any:
        model = self._parts.model
        assert model is not None  # noqa: S101 - turn() refuses without one; this is for the type checker
        turn.requests += 1
        self.last_assembly = assembly
        turn.emit(RequestSent(turn.requests, assembly.estimate, assembly.budget))
        finished = await receive(
            model,
            assembly.request,
            turn.reply,
            turn.emit,
            trace=self._parts.trace,
            turn=turn.id,
            number=turn.requests,
        )
        turn.usage = _sum(turn.usage, finished.usage)
        return finished

    async def _next_request(self, turn: _Turn) -> Assembly:
        """Assemble the next request, after a summary where one is due; raise where it is too large."""
        history, limits = self._log.history, self._context.limits
        assembly = self._context.assemble(history.items(), history.summary)
        if assembly.estimate > limits.trigger and not turn.compaction_tried:
            plan = compaction.plan(history)
            room = turn.requests + 2 <= MAX_REQUESTS
            if plan is not None and room and self._fits(plan.kept):
                turn.compaction_tried = True
                if await self._summarise(turn, plan, assembly.estimate):
                    assembly = self._context.assemble(history.items(), history.summary)
        if assembly.estimate > limits.budget:
            raise InvalidInput(self._too_large(assembly.estimate))
        return assembly

    async def _summarise(self, turn: _Turn, plan: compaction.Plan, before: int) -> bool:
        """Try one summary; whatever is wrong with it, the conversation stays as it was and the user is told."""
        model, history = self._parts.model, self._log.history
        assert model is not None  # noqa: S101 - as in _ask
        try:
            request = compaction.summary_request(history.summary, plan, self._context.limits)
            turn.requests += 1
            reply = Reply()
            finished = await receive(
                model,
                request,
                reply,
                turn.emit,
                trace=self._parts.trace,
                turn=turn.id,
                number=turn.requests,
                show=False,
            )
            turn.usage = _sum(turn.usage, finished.usage)
            text = compaction.accept(finished)
            after = self._context.assemble(plan.kept, text).estimate
            compaction.check_gain(before, after, self._context.limits)
        except compaction.SummaryRejected as fault:
            turn.emit(Notice(f"{fault.sentence} The conversation is kept as it was."))
            return False
        except ModelError as error:
            turn.emit(Notice(f"{compaction.without_body(error)} The conversation is kept as it was."))
            return False
        turn_id = "" if history.active is None else turn.id
        await self._save("context_compaction", turn_id, turn.emit, text=text, covered_seq=plan.covered_seq)
        turn.emit(Compacted(text, plan.turns))
        return True

    async def _compact_by_hand(self, emit: Emit) -> bool:
        turn = _Turn(secrets.token_hex(16), emit)
        try:
            for notice in await asyncio.to_thread(self._context.refresh, ""):
                emit(Notice(notice))
            plan = compaction.plan(self._log.history)
            if plan is None:
                emit(
                    Notice(
                        f"There is nothing to summarise yet: the last {compaction.KEEP_TURNS} turns always stay."
                    )
                )
                return False
            before = self._context.assemble(self._log.history.items(), self._log.history.summary)
            return await self._summarise(turn, plan, before.estimate)
        except asyncio.CancelledError:
            emit(Notice("The summary was stopped; the conversation is kept as it was."))
            return False

    def _fits(self, items: Any) -> bool:
        return self._context.assemble(items, None).estimate <= self._context.limits.budget

    def _refuse_oversize(self, text: str) -> None:
        """Refuse a message with which no request could go out, before it is written anywhere."""
        history, said = self._log.history, UserItem(text)
        whole = self._context.assemble((*history.items(), said), history.summary)
        if whole.estimate <= self._context.limits.budget:
            return
        plan = compaction.plan(history)
        if plan is None or not self._fits((*plan.kept, said)):
            raise InvalidInput(self._too_large(whole.estimate))

    def _too_large(self, size: int) -> str:
        return (
            f"The request would be too large (estimated {size}, budget {self._context.limits.budget}); nothing was cut. "
            "Shorten the message, use /compact, start a /new session, or set a larger model.context_window."
        )

    def _journalist(self, turn: _Turn) -> Callable[..., Awaitable[bool]]:
        def log(kind: str, **fields: Any) -> Awaitable[bool]:
            return self._save(kind, turn.id, turn.emit, **fields)

        return log

    async def _save(self, kind: str, turn_id: str, emit: Emit, **fields: Any) -> bool:
        try:
            return await uncut(lambda: self._log.append(kind, turn_id, **fields))
        finally:
            self._tell_saving(emit)

    def _tell_saving(self, emit: Emit) -> None:
        fault = self._log.fault
        if fault is not None and not self._told_unsaved:
            emit(Notice(f"{fault} {_UNSAVED}"))
        elif fault is None and self._told_unsaved:
            emit(Notice("The session is being saved again; nothing of it is missing from its log."))
        self._told_unsaved = fault is not None


def _sum(first: Usage, second: Usage) -> Usage:
    def add(one: int | None, other: int | None) -> int | None:
        return other if one is None else one if other is None else one + other

    return Usage(add(first.input_tokens, second.input_tokens), add(first.output_tokens, second.output_tokens))
