"""What goes out over either wire: bodies, headers, histories, and what a server refuses of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from muniment.model.base import (
    AssistantItem,
    ModelRequest,
    ToolCall,
    ToolItem,
    ToolSpec,
    UserItem,
)
from support.server import LoopbackServer, Recorded, Reply, serve
from support.wire import HELLO, KEY, WIRES, Wire, asking, hear

SPEC = ToolSpec("memory_list", "List.", {"type": "object", "properties": {}, "additionalProperties": False})
CONVERSATION = ModelRequest(
    "Be brief.",
    (
        AssistantItem("Saved memory."),
        UserItem("List."),
        AssistantItem("", (ToolCall("c1", "memory_list", '{"limit": 2}'),)),
        ToolItem("c1", "memory_list", "none"),
        AssistantItem("There is none."),
        UserItem("Thanks."),
    ),
    (SPEC,),
)


async def sent(request: ModelRequest, wire: Wire = "chat", **how: Any) -> dict[str, Any]:
    with serve([Reply(text="ok")]) as server:
        async with asking(server.base_url, wire, **how) as model:
            assert (await hear(model, request)).finished.text == "ok"
        body: dict[str, Any] = server.requests[0].json
    return body


async def test_a_chat_body_holds_the_conversation_the_tools_and_asks_for_counts() -> None:
    body = await sent(CONVERSATION)
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "Saved memory."},
        {"role": "user", "content": "List."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "memory_list", "arguments": '{"limit": 2}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "none"},
        {"role": "assistant", "content": "There is none."},
        {"role": "user", "content": "Thanks."},
    ]
    assert body["tools"][0]["function"] == {
        "name": "memory_list",
        "description": "List.",
        "parameters": SPEC.parameters,
    }
    assert (body["model"], body["stream"], body["stream_options"]) == ("local", True, {"include_usage": True})


async def test_a_responses_body_keeps_instructions_apart_and_stores_nothing() -> None:
    body = await sent(CONVERSATION, "responses")
    assert body["input"] == [
        {"role": "assistant", "content": "Saved memory."},
        {"role": "user", "content": "List."},
        {"type": "function_call", "call_id": "c1", "name": "memory_list", "arguments": '{"limit": 2}'},
        {"type": "function_call_output", "call_id": "c1", "output": "none"},
        {"role": "assistant", "content": "There is none."},
        {"role": "user", "content": "Thanks."},
    ]
    assert (body["instructions"], body["store"], body["stream"]) == ("Be brief.", False, True)
    assert body["tools"][0]["name"] == "memory_list"
    assert body["tools"][0]["strict"] is False


@pytest.mark.parametrize("wire", WIRES)
async def test_a_summary_request_carries_a_limit_and_no_tools(wire: Wire) -> None:
    body = await sent(ModelRequest("Summarise.", (UserItem("x"),), max_output=750), wire)
    assert body["max_tokens" if wire == "chat" else "max_output_tokens"] == 750
    assert "tools" not in body
    assert "tool_choice" not in body


@pytest.mark.parametrize("wire", WIRES)
async def test_the_strict_layout_starts_with_the_user_and_alternates(wire: Wire) -> None:
    request = ModelRequest(
        "",
        (
            AssistantItem("Saved memory."),
            UserItem("One."),
            UserItem("Two."),
            AssistantItem("A."),
            AssistantItem("B."),
            UserItem("Three."),
        ),
    )
    body = await sent(request, wire, strict=True)
    messages = body["messages" if wire == "chat" else "input"]
    assert [each["role"] for each in messages] == ["user", "assistant", "user"]
    first = messages[0]["content"]
    assert first.index("Saved memory.") < first.index("---\n\nOne.") < first.index("Two.")
    assert "not a message of the user" in first
    assert messages[1]["content"] == "A.\n\nB."


@pytest.mark.parametrize("wire", WIRES)
async def test_only_our_headers_and_our_key_are_sent_whatever_the_environment_says(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-other-key-of-the-environment",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/elsewhere",
        "OPENAI_ORG_ID": "org-x",
        "OPENAI_PROJECT_ID": "proj-x",
        "OPENAI_ADMIN_KEY": "sk-admin",
        "OPENAI_CUSTOM_HEADERS": "X-Spy: 1\nAuthorization: Bearer stolen",
        "OPENAI_LOG": "debug",
    }.items():
        monkeypatch.setenv(name, value)
    with serve([Reply(text="ok")]) as server:
        async with asking(server.base_url, wire) as model:
            await hear(model)
        headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not {"x-spy", "openai-organization", "openai-project", "x-stainless-os"} & set(headers)


async def test_without_a_key_no_authorization_is_sent() -> None:
    with serve([Reply(text="ok")]) as server:
        async with asking(server.base_url, key=None) as model:
            assert (await hear(model)).finished.text == "ok"
        assert "authorization" not in server.requests[0].headers


def test_the_librarys_log_variable_prints_nothing() -> None:
    code = """
