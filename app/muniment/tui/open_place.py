"""Opening the places that a function key leads to, and what happens with what is chosen there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError, sentence_of
from muniment.safety.visible import reading_line
from muniment.tui.place import returned_to

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.session.options import StartOptions
    from muniment.session.recipes.fill import RecipeParameters
    from muniment.tui.app import MunimentApp

SETTLE_SECONDS = 0.6
"""How long the panel's width must stand still before it is written into the settings."""


def search(app: MunimentApp, engine: Engine, words: str) -> None:
    """Search; what is chosen opens above the search."""
    from muniment.tui.open_item import item_lines
    from muniment.tui.screens.search import SearchScreen

    standing = returned_to(app, SearchScreen)
    if standing is not None:
        standing.search_for(words)
        return
    screen = SearchScreen(
        engine.surfaces,
        words,
        lambda item: app.by_hand("open", item),
        lambda item: item_lines(engine, item),
    )
    app.push_screen(screen)


def inspect(app: MunimentApp, engine: Engine, draft: str) -> None:
    """Show the last request and the next one, taken apart."""
    from muniment.session.request.inspecting import Inspected
    from muniment.session.request.inspecting import inspect as taken_apart
    from muniment.tui.screens.inspector import InspectorScreen

    if returned_to(app, InspectorScreen) is not None:
        return
    context = engine.context
    sent = engine.last_assembly

    def of_next() -> Inspected:
        about = "the next request, with your draft" if draft else "the next request, before you write"
        return taken_apart(
            engine.assemble_preview(draft),
            about,
            limits=context.limits,
            settings=engine.surfaces.settings,
            recipe=engine.recipe,
            retrieval=context.retrieval,
        )

    def of_last() -> Inspected:
        if sent is None:
            raise MunimentError("No request was sent in this session yet.")
        return taken_apart(
            sent,
            "the last request, as it was sent",
            limits=context.limits,
            settings=engine.surfaces.settings,
            recipe=engine.recipe,
            retrieval=context.retrieval,
        )

    app.push_screen(InspectorScreen(of_next, None if sent is None else of_last))


def sessions(app: MunimentApp, resume: Callable[[str | None], None]) -> None:
    """Show earlier sessions; what is chosen is resumed."""
    from muniment.tui.screens.sessions import SessionsScreen

    if returned_to(app, SessionsScreen) is not None:
        return
    engine = app.engine

    def rename(title: str) -> None:
        if engine is not None:
            engine.rename(title)
            app.session_screen.entitle()

    screen = SessionsScreen(
        app.boot.paths,
        app.boot.settings,
        "" if engine is None else engine.id,
        cwd=str(app.boot.cwd if engine is None else engine.cwd),
        rename_current=rename,
    )
    app.push_screen(screen, resume)


async def parameters(app: MunimentApp, fault: RecipeParameters, options: StartOptions) -> StartOptions | None:
    """Ask for what a recipe still needs, beginning with what was given; None where it is left."""
    from dataclasses import replace

    from muniment.tui.screens.picker import ParameterForm

    if fault.recipe is None:
        return None
    # What is missing is marked in the form itself; a name or a value that does not fit is told.
    told = "" if fault.missing else fault.sentence
    values = await app.push_screen_wait(ParameterForm(fault.recipe, options.params, told))
    return None if values is None else replace(options, params=values)


async def keep_panel_width(app: MunimentApp, cells: int) -> None:
    """Write the width into the settings once the panel has been left alone for a moment."""
    from muniment.settings.edit import change

    await asyncio.sleep(SETTLE_SECONDS)
    try:
        await asyncio.to_thread(change, app.boot.paths, "tui.panel_width", cells)
    except (MunimentError, OSError) as error:
        app.notify(f"The width of the panel was not kept: {reading_line(sentence_of(error))}", markup=False)
