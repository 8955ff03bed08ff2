"""Notebooks: what each agent found, one file an agent, oldest entry first, bounded from its old end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.memory.team.files import Problem, worded
from muniment.memory.team.insights import safe_agent
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.errors import InvalidInput
from muniment.safety.files import FileRefused

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

SURFACE = "notebook"
"""The journal's word for writes to notebooks."""
SUFFIX = ".md"
MAX_FILE_BYTES = 16_777_216
Change = Callable[[list[str]], list[str]]
_ENTRY = re.compile(r"^### ", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,3})(?=\s)", re.MULTILINE)


class Notebooks:
    """The directory `knowledge/agents` of a workspace, read anew at every use."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self.recipes: frozenset[str] = frozenset()
        """Agents of recipes that are not temporary; the session layer, which knows them, puts them here."""
        self.problem: Problem | None = None
        """Why the last notebook could not be read, or None."""

    @property
    def directory(self) -> Path:
        return self._team.directory / "knowledge" / "agents"

    def known(self) -> frozenset[str]:
        """Return the agents that may have a notebook: those of the settings and of lasting recipes."""
        return frozenset(map(safe_agent, self._team.settings.notebooks.agents)) | self.recipes

    def agents(self) -> list[str]:
        """Return the agents that have a notebook."""
        try:
            return [name.removesuffix(SUFFIX) for name in self._team.files.names(self.directory)]
        except (FileRefused, OSError):
            return []

    def path_of(self, agent: str) -> Path:
        """Return the file of an agent's notebook; raise `InvalidInput` for what names no agent."""
        if safe_agent(agent) != agent:
            raise InvalidInput(f"{agent[:80]!a} names no agent that can have a notebook.")
        return self.directory / f"{agent}{SUFFIX}"

    def read(self, agent: str) -> str:
        """Return the whole notebook; empty where there is none or it cannot be used, see `problem`."""
        self.problem = None
        path = self.path_of(agent)
        try:
            return _decoded(self._bytes(path))
        except FileRefused as refused:
            self.problem = Problem(path, worded(refused.reason))
        except UnicodeDecodeError:
            self.problem = Problem(path, "is not UTF-8 text")
        except OSError as error:
            self.problem = Problem(path, f"cannot be read: {error.strerror or error}")
        return ""

    def entries(self, agent: str) -> list[str]:
        """Return the entries, oldest first, each from its heading on."""
        return split(self.read(agent))[1]

    def newest(self, agent: str, max_bytes: int) -> str:
        """Return the newest whole entries that fit into `max_bytes` of UTF-8, oldest of them first.

        A newest entry that alone is longer is cut on a character border.
        """
        kept: list[str] = []
        size = 0
        for entry in reversed(self.entries(agent)):
            size += len(entry.encode()) + 2
            if size - 2 > max_bytes:
                break
            kept.append(entry)
        if kept:
            return "\n\n".join(reversed(kept))
        newest = self.entries(agent)[-1:]
        return newest[0].encode()[:max_bytes].decode("utf-8", "ignore") if newest else ""

    def holds(self, agent: str, text: str) -> bool:
        """Tell whether a notebook has an entry with exactly this text."""
        return text.strip() in self.entries(agent)

    def append(self, agent: str, text: str, origin: Origin) -> str:
        """Add an entry and return the journal's id of the write; the oldest ones go where a bound is passed.

        Raise `InvalidInput` for a text that is no entry, `TeamRefused` where it cannot be written.
        """
        return self.extend(agent, [text], origin)

    def extend(self, agent: str, texts: Sequence[str], origin: Origin) -> str:
        """Add several entries in one write; else as `append`."""
        added = [each.strip() for each in texts]
        if not all(each.startswith("### ") and len(_ENTRY.findall(each)) == 1 for each in added):
            raise InvalidInput("An entry of a notebook begins with its one heading of three marks.")
        return self._rewrite(agent, origin, lambda entries: [*entries, *added])

    def replace(self, agent: str, old: Sequence[str], new: str, origin: Origin) -> str:
        """Put one entry in the place of the oldest ones; raise `TeamRefused` where those have changed."""

        def summed(entries: list[str]) -> list[str]:
            if entries[: len(old)] != list(old):
                raise TeamRefused(f"The notebook of {agent} was changed after approval, nothing written.")
            return [new.strip(), *entries[len(old) :]]

        return self._rewrite(agent, origin, summed)

    def _rewrite(self, agent: str, origin: Origin, change: Change) -> str:
        path = self.path_of(agent)
        bounds = self._team.settings.notebooks
        with self._team.guard():
            try:
                before = self._bytes(path)
                head, entries = split(_decoded(before))
            except FileRefused as refused:
                raise TeamRefused(f"{path} {worded(refused.reason)} and is left alone.") from refused
            except UnicodeDecodeError:
                raise TeamRefused(f"{path} is not UTF-8 text and is left alone.") from None
            kept = _window(agent, head, change(entries)[-bounds.max_entries :], bounds.max_bytes)
            return self._team.files.write(
                path, joined(agent, head, kept).encode(), origin, surface=SURFACE, item=agent, before=before
            )

    def _bytes(self, path: Path) -> bytes | None:
        return self._team.files.read(path, max_bytes=MAX_FILE_BYTES)


def split(text: str) -> tuple[str, list[str]]:
    """Return what stands before the first entry, and the entries."""
    starts = [match.start() for match in _ENTRY.finditer(text)]
    if not starts:
        return text.strip(), []
    pieces = [text[at:end].strip() for at, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return text[: starts[0]].strip(), pieces


def joined(agent: str, head: str, entries: Sequence[str]) -> str:
    """Return the file's text for its parts."""
    return "\n\n".join([head or f"# Notebook of {agent}", *entries]) + "\n"


def _window(agent: str, head: str, entries: Sequence[str], max_bytes: int) -> list[str]:
    """Return the newest entries whose file is at most `max_bytes` long; the newest one in any case."""
    size = len(joined(agent, head, []).encode())
    kept: list[str] = []
    for entry in reversed(entries):
        size += len(entry.encode()) + 2
        if kept and size > max_bytes:
            break
        kept.append(entry)
    return kept[::-1]


def entry_text(date: str, title: str, lines: Sequence[str], reference: str) -> str:
    """Return an entry: one heading, a line for each insight, and where the whole note stands."""
    said = "\n".join(f"- {each}" for each in lines)
    return f"### {date} {title}\n\n{said}\n\n_From {reference}_"


def demoted(text: str) -> str:
    """Return a text in which nothing can be taken for a heading of an entry or section."""
    return _HEADING.sub("####", text)


def _decoded(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8-sig")
