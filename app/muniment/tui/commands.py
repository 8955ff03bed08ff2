"""What the slash commands do."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from muniment.approval.policy import Mode
from muniment.safety.errors import MunimentError, sentence_of
from muniment.tui.begin import begin
from muniment.tui.place import leave_for

if TYPE_CHECKING:
    from muniment.tui.app import MunimentApp

OUTCOMES = ("success", "partial", "failure")
DONE_ABOUT = "Escape leaves it open. /done success WHAT WAS FOUND leaves a note as well."
NOTE_TITLE = 120
"""A note's title is the beginning of its first line, at most so many characters."""


def run_slash(app: MunimentApp, name: str, rest: str) -> None:
    """Run the command of this name; `rest` is what stood behind it."""
    at_home = name in ("new", "memory") or (name == "resume" and rest)
    if at_home and not leave_for(app, app.session_screen):
        # What happens on the session's own screen would be hidden by what lies above it.
        return
    match name:
        case "help":
            app.action_show_help()
        case "new":
            _new(app)
        case "resume":
            _resume(app, rest)
        case "mode":
            _mode(app, rest)
        case "undo":
            app.undo()
        case "memory":
            app.session_screen.action_toggle_panel()
        case "search":
            app.action_search(rest)
        case "context":
            app.action_inspect()
        case "review" | "settings" | "guide" | "tour" | "map":
            app.action_go(name)
        case "compact":
            begin(app, partial(_compact, app), group="compact", exclusive=True)
        case "clear":
            begin(app, partial(_clear, app, rest), group="clear", exclusive=True)
        case "note":
            begin(app, partial(_note, app, rest), group="note")
        case "done":
            begin(app, partial(_done, app, rest), group="done", exclusive=True)
        case "quit":
            begin(app, app.action_quit, group="quit")
        case _:
            app.tell(f"There is no command {name}.", error=True)


def _busy(app: MunimentApp) -> bool:
    if app.engine is not None and app.engine.busy:
        app.tell("A turn is running; Escape stops it.")
        return True
    return False


def _new(app: MunimentApp) -> None:
    if not _busy(app):
        app.open(app.options)


def _resume(app: MunimentApp, rest: str) -> None:
    from dataclasses import replace

    if _busy(app):
        return
    if not rest:
        app.action_sessions()
    elif app.engine is not None and rest == app.engine.id:
        app.tell("That session is the one that is open.")
    else:
        app.open(replace(app.options, resume_id=rest))


def _mode(app: MunimentApp, rest: str) -> None:
    if app.engine is None:
        return
    if not rest:
        app.tell(f"The mode is {app.engine.mode}. /mode {' | '.join(Mode)} changes it for this session.")
        return
    try:
        app.set_mode(Mode(rest))
    except ValueError:
        app.tell(f"There is no mode {rest}; there are {', '.join(Mode)}.", error=True)


async def _compact(app: MunimentApp) -> None:
    engine = app.engine
    if engine is None or _busy(app):
        return
    app.session_screen.status.say(state="summarising", busy=True)
    try:
        await engine.compact(app.session_screen.emit)
    except MunimentError as error:
        app.tell(error.sentence, error=True)
    app.session_screen.status.say(state="ready", busy=False)


async def _clear(app: MunimentApp, given: str) -> None:
    from muniment.tui.modals.typed import TypedQuestion

    engine = app.engine
    if engine is None or _busy(app):
        return
    if not given:
        question = TypedQuestion(
            "Drop the conversation of this session from its log? Memory stays; this cannot be undone.\n\n"
            f"To drop it, type the full id of the session:\n{engine.id}",
            engine.id,
        )
        if not await app.push_screen_wait(question):
            app.tell("The conversation was kept.")
            return
    elif given != engine.id:
        app.tell(
            f"The conversation was kept: /clear takes the full id of this session, {engine.id}.", error=True
        )
        return
    try:
        engine.clear()
    except (MunimentError, OSError) as error:
        app.tell(f"The conversation was kept: {sentence_of(error)}", error=True)
        return
    await app.session_screen.attach(engine, card=engine.provider == "rehearsal")
    app.tell("The conversation of this session was dropped; its id, recipe and memory stay.")


async def _note(app: MunimentApp, text: str) -> None:
    from muniment.memory.origin import Origin
    from muniment.memory.team.notefile import NewNote

    engine = app.engine
    if engine is None:
        return
    if not text:
        app.tell("Write the note behind the command: /note what you found.")
        return
    recipe = engine.recipe
    origin = Origin("user", "panel", engine.id, recipe.name, recipe.agent, "", str(engine.mode), "user")
    title = text.split("\n", 1)[0]
    new = NewNote(title=title.strip()[:NOTE_TITLE], body=text, agent="user", session=engine.id, source="user")
    try:
        note = await asyncio.to_thread(engine.surfaces.team.inbox.add, new, origin)
        scope = await asyncio.to_thread(lambda: engine.surfaces.team.scope)
    except (MunimentError, OSError) as error:
        app.tell(sentence_of(error), error=True)
        return
    app.tell(f"Put into the {scope} inbox: {note.title.rstrip('.')}. No model sees it before you approve it.")
    app.session_screen.written(f"noted {note.title}")


async def _done(app: MunimentApp, rest: str) -> None:
    from muniment.tui.modals.choose import Choose

    engine = app.engine
    if engine is None or _busy(app):
        return
    if engine.task is None:
        app.tell("This session is no task, so there is nothing to end; a recipe with task.capture makes one.")
        return
    outcome, _, summary = rest.partition(" ")
    if outcome and outcome not in OUTCOMES:
        app.tell(f"A task ends as one of {', '.join(OUTCOMES)}, not as {outcome}.", error=True)
        return
    if not outcome:
        question = Choose("How did the task end?", DONE_ABOUT, OUTCOMES, OUTCOMES[0])
        chosen = await app.push_screen_wait(question)
        if chosen is None:
            app.tell("The task stays open.")
            return
        outcome = chosen
    try:
        end = await asyncio.to_thread(engine.finish_task, outcome, summary.strip())
    except (MunimentError, OSError) as error:
        app.tell(sentence_of(error), error=True)
        return
    left = f"; its note waits in the inbox: {end.note}" if end.note else ""
    app.tell(f"The task ended: {end.outcome}{left}.")
