"""Replies in the form of both wires, and requests of both wires as the engine's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muniment.model.base import AssistantItem, InputItem, ModelRequest, ToolCall, ToolItem, ToolSpec, UserItem


@dataclass(frozen=True)
class Call:
    """A tool call to be sent; text arguments go out as they are, cut into `shreds` pieces."""

    name: str
    arguments: Mapping[str, Any] | str = "{}"
    id: str = ""
    shreds: int = 2

    @property
    def raw(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(dict(self.arguments), ensure_ascii=False)

    def pieces(self) -> list[str]:
        size = max(1, -(-len(self.raw) // max(1, self.shreds)))
        return [self.raw[at : at + size] for at in range(0, len(self.raw), size)]


def sse(*events: object, done: bool = True, named: bool = False) -> bytes:
    """Frame JSON values as server-sent events; text goes out as it is."""
    lines = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{name}data: {data}\n\n")
    if done:
        lines.append("data: [DONE]\n\n")
    return "".join(lines).encode()


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of the chat wire."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice], **more}


def chat_events(
    pieces: tuple[str, ...], calls: tuple[Call, ...], finish: str | None, usage: tuple[int, int] | None
) -> list[bytes]:
    """A reply on the chat wire, one element for each write."""
    events: list[dict[str, Any]] = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}) for piece in pieces]
    for index, call in enumerate(calls):
        function: dict[str, Any] = {"name": call.name, "arguments": ""}
        head = {"index": index, "id": call.id, "type": "function", "function": function}
        events.append(chunk({"tool_calls": [head]}))
        events += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in call.pieces()
        ]
    events.append(chunk({}, finish or ("tool_calls" if calls else "stop")))
    if usage is not None:
        counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        events.append({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": counts})
    return [*(sse(event, done=False) for event in events), b"data: [DONE]\n\n"]


def responses_events(
    pieces: tuple[str, ...], calls: tuple[Call, ...], finish: str | None, usage: tuple[int, int] | None
) -> list[bytes]:
    """The same reply on the responses wire."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "resp_1"}}]
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": output[0]})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": output[0]})
    if pieces:
        text = "".join(pieces)
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        events.append({"type": "response.output_item.added", "output_index": 1, "item": item})
        events += [
            {
                "type": "response.output_text.delta",
                "output_index": 1,
                "item_id": "msg_1",
                "content_index": 0,
                "delta": piece,
            }
            for piece in pieces
        ]
        whole = {**item, "content": [{"type": "output_text", "text": text}]}
        events.append({"type": "response.output_item.done", "output_index": 1, "item": whole})
        output.append(whole)
    for index, call in enumerate(calls, len(output)):
        head = {
            "type": "function_call",
            "id": f"fc_{index}",
            "call_id": call.id,
            "name": call.name,
            "arguments": "",
        }
        events.append({"type": "response.output_item.added", "output_index": index, "item": head})
        events += [
            {
                "type": "response.function_call_arguments.delta",
                "output_index": index,
                "item_id": head["id"],
                "delta": piece,
            }
            for piece in call.pieces()
        ]
        whole = {**head, "arguments": call.raw, "status": "completed"}
        events.append({"type": "response.output_item.done", "output_index": index, "item": whole})
        output.append(whole)
    response: dict[str, Any] = {"id": "resp_1", "status": "completed", "output": output}
    if usage is not None:
        response["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1], "total_tokens": sum(usage)}
    kind = "response.completed"
    if finish in ("length", "content_filter"):
        kind, response["status"] = "response.incomplete", "incomplete"
        response["incomplete_details"] = {"reason": "max_output_tokens" if finish == "length" else finish}
    events.append({"type": kind, "response": response})
    return [sse(event, done=False, named=True) for event in events]


def ends_reply(write: bytes) -> bool:
    """Whether a write of a rendered reply says that the reply is complete, or counts it."""
    marks = (b"[DONE]", b'"choices": []', b'"type": "response.completed"', b'"type": "response.incomplete"')
    return any(mark in write for mark in marks) or (
        b'"finish_reason"' in write and b'"finish_reason": null' not in write
    )


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    """Turn a request body of either wire back into what the engine asked."""
    if "input" in body:
        return _read_responses(body)
    return _read_chat(body)


def _read_chat(body: Mapping[str, Any]) -> ModelRequest:
    instructions, items, names = "", list[InputItem](), dict[str, str]()
    for message in body.get("messages", ()):
        text = message.get("content") or ""
        match message["role"]:
            case "system":
                instructions = text
            case "user":
                items.append(UserItem(text))
            case "assistant":
                calls = tuple(
                    ToolCall(each["id"], each["function"]["name"], each["function"]["arguments"])
                    for each in message.get("tool_calls", ())
                )
                names |= {call.id: call.name for call in calls}
                items.append(AssistantItem(text, calls))
            case "tool":
                items.append(ToolItem(message["tool_call_id"], names[message["tool_call_id"]], text))
    tools = tuple(
        ToolSpec(each["function"]["name"], each["function"]["description"], each["function"]["parameters"])
        for each in body.get("tools", ())
    )
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    return ModelRequest(instructions, tuple(items), tools, limit)


def _read_responses(body: Mapping[str, Any]) -> ModelRequest:
    items: list[InputItem] = []
    names: dict[str, str] = {}
    for each in body["input"]:
        if each.get("type") == "function_call":
            call = ToolCall(each["call_id"], each["name"], each["arguments"])
            names[call.id] = call.name
            last = items[-1] if items else None
            if isinstance(last, AssistantItem):
                items[-1] = AssistantItem(last.text, (*last.calls, call))
            else:
                items.append(AssistantItem("", (call,)))
        elif each.get("type") == "function_call_output":
            items.append(ToolItem(each["call_id"], names[each["call_id"]], each["output"]))
        elif each["role"] == "user":
            items.append(UserItem(each["content"]))
        else:
            items.append(AssistantItem(each["content"]))
    tools = tuple(
        ToolSpec(each["name"], each["description"], each["parameters"]) for each in body.get("tools", ())
    )
    instructions = body.get("instructions", "")
    return ModelRequest(instructions, tuple(items), tools, body.get("max_output_tokens"))
