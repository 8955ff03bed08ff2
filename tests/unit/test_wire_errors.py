"""What is told when a server cannot be asked: one sentence with setting and URL, never the key."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.model.base import ModelError
from muniment.model.faults import EXCERPT_MAX, connection_fault, excerpt, status_fault
from support.server import LoopbackServer, Recorded, Reply, serve
from support.server_wire import chunk, sse
from support.wire import HELLO, KEY, SILENCE, WIRES, Wire, asking, endpoint, hear


async def failed(
    reply: Reply, wire: Wire = "chat", key: str | None = KEY
) -> tuple[ModelError, LoopbackServer]:
    with serve([reply]) as server:
        async with asking(server.base_url, wire, key=key) as model:
            return (await hear(model)).failure, server


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, "bad_request", "model.name"),
        (401, "auth", "OPENAI_API_KEY"),
        (403, "auth", "OPENAI_API_KEY"),
        (404, "not_found", "model.base_url"),
        (422, "bad_request", "model.api"),
        (429, "rate_limit", ""),
        (500, "server", ""),
        (503, "server", ""),
        (529, "server", ""),
    ],
)
async def test_a_status_is_one_sentence_with_url_server_words_and_advice(
    wire: Wire, status: int, kind: str, advice: str
) -> None:
    body = json.dumps({"error": {"message": f"we say no to {KEY}", "code": None}})
    failure, server = await failed(Reply(status=status, body=body), wire)
    assert (failure.kind, failure.status) == (kind, status)
    path = "/chat/completions" if wire == "chat" else "/responses"
    for part in (server.base_url + path, str(status), "we say no to [key]", advice):
        assert part in failure.sentence
    assert "\n" not in failure.sentence


async def test_a_missing_key_is_named_where_the_server_wanted_one() -> None:
    failure, _ = await failed(Reply(status=401, body="who are you"), key=None)
    assert "no key was sent" in failure.sentence
    assert "OPENAI_API_KEY" in failure.sentence


async def test_a_key_that_the_server_echoes_is_never_told() -> None:
    def echo(request: Recorded) -> Reply:
        said = f"Bad header Authorization: {request.headers['authorization']} ({KEY!r})"
        return Reply(status=401, body=said)

    with serve(answerer=echo) as server:
        async with asking(server.base_url) as model:
            failure = (await hear(model)).failure
    assert KEY not in failure.sentence
    assert KEY not in repr(failure)
    assert failure.__cause__ is None
    assert "[key]" in failure.sentence


async def test_a_key_echoed_inside_a_stream_is_never_told() -> None:
    event = {"error": {"message": f"key {KEY} is over its limit", "type": "server_error"}}
    failure, _ = await failed(Reply(raw=sse(chunk({}), event)))
    assert KEY not in failure.sentence
    with serve([Reply(raw=sse(chunk({"content": "Part"}), event))]) as server:
        async with asking(server.base_url) as model:
            finished = (await hear(model)).finished
    assert KEY not in str(finished)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty body"),
        (b"   \n", "empty body"),
        (
            b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>",
            "502 Bad Gateway",
        ),
        (b"\xff\xfe\x00bin", "\\x00"),
        (b'{"detail": [{"msg": "field required"}]}', "field required"),
        (b'{"error": "plain words"}', "plain words"),
        (b'{"message": "up there"}', "up there"),
        (b'{"odd": 1}', '"odd"'),
        (b"[]", "[]"),
        (b"\x1b[31mred\x1b[0m \xe2\x80\xaeevil", "\\x1b"),
    ],
)
async def test_a_body_of_any_kind_leaves_status_and_a_clean_excerpt(body: bytes, words: str) -> None:
    failure, _ = await failed(Reply(status=502, body=body, content_type="text/html"))
    assert "502" in failure.sentence
    assert words in failure.sentence
    assert "\x1b" not in failure.sentence
    assert "\u202e" not in failure.sentence
    assert "<h1>" not in failure.sentence


async def test_a_very_long_body_is_cut() -> None:
    failure, server = await failed(Reply(status=500, body="many words " * 50_000))
    assert len(failure.sentence) < EXCERPT_MAX + len(server.base_url) + 200


async def test_a_refusal_without_an_end_is_cut_off() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def answer() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(65_536)
            peer.sendall(b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while not stopped.is_set():
                    peer.sendall(b"3e8\r\n" + b"x" * 1_000 + b"\r\n")
            except OSError:
                stopped.set()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        async with asking(f"http://127.0.0.1:{listener.getsockname()[1]}/v1") as model, asyncio.timeout(10):
            failure = (await hear(model)).failure
    finally:
        stopped.set()
        listener.close()
        thread.join(5)
    assert (failure.kind, failure.status) == ("server", 500)


async def test_silence_in_place_of_an_answer_is_a_time_out_that_names_the_setting() -> None:
    gate = threading.Event()
    with serve([Reply(text="late", gate=gate)]) as server:
        async with asking(server.base_url, timeout=SILENCE) as model:
            failure = (await hear(model)).failure
        gate.set()
    assert failure.kind == "timeout"
    assert f"{SILENCE} s (model.timeout_seconds)" in failure.sentence


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_told_and_not_followed(status: int) -> None:
    with serve([Reply(text="stolen")]) as other:
        place = f"http://localhost:{other.port}/v1/chat/completions?token={KEY}"
        failure, _ = await failed(Reply(status=status, headers={"Location": place}))
        assert other.requests == []
    assert failure.kind == "settings"
    assert "http://localhost" in failure.sentence
    assert "model.base_url" in failure.sentence
    assert KEY not in failure.sentence


async def test_a_refused_connection_names_url_and_setting() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{holder.getsockname()[1]}/v1"
        async with asking(place) as model:
            failure = (await hear(model)).failure
    assert failure.kind == "connection"
    assert place in failure.sentence
    assert "(connection refused)" in failure.sentence
    assert "model.base_url" in failure.sentence


def test_a_name_that_nobody_knows_is_a_connection_error_with_the_resolvers_words() -> None:
    failure = connection_fault(
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"), endpoint("http://nowhere.test/v1")
    )
    assert failure.kind == "connection"
    assert "http://nowhere.test/v1/chat/completions (name or service not known)" in failure.sentence


async def test_a_connection_that_breaks_before_any_answer_is_a_connection_error() -> None:
    with serve([Reply(raw=b"", ends="reset")]) as server:
        async with asking(server.base_url) as model:
            failure = (await hear(model)).failure
    assert failure.kind == "connection"


async def test_secure_speech_to_a_plain_server_says_which_scheme_to_look_at(plain_port: int) -> None:
    async with asking(f"https://127.0.0.1:{plain_port}/v1") as model:
        failure = (await hear(model)).failure
    assert failure.kind == "settings"
    assert "plain http" in failure.sentence
    assert f"https://127.0.0.1:{plain_port}/v1" in failure.sentence


@pytest.fixture
def plain_port() -> Iterator[int]:
    """The port of a server that answers anything in plain text."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(1024)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)


