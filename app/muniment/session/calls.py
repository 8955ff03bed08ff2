"""One tool call from the model's text to its result: checked, decided, inspected, asked, logged, executed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from muniment.approval.policy import Effect, Mode, Verdict, decide, matches
from muniment.approval.proposal import Approver, Decision, Proposal
from muniment.memory.origin import Origin
from muniment.model.base import ToolCall
from muniment.safety.errors import InvalidInput, MunimentError, sentence_of
from muniment.session.events import Decided, Event, ProposalMade, ToolCalled, ToolFinished
from muniment.session.waiting import graceful
from muniment.tools.base import RESULT_MAX_BYTES, Tool, ToolContext, ToolResult
from muniment.tools.registry import Registry, parse_arguments
from muniment.tools.status import ToolStatus

TOOL_GRACE_SECONDS = 0.5
_PLACES = frozenset({"identifier", "id", "name", "scope", "directory", "path", "file"})
STOPPED_BEFORE = "The user stopped the turn before this call ran; it was not executed."
HOLDS_KEY = "The text holds the API key that is in use, which is never written anywhere; leave it out."
Emit = Callable[[Event], None]


class Journalist(Protocol):
    """Writes a record of the running turn; True where it is on disk."""

    def __call__(self, kind: str, **fields: Any) -> Awaitable[bool]: ...


def _holds_none(text: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Desk:
    """What every call of one session shares."""

    registry: Registry
    tools: tuple[str, ...]
    """The recipe's patterns; none means all."""
    approve: tuple[str, ...]
    context: ToolContext
    approver: Approver | None
    can_save: Callable[[], Awaitable[str | None]]
    """Returns why a change cannot be logged now, or None."""
    withheld: frozenset[str] = frozenset()
    """Tools that are not offered here whatever the recipe says."""
    holds_key: Callable[[str], bool] = _holds_none
    """Whether a text holds the API key in use; no mode and no approval lets that be written."""

    def offered(self) -> tuple[Tool[Any], ...]:
        return tuple(
            tool for tool in self.registry.select(self.tools or ("*",)) if tool.name not in self.withheld
        )

    def find(self, name: str) -> Tool[Any] | None:
        tool = self.registry.get(name)
        if tool is None or name in self.withheld or (self.tools and not matches(name, self.tools)):
            return None
        return tool


