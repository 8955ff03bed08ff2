"""Events as JSON objects, one a line, for `run --json`."""

from __future__ import annotations

from typing import Any

from muniment.approval.proposal import Proposal
from muniment.session import events as ev


def event_as_dict(event: ev.Event, session_id: str) -> dict[str, Any] | None:
    """Return the object for an event, or None for one that only a screen needs."""
    body = _body(event)
    if body is None:
        return None
    name, fields = body
    return {"event": name, "session": session_id, **fields}


def _body(event: ev.Event) -> tuple[str, dict[str, Any]] | None:
    match event:
        case ev.SessionOpened(session, recipe, provider, model, mode):
            fields = {"id": session, "recipe": recipe, "provider": provider, "model": model, "mode": mode}
            return "session", fields
        case ev.TextDelta(delta):
            return "text", {"delta": delta}
        case ev.TextDiscarded():
            text = "The text of this reply so far does not count; the request is tried again."
            return "notice", {"text": text, "discarded": True}
        case ev.ToolCalled(call, tool, arguments):
            return "tool_call", {"id": call, "tool": tool, "arguments": arguments}
        case ev.ProposalMade(proposal, shown):
            return "proposal", {**_proposal(proposal), "shown": shown}
        case ev.Decided(call, decision):
            return "decision", {
                "id": call,
                "decision": decision.word,
                "by": decision.by,
                "reason": decision.reason,
            }
        case ev.ToolFinished(call, tool, status, result, text, _):
            return "tool_result", {
                "id": call,
                "tool": tool,
                "status": status,
                "result": result,
                "text": text,
            }
        case ev.Notice(text):
            return "notice", {"text": text}
        case ev.Compacted(_, turns):
            noun = "turn" if turns == 1 else "turns"
            return "notice", {"text": f"{turns} older {noun} were replaced by a summary.", "covered": turns}
        case ev.ErrorRaised(text):
            return "error", {"text": text}
        case ev.TurnEnded(status, usage):
            return "turn_end", {"status": status, "usage": usage.as_dict()}
        case _:
            return None


def _proposal(proposal: Proposal) -> dict[str, Any]:
    fields = [{"label": each.label, "value": each.value} for each in proposal.fields]
    change = proposal.change
    if change is not None:
        # The long text stands beside the other fields, so that a reader of the stream sees all that is asked.
        fields.append({"label": change.label, "value": "" if change.after is None else change.after})
    return {
        "id": proposal.id,
        "tool": proposal.tool,
        "title": proposal.title,
        "fields": fields,
        "warnings": [
            {"kind": each.kind, "text": each.text, "place": each.place} for each in proposal.warnings
        ],
        "before": None if change is None else change.before,
    }
