"""One tool call outside a session: the same checks, policy, question and execution, without a log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from muniment.approval.policy import Mode, decide
from muniment.approval.proposal import Decision, Proposal
from muniment.memory.origin import Origin
from muniment.memory.records.scope import resolve_chain
from muniment.memory.surfaces import Surfaces
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session.calls import attempt, bounded, denied, failure, told
from muniment.session.start import FILE_TOOLS, meets_private
from muniment.tools.base import Tool, ToolContext, ToolResult
from muniment.tools.registry import default_registry, parse_arguments


def offered(surfaces: Surfaces) -> tuple[Tool[Any], ...]:
    """Return the tools that a session in this directory would be offered where it is a task."""
    inside = meets_private(surfaces.paths, resolve_chain(surfaces.cwd, surfaces.paths).root)
    withheld = FILE_TOOLS if inside else frozenset()
    return tuple(tool for tool in default_registry().select(("*",)) if tool.name not in withheld)


def call_tool(
    surfaces: Surfaces,
    name: str,
    raw: str,
    origin: Origin,
    *,
    ask: Callable[[Proposal], Decision] | None,
    yes: bool = False,
) -> ToolResult:
    """Call one tool in manual mode; `yes` answers its question in advance, no `ask` denies it."""
    result = _call(surfaces, name, raw, origin, ask, yes)
    return replace(result, text=bounded(result.text))


def _call(
    surfaces: Surfaces,
    name: str,
    raw: str,
    origin: Origin,
    ask: Callable[[Proposal], Decision] | None,
    yes: bool,
) -> ToolResult:
    tools = {tool.name: tool for tool in offered(surfaces)}
    tool = tools.get(name)
    if tool is None:
        return told("unknown_tool", f"There is no tool {name[:80]!a}; available: {', '.join(tools)}.")
    try:
        request = tool.prepare(parse_arguments(tool, raw.strip()))
    except InvalidInput as fault:
        return told("invalid_arguments", fault.sentence)
    verdict = decide(tool.name, tool.effect, Mode.MANUAL, targets=tool.targets(request))
    if verdict.outcome == "deny":
        return told("denied", f"Denied: {verdict.reason}. Nothing was opened or changed.")
    root = resolve_chain(surfaces.cwd, surfaces.paths).root
    agent = replace(origin, actor="agent", surface="tool", mode=str(Mode.MANUAL))
    context = ToolContext(surfaces, root, agent, asks=not yes)
    try:
        proposal = tool.inspect(request, "call", context)
    except (MunimentError, OSError) as error:
        return failure(error)
    if verdict.outcome == "ask" and not yes:
        decision = Decision(False, "headless", "there is no one to ask") if ask is None else ask(proposal)
        if not decision.allowed:
            return denied(decision)
    return attempt(tool, proposal, context)
