"""Pinned text: what you want in front of the model in every turn; only you write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval
from muniment.memory.team.files import Problem, worded
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput, NotFound
from muniment.safety.files import FileRefused, digest

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

FILE_NAME = "pinned.md"
SURFACE = "pinned"
"""The journal's word for writes to pinned text."""
MAX_UNITS = 4_096
"""What a request carries at most, in UTF-16 code units."""
MAX_FILE_BYTES = 1_048_576

Level = Literal["info", "warning", "critical"]
LEVELS: tuple[Level, ...] = ("info", "warning", "critical")
_DOTS: dict[str, Level] = {"\U0001f534": "critical", "\U0001f7e1": "warning"}
_HEADER = "# Pinned\n\nWhat every session in this place is shown first. Only you write here.\n"
_HEADING = re.compile(r"^###[ \t]+(?P<title>\S.*?)[ \t]*$")
# Files of other programs, or written by hand, sign in other words and with the other mark.
_SIGNED = re.compile(
    r"^(?P<mark>[_*])pinned by [\w-]{1,64} on (?P<date>\d{4}-\d\d-\d\d)(?P=mark)[ \t]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PinnedText:
    """What a request carries. `units` counts the whole file in UTF-16 code units."""

    text: str
    units: int
    cut: bool
    path: Path
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class PinnedEntry:
    """One entry; `date` is empty where it is not signed."""

    title: str
    content: str
    level: Level = "info"
    date: str = ""


@dataclass(frozen=True, slots=True)
class PinPlan:
    """A write to the pinned text; `before` and `after` are the whole file."""

    path: Path
    action: Literal["add", "remove"]
    entry: PinnedEntry
    before: str | None
    after: str
    data_before: bytes | None

    @property
    def digest_before(self) -> str | None:
        return None if self.data_before is None else digest(self.data_before)

    @property
    def units(self) -> int:
        """UTF-16 code units of the file after the write."""
        return units(self.after)


class Pinned:
    """The file `pinned.md` of a workspace, read anew at every use."""

    def __init__(self, team: Team) -> None:
        self._team = team

    @property
    def path(self) -> Path:
        return self._team.directory / FILE_NAME

    def read(self) -> PinnedText:
        """Return the text as it is, cut to `MAX_UNITS` with a notice; empty where nothing is pinned."""
        path = self.path
        try:
            text = self._text(self._team.files.read(path, max_bytes=MAX_FILE_BYTES)) or ""
        except FileRefused as refused:
            return PinnedText("", 0, False, path, Problem(path, worded(refused.reason)))
        except (OSError, TeamRefused) as error:
            why = error.strerror or str(error) if isinstance(error, OSError) else "is not UTF-8 text"
            return PinnedText("", 0, False, path, Problem(path, why))
        if text.strip() in ("", _HEADER.strip()):
            return PinnedText("", units(text), False, path)
        shown = cut(text)
        return PinnedText(shown, units(text), shown is not text, path)

    def entries(self) -> list[PinnedEntry]:
        """Return the entries in the file's order; raise `TeamRefused` for a file that cannot be used."""
        return parse(self._whole()[1] or "")

    def plan_add(self, title: str, content: str, level: Level = "info") -> PinPlan:
        """Plan to add an entry at the end; raise `InvalidInput` for what cannot be one."""
        entry = PinnedEntry(" ".join(title.split()), content.strip(), level, f"{self._team.clock():%Y-%m-%d}")
        _check(entry)
        data, text = self._whole()
        if any(each.title.casefold() == entry.title.casefold() for each in parse(text or "")):
            raise InvalidInput(
                "Something with this title is pinned already; remove it first or choose another title."
            )
        after = f"{(text or _HEADER).rstrip()}\n\n{_written(entry)}"
        if len(after.encode()) > MAX_FILE_BYTES:
            raise InvalidInput(f"{self.path} would grow over {MAX_FILE_BYTES} bytes; remove something first.")
        return PinPlan(self.path, "add", entry, text, after, data)

    def plan_remove(self, title: str) -> PinPlan:
        """Plan to remove the first entry of this title, whatever its letter case; raise `NotFound`."""
        data, text = self._whole()
        wanted = " ".join(title.split()).casefold()
        lines = _lines(text or "")
        for start, end, entry in _spans(lines):
            if entry.title.casefold() == wanted:
                after = "".join((*lines[:start], *lines[end:])).rstrip()
                return PinPlan(self.path, "remove", entry, text, f"{after}\n" if after else "", data)
        raise NotFound(f"Nothing with this title is pinned in {self.path}.")

    def commit(self, plan: PinPlan, origin: Origin) -> str:
        """Do what a plan says if the file still is what was seen; return the journal's id of the write.

        Raise `TeamRefused` for anybody but the user, `ChangedAfterApproval` where the file changed.
        """
        if origin.actor != "user":
            raise TeamRefused("Nothing was pinned: only the user writes pinned text.")
        with self._team.guard():
            try:
                now = self._team.files.read(plan.path, max_bytes=MAX_FILE_BYTES)
            except FileRefused:
                now = b""
            if plan.path != self.path or (None if now is None else digest(now)) != plan.digest_before:
                raise ChangedAfterApproval(f"{plan.path} was changed meanwhile, nothing written.")
            return self._team.files.write(
                plan.path,
                plan.after.encode("utf-8"),
                origin,
                surface=SURFACE,
                item=plan.entry.title,
                before=now,
            )

    def _whole(self) -> tuple[bytes | None, str | None]:
        path = self.path
        try:
            data = self._team.files.read(path, max_bytes=MAX_FILE_BYTES)
        except FileRefused as refused:
            raise TeamRefused(f"{path} {worded(refused.reason)} and is left alone.") from refused
        return data, self._text(data)

    def _text(self, data: bytes | None) -> str | None:
        try:
            return None if data is None else data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TeamRefused(f"{self.path} is not UTF-8 text and is left alone.") from None


def units(text: str) -> int:
    """Count a text in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, limit: int = MAX_UNITS) -> str:
    """Return a text of at most `limit` UTF-16 units, with a notice after it where something is missing.

    A character that takes two units stands whole or not at all.
    """
    if units(text) <= limit:
        return text
    left = limit
    for at, each in enumerate(text):
        left -= 1 + (each > "\uffff")
        if left < 0:
            return f"{text[:at]}\n[cut here: {FILE_NAME} is longer than {limit} UTF-16 units]"
    return text


def parse(text: str) -> list[PinnedEntry]:
    """Return the entries of a pinned text; a heading without an empty line after it is none."""
    return [entry for _, _, entry in _spans(_lines(text))]


def _spans(lines: list[str]) -> list[tuple[int, int, PinnedEntry]]:
    """Return each entry with the lines it takes, up to the next heading of its kind."""
    found: list[tuple[int, int, PinnedEntry]] = []
    heads = [at for at, line in enumerate(lines) if _HEADING.match(line.rstrip("\r\n"))]
    for at, end in zip(heads, (*heads[1:], len(lines))[: len(heads)], strict=True):
        if at + 1 >= len(lines) or lines[at + 1].strip():
            continue
        match = _HEADING.match(lines[at].rstrip("\r\n"))
        title = "" if match is None else match["title"]
        level: Level = "info"
        for dot, meaning in _DOTS.items():
            if title.startswith(dot):
                level, title = meaning, title.removeprefix(dot).strip()
        body, date = [], ""
        for line in lines[at + 1 : end]:
            signed = _SIGNED.match(line.rstrip("\r\n"))
            if signed is not None:
                date = signed["date"]
                break
            body.append(line)
        found.append((at, end, PinnedEntry(title, "".join(body).strip(), level, date)))
    return found


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")]


def _written(entry: PinnedEntry) -> str:
    dot = next((f"{dot} " for dot, level in _DOTS.items() if level == entry.level), "")
    return f"### {dot}{entry.title}\n\n{entry.content}\n\n_Pinned by user on {entry.date}_\n"


def _check(entry: PinnedEntry) -> None:
    """Refuse what would not be read back as it was given."""
    if not entry.title or not entry.content:
        raise InvalidInput("A pinned entry needs a title and a text.")
    if "\x00" in entry.title + entry.content or any(
        "\ud800" <= c <= "\udfff" for c in entry.title + entry.content
    ):
        raise InvalidInput("A pinned entry holds a NUL character or half of a character; remove it.")
    if parse(_written(entry)) != [entry]:
        raise InvalidInput(
            "The text would be read as several entries: no line of it may be a heading of three marks "
            "or a signature, and the title may not begin with a mark of its own."
        )
