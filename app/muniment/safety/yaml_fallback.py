"""Parser events without libyaml: the same events, slower, for builds of PyYAML that have no C parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_REFUSED = re.compile("[^\\t\\n\\r\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def python_events(raw: bytes) -> Callable[[], Any]:
    """Return the function that gives the next event of a text.

    Its faults carry a byte offset like libyaml's, and half a surrogate pair written as an escape is refused
    as libyaml refuses it.
    """
    import yaml

    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise yaml.reader.ReaderError(
            "text", error.start, raw[error.start], "utf-8", "invalid UTF-8 octet"
        ) from None
    bad = _REFUSED.search(text)
    if bad is not None:
        offset = len(text[: bad.start()].encode("utf-8"))
        raise yaml.reader.ReaderError("text", offset, ord(bad[0]), "?", "control characters are not allowed")
    stream = yaml.parse(text, Loader=yaml.BaseLoader)

    def next_event() -> Any:
        event = next(stream)
        value = getattr(event, "value", None)
        if value and any("\ud800" <= character <= "\udfff" for character in value):
            raise yaml.scanner.ScannerError(
                None, None, "found invalid Unicode character escape code", cast("Any", event.start_mark)
            )
        return event

    return next_event
