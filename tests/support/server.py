"""A loopback server with both wires of an OpenAI-compatible host, from a script or as the rehearsal model.

In a test: `with serve([Reply(text="Hello")]) as server: … server.base_url … server.requests`.
As a process of its own: `python -m support.server --script FILE` prints its port and runs until it is ended;
FILE holds a JSON list of objects with the fields of `Reply` (`calls`: `[{"name", "arguments", "id"}]`).
`--rehearse` answers every request as the rehearsal model does, `--record FILE` writes a JSON line a request.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from support.poll import PATIENCE
from support.server_wire import Call, chat_events, ends_reply, read_request, responses_events

End = Literal["end", "close", "reset", "stall"]
WAIT_SECONDS = PATIENCE


@dataclass(frozen=True)
class Reply:
    """What the server does with one request.

    `raw` is sent as it is in place of a rendered reply; `status` other than 200 sends `body` with its length.
    `gate` is waited for before the first byte, `hold` after the last one. `ends` tells how the body ends: as
    it should, by a connection closed or reset in the middle, or by silence until the server is closed: then
    a rendered reply goes without what would say that it is complete.
    """

    text: str | tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: tuple[int, int] | None = (11, 7)
    expect: tuple[str, ...] = ()
    raw: bytes | tuple[bytes, ...] | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes = b""
    content_type: str | None = None
    ends: End = "end"
    gate: threading.Event | None = None
    hold: threading.Event | None = None
    pause: float = 0.0
    """Seconds between two writes, for what only a person or a pseudo-terminal sees."""

    def writes(self, path: str) -> list[bytes]:
        if self.raw is not None:
            return [self.raw] if isinstance(self.raw, bytes) else list(self.raw)
        pieces = (self.text,) if isinstance(self.text, str) else self.text
        render = responses_events if path.endswith("/responses") else chat_events
        writes = render(tuple(piece for piece in pieces if piece), self.calls, self.finish, self.usage)
        return writes if self.ends == "end" else [each for each in writes if not ends_reply(each)]


@dataclass(frozen=True)
class Recorded:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answerer = Callable[[Recorded], Reply]


class LoopbackServer:
    """The running server; `requests` grows with every call to a model, `faults` with every surprise."""

    def __init__(
        self, replies: Sequence[Reply] = (), *, answerer: Answerer | None = None, port: int = 0
    ) -> None:
        self.replies = list(replies)
        self.answerer = answerer
        self.requests: list[Recorded] = []
        self.other_requests: list[Recorded] = []
        """Calls to anything but the two model paths."""
        self.faults: list[str] = []
        self.on_request: Callable[[Recorded], None] | None = None
        self.closing = threading.Event()
        self._given = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def add(self, *replies: Reply) -> None:
        """Lengthen the script."""
        with self._lock:
            self.replies.extend(replies)

    def close(self) -> None:
        """Let go of whatever waits, and end."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(WAIT_SECONDS)

    def wait_for_requests(self, number: int) -> None:
        """Wait until so many model requests have come; for code without an event loop of its own."""
        deadline = time.monotonic() + WAIT_SECONDS
        while len(self.requests) < number:
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(self.requests)} of {number} requests came")
            time.sleep(0.005)

    def reply_to(self, request: Recorded) -> Reply:
        """Return the next step of the script, or what the answerer says; a surprise is an error status."""
        with self._lock:
            self.requests.append(request)
            if self.on_request is not None:
                self.on_request(request)
            if self.answerer is not None:
                return self.answerer(request)
            number = self._given
            self._given += 1
            if number >= len(self.replies):
                return self._surprise(f"request {number + 1} is beyond the script of {len(self.replies)}")
            reply = self.replies[number]
        said = request.body.decode("utf-8", "replace")
        plain = json.dumps(json.loads(said), ensure_ascii=False) if said else ""
        for wanted in reply.expect:
            if wanted not in said and wanted not in plain:
                return self._surprise(f"request {number + 1} lacks {wanted!r}")
        return reply

    def _surprise(self, text: str) -> Reply:
        self.faults.append(text)
        # A status that nobody tries again, so that a wrong script ends at once.
        return Reply(status=418, body=json.dumps({"error": {"message": text}}))


