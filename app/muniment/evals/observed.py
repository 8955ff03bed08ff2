"""What happened in a run, as the graders look at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.approval.proposal import Proposal
from muniment.evals.place import Place
from muniment.model.base import AssistantItem, ModelRequest, Usage
from muniment.model.scripted import request_text
from muniment.session import events as ev

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces


@dataclass(frozen=True, slots=True)
class Check:
    """One grader's verdict; `detail` says in a few words what was otherwise."""

    grader: str
    passed: bool
    detail: str = ""


@dataclass(slots=True)
class Observed:
    """Everything that a run left: requests, events, answers, and the place as it is now."""

    place: Place
    surfaces: Surfaces
    requests: list[ModelRequest] = field(default_factory=list)
    events: list[ev.Event] = field(default_factory=list)
    asked: list[Proposal] = field(default_factory=list)
    seeded: Mapping[str, str] = field(default_factory=dict)
    """Digests of all files as they were before the first turn."""
    sessions: list[str] = field(default_factory=list)

    @property
    def final_text(self) -> str:
        """The last reply's text."""
        texts = [each.text for each in self.events if isinstance(each, ev.ReplyEnded)]
        return texts[-1] if texts else ""

    @property
    def calls(self) -> list[str]:
        """The names of all tools called, in order, whatever came of it."""
        return [each.tool for each in self.events if isinstance(each, ev.ToolCalled)]

    def results(self, tool: str) -> list[ev.ToolFinished]:
        return [each for each in self.events if isinstance(each, ev.ToolFinished) and each.tool == tool]

    @property
    def shown(self) -> list[Proposal]:
        """Proposals that ran unasked with their fields shown."""
        return [each.proposal for each in self.events if isinstance(each, ev.ProposalMade) and each.shown]

    @property
    def proposals(self) -> list[Proposal]:
        return [each.proposal for each in self.events if isinstance(each, ev.ProposalMade)]

    @property
    def notices(self) -> list[str]:
        return [each.text for each in self.events if isinstance(each, (ev.Notice, ev.ErrorRaised))]

    @property
    def turn_status(self) -> str:
        ends = [each.status for each in self.events if isinstance(each, ev.TurnEnded)]
        return ends[-1] if ends else ""

    @property
    def errors(self) -> list[str]:
        return [each.text for each in self.events if isinstance(each, ev.ErrorRaised)]

    @property
    def memory_message(self) -> str:
        """The message that the last request begins with, where it is the one that holds memory."""
        items = self.requests[-1].items if self.requests else ()
        return items[0].text if items and isinstance(items[0], AssistantItem) else ""

    @property
    def usage(self) -> Usage:
        """The tokens of all turns together, where the server reported them."""
        ends = [each.usage for each in self.events if isinstance(each, ev.TurnEnded)]
        return Usage(_sum(each.input_tokens for each in ends), _sum(each.output_tokens for each in ends))

    def said(self) -> list[str]:
        """Return the whole text of each request."""
        return [request_text(each) for each in self.requests]

    def file(self, path: str) -> Path:
        return self.place.file(self.place.fill(path))

    def text_of(self, path: str) -> str | None:
        """Return a file's text as it is now; None where there is no plain file."""
        try:
            return self.file(path).read_bytes().decode("utf-8", "replace")
        except OSError:
            return None


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None
