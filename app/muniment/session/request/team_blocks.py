"""The blocks of team memory: what is pinned, the newest team notes, and the agent's own notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError, reason_of
from muniment.session.request.blocks import DATA_RULE, BlockQuery, Provided, block

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.session.recipes.recipe import Recipe

FILE_MAX_BYTES = 8_192
"""What a request carries of the team notes, and of a notebook, in bytes of UTF-8."""

PINNED_LABEL = f"What the user has pinned for this place (pinned.md), as it is. {DATA_RULE}"
NOTES_LABEL = f"The newest of the team's notes for this place (notes.md), by agents and people. {DATA_RULE}"
NOTEBOOK_LABEL = (
    f"The newest entries of your own notebook, made from what you reported in earlier tasks. {DATA_RULE}"
)


def pinned_block(surfaces: Surfaces, query: BlockQuery) -> Provided:
    """Provide the pinned text, read from the file now; it is never a template."""
    team = surfaces.team
    read = team.pinned.read()
    notices: tuple[str, ...] = ()
    if read.problem is not None:
        notices = team.news((read.problem,), repeat=query.preview)
    if not read.text:
        return Provided(notices=notices, alerts=_alerts("Pinned text is skipped", notices))
    from muniment.memory.team.pinned import parse

    items = max(1, len(parse(read.text)))
    return Provided(block("pinned", "pinned", PINNED_LABEL, read.text, items=items), notices)


def team_notes_block(surfaces: Surfaces, query: BlockQuery) -> Provided:
    """Provide the newest sections of the team notes."""
    from muniment.memory.team.notes import split

    team = surfaces.team
    text = team.notes.newest(FILE_MAX_BYTES)
    if not text.strip():
        problem = team.notes.problem
        notices = () if problem is None else team.news((problem,), repeat=query.preview)
        return Provided(notices=notices, alerts=_alerts("Team notes are skipped", notices))
    items = max(1, len(split(text)[1]))
    return Provided(block("team_notes", "team-notes", NOTES_LABEL, text, items=items))


def notebook_block(surfaces: Surfaces, query: BlockQuery) -> Provided:
    """Provide the newest entries of the agent's notebook; a temporary agent has none."""
    agent = query.recipe.agent
    if not keeps_notebook(query.recipe):
        return Provided()
    try:
        text = surfaces.team.notebooks.newest(agent, FILE_MAX_BYTES)
    except (OSError, MunimentError) as error:
        said = reason_of(error) if isinstance(error, OSError) else str(error)
        notice = f"The notebook of {agent} is not used: {said.rstrip('.')}."
        return Provided(notices=(notice,), alerts=_alerts("A notebook is skipped", (notice,)))
    if not text.strip():
        return Provided()
    items = max(1, text.count("\n### ") + text.startswith("### "))
    return Provided(block("notebook", f"notebook:{agent}", NOTEBOOK_LABEL, text, items=items))


def keeps_notebook(recipe: Recipe) -> bool:
    """Tell whether the agent of a recipe has a notebook."""
    return not recipe.temporary


def _alerts(title: str, notices: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return ((title, "\n".join(notices)),) if notices else ()
