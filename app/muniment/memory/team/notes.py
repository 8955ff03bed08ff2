"""Team notes: the digest of what the team learned, oldest section first, bounded from its old end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.memory.team.files import Problem, worded
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput
from muniment.safety.files import FileRefused
from muniment.safety.visible import clean_surrogates

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

FILE_NAME = "notes.md"
SURFACE = "notes"
"""The journal's word for writes to team notes."""
MAX_FILE_BYTES = 16_777_216
_HEADER = "# Team notes\n\nWhat the team learned, oldest first.\n"
_RULE = "\n---\n\n"
_SECTION = re.compile(r"^### ", re.MULTILINE)
_CUT = "\n[cut here: the section is longer than {limit} bytes]"


class TeamNotes:
    """The file `notes.md` of a workspace, read anew at every use."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self.problem: Problem | None = None
        """Why the last `read` could not use the file, or None."""

    @property
    def path(self) -> Path:
        return self._team.directory / FILE_NAME

    def read(self) -> str:
        """Return the whole text; empty where there is none or it cannot be used, and `problem` says why."""
        self.problem = None
        try:
            return _decoded(self._bytes())
        except FileRefused as refused:
            self.problem = Problem(self.path, worded(refused.reason))
        except UnicodeDecodeError:
            self.problem = Problem(self.path, "is not UTF-8 text")
        except OSError as error:
            self.problem = Problem(self.path, f"cannot be read: {error.strerror or error}")
        return ""

    def sections(self) -> list[str]:
        """Return the sections, oldest first, each from its heading on."""
        return split(self.read())[1]

    def newest(self, max_bytes: int) -> str:
        """Return the newest sections that fit into `max_bytes` of UTF-8, oldest of them first.

        The newest stands in any case, cut on a character border where it alone is too long; a last line
        within the bound counts what is left out.
        """
        return newest(self.read(), max_bytes)

    def append(self, section: str, origin: Origin, *, max_bytes: int | None = None) -> str:
        """Add a section that begins with a heading of three marks, and return the journal's id of the write.

        Over the bound (`notes.max_bytes` of the settings) whole sections go, oldest first, never this one.
        Raise `TeamRefused` where it cannot be written; then nothing is changed.
        """
        text = _checked(section)
        limit = self._team.settings.notes.max_bytes if max_bytes is None else max_bytes
        with self._team.guard():
            try:
                before = self._bytes()
                head, sections = split(_decoded(before))
            except FileRefused as refused:
                raise TeamRefused(f"{self.path} {worded(refused.reason)} and is left alone.") from refused
            except UnicodeDecodeError:
                raise TeamRefused(f"{self.path} is not UTF-8 text and is left alone.") from None
            sections.append(text)
            room = limit - len(joined(head, []).encode()) - len(_RULE)
            # A section stands with its line break, and with the rule before it.
            kept = fitting([f"{each}\n" for each in sections], room)
            sections = sections[-max(kept, 1) :]
            return self._team.files.write(
                self.path,
                joined(head, sections).encode("utf-8"),
                origin,
                surface=SURFACE,
                item=FILE_NAME,
                before=before,
            )

    def _bytes(self) -> bytes | None:
        return self._team.files.read(self.path, max_bytes=MAX_FILE_BYTES)


def split(text: str) -> tuple[str, list[str]]:
    """Return what stands before the first section, and the sections without the rules between them."""
    starts = [match.start() for match in _SECTION.finditer(text)]
    if not starts:
        return text, []
    pieces = [text[at:end] for at, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return _bare(text[: starts[0]]), [_bare(each) for each in pieces]


def joined(head: str, sections: list[str]) -> str:
    """Return the file's text for its parts."""
    return _RULE.join([(head or _HEADER).rstrip() + "\n", *(f"{each}\n" for each in sections)])


def newest(text: str, max_bytes: int) -> str:
    """Return the newest sections of a text within `max_bytes`; a text without sections is cut at its end."""
    head, sections = split(text)
    if len(text.encode()) <= max_bytes:
        return text.strip() if sections or head.strip() != _HEADER.strip() else ""
    if not sections:
        return _clipped(text.strip(), max_bytes)
    kept = fitting(sections, max_bytes - len(_older(len(sections)).encode()))
    footer = _older(len(sections) - max(kept, 1))
    if kept:
        return _RULE.join(sections[-kept:]) + footer
    return _clipped(sections[-1], max_bytes - len(footer.encode())) + footer


def fitting(sections: list[str], max_bytes: int) -> int:
    """Return how many sections, counted from the newest, fit into so many bytes with the rules between."""
    left = max_bytes + len(_RULE)
    for count, section in enumerate(reversed(sections)):
        left -= len(section.encode()) + len(_RULE)
        if left < 0:
            return count
    return len(sections)


def _older(count: int) -> str:
    word = "section" if count == 1 else "sections"
    return f"\n\n[{count} older {word} in {FILE_NAME}]" if count else ""


def _clipped(text: str, max_bytes: int) -> str:
    data = text.encode("utf-8")
    if len(data) <= max_bytes:
        return text
    notice = _CUT.format(limit=max_bytes)
    return data[: max(0, max_bytes - len(notice.encode()))].decode("utf-8", "ignore") + notice


def _bare(text: str) -> str:
    """Return a text without blank ends and without the rules at its end."""
    lines = text.strip().split("\n")
    while lines and lines[-1].strip() in ("", "---"):
        lines.pop()
    return "\n".join(lines).rstrip()


def _checked(section: str) -> str:
    """Return a section as it is written: one heading of its rank, so that it is never split."""
    text = _bare(clean_surrogates(section).replace("\x00", ""))
    if not text.startswith("### ") or not text.partition("\n")[0][4:].strip():
        raise InvalidInput("A section of the team notes begins with a heading of three marks.")
    return "### " + _SECTION.sub("#### ", text[4:])


def _decoded(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8-sig")