@pytest.mark.parametrize(
    ("suffix", "called"), [("", "/chat/completions"), ("/other/", "/other/chat/completions")]
)
async def test_a_base_url_without_its_version_fails_with_the_called_address_and_the_fix(
    suffix: str, called: str
) -> None:
    with serve() as server:
        place = f"http://127.0.0.1:{server.port}{suffix}"
        async with asking(place) as model:
            failure = (await hear(model)).failure
        assert [request.path for request in server.other_requests] == [called]
    assert failure.kind == "not_found"
    assert f"http://127.0.0.1:{server.port}{called}" in failure.sentence
    assert f"{place.rstrip('/')}/v1" in failure.sentence


async def test_the_wrong_wire_is_told_with_the_setting_that_changes_it() -> None:
    with serve([Reply(status=404, body="nothing here")]) as server:
        async with asking(server.base_url, "responses") as model:
            failure = (await hear(model)).failure
    assert "model.api: chat" in failure.sentence


async def test_a_quota_that_is_used_up_is_not_worth_a_wait() -> None:
    body = json.dumps({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})
    failure, _ = await failed(Reply(status=429, body=body))
    assert failure.kind == "auth"


async def test_cancelling_before_the_first_byte_is_immediate_and_hangs_up() -> None:
    gate = threading.Event()
    with serve([Reply(text="late", gate=gate), Reply(text="next")]) as server:
        async with asking(server.base_url, timeout=60) as model:
            task = asyncio.create_task(hear(model))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            async with asyncio.timeout(1):
                with pytest.raises(asyncio.CancelledError):
                    await task
            gate.set()
            assert (await hear(model)).finished.text == "next"


async def test_closing_the_stream_in_the_middle_is_immediate() -> None:
    with serve([Reply(raw=sse(chunk({"content": "Part"}), done=False), ends="stall")]) as server:
        async with asking(server.base_url, timeout=60) as model:
            stream = model.stream(HELLO)
            first = await anext(stream)
            async with asyncio.timeout(1):
                await stream.aclose()  # type: ignore[attr-defined]
    assert getattr(first, "text", "") == "Part"


def test_an_excerpt_holds_no_credential_and_leaves_ordinary_words() -> None:
    said = "Bearer authentication failed for Bearer abcdefghij0123456789xyz and abc"
    assert excerpt(said, "abc") == "Bearer authentication failed for Bearer [redacted] and [key]"


@given(st.binary(max_size=400) | st.text(max_size=400))
def test_an_excerpt_is_one_short_visible_line_of_any_body(body: bytes | str) -> None:
    line = excerpt(body, KEY)
    assert len(line) <= EXCERPT_MAX
    assert "\n" not in line
    line.encode("utf-8")


@given(
    st.integers(300, 599),
    st.binary(max_size=80),
    st.dictionaries(st.sampled_from(["retry-after", "location"]), st.text(max_size=30)),
)
def test_every_status_and_body_becomes_a_model_error(
    status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    failure = status_fault(status, body, headers, endpoint("http://127.0.0.1:1/v1"))
    assert failure.status == status
    assert "http://127.0.0.1:1/v1/chat/completions" in failure.sentence
    assert failure.retry_after is None or failure.retry_after >= 0
