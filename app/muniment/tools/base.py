"""What a tool is: arguments are prepared without the disk, inspected with it, and executed as approved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from muniment.approval.policy import Effect, Mode
from muniment.approval.proposal import Asker, Field, Proposal
from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces
from muniment.model.base import ToolSpec
from muniment.safety.errors import InvalidInput
from muniment.tools.status import ToolStatus

if TYPE_CHECKING:
    from muniment.tools.team import TaskDesk

RESULT_MAX_BYTES = 65_536
NEW_TEXT_MAX_BYTES = 65_536


class InvalidArguments(InvalidInput):
    """The arguments can never be executed; raised before anything is asked."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An object for programs and a text for the model (at most `RESULT_MAX_BYTES` bytes of UTF-8)."""

    status: ToolStatus
    data: dict[str, Any]
    text: str
    changed: bool = False
    """Whether memory or a file was written."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may touch, and for whom."""

    surfaces: Surfaces
    root: Path
    """The directory that file tools are confined to."""
    origin: Origin
    asker: Asker = field(default_factory=Asker)
    task: TaskDesk | None = None
    """The running task; None in a session that is none."""
    asks: bool = True
    """Whether a person decides on the proposal; false in bypass mode and with `--yes`."""

    @property
    def fence_bytes(self) -> int:
        """How many bytes of somebody's text a result may hold, as the settings have it."""
        return self.surfaces.settings.fence.max_bytes

    @property
    def bounds_new_text(self) -> bool:
        """Whether a new text over `NEW_TEXT_MAX_BYTES` is refused: nobody can be asked to read more."""
        return self.asks and self.origin.mode != Mode.BYPASS


def cut_text(text: str, notice: str, *, max_bytes: int = RESULT_MAX_BYTES) -> str:
    """Return a result's text within its bound: cut on a character border, the notice as its last line."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    tail = f"\n[{notice}]"
    room = max_bytes - len(tail.encode("utf-8", "replace"))
    return data[:room].decode("utf-8", "ignore") + tail


R = TypeVar("R")
P = TypeVar("P")


class Tool(ABC, Generic[R]):
    """A tool the model may call; `R` is its frozen request type.

    `prepare` sees arguments only, so that a replay of a history may repeat it. `inspect` looks at the disk
    and binds a proposal to the state it saw. `execute` re-checks that binding under the store's lock.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    effect: ClassVar[Effect]
    title: ClassVar[str] = ""
    """What a call does, in words, where `inspect` is the default one."""
    parameters: ClassVar[dict[str, Any]]
    """JSON schema: `type: object`, `properties`, `required`, `additionalProperties: false`."""

    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    @abstractmethod
    def prepare(self, arguments: Mapping[str, Any]) -> R:
        """Turn checked arguments into a request; raise `InvalidArguments` where they break a rule."""

    def targets(self, request: R) -> tuple[PurePath, ...]:
        """Return the file paths that the policy must judge before anything is opened."""
        return ()

    def inspect(self, request: R, call_id: str, context: ToolContext) -> Proposal:
        """Look at the disk and describe what would happen; raise `InvalidArguments` or `MunimentError`.

        The default serves tools that only read: it shows the arguments and opens nothing.
        """
        return Proposal(
            id=call_id,
            tool=self.name,
            title=self.title or f"Run {self.name}",
            fields=tuple(self.describe(request)),
            plan=request,
            asker=context.asker,
        )

    def describe(self, request: R) -> list[Field]:
        """List the fields of a request that were given, for the reviewer."""
        values = ((name, getattr(request, name)) for name in getattr(request, "__dataclass_fields__", ()))
        return [Field(name, _shown(value)) for name, value in values if value is not None]

    def planned(self, proposal: Proposal, kind: type[P]) -> P:
        """Return the plan of a proposal; raise `TypeError` for one that is not of this tool's making."""
        if not isinstance(proposal.plan, kind):
            raise TypeError(f"{self.name} executes a {kind.__name__} only")
        return proposal.plan

    @abstractmethod
    def execute(self, proposal: Proposal, context: ToolContext) -> ToolResult:
        """Execute exactly the proposal's plan; raise `MunimentError` for a failure that is to be told."""


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