class Calls:
    """Runs the calls of a session one at a time; proposals are put to the approver in the order of calls."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._asking = asyncio.Lock()

    async def run(self, call: ToolCall, mode: Callable[[], Mode], emit: Emit, log: Journalist) -> None:
        """Take one call to its result; a cancellation leaves the call without one, for the turn to settle."""
        outcome = await self._result(call, mode, emit, log)
        await self.finish(call, outcome, emit, log)

    async def finish(self, call: ToolCall, result: ToolResult, emit: Emit, log: Journalist) -> None:
        """Log a result and tell it."""
        text = bounded(result.text)
        try:
            await log(
                "tool_result",
                call_id=call.id,
                name=call.name,
                status=result.status,
                text=text,
                result=result.data,
                changed=result.changed,
            )
        finally:
            # A cancellation here comes after the record, so the event must follow it all the same.
            emit(ToolFinished(call.id, call.name, result.status, result.data, text, result.changed))

    async def _result(
        self, call: ToolCall, mode: Callable[[], Mode], emit: Emit, log: Journalist
    ) -> ToolResult:
        tool = self.desk.find(call.name)
        if tool is None:
            emit(ToolCalled(call.id, call.name, object_or_text(call.arguments)))
            names = ", ".join(each.name for each in self.desk.offered()) or "none"
            return told("unknown_tool", f"There is no tool {call.name[:80]!a}; available: {names}.")
        try:
            if call.fault is not None:
                raise InvalidInput(call.fault)
            arguments = parse_arguments(tool, call.arguments.strip())
            request = tool.prepare(arguments)
        except InvalidInput as fault:
            emit(ToolCalled(call.id, call.name, object_or_text(call.arguments)))
            return told("invalid_arguments", fault.sentence)
        emit(ToolCalled(call.id, call.name, arguments))
        if tool.effect is not Effect.READ and self.desk.holds_key(json.dumps(arguments, ensure_ascii=False)):
            return told("invalid_arguments", HOLDS_KEY)
        verdict = decide(
            tool.name, tool.effect, mode(), targets=tool.targets(request), approve=self.desk.approve
        )
        if verdict.outcome == "deny":
            refusal = Decision(False, "policy", verdict.reason)
            await self._record(call, tool.name, None, refusal, mode(), emit, log)
            return told("denied", f"Denied: {verdict.reason}. Nothing was opened or changed.")
        changes = tool.effect is not Effect.READ
        if changes and (reason := await self.desk.can_save()):
            return unsaved(reason)
        return await self._inspected(call, tool, request, verdict, mode, emit, log)

    async def _inspected(
        self,
        call: ToolCall,
        tool: Tool[Any],
        request: Any,
        verdict: Verdict,
        mode: Callable[[], Mode],
        emit: Emit,
        log: Journalist,
    ) -> ToolResult:
        try:
            # What nobody is asked to read may be as long as its format allows.
            context = replace(self.desk.context, asks=verdict.outcome == "ask")
            proposal = await asyncio.to_thread(tool.inspect, request, call.id, context)
        except (MunimentError, OSError) as error:
            return failure(error)
        decision: Decision | None = None
        asked_in = mode()
        if verdict.outcome == "ask":
            emit(ProposalMade(proposal))
            decision = await self._ask(proposal)
        elif verdict.shown:
            emit(ProposalMade(proposal, shown=True))
            decision = Decision(
                True,
                "policy" if tool.effect is Effect.QUEUE and asked_in is Mode.MANUAL else "mode",
                verdict.reason,
            )
        if decision is not None:
            await self._record(call, tool.name, proposal, decision, asked_in, emit, log)
            if not decision.allowed:
                return denied(decision)
        # Stopped here, the call is one of those that have not run, and is settled with them.
        started = await log("tool_start", call_id=call.id, name=call.name, arguments=call.arguments)
        if not started and tool.effect is not Effect.READ:
            return unsaved(await self.desk.can_save() or "its log could not be written")
        return await self._execute(call, tool, proposal, decision, asked_in, emit, log)

    async def _execute(
        self,
        call: ToolCall,
        tool: Tool[Any],
        proposal: Proposal,
        decision: Decision | None,
        mode: Mode,
        emit: Emit,
        log: Journalist,
    ) -> ToolResult:
        origin: Origin = replace(
            self.desk.context.origin,
            mode=str(mode),
            decided_by="" if decision is None else decision.by,
            reason="" if decision is None else decision.reason,
        )
        context = replace(self.desk.context, origin=origin)
        result, cancelled = await graceful(lambda: attempt(tool, proposal, context), TOOL_GRACE_SECONDS)
        if not cancelled and result is not None:
            return result
        ended = result or told(
            "cancelled",
            "The user stopped the turn while this call ran; whether it took effect is not known. "
            "Look at the present state before relying on it.",
        )
        await self.finish(call, ended, emit, log)
        raise asyncio.CancelledError

    async def _ask(self, proposal: Proposal) -> Decision:
        approver = self.desk.approver
        if approver is None:
            return Decision(False, "headless", "there is no one to ask")
        async with self._asking:
            try:
                return await approver(proposal)
            except MunimentError as error:
                return Decision(False, "closed", error.sentence)
            except Exception as error:  # noqa: BLE001 - whatever breaks in the asking must count as a denial
                return Decision(False, "closed", f"the question could not be shown ({type(error).__name__})")

    async def _record(
        self,
        call: ToolCall,
        name: str,
        proposal: Proposal | None,
        decision: Decision,
        mode: Mode,
        emit: Emit,
        log: Journalist,
    ) -> None:
        await log(
            "decision",
            call_id=call.id,
            name=name,
            title="" if proposal is None else proposal.title,
            where=_where(proposal),
            decision=decision.word,
            by=decision.by,
            reason=decision.reason,
            mode=str(mode),
            agent=self.desk.context.asker.agent,
        )
        emit(Decided(call.id, decision))


def attempt(tool: Tool[Any], proposal: Proposal, context: ToolContext) -> ToolResult:
    """Execute and turn every failure into a result: a call without one would spoil the conversation."""
    try:
        return tool.execute(proposal, context)
    except (MunimentError, OSError) as error:
        return failure(error)
    except Exception as error:  # noqa: BLE001 - a fault in one tool must not end the session
        return told(
            "failed", f"{tool.name} failed because of a fault in Muniment ({type(error).__name__}: {error})."
        )


def object_or_text(arguments: str) -> dict[str, Any] | str:
    """Return the arguments of a call as the object they are, or as the text where one would hide a part."""
    try:
        value = json.loads(arguments or "{}", object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def told(status: ToolStatus, text: str) -> ToolResult:
    """Return a result that says one sentence to program and model alike."""
    return ToolResult(status, {"error": text}, text)


def failure(error: MunimentError | OSError) -> ToolResult:
    return told("invalid_arguments" if isinstance(error, InvalidInput) else "failed", sentence_of(error))


def denied(decision: Decision) -> ToolResult:
    who = "by the user" if decision.by == "user" else f"({decision.by})"
    why = f": {decision.reason}" if decision.reason else ""
    stop = "" if why.endswith((".", "!", "?")) else "."
    return told("denied", f"Denied {who}{why}{stop} Nothing was written.")


def unsaved(reason: str) -> ToolResult:
    return told("not_executed", f"Not executed, because what it does could not be logged. {reason}")


def bounded(text: str) -> str:
    """Return the text within the bytes a result may have, cut on a character border with a notice."""
    from muniment.safety.visible import clean_surrogates

    data = clean_surrogates(text).encode("utf-8")
    if len(data) <= RESULT_MAX_BYTES:
        return data.decode("utf-8")
    notice = f"\n[Cut here: the whole result has {len(data)} bytes.]"
    return data[: RESULT_MAX_BYTES - len(notice)].decode("utf-8", "ignore") + notice


def _where(proposal: Proposal | None) -> str:
    if proposal is None:
        return ""
    return "; ".join(
        f"{each.label}: {each.value}" for each in proposal.fields if each.label.casefold() in _PLACES
    )