import asyncio
from support.server import Reply, serve
from support.wire import asking, hear
async def main():
    with serve([Reply(text="ok")]) as server:
        async with asking(server.base_url) as model:
            print((await hear(model)).finished.text)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), "OPENAI_LOG": "debug"},
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


async def test_a_proxy_of_the_environment_is_used_but_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    def as_proxy(request: Recorded) -> Reply:
        seen.append(request.headers["host"])
        return Reply(text="through the proxy")

    with serve([Reply(text="direct")]) as server, _proxy(as_proxy) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with asking(server.base_url) as model:
            assert (await hear(model)).finished.text == "direct"
        async with asking("http://model.example.test/v1") as model:
            assert (await hear(model)).finished.text == "through the proxy"
    assert seen == ["model.example.test"]


class _proxy:  # noqa: N801 - reads as a function in a with statement
    """A plain proxy: it answers requests for any host itself."""

    def __init__(self, answerer: Any) -> None:
        self.server = LoopbackServer(answerer=answerer)

    def __enter__(self) -> LoopbackServer:
        return self.server

    def __exit__(self, *_: object) -> None:
        self.server.close()


async def test_an_unusable_proxy_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
    async with asking("http://model.example.test/v1") as model:
        failure = (await hear(model)).failure
    assert failure.kind == "settings"
    assert "proxy" in failure.sentence


async def test_a_server_that_refuses_counts_is_asked_once_without_and_remembered() -> None:
    refusal = {"error": {"message": "Unrecognized request argument supplied: stream_options"}}
    replies = [Reply(status=400, body=json.dumps(refusal)), Reply(text="ok"), Reply(text="again")]
    with serve(replies) as server:
        async with asking(server.base_url) as model:
            assert (await hear(model)).finished.text == "ok"
            assert (await hear(model)).finished.text == "again"
        asked = ["stream_options" in request.json for request in server.requests]
    assert asked == [True, False, False]


async def test_a_server_that_knows_the_limit_by_its_other_name_is_asked_again() -> None:
    refusal = {"error": {"message": "'max_tokens' is not supported, use 'max_completion_tokens'"}}
    with serve([Reply(status=400, body=json.dumps(refusal)), Reply(text="ok")]) as server:
        async with asking(server.base_url) as model:
            heard = await hear(model, ModelRequest("", (UserItem("x"),), max_output=9))
        bodies = [request.json for request in server.requests]
    assert heard.finished.text == "ok"
    assert (bodies[0]["max_tokens"], bodies[1]["max_completion_tokens"]) == (9, 9)
    assert "max_tokens" not in bodies[1]


async def test_a_server_that_refuses_both_names_of_the_limit_is_not_asked_for_ever() -> None:
    refusal = Reply(status=400, body="max_tokens and max_completion_tokens are unknown")
    with serve([refusal, refusal]) as server:
        async with asking(server.base_url) as model:
            heard = await hear(model, ModelRequest("", (UserItem("x"),), max_output=9))
    assert heard.failure.kind == "bad_request"


@pytest.mark.parametrize("wire", WIRES)
async def test_the_turn_after_a_bad_call_is_one_that_a_strict_server_takes(wire: Wire) -> None:
    def strict(request: Recorded) -> Reply:
        body = request.json
        calls = [each for each in body.get("input", ()) if each.get("type") == "function_call"]
        for message in body.get("messages", ()):
            calls += [call["function"] for call in message.get("tool_calls", ())]
        for call in calls:
            if not isinstance(json.loads(call["arguments"]), dict):
                return Reply(status=400, body="arguments must be an object")
        request.body.decode("utf-8").encode("utf-8")
        return Reply(text=f"{len(calls)} calls are fine")

    spoiled = ("", "null", '{"a": ', "[1]", '{"a": "\\ud83d"}')
    items: list[Any] = [UserItem("go \ud83d")]
    for number, arguments in enumerate(spoiled):
        items.append(AssistantItem("", (ToolCall(f"c{number}", "memory_store", arguments),)))
        items.append(ToolItem(f"c{number}", "memory_store", "failed \udc00"))
    with serve(answerer=strict) as server:
        async with asking(server.base_url, wire) as model:
            heard = await hear(model, ModelRequest("", tuple(items)))
    assert heard.finished.text == f"{len(spoiled)} calls are fine"


@pytest.mark.parametrize("wire", WIRES)
async def test_connections_are_kept_and_a_model_closes_twice(wire: Wire) -> None:
    with serve([Reply(text="one"), Reply(text="two")]) as server:
        async with asking(server.base_url, wire) as model:
            assert (await hear(model)).finished.text == "one"
            assert (await hear(model, HELLO)).finished.text == "two"
            await model.close()
            await model.close()
