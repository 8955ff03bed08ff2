"""The guide's page on model servers: its settings are good ones, and the dialects it names are understood."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from muniment.model.address import endpoint_of
from muniment.model.base import ModelRequest, ToolSpec, UserItem
from muniment.model.factory import build_model
from muniment.settings.load import effective_provider, parse
from support.server import Reply, serve
from support.server_wire import chunk, sse
from support.wire import hear

PAGE = files("muniment").joinpath("guide", "servers.md").read_text(encoding="utf-8")
SETTINGS = [
    (part.split("\n", 1)[0], block)
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    for block in re.findall(r"^```yaml\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
]
ENVIRON = {"OPENAI_API_KEY": "sk-official-0123456789", "EXAMPLE_API_KEY": "ex-0123456789"}
LOOK = ToolSpec("memory_list", "List.", {"type": "object", "properties": {}, "required": []})
ASK = ModelRequest("Be brief.", (UserItem("Hello?"),), tools=(LOOK,))


def test_the_page_has_settings_for_each_server_it_names() -> None:
    assert {name for name, _ in SETTINGS} == {
        "Ollama",
        "llama.cpp",
        "vLLM",
        "LM Studio",
        "Templates that want strict turns",
        "Hosted services",
    }
    assert "None of the programs and services named here was run" in " ".join(PAGE.split())


@pytest.mark.parametrize(("name", "text"), SETTINGS)
def test_each_block_of_settings_is_valid_and_reaches_a_model(name: str, text: str) -> None:
    settings = parse(text.encode(), Path("config.yaml"))
    assert effective_provider(settings, {}) == ("openai", "")
    endpoint = endpoint_of(settings.model, ENVIRON)
    assert endpoint.base_url.endswith("/v1")
    assert endpoint.loopback is (name != "Hosted services")
    if endpoint.loopback:
        assert endpoint_of(settings.model, {}).key is None
        assert endpoint.wire == "chat"


# How each of them streams, as far as their own documentation and reports describe it.
CALL = {"type": "function", "function": {"name": "memory_list", "arguments": "{}"}}
DIALECTS: dict[str, list[object]] = {
    # The whole call in one piece, and an end that speaks of a plain stop.
    "Ollama": [
        chunk({"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "index": 0, **CALL}]}),
        chunk({"role": "assistant", "content": ""}, "stop"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
    ],
    # A first piece without content, arguments in shreds, timings beside the end.
    "llama.cpp": [
        chunk({"role": "assistant", "content": None}),
        chunk(
            {"tool_calls": [{"index": 0, "id": "", "type": "function", "function": {"name": "memory_list"}}]}
        ),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
        chunk({}, "tool_calls", timings={"prompt_ms": 1.5}),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}, "timings": {"prompt_n": 9}},
    ],
    # Fields of its own in every piece, usage with each of them.
    "vLLM": [
        chunk({"role": "assistant", "content": "", "reasoning_content": None}, prompt_token_ids=None),
        chunk({"tool_calls": [{"id": "chatcmpl-tool-5b", "index": 0, **CALL}]}, usage={"prompt_tokens": 9}),
        chunk({"content": ""}, "tool_calls", usage={"prompt_tokens": 9, "completion_tokens": 4}),
    ],
    # Ids that are numbers, and a fingerprint.
    "LM Studio": [
        chunk({"role": "assistant", "tool_calls": [{"index": 0, "id": "447512870", **CALL}]}),
        chunk({}, "tool_calls", system_fingerprint="qwen3-8b"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    ],
}


@pytest.mark.parametrize("name", DIALECTS)
async def test_a_call_and_its_usage_are_understood_in_each_dialect(name: str) -> None:
    text = next(block for title, block in SETTINGS if title == name)
    settings = parse(text.encode(), Path("config.yaml"))
    with serve([Reply(raw=sse(*DIALECTS[name]))]) as server:
        model = build_model(settings.with_overrides(base_url=server.base_url), {})
        try:
            heard = await hear(model, ASK)
        finally:
            await model.close()
        sent = server.requests[0]
    assert [(call.name, call.arguments) for call in heard.finished.calls] == [("memory_list", "{}")]
    assert heard.finished.finish in ("stop", "tool_calls")
    assert (heard.finished.usage.input_tokens, heard.finished.usage.output_tokens) == (9, 4)
    assert sent.path == "/v1/chat/completions"
    assert sent.json["model"] == settings.model.name
    assert "authorization" not in sent.headers


async def test_the_strict_layout_begins_with_the_user_and_alternates() -> None:
    from muniment.model.base import AssistantItem

    text = next(block for title, block in SETTINGS if title.startswith("Templates"))
    settings = parse(text.encode(), Path("config.yaml"))
    request = replace(ASK, items=(UserItem("one"), UserItem("two"), AssistantItem("three"), UserItem("four")))
    with serve([Reply(text="fine")]) as server:
        model = build_model(settings.with_overrides(base_url=server.base_url), {})
        try:
            assert (await hear(model, request)).text == "fine"
        finally:
            await model.close()
        roles = [item["role"] for item in server.requests[0].json["messages"] if item["role"] != "system"]
    assert roles == ["user", "assistant", "user"]
