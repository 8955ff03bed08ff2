"""Going to the places that stand beside the session: guide, tour, map, settings, review."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from textual import constants

from muniment.safety.errors import MunimentError
from muniment.tui.begin import begin
from muniment.tui.place import returned_to, take_out
from muniment.tui.theme import theme_named

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.session.holdings.atlas import Surface
    from muniment.session.holdings.review import Collector
    from muniment.settings import Settings
    from muniment.tui.app import MunimentApp

LOOK_SECONDS = 3.0
"""How often the status line looks for what waits; cheap while nothing on the disk has changed."""
_TRIES = 40
_TRY_SECONDS = 0.05
_COLLECTORS: WeakKeyDictionary[Engine, Collector] = WeakKeyDictionary()


def go(app: MunimentApp, place: str) -> None:
    """Open a place by its name."""
    match place:
        case "settings":
            _settings(app)
        case "tour":
            _tour(app)
        case "map":
            _map(app)
        case "review":
            _review(app)
        case _:
            guide(app, "" if place == "guide" else place)


def _tour(app: MunimentApp) -> None:
    from muniment.tui.screens.tour import TourScreen

    if returned_to(app, TourScreen) is None:
        app.push_screen(TourScreen())


def watch_review(app: MunimentApp) -> None:
    """Say in the status line what waits in the review, from now on; proposals have a line of their own."""
    work = partial(_count, app)
    app.set_interval(LOOK_SECONDS, lambda: begin(app, work, group="review-count", exclusive=True))


async def _count(app: MunimentApp) -> None:
    engine = app.engine
    if engine is None or app.screen is not app.session_screen:
        return
    collector = _collector(engine)
    try:
        count = await asyncio.to_thread(collector.decisions)
    except (MunimentError, OSError):
        # What cannot be looked at is said where somebody asks for it: in the review.
        count = 0
    # The app may have begun to leave meanwhile.
    if app.engine is engine and app.session_screen.query("#status"):
        waits = "" if not count else "1 thing waits" if count == 1 else f"{count} things wait"
        app.session_screen.status.say(waits=waits)


def _collector(engine: Engine) -> Collector:
    """Return the one collector of a session, which remembers what it has seen."""
    from muniment.session.holdings.review import Collector

    found = _COLLECTORS.get(engine)
    if found is None:
        found = _COLLECTORS[engine] = Collector(engine.surfaces)
    return found


def _review(app: MunimentApp) -> None:
    from muniment.tui.reviewing import Reviewer
    from muniment.tui.screens.review import ReviewScreen

    engine = app.engine
    if engine is None:
        app.notify("The review shows what waits in a session; open one first.", markup=False)
        return
    if returned_to(app, ReviewScreen) is not None:
        return
    collector = _collector(engine)
    app.push_screen(ReviewScreen(lambda: collector.look(app.desk.pending), Reviewer(app, engine)))


def guide(app: MunimentApp, topic: str = "") -> None:
    """Open the guide at a topic, or at the keys of the present place; one that stands below comes up."""
    from muniment.tui.help import guide_screen
    from muniment.tui.screens.guide import GuideScreen

    if isinstance(app.screen, GuideScreen):
        if topic:
            app.screen.show_topic(topic)
        return
    keymap = dict(app.boot.settings.tui.keymap)
    take_out(app, GuideScreen)
    app.push_screen(guide_screen(app.screen, app, keymap, lambda place: go(app, place), topic))


def _map(app: MunimentApp) -> None:
    from muniment.tui.screens.map import MapScreen

    engine = app.engine
    if engine is None:
        app.notify("The map shows what a session works with; open one first.", markup=False)
        return

    def chosen(surface: Surface | None) -> None:
        if surface is None:
            return
        if surface.goes == "sessions":
            app.action_sessions()
        elif surface.goes == "guide":
            guide(app, "privacy")
        else:
            reveal(app, surface.group)

    if returned_to(app, MapScreen) is None:
        app.push_screen(MapScreen(engine.surfaces), chosen)


def reveal(app: MunimentApp, group: str) -> None:
    """Show a group of the memory panel, whatever stands above the session."""
    home(app)
    panel = app.session_screen.panel
    if not panel.has_class("-open"):
        app.session_screen.action_toggle_panel()
    panel.take_focus()
    begin(app, partial(_stand_on, app, group), group="reveal", exclusive=True)


def home(app: MunimentApp) -> None:
    """Leave everything that stands above the session; questions are left unanswered."""
    while (above := app.screen) is not app.session_screen:
        above.dismiss(None)
        if app.screen is above:
            return


async def _stand_on(app: MunimentApp, group: str) -> None:
    """Move the panel's cursor to a group and open it, once the panel has read what there is."""
    for _ in range(_TRIES):
        if not app.session_screen.is_mounted:
            return
        tree = app.session_screen.panel.records_tree
        for node in tree.root.children:
            if node.data is not None and node.data.group.startswith(group):
                node.expand()
                tree.move_cursor(node)
                return
        await asyncio.sleep(_TRY_SECONDS)


def _settings(app: MunimentApp) -> None:
    from muniment.settings import load_settings
    from muniment.tui.screens.settings import SettingsScreen

    if returned_to(app, SettingsScreen) is not None:
        return
    boot = app.boot

    def read() -> Settings:
        return load_settings(boot.paths, boot.environ)

    app.push_screen(
        SettingsScreen(
            boot.paths,
            read,
            boot.settings,
            lambda settings, key: apply(app, settings, key),
            lambda theme: _look(app, theme),
        )
    )


def _look(app: MunimentApp, theme: str) -> None:
    app.theme = theme_named(theme)


def apply(app: MunimentApp, settings: Settings, key: str) -> None:
    """Let a changed setting take effect where it can at once; sessions to come start from all of them."""
    app.boot = replace(app.boot, settings=settings)
    screen = settings.tui
    match key:
        case "tui.theme":
            _look(app, screen.theme)
        case "tui.animations":
            app.animation_level = constants.TEXTUAL_ANIMATIONS if screen.animations else "none"
        case "tui.panel_width":
            app.session_screen.set_panel_width(screen.panel_width)
        case "tui.keymap":
            use_keymap(app)
        case "approval.quiet_seconds":
            app.desk.quiet_seconds = settings.approval.quiet_seconds
        case _:
            return


def use_keymap(app: MunimentApp) -> None:
    """Put the keymap of the settings in force; what cannot be used is said in one sentence."""
    from muniment.settings.keymap import usable

    keymap, fault = usable(app.boot.settings.tui.keymap)
    app.set_keymap(keymap)
    if fault:
        app.notify(fault, title="Settings", severity="warning", timeout=12, markup=False)
