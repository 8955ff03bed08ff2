"""Text from outside on its way to a widget: made visible, and never read as markup."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from muniment.safety.visible import Visible, reading, reading_line


def safe(text: str) -> Content:
    """Return text for a paragraph."""
    return Content(reading(text))


def safe_line(text: str) -> Content:
    """Return text for one line."""
    return Content(reading_line(text))


def exact(shown: Visible) -> Content:
    """Return text in its exact form, the escapes in the warning colour."""
    content = Content(shown.text)
    for start, end in shown.spans:
        content = content.stylize("$warning", start, end)
    return content


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Content:
    """Return text for one line with some places marked; the places are those of the text as it is."""
    parts: list[Content | tuple[str, str]] = []
    at = 0
    for start, end in spans:
        if start < at:
            continue
        parts += [safe_line(text[at:start]), (reading_line(text[start:end]), "bold $accent underline")]
        at = end
    return Content.assemble(*parts, safe_line(text[at:]))


class StreamText:
    """Feeds streamed text through the reading form without tearing a character sequence apart.

    Joiners and selectors belong to what stands before and after them, and a delta may end in between; so what
    follows the last plain ASCII character is held back until more comes.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, delta: str) -> str:
        """Return what can be shown now."""
        text = self._held + delta
        end = len(text)
        while end and not text[end - 1].isascii():
            end -= 1
        # A long run of another script is let go but for its end, rather than held for ever.
        if len(text) - end > 64:
            end = len(text) - 8
        self._held = text[end:]
        return reading(text[:end]) if end else ""

    def rest(self) -> str:
        """Return what was held back at the end of the stream."""
        held, self._held = self._held, ""
        return reading(held) if held else ""
