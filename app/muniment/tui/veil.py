"""Hidden characters in a draft: each stands there as one visible cell and is given back unchanged.

A text area puts what it holds on the terminal as it is. So a pasted escape or direction mark is kept as a
private character that no paste can forge, drawn as a sign, and turned back when the draft is sent.
"""

from __future__ import annotations

from muniment.safety.visible import clean_surrogates, escape, is_hidden, reading

_FIRST = 0xF0000
_LAST = 0xFFFFD
_SIGN = "�"


class Veil:
    """The private characters of one draft; the same hidden character always gets the same one."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def on(self, text: str) -> str:
        """Return a text that can stand in a text area; line breaks become plain ones."""
        text = clean_surrogates(text.replace("\r\n", "\n").replace("\r", "\n"))
        plain = text.replace("\t", " ")
        if reading(plain) == plain and not any(_is_private(ch) for ch in text):
            return text
        return "".join(self._one(ch) if ch not in "\n\t" and _must_hide(ch) else ch for ch in text)

    def off(self, text: str) -> str:
        """Return the text as it was given."""
        if not self._back:
            return text
        return "".join(self._back.get(ch, ch) for ch in text)

    def drawn(self, line: str) -> str:
        """Return a line as it is drawn, cell by cell as long as it is."""
        if not self._back:
            return line
        return "".join(_picture(self._back[ch]) if ch in self._back else ch for ch in line)

    def names(self, text: str) -> list[str]:
        """Return the escapes of the hidden characters that stand in a text area's text, each once."""
        return [escape(self._back[ch]) for ch in dict.fromkeys(text) if ch in self._back]

    def _one(self, character: str) -> str:
        if character not in self._of:
            private = chr(min(_LAST, _FIRST + len(self._of)))
            self._of[character] = private
            self._back[private] = character
        return self._of[character]


def pictured(text: str) -> str:
    """Return a text as a field may draw it, character by character as long as it is."""
    plain = text.replace("\t", " ")
    if reading(plain) == plain:
        return text
    return "".join(_picture(ch) if ch not in "\n\t" and is_hidden(ch) else ch for ch in text)


def _must_hide(character: str) -> bool:
    return is_hidden(character) or _is_private(character)


def _is_private(character: str) -> bool:
    return _FIRST <= ord(character) <= _LAST


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else _SIGN
