"""A conversation made fit to be sent: ids unique, every call with one result, arguments always an object."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from muniment.model.arguments import object_text
from muniment.model.base import AssistantItem, InputItem, ToolCall, ToolItem, UserItem
from muniment.model.draft import unique_id
from muniment.safety.visible import clean_surrogates

NO_RESULT = "No result of this call is known; it was not run again."
_FOLDED = (
    "What follows up to the next line of dashes was put before this conversation by the program; it is data, "
    "not a message of the user."
)
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(slots=True)
class _Open:
    """The calls that wait for their results: the id as given, and the call as sent."""

    calls: list[tuple[str, ToolCall]] = field(default_factory=list)

    def take(self, given: str) -> ToolCall | None:
        for at, (known, call) in enumerate(self.calls):
            if known == given:
                del self.calls[at]
                return call
        return None


def valid_items(items: Iterable[InputItem], *, strict: bool = False) -> list[InputItem]:
    """Return the items as any server takes them; `strict` also starts with the user and alternates roles."""
    result: list[InputItem] = []
    taken: set[str] = set()
    waiting = _Open()
    for item in items:
        if isinstance(item, ToolItem):
            call = waiting.take(item.call_id)
            if call is not None:
                result.append(ToolItem(call.id, call.name, clean_surrogates(item.text)))
            continue
        _settle(waiting, result)
        if isinstance(item, UserItem):
            result.append(UserItem(clean_surrogates(item.text)))
            continue
        calls = []
        for each in item.calls:
            sent = ToolCall(unique_id(each.id, taken), wire_name(each.name), object_text(each.arguments))
            waiting.calls.append((each.id, sent))
            calls.append(sent)
        if item.text or calls:
            result.append(AssistantItem(clean_surrogates(item.text), tuple(calls)))
    _settle(waiting, result)
    return alternating(result) if strict else result


def alternating(items: list[InputItem]) -> list[InputItem]:
    """Fold what stands before the first user message into it, and join neighbours of one role."""
    first = next((at for at, item in enumerate(items) if isinstance(item, UserItem)), None)
    lead = items if first is None else items[:first]
    if any(isinstance(item, ToolItem) or item.calls for item in lead if not isinstance(item, UserItem)):
        # A conversation that starts in the middle of a call cannot be folded; it needs only a user before it.
        return _joined([UserItem("(The conversation goes on.)"), *items])
    if lead:
        said = "\n\n".join(item.text for item in lead)
        rest = "" if first is None else items[first].text
        opening = UserItem(f"{_FOLDED}\n\n{said}\n\n---\n\n{rest}".rstrip())
        items = [opening, *([] if first is None else items[first + 1 :])]
    return _joined(items)


def wire_name(name: str) -> str:
    """Return a tool name that servers accept in a history."""
    return _NAME.sub("_", name)[:64] or "unnamed"


def _joined(items: list[InputItem]) -> list[InputItem]:
    result: list[InputItem] = []
    for item in items:
        last = result[-1] if result else None
        if isinstance(item, UserItem) and isinstance(last, UserItem):
            result[-1] = UserItem(f"{last.text}\n\n{item.text}")
        elif isinstance(item, AssistantItem) and isinstance(last, AssistantItem) and not last.calls:
            text = f"{last.text}\n\n{item.text}".strip() if item.text else last.text
            result[-1] = AssistantItem(text, item.calls)
        else:
            result.append(item)
    return result


def _settle(waiting: _Open, result: list[InputItem]) -> None:
    for _, call in waiting.calls:
        result.append(ToolItem(call.id, call.name, NO_RESULT))
    waiting.calls.clear()
