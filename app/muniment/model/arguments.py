"""The arguments of a call: judged when they come, and made safe to send back."""

from __future__ import annotations

import json
from typing import Any

from muniment.safety.visible import clean_surrogates


def judge(raw: str) -> tuple[str, str | None]:
    """Return the argument text and, where the call can never run, why; nothing or blanks count as `{}`."""
    text = raw.strip()
    if not text:
        return "{}", None
    try:
        value, end = json.JSONDecoder(parse_constant=_refuse).raw_decode(text)
    except RecursionError:
        return text, "The arguments are nested too deeply; nothing was run."
    except ValueError as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        return (
            text,
            f"The arguments are not valid JSON ({problem}): they were cut or malformed; nothing was run.",
        )
    if end != len(text):
        return (
            text,
            "The arguments hold more than one JSON value; send exactly one object a call. Nothing was run.",
        )
    if not isinstance(value, dict):
        return text, f"The arguments are {_kind(value)}, not an object; nothing was run."
    return text, None


def object_text(raw: str) -> str:
    """Return arguments that every server takes back: the text where it is one JSON object, else `{}`."""
    text, fault = judge(raw)
    if fault is not None:
        return "{}"
    if "\\u" not in text and text.isascii():
        return text
    # Half a character may hide in an escape, and there are servers that refuse a whole request for one.
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    cleaned = clean_surrogates(plain)
    return text if cleaned == plain else cleaned


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON value")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "a number"