@contextmanager
def serve(replies: Sequence[Reply] = (), *, answerer: Answerer | None = None) -> Iterator[LoopbackServer]:
    """Run a server for the block; a script that did not fit fails the block at its end."""
    server = LoopbackServer(replies, answerer=answerer)
    try:
        yield server
    finally:
        server.close()
    if server.faults:
        raise AssertionError("; ".join(server.faults))


def rehearse(request: Recorded) -> Reply:
    """Answer as the rehearsal model would."""
    from muniment.model.base import AssistantItem
    from muniment.model.rehearsal import pieces, respond

    asked = read_request(request.json)
    text, asks = respond(asked)
    first = sum(len(item.calls) for item in asked.items if isinstance(item, AssistantItem)) + 1
    calls = tuple(
        Call(ask.tool, ask.arguments, id=f"call_{number}") for number, ask in enumerate(asks, first)
    )
    return Reply(text=tuple(pieces(text)), calls=calls)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 32

    def __init__(self, address: tuple[str, int], owner: LoopbackServer) -> None:
        super().__init__(address, _Handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        # A client that was cancelled hangs up in the middle; anything else is a fault of the test.
        if not isinstance(error, ConnectionError | TimeoutError):
            self.owner.faults.append(f"the server failed: {error!r}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        self.server.owner.other_requests.append(self._record(b""))
        if self.path == "/v1/models":
            self._whole(
                200, {}, json.dumps({"object": "list", "data": [{"id": "local"}]}), "application/json"
            )
        else:
            self._whole(404, {}, b"", None)

    def do_POST(self) -> None:
        request = self._record(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        owner = self.server.owner
        # A proxy is asked for a whole address.
        self.path = urlsplit(self.path).path
        if self.path not in ("/v1/chat/completions", "/v1/responses"):
            owner.other_requests.append(request)
            self._whole(404, {}, json.dumps({"error": "no such path"}), "application/json")
            return
        reply = owner.reply_to(request)
        self._wait(reply.gate)
        if reply.status != 200:
            self._whole(reply.status, reply.headers, reply.body, reply.content_type)
            return
        self.send_response(200)
        self.send_header("Content-Type", reply.content_type or "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for data in reply.writes(self.path):
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            if reply.pause:
                owner.closing.wait(reply.pause)
        self._wait(reply.hold)
        if reply.ends == "stall":
            owner.closing.wait()
        if reply.ends == "end":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if reply.ends == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden one
        """Keep quiet."""

    def _record(self, body: bytes) -> Recorded:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Recorded(self.command, self.path, headers, body)

    def _whole(self, status: int, headers: Mapping[str, str], body: str | bytes, kind: str | None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind or "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _wait(self, event: threading.Event | None) -> None:
        while event is not None and not event.wait(0.02):
            if self.server.owner.closing.is_set():
                return


def read_script(text: str) -> list[Reply]:
    """Read a script file's replies; an unknown field is an error."""
    replies = []
    for step in json.loads(text):
        fields = dict(step)
        fields["calls"] = tuple(Call(**each) for each in fields.get("calls", ()))
        for name in ("expect", "text"):
            if isinstance(fields.get(name), list):
                fields[name] = tuple(fields[name])
        if "raw" in fields:
            fields["raw"] = fields["raw"].encode()
        if isinstance(fields.get("body"), dict | list):
            fields["body"] = json.dumps(fields["body"])
        replies.append(Reply(**fields))
    return replies


def main() -> None:
    parser = argparse.ArgumentParser(prog="support.server")
    parser.add_argument("--script", type=Path)
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    replies = read_script(options.script.read_text(encoding="utf-8")) if options.script else []
    server = LoopbackServer(replies, answerer=rehearse if options.rehearse else None, port=options.port)
    if options.record is not None:
        record = options.record

        def write(request: Recorded) -> None:
            with record.open("a", encoding="utf-8") as lines:
                line = {"path": request.path, "headers": dict(request.headers), "body": request.json}
                lines.write(json.dumps(line) + "\n")

        server.on_request = write
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    try:
        server.closing.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
