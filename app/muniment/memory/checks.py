"""What can be wrong with memory on disk: found by looking only, and put right where that harms nothing."""

from __future__ import annotations

import os
import re
import stat
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from muniment.safety.files import PRIVATE_DIR, PRIVATE_FILE

MAX_ENTRIES = 200_000
"""Directory entries that one walk looks at; a project may hold far more than memory."""
STRAY_AFTER_SECONDS = 60.0
_STRAY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)
_NOT_OURS = frozenset(("node_modules", "__pycache__", "venv"))
_SUFFIXES = (".yaml", ".md")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one thing; `fix`, where that is for us, puts it right and says what it did."""

    name: str
    ok: bool
    text: str
    fix: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """One entry of a walk, as it is itself: a link is not followed."""

    path: Path
    info: os.stat_result

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.info.st_mode)

    @property
    def mine(self) -> bool:
        return self.info.st_uid == os.geteuid()

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.info.st_mode)


def walk(roots: Iterable[Path], *, everything: bool = True) -> Iterator[Seen]:
    """Yield files and directories at and below some places, following no link.

    Without `everything` hidden directories and those of other tools are not entered.
    """
    waiting = [path for path in roots if os.path.lexists(path)]
    left = MAX_ENTRIES
    while waiting and left > 0:
        path = waiting.pop()
        try:
            info = path.lstat()
        except OSError:
            continue  # gone between listing and looking
        left -= 1
        yield Seen(path, info)
        if not stat.S_ISDIR(info.st_mode):
            continue
        try:
            names = os.listdir(path)
        except OSError:
            continue  # its mode or owner is reported by itself
        for name in names:
            child = path / name
            if everything or not (child.is_dir() and (name.startswith(".") or name in _NOT_OURS)):
                waiting.append(child)
            elif _STRAY.fullmatch(name):
                with suppress(OSError):  # gone between listing and looking
                    yield Seen(child, child.lstat())


def check_modes(seen: Iterable[Seen]) -> Iterator[Finding]:
    """Report what others can read or write, and what is not yours."""
    open_ones: list[Seen] = []
    foreign: list[Seen] = []
    for each in seen:
        if stat.S_ISLNK(each.info.st_mode):
            continue
        if not each.mine and each.info.st_uid != 0:
            foreign.append(each)
        elif each.mode & 0o077:
            open_ones.append(each)
    if open_ones:
        text = f"{_places(open_ones)} can be read or written by others."
        mine = [each for each in open_ones if each.mine]
        yield Finding("modes", False, text, (lambda: close_to_others(mine)) if mine else None)
    if foreign:
        belong, them = ("belongs", "it") if len(foreign) == 1 else ("belong", "them")
        text = f"{_places(foreign)} {belong} to another user; give {them} to yourself."
        yield Finding("owners", False, text)


def check_strays(seen: Iterable[Seen]) -> Iterator[Finding]:
    """Report temporary files, and half-made exports, that a killed process left behind."""
    from muniment.memory.records.carry.export_left import is_half_export

    border = time.time() - STRAY_AFTER_SECONDS
    strays = [
        each
        for each in seen
        if _STRAY.fullmatch(each.path.name)
        and each.info.st_mtime < border
        and each.mine
        and (
            is_half_export(each.path, border=border) if each.is_directory else stat.S_ISREG(each.info.st_mode)
        )
    ]
    if strays:
        were = "was" if len(strays) == 1 else "were"
        text = f"{_places(strays)} {were} left half-written by a process that was killed."
        yield Finding("strays", False, text, lambda: _remove(strays))


def check_names(seen: Iterable[Seen]) -> Iterator[Finding]:
    """Report names that are one name on a disk that does not tell letter cases or forms of accents apart."""
    by_name: dict[tuple[Path, str], list[str]] = {}
    for each in seen:
        if each.path.suffix.lower() in _SUFFIXES and not each.is_directory:
            same = unicodedata.normalize("NFC", each.path.name).casefold()
            by_name.setdefault((each.path.parent, same), []).append(each.path.name)
    for (directory, _), names in sorted(by_name.items()):
        if len(names) > 1:
            listed = " and ".join(sorted(names))
            text = f"{listed} in {directory} are one file on a disk that ignores case; rename one."
            yield Finding("names", False, text)


def close_to_others(seen: list[Seen]) -> str:
    """Make files and directories private and say which."""
    for each in seen:
        mode = PRIVATE_DIR if each.is_directory else PRIVATE_FILE
        try:
            fd = os.open(each.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # gone since it was seen, and so open to nobody
        try:
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
    return f"{_places(seen)} can be read and written by you only now."


def _remove(strays: list[Seen]) -> str:
    from muniment.memory.records.carry.export_left import remove_half_export

    for each in strays:
        if each.is_directory:
            remove_half_export(each.path)
        else:
            each.path.unlink(missing_ok=True)
    return f"{_places(strays)} {'was' if len(strays) == 1 else 'were'} removed."


def _places(seen: list[Seen]) -> str:
    """Name some things: all where they are few, else the first and how many more."""
    names = [str(each.path) for each in sorted(seen, key=lambda each: each.path)]
    if len(names) == 1:
        return f"1 thing ({names[0]})"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} things ({', '.join(names[:_SHOWN])}{more})"
