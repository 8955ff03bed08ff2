"""What plays the other parts of a conversation: scripted replies and answers, and an ear for requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Literal

from muniment.approval.proposal import Approver, Decision, Proposal
from muniment.approval.written import proposal_lines
from muniment.evals.case import Answer, Edits, Reply
from muniment.model.base import Model, ModelEvent, ModelRequest
from muniment.model.scripted import Step, call

Fill = Callable[[str], str]


def steps_of(replies: tuple[Reply, ...], fill: Fill) -> list[Step]:
    """Return the scripted model's steps for some replies."""
    return [
        Step(
            fill(reply.text),
            tuple(call(each.tool, fill(each.arguments)) for each in reply.calls),
            expect=tuple(map(fill, reply.expect)),
            forbid=tuple(map(fill, reply.forbid)),
        )
        for reply in replies
    ]


class Ear:
    """A model that keeps every request and leaves the answer to another model."""

    def __init__(self, inner: Model, requests: list[ModelRequest]) -> None:
        self._inner = inner
        self._requests = requests

    @property
    def provider(self) -> str:
        return self._inner.provider

    @property
    def name(self) -> str:
        return self._inner.name

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._requests.append(request)
        return self._inner.stream(request)

    async def close(self) -> None:
        await self._inner.close()


@dataclass(slots=True)
class Answers:
    """Answers proposals by the case's script; whatever does not fit it is denied and noted in `faults`."""

    script: tuple[Answer, ...] | Literal["allow", "deny", "none"]
    edit: Callable[[Edits], None]
    fill: Fill
    asked: list[Proposal] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def approver(self) -> Approver | None:
        """Return the approver of a session; None where the case says that nobody is there."""
        return None if self.script == "none" else self._answer

    def leftover(self) -> str | None:
        """Return what is wrong with the number of questions at the end, or None."""
        if isinstance(self.script, str) or len(self.asked) >= len(self.script):
            return None
        return f"{len(self.asked)} of {len(self.script)} answers were asked for"

    async def _answer(self, proposal: Proposal) -> Decision:
        self.asked.append(proposal)
        if isinstance(self.script, str):
            return Decision(self.script == "allow", "user")
        number = len(self.asked)
        if number > len(self.script):
            self.faults.append(f"proposal {number} ({proposal.tool}) has no answer in the script")
            return Decision(False, "user")
        answer = self.script[number - 1]
        wrong = self._misfits(answer, proposal)
        if wrong:
            # What is not as the case says it is was not what the case allows.
            self.faults.extend(f"proposal {number} {each}" for each in wrong)
            return Decision(False, "user")
        self.edit(answer.edits)
        return Decision(answer.allowed, "user", answer.reason)

    def _misfits(self, answer: Answer, proposal: Proposal) -> list[str]:
        wrong: list[str] = []
        if answer.tool is not None and proposal.tool != answer.tool:
            wrong.append(f"comes from {proposal.tool}, not from {answer.tool}")
        shown = written(proposal)
        wrong.extend(f"does not show {text!a}" for text in map(self.fill, answer.shows) if text not in shown)
        kinds = {each.kind for each in proposal.warnings}
        wrong.extend(f"has no warning {kind}" for kind in answer.warns if kind not in kinds)
        return wrong


def written(proposal: Proposal) -> str:
    """Return a proposal as a terminal shows it."""
    return "\n".join(proposal_lines(proposal))
