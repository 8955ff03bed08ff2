"""How large a request is, and when a conversation has to be summarised: whole numbers, nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from muniment.model.base import AssistantItem, InputItem, ModelRequest, ToolItem, UserItem

DEFAULT_WINDOW = 128_000
_MAX_RESERVE = 8_192
_FIXED_COST = 128
_ITEM_COST = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes that follow from a context window; window and all sizes count as bytes of the estimate."""

    window: int = DEFAULT_WINDOW

    @property
    def reserve(self) -> int:
        """Room kept for the reply, also the most a summary may take."""
        return max(1, min(_MAX_RESERVE, self.window // 8))

    @property
    def budget(self) -> int:
        return self.window - self.reserve

    @property
    def trigger(self) -> int:
        """A request estimated above this is preceded by a summary."""
        return self.budget - self.budget // 5


def estimate(request: ModelRequest) -> int:
    """Return the bytes of the request's JSON plus a fixed cost and a cost per item, counted as tokens."""
    parts = wire_items(request.items)
    value = {
        "instructions": request.instructions,
        "input": parts,
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
    }
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace")) + _FIXED_COST + _ITEM_COST * len(parts)


def wire_items(items: tuple[InputItem, ...]) -> list[dict[str, Any]]:
    """Return the input as a list of messages, calls and results, each one JSON object."""
    parts: list[dict[str, Any]] = []
    for item in items:
        match item:
            case UserItem(text):
                parts.append({"role": "user", "content": text})
            case AssistantItem(text, calls):
                if text:
                    parts.append({"role": "assistant", "content": text})
                parts.extend(
                    {
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": call.arguments,
                    }
                    for call in calls
                )
            case ToolItem(call_id, _, text):
                parts.append({"type": "function_call_output", "call_id": call_id, "output": text})
    return parts
