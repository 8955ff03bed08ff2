"""The model's part in team memory: it may write a digest, within a time; else the rules write it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muniment.model.base import Finished, Model, ModelRequest, Usage, UserItem
from muniment.safety.errors import MunimentError

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.memory.team.consolidate_plan import Preview
    from muniment.memory.team.notebook_summary import SummaryDue, SummaryPlan

SECONDS = 180.0
GRACE_SECONDS = 10.0
"""How long a cancelled request may take to end before it is left alone; a late answer counts for nothing."""
_MAX_OUTPUT = 8_000


class NoAnswer(MunimentError):  # noqa: N818 - named for what happened
    """The model gave no answer that can be used; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Digested:
    """A preview with the digest that was had, and what asking for it used."""

    preview: Preview
    usage: Usage = field(default_factory=Usage)


def prepare(surfaces: Surfaces) -> Preview:
    """Return what a consolidation would do, its digest by rules; nothing is written and no model is asked."""
    know_agents(surfaces)
    return surfaces.team.consolidation.preview()


def know_agents(surfaces: Surfaces) -> None:
    """Tell the notebooks which agents have a recipe that is not temporary."""
    from muniment.memory.records.scope import resolve_chain
    from muniment.memory.team.insights import safe_agent
    from muniment.session.recipes.find import list_recipes

    listed = list_recipes(surfaces.paths, resolve_chain(surfaces.cwd, surfaces.paths))
    lasting = [each.recipe for each in listed if each.recipe is not None and not each.recipe.temporary]
    surfaces.team.notebooks.recipes = frozenset(safe_agent(each.agent) for each in lasting)


async def digested(
    surfaces: Surfaces,
    preview: Preview,
    model: Model | None,
    *,
    seconds: float = SECONDS,
    grace: float = GRACE_SECONDS,
) -> Digested:
    """Return the preview with a digest by the model; by rules where it has none that can be used, and why.

    The notes reach the model here and only here: call it when the user has asked for the consolidation, or
    has set it to `auto`. The rehearsal model is not asked.
    """
    from muniment.memory.team.consolidate_prompt import INSTRUCTIONS, accept, prompt

    if model is None or model.provider == "rehearsal" or preview.breaker or not preview.notes:
        return Digested(preview)
    existing = await asyncio.to_thread(surfaces.team.notes.read)
    message = prompt(preview, existing, f"{surfaces.clock():%Y-%m-%d}")
    usages: list[Usage] = []
    try:
        answer = await _asked(model, INSTRUCTIONS, message, usages.append, seconds, grace)
        preview = preview.with_digest(accept(answer, preview.max_bytes), by="model")
    except MunimentError as error:
        preview = preview.with_digest(preview.digest, by="rules", why=error.sentence)
    return Digested(preview, usages[0] if usages else Usage())


async def summarised(what: SummaryDue, model: Model | None) -> SummaryPlan:
    """Return what would stand in the place of old notebook entries; raise `MunimentError` for none."""
    from muniment.memory.team.notebook_summary import INSTRUCTIONS, accept

    if model is None or model.provider == "rehearsal":
        raise NoAnswer("A summary of notebook entries needs a model; the rehearsal model writes none.")
    answer = await _asked(model, INSTRUCTIONS, what.prompt(), lambda _: None, SECONDS, GRACE_SECONDS)
    return accept(what, answer)


async def _asked(
    model: Model,
    instructions: str,
    message: str,
    note_usage: Callable[[Usage], None],
    seconds: float,
    grace: float,
) -> str:
    """Ask once, without tools; raise `NoAnswer` or `ModelError`. A late answer is ignored."""
    request = ModelRequest(instructions, (UserItem(message),), max_output=_MAX_OUTPUT)
    task = asyncio.ensure_future(_answer(model, request))
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=grace)
            task.add_done_callback(_forget)
    if not task.done() or task.cancelled():
        raise NoAnswer(f"The model did not answer within {seconds:g} seconds.")
    finished = task.result()
    if finished is None:
        raise NoAnswer("The model's answer broke off.")
    note_usage(finished.usage)
    if finished.calls or finished.finish != "stop":
        why = "called a tool" if finished.calls else f"ended with {finished.finish}"
        raise NoAnswer(f"The model {why} where it should have written.")
    return finished.text


async def _answer(model: Model, request: ModelRequest) -> Finished | None:
    finished: Finished | None = None
    async for event in model.stream(request):
        if isinstance(event, Finished):
            finished = event
    return finished


def _forget(task: asyncio.Future[Finished | None]) -> None:
    # Nobody waits for it any more; asking for the exception keeps the loop from reporting it.
    if not task.cancelled():
        task.exception()
