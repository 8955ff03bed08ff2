"""Taking secrets out of text that is kept or given away: traces, exports, episodes.

Unlike a finding, which only points, redaction replaces; so it knows formats and never guesses from
randomness. It is never applied to memory: what was approved is stored as it was approved.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

MARK = "[redacted]"
KEY_MARK = "[key]"
_WORD_BELOW = 8
"""A key of fewer characters may be part of any other word, so it goes only where it is a word itself."""

_SECRET_QUERY = frozenset(("access_token", "auth_token", "token", "api_key", "sig", "signature", "pat"))
_TOKENS = r"(?:access_|refresh_|id_|auth_|api_|session_)?token|api[_-]?key|apikey"
_WORDS = r"password|passwd|passphrase|secret|client_secret|secret_key|secret_access_key|private_key"

_PEM = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)", re.DOTALL
)
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\"'`]+")
_URL_END = re.compile(r"[.,;:!?)\]}]+$")
_JSON = re.compile(
    rf'(\\?"(?:{_TOKENS})\\?"\s*:\s*\\?")[A-Za-z0-9+/=_.~-]{{20,}}(\\?")'
    rf'|(\\?"(?:{_WORDS})\\?"\s*:\s*\\?")[^"\\\s]{{4,}}(\\?")',
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer\s+)[A-Za-z0-9+/=_.~-]{20,}", re.IGNORECASE)
_BASIC = re.compile(r"(\bauthorization\s*[:=]\s*[\"']?basic\s+)[A-Za-z0-9+/=]{8,}", re.IGNORECASE)
_JWT = re.compile(
    r"\bey(?:J|A|(?=[\w-]*[A-Z])(?=[\w-]*\d))[A-Za-z0-9_-]{9,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,})?"
)
_ASSIGNED = re.compile(
    rf"\b((?:{_WORDS}|{_TOKENS}|pwd)\s?=\s?[\"']?)(?!\[redacted\])[^\s\"'&;,<>]{{4,}}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:"
    r"sk-(?:[A-Za-z]+-)?(?=[\w-]*\d)[A-Za-z0-9_-]{20,}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{30,}"
    r")"
)
_FIRST_LOOK = re.compile(
    r"://|bearer|basic |ey[A-Za-z]|-----BEGIN|token|key|pass|secret|pwd|sk[-_]|[rp]k_|gh[pousr]_|github_|"
    r"glpat|AKIA|ASIA|AGPA|AROA|AIDA|AIza|ya29|xox|npm_|pypi-|SG\.|hf_",
    re.IGNORECASE,
)


def redact(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Return the text with everything that has the format of a secret replaced by a mark.

    `secrets` are known values, such as an API key in use, that go wherever they stand.
    """
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, MARK)
    if not _FIRST_LOOK.search(text):
        return text
    text = _PEM.sub(MARK, text)
    text = _URL.sub(_url, text)
    text = _JSON.sub(lambda match: f"{match[1] or match[3]}{MARK}{match[2] or match[4]}", text)
    text = _BEARER.sub(rf"\1{MARK}", text)
    text = _BASIC.sub(rf"\1{MARK}", text)
    text = _JWT.sub(MARK, text)
    text = _NAMED.sub(MARK, text)
    return _ASSIGNED.sub(rf"\1{MARK}", text)


def key_forms(key: str) -> frozenset[str]:
    """Return a key as it may stand in a text: bare, and as JSON, a URL and HTML write it."""
    escaped = {json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]}
    return frozenset({key, quote(key, safe=""), html.escape(key), *escaped})


def without_key(text: str, key: str | None) -> str:
    """Return the text without a key that is in use, wherever somebody echoed it."""
    for form in key_forms(key) if key else ():
        if len(form) >= _WORD_BELOW:
            text = text.replace(form, KEY_MARK)
        else:
            text = re.sub(rf"(?<![\w-]){re.escape(form)}(?![\w-])", KEY_MARK, text)
    return text


def redact_value(value: Any, *, secrets: Iterable[str] = ()) -> Any:
    """Return a copy of a JSON-like value with every text in it redacted; other values pass through."""
    known = tuple(secrets)
    return _walk(value, lambda text: redact(text, secrets=known))


def _walk(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: _under(key, each, clean) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_walk(each, clean) for each in value]
    return value


_SECRET_KEY = re.compile(rf"(?:{_TOKENS}|{_WORDS}|authorization)", re.IGNORECASE)


def _under(key: Any, value: Any, clean: Callable[[str], str]) -> Any:
    """Under a key that names a secret a text that looks like one goes whole, as it would in JSON text."""
    if isinstance(key, str) and isinstance(value, str) and _SECRET_KEY.fullmatch(key):
        cleaned = clean(value)
        if cleaned != value:
            return cleaned
        return MARK if re.fullmatch(r"\S{20,}", value) else value
    return _walk(value, clean)


def _url(match: re.Match[str]) -> str:
    url = match[0]
    end = _URL_END.search(url)
    tail = end[0] if end is not None else ""
    return MARK + tail if _carries_secret(url.removesuffix(tail)) else url


def _carries_secret(url: str) -> bool:
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True) + parse_qsl(parts.fragment)
    except ValueError:
        # What cannot be taken apart is judged by its looks.
        return "@" in url or any(f"{name}=" in url.lower() for name in _SECRET_QUERY)
    user, at, _ = parts.netloc.rpartition("@")
    if at and (":" in user or len(user) >= 20):
        return True
    return any(name.lower() in _SECRET_QUERY and value for name, value in query)
