"""The Responses wire, which the official host prefers; nothing is stored there, every request is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, cast

from muniment.model.base import AssistantItem, InputItem, ModelRequest, Usage, UserItem
from muniment.model.draft import CallParts, count
from muniment.model.openai_wire import OpenAIModel, ReplyReader
from muniment.model.replay import valid_items

if TYPE_CHECKING:
    import openai


class OpenAIResponsesModel(OpenAIModel):
    """A model asked over `/responses`."""

    def body(self, request: ModelRequest) -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        for item in valid_items(request.items, strict=self.endpoint.strict_layout):
            items.extend(_input(item))
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "input": items,
            "stream": True,
            "store": False,
            "truncation": "disabled",
        }
        if request.instructions:
            body["instructions"] = request.instructions
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": spec.parameters,
                    "strict": False,
                }
                for spec in request.tools
            ]
        if request.max_output is not None:
            body["max_output_tokens"] = request.max_output
        return body

    def _open(self, client: openai.AsyncOpenAI, body: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
        create: Any = client.responses.with_streaming_response.create
        return cast("AbstractAsyncContextManager[Any]", create(**body))

    def _reply(self) -> ReplyReader:
        return ResponsesReader()

    def _without_refused(self, body: dict[str, Any], said: str) -> dict[str, Any] | None:
        if "truncation" in body and "truncation" in said:
            return {name: value for name, value in body.items() if name != "truncation"}
        return None


class ResponsesReader(ReplyReader):
    """Reads typed events; an output item is known by its place in the output, else by its id."""

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[Any, CallParts] = {}
        self._spoken: set[Any] = set()

    @property
    def over(self) -> bool:
        return self.draft.finish is not None

    def take(self, event: dict[str, Any]) -> Iterator[str]:
        kind = event.get("type")
        draft = self.draft
        if draft.finish is not None or not isinstance(kind, str):
            kind = ""
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                draft.refused = draft.refused or kind == "response.refusal.delta"
                self._spoken.add(_place(event))
                yield from self._say(event.get("delta"))
            case "response.function_call_arguments.delta":
                draft.grow(self._call(event).add_arguments(event.get("delta")))
            case "response.function_call_arguments.done":
                self._call(event).replace_arguments(event.get("arguments"))
            case "response.output_item.added" | "response.output_item.done":
                yield from self._item(_place(event), event.get("item"), done=kind.endswith("done"))
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._end(kind, event.get("response"))
            case "":
                # Without a type this is the answer of a server that does not stream.
                if isinstance(event.get("output"), list) and draft.finish is None:
                    status = event.get("status")
                    yield from self._end(f"response.{status or 'completed'}", event)

    def _item(self, place: Any, item: Any, *, done: bool) -> Iterator[str]:
        if not isinstance(item, dict):
            return
        if item.get("type") == "function_call":
            parts = self._items.get(place)
            if parts is None:
                parts = self._items[place] = CallParts()
                self.draft.calls.append(parts)
            parts.id = _str(item.get("call_id")) or parts.id or _str(item.get("id"))
            parts.name = _str(item.get("name")) or parts.name
            if done:
                parts.replace_arguments(item.get("arguments"))
                parts.cut = item.get("status") == "incomplete"
        elif item.get("type") == "message" and done and place not in self._spoken:
            # A server that sends whole messages in place of differences.
            self._spoken.add(place)
            for part in item.get("content") or ():
                if isinstance(part, dict):
                    self.draft.refused = self.draft.refused or part.get("type") == "refusal"
                    yield from self._say(part.get("text", part.get("refusal")))

    def _end(self, kind: str, response: Any) -> Iterator[str]:
        response = response if isinstance(response, dict) else {}
        usage = response.get("usage")
        if isinstance(usage, dict):
            self.draft.usage = Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")))
        if kind == "response.completed":
            output = response.get("output")
            for place, item in enumerate(output if isinstance(output, list) else ()):
                if not self._known(place, item):
                    yield from self._item(place, item, done=True)
            self.draft.finish = "stop"
        elif kind == "response.incomplete":
            details = response.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else None
            self.draft.finish = "refusal" if reason == "content_filter" else "length"
        else:
            self.draft.finish = "broken"

    def _known(self, place: int, item: Any) -> bool:
        if place in self._items or place in self._spoken:
            return True
        if not isinstance(item, dict):
            return False
        return item.get("id") in self._spoken or any(
            parts.id == _str(item.get("call_id")) != "" for parts in self._items.values()
        )

    def _call(self, event: dict[str, Any]) -> CallParts:
        place = _place(event)
        parts = self._items.get(place)
        if parts is None:
            parts = self._items[place] = CallParts(name=_str(event.get("name")))
            self.draft.calls.append(parts)
        return parts

    def _say(self, text: Any) -> Iterator[str]:
        if isinstance(text, str) and text and (piece := self.draft.add_text(text)):
            yield piece


def _input(item: InputItem) -> Iterator[dict[str, Any]]:
    if isinstance(item, UserItem):
        yield {"role": "user", "content": item.text}
    elif isinstance(item, AssistantItem):
        if item.text:
            yield {"role": "assistant", "content": item.text}
        for call in item.calls:
            yield {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
    else:
        yield {"type": "function_call_output", "call_id": item.call_id, "output": item.text}


def _place(event: dict[str, Any]) -> Any:
    index = event.get("output_index")
    if isinstance(index, int) and not isinstance(index, bool):
        return index
    item = event.get("item")
    name = event.get("item_id") or (item.get("id") if isinstance(item, dict) else None)
    return _str(name)


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""
