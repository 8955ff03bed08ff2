"""The trace of a session: each request and response as sent, one JSON object a line, without the key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from muniment.memory.origin import utc_now
from muniment.model.base import Finished, ModelRequest
from muniment.safety.errors import MunimentError, reason_of
from muniment.safety.files import append_durable, ensure_private_dir
from muniment.safety.redact import KEY_MARK, key_forms
from muniment.safety.visible import clean_surrogates
from muniment.session.request.estimate import wire_items

_SHORTEST_KEY = 8


class Trace:
    """Appends to one file; a disk that refuses costs the trace and never the turn."""

    def __init__(self, path: Path, *, scrub: Callable[[str], str] = str) -> None:
        self.path = path
        self.fault: str | None = None
        self._scrub = scrub

    def request(self, turn_id: str, number: int, provider: str, model: str, request: ModelRequest) -> None:
        """Write what goes out."""
        self._write(
            "request",
            turn_id,
            number,
            {
                "provider": provider,
                "model": model,
                "instructions": request.instructions,
                "input": wire_items(request.items),
                "tools": [
                    {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                    for tool in request.tools
                ],
                "max_output": request.max_output,
            },
        )

    def response(self, turn_id: str, number: int, finished: Finished) -> None:
        """Write what came back."""
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in finished.calls]
        body = {
            "text": finished.text,
            "calls": calls,
            "finish": finished.finish,
            "usage": finished.usage.as_dict(),
        }
        self._write("response", turn_id, number, body)

    def failure(self, turn_id: str, number: int, sentence: str, text: str) -> None:
        """Write that no whole response came; `text` is what had arrived."""
        self._write("failure", turn_id, number, {"error": sentence, "text": text})

    def _write(self, kind: str, turn_id: str, number: int, body: Mapping[str, Any]) -> None:
        head = {"kind": kind, "time": utc_now().strftime("%Y-%m-%dT%H:%M:%SZ"), "turn_id": turn_id}
        value = {**head, "number": number, **body}
        line = clean_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        try:
            ensure_private_dir(self.path.parent)
            append_durable(self.path, self._scrub(line).encode("utf-8") + b"\n")
            self.fault = None
        except (OSError, MunimentError) as error:
            reason = f"{reason_of(error)}." if isinstance(error, OSError) else str(error)
            self.fault = f"The trace {self.path} is not being written: {reason}"


def key_scrubber(key: str | None) -> Callable[[str], str]:
    """Return a function that takes the API key out of a text, whether bare or as JSON writes it."""
    secret = (key or "").strip().strip("\"'").strip()
    if len(secret) < _SHORTEST_KEY:
        # So short a word stands in ordinary text too, and replacing it there would falsify the log.
        return str
    forms = sorted(key_forms(secret), key=len, reverse=True)

    def scrub(text: str) -> str:
        for form in forms:
            text = text.replace(form, KEY_MARK)
        return text

    return scrub
