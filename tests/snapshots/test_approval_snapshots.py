"""Pictures of the dialog: disarmed, armed, locked, difference; in every size and theme that must hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from unittest.mock import patch

import pytest
from textual import _time
from textual.pilot import Pilot
from textual.widgets import TextArea

from muniment.approval.proposal import Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.tui.theme import THEMES
from support.approvals import DeskApp, Time, a_proposal, armed, opened

OLD = "\n".join(
    ["Keep the pilot small.", "Use GPT-4 for the first drafts.", "Two coders read every answer."]
    + [f"Item {n}" for n in range(1, 25)]
    + ["The end."]
)
NEW = OLD.replace("GPT-4", "GPT-5").replace("Item 3\n", "").replace("The end.", "The end of the list.")
HIDDEN = a_proposal(
    "Pay \u202etnuocca\u202c at once.\n\n\n\n\n\n\x1b[2J [/] [@click=app.quit]x[/]\nmany      spaces",
    warnings=(
        ReviewWarning("hidden-characters", "hidden characters: 3 (U+001B, U+202C, U+202E)", "content"),
        ReviewWarning("similar", "a similar record exists: pilot-rule (project)"),
    ),
)
CHANGE = a_proposal(NEW, OLD, title="Replace a record")


class Frozen(Time):
    """Time that moves only on order, so that the gauge stands still."""

    def now(self) -> float:
        return 1_000.0 + self.offset


Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def picture(
    snap_compare: Compare,
    proposal: Proposal,
    *,
    size: tuple[int, int] = (80, 24),
    theme: str = "muniment-dark",
    until_armed: bool = True,
    keys: tuple[str, ...] = (),
) -> bool:
    times = Frozen()
    app = DeskApp(3.0, times=times)
    for own in THEMES:
        app.register_theme(own)
    app.theme = theme
    app.animation_level = "none"

    async def before(pilot: Pilot[int]) -> None:
        app.query_one(TextArea).cursor_blink = False
        app.ask(proposal)
        await opened(pilot, app)
        if until_armed:
            await armed(pilot, app, times)
        for key in keys:
            times.offset += 0.1
            await pilot.press(key)
            await pilot.pause(0.05)
        await pilot.pause(0.1)

    run_before: Callable[[Pilot[int]], Awaitable[None]] = before
    with patch.object(_time, "get_time", times.now):
        return snap_compare(app, terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 20)], ids=["80x24", "120x40", "40x20"])
def test_disarmed(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, HIDDEN, size=size, until_armed=False)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 20)], ids=["80x24", "120x40", "40x20"])
def test_armed(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, a_proposal(), size=size)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_difference_locked(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, CHANGE, size=size)


@pytest.mark.parametrize("theme", ["muniment-light", "ansi-dark", "ansi-light"])
def test_themes(snap_compare: Compare, theme: str) -> None:
    assert picture(snap_compare, CHANGE, theme=theme, keys=("end", "tab"))


def test_deletion(snap_compare: Compare) -> None:
    assert picture(snap_compare, a_proposal(None, "Keep the pilot small.", title="Delete a record"))


def test_reason(snap_compare: Compare) -> None:
    assert picture(snap_compare, a_proposal(), keys=("r", "n", "o", "enter"))


def test_too_small(snap_compare: Compare) -> None:
    assert picture(snap_compare, a_proposal(), size=(24, 6))
