"""What the slash commands do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.approval.policy import Mode
from muniment.safety.errors import MunimentError

if TYPE_CHECKING:
    from muniment.tui.app import MunimentApp


def run_slash(app: MunimentApp, name: str, rest: str) -> None:
    """Run the command of this name; `rest` is what stood behind it."""
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
        case "review":
            app.action_review()
        case "compact":
            app.run_worker(_compact(app), group="compact", exclusive=True)
        case "clear":
            app.run_worker(_clear(app), group="clear", exclusive=True)
        case "quit":
            app.run_worker(app.action_quit(), group="quit")
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


async def _clear(app: MunimentApp) -> None:
    from muniment.tui.modals.question import Question

    engine = app.engine
    if engine is None or _busy(app):
        return
    text = "Drop the conversation of this session from its log? Memory stays; this cannot be undone."
    if not await app.push_screen_wait(Question(text, yes="Drop it", no="Keep it")):
        return
    try:
        engine.clear()
    except MunimentError as error:
        app.tell(error.sentence, error=True)
        return
    await app.session_screen.attach(engine, card=engine.provider == "rehearsal")
