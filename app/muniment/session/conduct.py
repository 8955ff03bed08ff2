"""How a turn goes: requests, replies and calls in their order, each on disk before what follows from it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from muniment.approval.policy import Mode
from muniment.model.base import (
    Finished,
    InputItem,
    Model,
    ModelError,
    ModelRequest,
    ToolCall,
    Usage,
    UserItem,
)
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session.calls import STOPPED_BEFORE, Calls, Emit, Journalist, object_or_text, told
from muniment.session.events import (
    Compacted,
    ErrorRaised,
    Notice,
    ReplyEnded,
    RequestSent,
    ToolCalled,
    TurnEnded,
    TurnStatus,
    UserSaid,
)
from muniment.session.logs.log import SessionLog
from muniment.session.reply import Reply, receive
from muniment.session.request import compaction
from muniment.session.request.context import Assembly, Context
from muniment.session.trace import Trace
from muniment.session.waiting import to_its_end, uncut
from muniment.tools.base import ToolResult

MAX_REQUESTS = 8
MAX_CALLS = 16
MAX_CUT_REPLIES = 3
_UNSAVED = (
    "The chat goes on, but nothing that changes memory or files runs until the log can be written again."
)
_KEPT = "The conversation is kept as it was."


@dataclass(slots=True)
class Running:
    """The state of the running turn; `requests` counts summaries too."""

    id: str
    emit: Emit
    requests: int = 0
    calls: int = 0
    cuts: int = 0
    usage: Usage = field(default_factory=Usage)
    reply: Reply = field(default_factory=Reply)
    compaction_tried: bool = False
    reached: set[str] = field(default_factory=set)
    """The ids of the calls that were told, so that no result is told of a call that nobody heard of."""

    @classmethod
    def begin(cls, emit: Emit) -> Running:
        return cls(secrets.token_hex(16), emit)


class Conductor:
    """Conducts the turns of one session; a cancellation at any await leaves a history that can go on."""

    def __init__(
        self,
        log: SessionLog,
        context: Context,
        calls: Calls,
        model: Model,
        trace: Trace | None,
        mode: Callable[[], Mode],
    ) -> None:
        self._log = log
        self._context = context
        self._calls = calls
        self._model = model
        self._trace = trace
        self._mode = mode
        self._told_unsaved = False
        self._told_trace = False
        self.batch = (0, 0)
        self.last_assembly: Assembly | None = None

    async def run(self, text: str, emit: Emit) -> TurnEnded:
        """Conduct one turn to its end, whatever happens in it."""
        turn = Running.begin(emit)
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
        self.batch = (0, 0)
        stopped = await to_its_end(self._settle(turn, status))
        if status == "completed" and not stopped:
            await self._tend(turn)
        ended = TurnEnded(status, turn.usage)
        emit(ended)
        return ended

    async def compact(self, emit: Emit) -> bool:
        """Summarise the older turns now; True where a summary took their place."""
        turn = Running.begin(emit)
        try:
            for notice in await asyncio.to_thread(self._context.refresh, ""):
                emit(Notice(notice))
            history = self._log.history
            plan = compaction.plan(history)
            if plan is None:
                kept = compaction.KEEP_TURNS
                emit(Notice(f"There is nothing to summarise yet: the newest {kept} turns always stay."))
                return False
            before = self._context.assemble(history.items(), history.summary)
            return await self._summarise(turn, plan, before.estimate)
        except asyncio.CancelledError:
            emit(Notice(f"The summary was stopped. {_KEPT}"))
            return False

    async def _conduct(self, turn: Running, text: str) -> TurnStatus:
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
            self.last_assembly = assembly
            turn.emit(RequestSent(turn.requests + 1, assembly.estimate, assembly.budget))
            finished = await self._ask(turn, assembly.request, turn.reply, show=True)
            calls = () if finished.finish == "broken" else self._log.history.unique_calls(finished.calls)
            turn.reply.clear()
            if finished.text.strip() or calls or finished.finish != "broken":
                await self._keep(turn, finished, calls)
            if finished.finish == "broken":
                turn.emit(ErrorRaised(finished.note or "The reply broke off; what had arrived is kept."))
                return "failed"
            if finished.note or finished.finish == "length":
                turn.emit(Notice(finished.note or "The reply was cut by the length limit."))
            if not calls:
                if not finished.text.strip():
                    turn.emit(Notice("The model sent an empty reply."))
                return "completed"
            stop = await self._run_calls(turn, calls, whole=finished.finish in ("stop", "tool_calls"))
            if stop:
                turn.emit(ErrorRaised(stop))
                return "failed"

    async def _tend(self, turn: Running) -> None:
        """Do for team memory what is set to happen by itself; it changes nothing about how the turn ended."""
        from muniment.session.team.upkeep import is_due, upkeep

        surfaces = self._context.surfaces
        try:
            if await asyncio.to_thread(is_due, surfaces):
                for sentence in await upkeep(surfaces, self._model):
                    turn.emit(Notice(sentence))
        except asyncio.CancelledError:
            turn.emit(Notice("Tending to team memory was stopped; the next turn goes on with it."))
        except Exception as error:  # noqa: BLE001 - the turn is over and kept; this must not make it a failure
            turn.emit(Notice(f"Team memory was not tended to ({type(error).__name__}: {error})."))

    async def _settle(self, turn: Running, status: TurnStatus) -> None:
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
            await self._untouched(turn, state.call, result, log)
        await log("turn_end", status=status)

    async def _keep(self, turn: Running, finished: Finished, calls: tuple[ToolCall, ...]) -> None:
        try:
            await self._journalist(turn)(
                "model_response",
                text=finished.text,
                calls=[{"id": each.id, "name": each.name, "arguments": each.arguments} for each in calls],
                status=finished.finish,
                usage=finished.usage.as_dict(),
            )
        finally:
            turn.emit(ReplyEnded(finished.text, len(calls)))

    async def _run_calls(self, turn: Running, calls: tuple[ToolCall, ...], *, whole: bool) -> str:
        """Deal with the calls of one reply in order; return why the turn stops, or an empty text."""
        log = self._journalist(turn)
        last = turn.requests >= MAX_REQUESTS
        turn.cuts += not whole
        for number, call in enumerate(calls, 1):
            self.batch = (number, len(calls))
            turn.calls += 1
            if not whole:
                text = "Not executed: the reply was cut before its calls were whole. Send it again, shorter."
            elif last:
                text = f"Not executed: a turn has at most {MAX_REQUESTS} requests."
            elif turn.calls > MAX_CALLS:
                text = f"Not executed: a turn has at most {MAX_CALLS} tool calls."
            else:
                turn.reached.add(call.id)
                await self._calls.run(call, self._mode, turn.emit, log)
                continue
            await self._untouched(turn, call, told("not_executed", text), log)
        self.batch = (0, 0)
        if last:
            return f"The turn stopped at its limit of {MAX_REQUESTS} requests; send a message to go on."
        if turn.calls > MAX_CALLS:
            return f"The turn stopped at its limit of {MAX_CALLS} tool calls; send a message to go on."
        if turn.cuts >= MAX_CUT_REPLIES:
            return f"The turn stopped: {turn.cuts} replies were cut inside a tool call."
        return ""

    async def _untouched(self, turn: Running, call: ToolCall, result: ToolResult, log: Journalist) -> None:
        """Give a call its result without running it, told first where the turn had not come to it."""
        if call.id not in turn.reached:
            turn.reached.add(call.id)
            turn.emit(ToolCalled(call.id, call.name, object_or_text(call.arguments)))
        await self._calls.finish(call, result, turn.emit, log)

    async def _ask(self, turn: Running, request: ModelRequest, reply: Reply, *, show: bool) -> Finished:
        turn.requests += 1
        finished = await receive(
            self._model,
            request,
            reply,
            turn.emit,
            trace=self._trace,
            turn=turn.id,
            number=turn.requests,
            show=show,
        )
        turn.usage = _sum(turn.usage, finished.usage)
        if self._trace is not None and self._trace.fault is not None and not self._told_trace:
            self._told_trace = True
            turn.emit(Notice(self._trace.fault))
        return finished

    async def _next_request(self, turn: Running) -> Assembly:
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

    async def _summarise(self, turn: Running, plan: compaction.Plan, before: int) -> bool:
        """Try one summary; whatever is wrong with it, the conversation stays."""
        history, limits = self._log.history, self._context.limits
        try:
            request = compaction.summary_request(history.summary, plan, limits)
            finished = await self._ask(turn, request, Reply(), show=False)
            text = compaction.accept(finished)
            compaction.check_gain(before, self._context.assemble(plan.kept, text).estimate, limits)
        except compaction.SummaryRejected as fault:
            turn.emit(Notice(f"{fault.sentence} {_KEPT}"))
            return False
        except ModelError as error:
            turn.emit(Notice(f"{compaction.without_body(error)} {_KEPT}"))
            return False
        turn_id = "" if history.active is None else turn.id
        await self._save("context_compaction", turn_id, turn.emit, text=text, covered_seq=plan.covered_seq)
        turn.emit(Compacted(text, plan.turns))
        return True

    def _fits(self, items: tuple[InputItem, ...]) -> bool:
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
        budget = self._context.limits.budget
        return (
            f"The request would be too large (estimated {size}, budget {budget}) and is not cut. Shorten "
            "the message, use /compact, start a /new session, or set a larger model.context_window."
        )

    def _journalist(self, turn: Running) -> Callable[..., Awaitable[bool]]:
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
