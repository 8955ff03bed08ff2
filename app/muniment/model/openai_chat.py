"""The Chat Completions wire, which nearly every server speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, cast

from muniment.model.address import Endpoint
from muniment.model.base import AssistantItem, FinishReason, InputItem, ModelRequest, Usage, UserItem
from muniment.model.draft import CallParts, count
from muniment.model.openai_wire import OpenAIModel, ReplyReader
from muniment.model.replay import valid_items

if TYPE_CHECKING:
    import openai

_FINISHES: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "error": "broken",
}
_COUNTS_REFUSED = ("stream_options", "include_usage")
_LIMITS = ("max_completion_tokens", "max_tokens")


class OpenAIChatModel(OpenAIModel):
    """A model asked over `/chat/completions`."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._ask_counts = True
        self._limit_swapped = False
        self._limit_name = _LIMITS[0] if endpoint.official else _LIMITS[1]

    def body(self, request: ModelRequest) -> dict[str, Any]:
        messages: list[dict[str, Any]] = []
        if request.instructions:
            messages.append({"role": "system", "content": request.instructions})
        items = valid_items(request.items, strict=self.endpoint.strict_layout)
        messages.extend(_message(item) for item in items)
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": messages, "stream": True}
        if self._ask_counts:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": spec.name,
                        "description": spec.description,
                        "parameters": spec.parameters,
                    },
                }
                for spec in request.tools
            ]
        if request.max_output is not None:
            body[self._limit_name] = request.max_output
        return body

    def _open(self, client: openai.AsyncOpenAI, body: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
        create: Any = client.chat.completions.with_streaming_response.create
        return cast("AbstractAsyncContextManager[Any]", create(**body))

    def _reply(self) -> ReplyReader:
        return ChatReader()

    def _without_refused(self, body: dict[str, Any], said: str) -> dict[str, Any] | None:
        if "stream_options" in body and any(word in said for word in _COUNTS_REFUSED):
            self._ask_counts = False
            return {name: value for name, value in body.items() if name != "stream_options"}
        refused = self._limit_name
        if refused in body and refused in said and not self._limit_swapped:
            self._limit_swapped = True
            self._limit_name = next(name for name in _LIMITS if name != refused)
            changed = {name: value for name, value in body.items() if name != refused}
            return {**changed, self._limit_name: body[refused]}
        return None


class ChatReader(ReplyReader):
    """Reads chunks; a call is told from its neighbours by index, else by id, else by its name."""

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[int, CallParts] = {}
        self._by_id: dict[str, CallParts] = {}

    def take(self, event: dict[str, Any]) -> Iterator[str]:
        draft = self.draft
        self._count(event.get("usage"))
        choice = _first(event.get("choices"))
        if choice is None:
            return
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # A server that does not stream sends the whole message in place of a difference.
            delta = choice.get("message")
        if isinstance(delta, dict) and draft.finish is None:
            for name in ("content", "refusal"):
                text = _text(delta.get(name))
                if text:
                    draft.refused = draft.refused or name == "refusal"
                    if piece := draft.add_text(text):
                        yield piece
            shreds = delta.get("tool_calls")
            for shred in shreds if isinstance(shreds, list) else [shreds]:
                if isinstance(shred, dict):
                    self._shred(shred, shred.get("function"))
            old = delta.get("function_call")
            if isinstance(old, dict):
                self._shred({"index": -1}, old)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and draft.finish is None:
            draft.finish = _FINISHES.get(reason, "stop")

    @property
    def over(self) -> bool:
        return self.done

    def _shred(self, shred: dict[str, Any], function: Any) -> None:
        function = function if isinstance(function, dict) else shred
        name, given = function.get("name"), shred.get("id")
        name = name if isinstance(name, str) else ""
        given = given if isinstance(given, str) else str(given) if isinstance(given, int) else ""
        parts = self._find(shred.get("index"), given, name)
        arguments = function.get("arguments")
        if given and parts.id == given and name and _repeats(parts, arguments):
            return
        parts.id = parts.id or given
        if name and name != parts.name and not parts.size:
            parts.name += name
        self.draft.grow(len(name) + parts.add_arguments(arguments))

    def _find(self, index: Any, given: str, name: str) -> CallParts:
        calls = self.draft.calls
        number = _index(index)
        if number is not None:
            known = self._by_index.get(number)
            # Servers that number every call 0 tell them apart by id and name.
            if known is None or (given and name and known.id and given != known.id):
                return self._new(number, given)
            return known
        if given:
            return self._by_id.get(given) or self._new(None, given)
        if calls and not (name and calls[-1].name and calls[-1].size):
            return calls[-1]
        return self._new(None, given)

    def _new(self, number: int | None, given: str) -> CallParts:
        parts = CallParts(id=given)
        self.draft.calls.append(parts)
        if number is not None:
            self._by_index[number] = parts
        if given:
            self._by_id.setdefault(given, parts)
        return parts

    def _count(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        sent, got = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        if sent is not None or got is not None:
            self.draft.usage = Usage(sent, got)


def _message(item: InputItem) -> dict[str, Any]:
    if isinstance(item, UserItem):
        return {"role": "user", "content": item.text}
    if isinstance(item, AssistantItem):
        message: dict[str, Any] = {"role": "assistant", "content": item.text}
        if item.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in item.calls
            ]
        return message
    return {"role": "tool", "tool_call_id": item.call_id, "content": item.text}


def _first(choices: Any) -> dict[str, Any] | None:
    if not isinstance(choices, list):
        return None
    found = [each for each in choices if isinstance(each, dict)]
    return next((each for each in found if each.get("index") in (0, None)), None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return ""


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else None


def _repeats(parts: CallParts, arguments: Any) -> bool:
    """Tell whether a shred is the whole call sent once more, as some servers do at its end."""
    if not isinstance(arguments, str) or len(arguments) != parts.size or arguments != parts.raw:
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
