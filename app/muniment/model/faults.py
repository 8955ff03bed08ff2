"""What goes wrong between here and a server, as one sentence that names setting and URL and never the key."""

from __future__ import annotations

import errno
import html
import json
import math
import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from muniment.model.base import ModelError
from muniment.safety.redact import redact, without_key
from muniment.safety.visible import clean_surrogates, reading

if TYPE_CHECKING:
    from muniment.model.address import Endpoint

EXCERPT_MAX = 240
_SCRIPTS = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>")
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title\s*>")
_TAGS = re.compile(r"(?s)<!--.*?-->|<[^>]*>")
_SERVER_STATUSES = range(500, 600)
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def excerpt(body: str | bytes | Mapping[str, Any] | None, key: str | None) -> str:
    """Return the server's own words from any body, on one short line; empty where there are none."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if isinstance(text, str):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict | list):
            text = _message(parsed) or text
    elif text is not None:
        text = _message(text) or json.dumps(dict(text), ensure_ascii=False, default=str)
    plain = redact(without_key(clean_surrogates(text or ""), key))
    if re.match(r"\s*<", plain):
        title = _TITLE.search(plain)
        body_text = _TAGS.sub(" ", _SCRIPTS.sub(" ", plain))
        plain = html.unescape(f"{title.group(1) if title else ''} {body_text}")
    line = reading(" ".join(plain.split()))
    return line if len(line) <= EXCERPT_MAX else line[: EXCERPT_MAX - 1] + "…"


def status_fault(
    status: int, body: str | bytes | Mapping[str, Any] | None, headers: Mapping[str, str], endpoint: Endpoint
) -> ModelError:
    """Turn an answer that is no success into an error; `headers` are looked up in lower case."""
    said = excerpt(body, endpoint.key)
    told = f": {said.rstrip('.')}" if said else " with an empty body"
    start = f"{endpoint.url} answered {status}{told}"
    wait = parse_retry_after(headers.get("retry-after"))
    if 300 <= status < 400:
        place = without_key(_origin(headers.get("location", "")), endpoint.key)
        return ModelError(
            f"{endpoint.url} answered {status} and points to {place}; nothing was sent there. "
            "Set model.base_url to the final address.",
            kind="settings",
            status=status,
        )
    if status == 401:
        advice = (
            f"set {endpoint.key_variable} (model.api_key_env), no key was sent"
            if endpoint.key is None
            else f"check the key in {endpoint.key_variable} (model.api_key_env)"
        )
        return ModelError(f"{start}; {advice}.", kind="auth", status=status)
    if status == 403:
        advice = f"the key in {endpoint.key_variable} (model.api_key_env) may not use {_model(endpoint)}"
        return ModelError(f"{start}; {advice}.", kind="auth", status=status)
    if status in (404, 405):
        return ModelError(f"{start}; {_where(endpoint)}.", kind="not_found", status=status)
    if status == 429:
        if _code(body) in QUOTA_CODES:
            return ModelError(
                f"{start}; waiting will not help: check the account of the key in {endpoint.key_variable}.",
                kind="auth",
                status=status,
            )
        return ModelError(f"{start}.", kind="rate_limit", status=status, retry_after=wait)
    if status in _SERVER_STATUSES:
        return ModelError(f"{start}.", kind="server", status=status, retry_after=wait)
    advice = "check model.name, model.api and model.chat_layout"
    return ModelError(f"{start}; {advice}.", kind="bad_request", status=status)


def event_fault(error: Any, endpoint: Endpoint) -> ModelError:
    """Turn an error that came inside a stream into one of the same kinds as a status."""
    detail: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error)}
    words = f"{detail.get('type') or ''} {detail.get('code') or ''}".lower()
    code = str(detail.get("code") or detail.get("status") or "")
    status = int(code) if len(code) == 3 and code.isascii() and code.isdecimal() else None
    said = excerpt(detail, endpoint.key) or "an error without a message"
    sentence = f"{endpoint.url} reported an error in the middle of its answer: {said.rstrip('.')}."
    limited = status == 429 or "rate_limit" in words or "too_many_requests" in words
    if limited and not any(each in words for each in QUOTA_CODES):
        wait = parse_retry_after(str(detail["retry_after"])) if "retry_after" in detail else None
        return ModelError(sentence, kind="rate_limit", status=status or 429, retry_after=wait)
    if status in (401, 403):
        return ModelError(sentence, kind="auth", status=status)
    permanent = status is not None and 400 <= status < 500
    return ModelError(sentence, kind="bad_request" if permanent else "server", status=status)


def connection_fault(error: BaseException, endpoint: Endpoint) -> ModelError:
    """Turn a failure of the network into an error that says what failed and which setting to look at."""
    import ssl

    chain = list(_chain(error))
    tls = next((each for each in chain if isinstance(each, ssl.SSLError)), None)
    if tls is not None:
        reason = (tls.reason or str(tls)).replace("_", " ").lower()
        advice = (
            "the server may speak plain http: check the scheme of model.base_url"
            if "wrong version" in reason or "record layer" in reason
            else "check model.base_url and the certificates of this machine"
        )
        return ModelError(
            f"No secure connection to {endpoint.url} ({_brief(reason, endpoint)}); {advice}.", kind="settings"
        )
    names = [type(each).__name__.lower() for each in chain]
    if any("connecttimeout" in name for name in names):
        reason = "nobody answers"
    elif any("timeout" in name for name in names):
        return timeout_fault(endpoint)
    else:
        system = [_system_reason(each) for each in chain if isinstance(each, OSError)]
        found = [each for each in system if each]
        reason = found[-1] if found else str(chain[-1]) or type(chain[-1]).__name__
    return ModelError(
        f"No connection to {endpoint.url} ({_brief(reason, endpoint)}); check that the server runs "
        "and that model.base_url is right.",
        kind="connection",
    )


def timeout_fault(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"{endpoint.url} sent nothing for {endpoint.timeout_seconds:g} s (model.timeout_seconds).",
        kind="timeout",
    )


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait, given as a number or an HTTP date; else None."""
    text = (value or "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
        return max(0.0, seconds)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _where(endpoint: Endpoint) -> str:
    if not urlsplit(endpoint.base_url).path.endswith("/v1"):
        return f"model.base_url usually ends in /v1: try {endpoint.base_url}/v1"
    there = f"that the server has {_model(endpoint)}"
    if endpoint.wire == "responses":
        return f"it may not speak this interface: try model.api: chat, and check model.base_url and {there}"
    return f"check model.base_url and {there}"


def _model(endpoint: Endpoint) -> str:
    return f"model.name {reading(endpoint.model)!r}"


def _origin(location: str) -> str:
    parts = urlsplit(location)
    return reading(f"{parts.scheme}://{parts.hostname}" if parts.hostname else location[:80] or "nowhere")


def _message(body: Any) -> str:
    if isinstance(body, list):
        body = body[0] if body else {}
    if not isinstance(body, Mapping):
        return ""
    error = body.get("error", body)
    if isinstance(error, str):
        return error
    if isinstance(error, Mapping):
        for name in ("message", "detail", "msg", "reason"):
            value = error.get(name)
            if isinstance(value, str) and value.strip():
                return value
            if value and not isinstance(value, str):
                return json.dumps(value, ensure_ascii=False, default=str)
    return ""


def _code(body: Any) -> str:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return ""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    return str(error.get("code") or error.get("type") or "") if isinstance(error, Mapping) else ""


def _chain(error: BaseException | None) -> list[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def _system_reason(error: OSError) -> str:
    """Return the system's own words, which are shorter than those of the libraries between."""
    known = (
        error.errno is not None and error.errno in errno.errorcode and not isinstance(error, socket.gaierror)
    )
    return os.strerror(error.errno or 0) if known else error.strerror or ""


def _brief(reason: str, endpoint: Endpoint) -> str:
    return excerpt(reason, endpoint.key).rstrip(".")[:120].lower() or "no reason given"
