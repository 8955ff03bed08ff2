"""Opening a session from the screen: what has to be asked first, and what is said where none is opened."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from muniment.safety.errors import MunimentError
from muniment.safety.visible import reading_line
from muniment.tui.begin import begin

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.session.options import StartOptions
    from muniment.tui.app import MunimentApp


def pick(app: MunimentApp) -> None:
    """Let a recipe be chosen and open a session with it; leaving the choice leaves the app."""
    from muniment.tui.screens.picker import Picked, RecipePicker

    def picked(choice: Picked | Literal["leave"] | None) -> None:
        if choice == "leave":
            app.exit(0)
        elif choice is not None:
            app.open(replace(app.options, recipe=choice.recipe, params=choice.params))

    app.push_screen(RecipePicker(app.boot), picked)


async def opened(app: MunimentApp, options: StartOptions) -> tuple[Engine, StartOptions] | None:
    """Return an open session and the options it took, or None where that was told or a recipe is chosen."""
    from muniment.session.recipes.endpoint import EndpointUndecided, allow_endpoint
    from muniment.session.recipes.fill import RecipeParameters
    from muniment.session.start import DirectoryGone, open_session
    from muniment.tui.modals.question import Question

    boot = app.boot
    while True:
        try:
            engine = await asyncio.to_thread(
                open_session,
                options,
                boot.paths,
                boot.cwd,
                boot.environ,
                app.desk.ask,
                settings=boot.settings,
            )
            return engine, options
        except EndpointUndecided as undecided:
            question = undecided.question
            if not await app.push_screen_wait(Question(question.text, yes="Allow", no="Refuse")):
                _not_opened(app, f"The session was not opened: {undecided.sentence}")
                return None
            await asyncio.to_thread(allow_endpoint, boot.paths, question)
        except DirectoryGone as gone:
            if not await app.push_screen_wait(Question(f"{gone.sentence} Go on here?", yes="Go on here")):
                _not_opened(app, gone.sentence)
                return None
            options = replace(options, continue_here=True)
        except RecipeParameters as fault:
            from muniment.tui.open_place import parameters

            filled = await parameters(app, fault, options)
            if filled is None:
                # Where there is no session to go back to, another recipe may be chosen.
                if app.engine is None:
                    pick(app)
                else:
                    _not_opened(app, fault.sentence)
                return None
            options = filled
        except MunimentError as error:
            _not_opened(app, error.sentence)
            if app.engine is None and options.resume_id is None and isinstance(options.recipe, str):
                # What was named cannot be used and would fail again: another recipe may be chosen.
                app.notify(reading_line(error.sentence), severity="error", markup=False)
                pick(app)
            return None


def _not_opened(app: MunimentApp, sentence: str) -> None:
    app.tell(sentence, error=True)
    app.session_screen.status.say(state="ready" if app.engine else "no session: /new or ^Q", busy=False)


def look_around(app: MunimentApp) -> None:
    """Begin what nobody waits for: what was said here before, and what waits for a review."""
    from muniment.tui.beside import watch_review
    from muniment.tui.draft import recall

    watch_review(app)
    begin(app, partial(recall, app), group="past")
