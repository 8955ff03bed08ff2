"""The loopback server as a process of its own, and the rehearsal model heard through both wires."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from muniment.model.base import AssistantItem, ModelRequest, ToolItem, ToolSpec, UserItem
from muniment.model.rehearsal import RehearsalModel
from support.poll import PATIENCE
from support.server import Reply, rehearse, serve
from support.server_wire import Call
from support.wire import HELLO, WIRES, Wire, asking, hear

TESTS = Path(__file__).parents[1]


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """Run the server as a program and give its base URL."""
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-m", "support.server", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as running:
        try:
            assert running.stdout is not None
            yield f"http://127.0.0.1:{int(running.stdout.readline())}/v1"
        finally:
            running.kill()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_script_file_is_played_and_requests_are_recorded(wire: Wire, tmp_path: Path) -> None:
    script, record = tmp_path / "script.json", tmp_path / "record.jsonl"
    steps = [
        {"text": ["Hel", "lo"], "calls": [{"name": "memory_list", "arguments": {"limit": 1}, "id": "c1"}]},
        {"status": 404, "body": {"error": {"message": "gone"}}},
    ]
    script.write_text(json.dumps(steps), encoding="utf-8")
    with process("--script", str(script), "--record", str(record)) as base_url:
        async with asking(base_url, wire) as model:
            finished = (await hear(model)).finished
            assert "gone" in (await hear(model)).failure.sentence
    assert (finished.text, [each.name for each in finished.calls]) == ("Hello", ["memory_list"])
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert [line["body"]["model"] for line in lines] == ["local", "local"]


@pytest.mark.parametrize("wire", WIRES)
async def test_the_rehearsal_model_says_the_same_through_a_wire(wire: Wire) -> None:
    tools = (ToolSpec("memory_store", "", {}), ToolSpec("memory_list", "", {}))
    items: tuple[UserItem | AssistantItem | ToolItem, ...] = (
        AssistantItem("Memory"),
        UserItem(
            "Use memory_store to save a project memory:\nid: a\ntitle: A\ncontent: x\nThen use memory_list."
        ),
    )
    with serve(answerer=rehearse) as server:
        async with asking(server.base_url, wire) as model:
            for _ in range(3):
                request = ModelRequest("Be brief.", items, tools)
                near, far = (await hear(RehearsalModel(pace=0), request)), await hear(model, request)
                assert far.finished.text == near.finished.text
                assert [(c.name, c.arguments) for c in far.finished.calls] == [
                    (c.name, c.arguments) for c in near.finished.calls
                ]
                calls = far.finished.calls
                results = tuple(ToolItem(each.id, each.name, "Done.") for each in calls)
                items = (*items, AssistantItem(far.finished.text, calls), *results)
    assert [item.name for item in items if isinstance(item, ToolItem)] == ["memory_store", "memory_list"]


async def test_a_request_that_does_not_fit_its_script_fails_the_block() -> None:
    with serve([Reply(text="ok", expect=("something else",))]) as server:
        async with asking(server.base_url) as model:
            assert (await hear(model)).failure.status == 418
        faults = list(server.faults)
        server.faults.clear()
    assert faults == ["request 1 lacks 'something else'"]


async def test_models_are_listed_and_other_paths_are_not_found() -> None:
    def get(url: str) -> bytes:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            data: bytes = answer.read()
            return data

    with serve() as server:
        assert b"local" in await asyncio.to_thread(get, f"{server.base_url}/models")
        with pytest.raises(urllib.error.HTTPError) as caught:
            await asyncio.to_thread(get, f"{server.base_url}/other")
        caught.value.close()
        assert len(server.other_requests) == 2


def test_calls_are_cut_into_as_many_shreds_as_asked() -> None:
    assert Call("x", '{"a": 1}', shreds=3).pieces() == ['{"a', '": ', "1}"]
    assert "".join(Call("x", {"a": "ü"}, shreds=50).pieces()) == '{"a": "ü"}'
    assert HELLO.items
