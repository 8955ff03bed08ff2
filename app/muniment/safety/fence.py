"""The untrusted fence: recalled text inside it cannot end it, open another one, or grow beyond its bound."""

from __future__ import annotations

import re

from muniment.safety.visible import clean_surrogates

MAX_BODY_BYTES = 65_536
TAG = "UNTRUSTED-INPUT"
CLOSING = f"</{TAG}>"
_NOTICE = "\n[cut here: the text is longer than {limit} bytes]"
_ESCAPED = "&lt;"
_MAX_SOURCE = 200

_UNSEEN = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_GAP = f"[\\s{_UNSEEN}]*+"
"""What may stand between the characters of a tag without keeping a reader from taking it for one."""


def _loose(word: str) -> str:
    """A pattern for a word in any case, in full width too, with gaps anywhere."""
    return _GAP.join(
        f"[{each.lower()}{each}{chr(ord(each) + 0xFEE0)}{chr(ord(each.lower()) + 0xFEE0)}]" for each in word
    )


_WIDE, _SMALL = "\uff1c\ufe64"
_TAG_ATTEMPT = re.compile(
    f"[<{_WIDE}{_SMALL}](?=[\\s{_UNSEEN}/\\\\\uff0f\u2044\u2215]*+"
    f"{_loose('UNTRUSTED')}{_GAP}[-_\u2010-\u2015\u2212\ufe63\uff0d]*+{_GAP}{_loose('INPUT')})"
)
_NOT_IN_SOURCE = re.compile(f"[\"'<>&`\ud800-\udfff{_UNSEEN}]")


def fence(source: str, body: str, *, max_bytes: int = MAX_BODY_BYTES) -> str:
    """Wrap text from elsewhere so that it stays data: one opening tag naming the source, one closing tag."""
    return f'<{TAG} source="{clean_source(source)}">\n{fenced_body(body, max_bytes=max_bytes)}\n{CLOSING}'


def clean_source(source: str) -> str:
    """Return a source name that cannot leave its attribute; never empty."""
    return _NOT_IN_SOURCE.sub("", source).strip()[:_MAX_SOURCE] or "unknown"


def untagged(text: str) -> str:
    """Return text with attempts at a tag made harmless, for what stands beside a fence and not inside."""
    if "<" not in text and _WIDE not in text and _SMALL not in text:
        return text  # like nearly all text; to look for one character costs next to nothing
    return _TAG_ATTEMPT.sub(_ESCAPED, text)


def fenced_body(body: str, *, max_bytes: int = MAX_BODY_BYTES) -> str:
    """Return what stands between the tags: attempts at a tag made harmless, then cut to `max_bytes` of UTF-8.

    A cut falls between characters, never inside an escape, and says so within the bound.
    """
    safe = untagged(clean_surrogates(body))
    if safe.isascii() and len(safe) <= max_bytes:
        return safe
    raw = safe.encode("utf-8")
    if len(raw) <= max_bytes:
        return safe
    notice = _NOTICE.format(limit=max_bytes)
    room = max_bytes - len(notice.encode("utf-8"))
    if room < 0:
        room, notice = max(max_bytes, 0), ""
    kept = raw[:room].decode("utf-8", "ignore")
    for half in range(1, len(_ESCAPED)):
        if safe.startswith(_ESCAPED, len(kept) - half):
            kept = kept[:-half]
            break
    return kept + notice
