"""The block of what was recalled for a turn, and what stands in for it where recall fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError
from muniment.session.request.blocks import DATA_RULE, Block, BlockQuery, Provided

if TYPE_CHECKING:
    from muniment.memory.recall.need import Need
    from muniment.memory.recall.recall import Bounds, Recalled
    from muniment.memory.surfaces import Surfaces
    from muniment.session.recipes.recipe import Recipe

SOURCE = "memory-retrieval"
LABEL = (
    "Memories chosen for this message from the ledger and the records of this place, best first. Each says "
    "when it was written, where it comes from and how far its writer is trusted: human, system, agent, or "
    f"external for what came from elsewhere. {DATA_RULE}"
)
ALERT_TITLE = "Recall failed"
READS_RECORDS = "memory_retrieve"
"""The tool that gives a model a record whole; where a recipe has it asked about, recall gives none either."""
_HEAD_MAX_BYTES = 4_096
_REF = "ref: refs/heads/"


def pack_block(surfaces: Surfaces, query: BlockQuery) -> Provided:
    """Provide the memories that fit the turn; none where recall is off, in shadow, finds none or fails."""
    if query.retrieval not in ("on", "shadow"):
        return Provided()
    try:
        recalled = _recall(surfaces, query)
        if not query.preview:
            surfaces.recall.note(recalled, session=query.session, shadow=query.retrieval == "shadow")
    except Exception as error:  # noqa: BLE001 - whatever fails here, the turn goes on with the team's files
        return _failed(surfaces, query, error)
    notices = _news(surfaces, query, recalled.notices)
    pack = recalled.pack
    if query.retrieval == "shadow" or not pack.rows:
        return Provided(notices=notices)
    return Provided(
        Block("pack", SOURCE, LABEL, pack.text, len(pack.rows), pack.bytes, rows=pack.rows), notices
    )


def need_of(surfaces: Surfaces, query: BlockQuery) -> Need:
    """Return what a turn needs to remember: its task, its message, and what is known beside them."""
    from muniment.memory.recall.need import build_need

    recipe = query.recipe
    # The built-in recipe says nothing about what the work is.
    task = recipe.prompt or (recipe.description if recipe.path is not None else "")
    return build_need(
        message=query.prompt,
        task=task,
        files=query.hints.files,
        failure=query.hints.failure,
        pr=query.hints.pr,
        branch=branch_of(surfaces.cwd),
    )


def bounds_of(surfaces: Surfaces, query: BlockQuery) -> Bounds:
    """Return the bounds of a pack: the recipe's, else those of the settings."""
    from muniment.memory.recall.recall import Bounds

    settings, policy = surfaces.settings.retrieval, query.recipe.memory
    return Bounds(
        settings.top_k if policy.top_k is None else policy.top_k,
        settings.max_bytes if policy.max_bytes is None else policy.max_bytes,
        settings.candidates,
    )


def sources_of(recipe: Recipe) -> tuple[str, ...]:
    """Return where recall looks: not among records where the recipe wants each reading of one approved."""
    from muniment.approval.policy import matches

    kept_back = matches(READS_RECORDS, recipe.approve)
    return tuple(each for each in recipe.memory.sources if not (kept_back and each == "records"))


def branch_of(cwd: Path) -> str:
    """Return the name of the branch checked out there, read from its file; empty where there is none."""
    from muniment.safety.files import FileRefused, read_regular

    def read(path: Path) -> str:
        data = read_regular(path, max_bytes=_HEAD_MAX_BYTES, single_link=False, any_owner=True)
        return data.decode("utf-8", "replace").strip()

    for directory in (cwd, *cwd.parents):
        git = directory / ".git"
        try:
            if git.is_dir():
                head = read(git / "HEAD")
            elif git.is_file():
                # A linked work tree has a file here that names its own directory.
                place = read(git).removeprefix("gitdir:").strip()
                head = read((directory / place) / "HEAD")
            else:
                continue
        except (OSError, FileRefused):
            return ""
        return head.removeprefix(_REF) if head.startswith(_REF) else ""
    return ""


def _recall(surfaces: Surfaces, query: BlockQuery) -> Recalled:
    from muniment.memory.ledger.row import Places

    return surfaces.recall.look(
        need_of(surfaces, query),
        Places(surfaces.team.scope_key, query.recipe.agent),
        bounds=bounds_of(surfaces, query),
        sources=sources_of(query.recipe),
        preview=query.preview,
    )


def _failed(surfaces: Surfaces, query: BlockQuery, error: Exception) -> Provided:
    said = error.sentence if isinstance(error, MunimentError) else f"An unexpected fault: {error!r}."
    notice = f"Recall failed, so the team's notes stand in for it. {said}"
    notices = _news(surfaces, query, (notice,))
    return Provided(notices=notices, alerts=((ALERT_TITLE, notice),) if notices else ())


def _news(surfaces: Surfaces, query: BlockQuery, sentences: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences that were not told yet; a preview tells all of them and counts as no telling."""
    if query.preview:
        return sentences
    told = surfaces.recall.told
    fresh = tuple(each for each in sentences if each not in told)
    told.update(fresh)
    return fresh
