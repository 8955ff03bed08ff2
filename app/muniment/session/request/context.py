"""What a request carries, assembled in one place for the engine, the `context` command and the inspector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.model.base import AssistantItem, InputItem, ModelRequest, ToolItem, ToolSpec, UserItem
from muniment.session.first_use import remember_places
from muniment.session.request.blocks import (
    ORDER,
    Block,
    BlockQuery,
    Provided,
    Providers,
    TaskHints,
    bounded,
    digest_block,
    render,
    summary_block,
    turn_providers,
    unlisted_records,
)
from muniment.session.request.estimate import Limits, estimate

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.session.recipes.recipe import Recipe

FALLBACK_BLOCKS = ("team_notes", "notebook")
_STRICT_LABEL = "What follows is the user's own message:"


@dataclass(frozen=True, slots=True)
class Assembly:
    """One request with the blocks it is made of; `estimate` and `budget` count alike."""

    request: ModelRequest
    blocks: tuple[Block, ...]
    estimate: int
    budget: int
    notices: tuple[str, ...] = field(default=(), compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the shape that `muniment context` prints."""
        return {
            "instructions": self.request.instructions,
            "input": [_shown(item) for item in self.request.items],
            "blocks": [each.as_dict() for each in self.blocks],
            "estimate": self.estimate,
            "budget": self.budget,
        }


class Context:
    """The parts of a session's requests: fixed ones, the digest, and what is looked up once a turn."""

    def __init__(
        self,
        surfaces: Surfaces,
        recipe: Recipe,
        *,
        instructions: str,
        tools: tuple[ToolSpec, ...],
        limits: Limits | None = None,
        strict_layout: bool = False,
        session: str = "",
        retrieval: str = "off",
        scrub: Callable[[str], str] = str,
        providers: Providers | None = None,
    ) -> None:
        self.surfaces = surfaces
        self.recipe = recipe
        self.instructions = instructions
        self.tools = tools
        self.limits = limits or Limits()
        self.session = session
        self.providers = turn_providers() if providers is None else providers
        """What is asked once a turn, by block name and in order."""
        self.hints = TaskHints()
        """What the session's task has reported; set by whoever takes the report."""
        self.alerts: list[tuple[str, str]] = []
        """What providers want in the inbox, title and body; the next turn puts them there."""
        self._strict = strict_layout
        self.retrieval = retrieval
        """`on`, `off` or `shadow`."""
        self._scrub = scrub
        self._digest: Block | None = None
        self.carries_digest = False
        """Whether a digest was built, which may have found nothing to list."""
        self._turn: tuple[Block, ...] = ()

    def build_digest(self) -> tuple[str, ...]:
        """Read the digest now, for all requests of this session; return what the user should be told."""
        provided = digest_block(self.surfaces, BlockQuery(self.recipe, "", self.session))
        self._digest, self.carries_digest = self._bounded(provided.block), True
        self.alerts.extend(provided.alerts)
        return provided.notices

    def look_at_records(self) -> tuple[str, ...]:
        """Return which records cannot be read, where the session carries no digest that would say so."""
        provided = unlisted_records(self.surfaces)
        self.alerts.extend(provided.alerts)
        return provided.notices

    @property
    def digest(self) -> Block | None:
        return self._digest

    def look_up(self, prompt: str, *, preview: bool = False) -> tuple[tuple[Block, ...], tuple[str, ...]]:
        """Ask every provider of a turn and return its blocks and sentences; keeps nothing."""
        query = BlockQuery(
            self.recipe, self._scrub(prompt), self.session, self.retrieval, preview, self.hints
        )
        found: list[Block] = []
        notices: list[str] = []
        for name, provider in self.providers:
            if name == "user_memory" and not self.recipe.memory.user_memory:
                continue
            if name in FALLBACK_BLOCKS and any(each.name == "pack" for each in found):
                continue
            provided: Provided = provider(self.surfaces, query)
            notices.extend(provided.notices)
            if not preview:
                self.alerts.extend(provided.alerts)
            block = self._bounded(provided.block)
            if block is not None:
                found.append(block)
        return tuple(found), tuple(notices)

    def _bounded(self, block: Block | None) -> Block | None:
        return block and bounded(block, self.surfaces.settings.fence.max_bytes)

    def refresh(self, prompt: str) -> tuple[str, ...]:
        """Look up the blocks of a new turn, which stay the same for all its requests."""
        remember_places(self.surfaces)
        self._turn, notices = self.look_up(prompt)
        self._raise_alerts()
        return notices

    def _raise_alerts(self) -> None:
        """Put what the providers want seen into the inbox; a session that is only opened writes nothing."""
        if self.alerts:
            from muniment.session.alerts import raise_alert

            for title, body in self.alerts:
                raise_alert(self.surfaces, self.session, title, body)
            self.alerts.clear()

    def assemble(
        self,
        items: Sequence[InputItem],
        summary: str | None,
        *,
        turn_blocks: tuple[Block, ...] | None = None,
        notices: tuple[str, ...] = (),
    ) -> Assembly:
        """Return the request for a conversation; without memory it is exactly the conversation."""
        blocks = list(self._turn if turn_blocks is None else turn_blocks)
        if self._digest is not None:
            blocks.append(self._digest)
        if summary is not None:
            blocks.append(summary_block(summary))
        blocks.sort(key=lambda each: ORDER.index(each.name))
        request = ModelRequest(self.instructions, self._with_memory(blocks, tuple(items)), self.tools)
        return Assembly(request, tuple(blocks), estimate(request), self.limits.budget, notices)

    def _with_memory(self, blocks: list[Block], items: tuple[InputItem, ...]) -> tuple[InputItem, ...]:
        if not blocks:
            return items
        memory = render(blocks)
        if not self._strict:
            return (AssistantItem(memory), *items)
        for at, item in enumerate(items):
            if isinstance(item, UserItem):
                folded = UserItem(f"{memory}\n\n{_STRICT_LABEL}\n{item.text}")
                return (*items[:at], folded, *items[at + 1 :])
        return (UserItem(memory), *items)


def _shown(item: InputItem) -> dict[str, str]:
    match item:
        case UserItem(text):
            return {"role": "user", "content": text}
        case AssistantItem(text, calls):
            lines = [text] if text else []
            lines.extend(f"{call.name} {call.arguments}" for call in calls)
            return {"role": "assistant", "content": "\n".join(lines)}
        case ToolItem(_, _, text):
            return {"role": "tool", "content": text}
