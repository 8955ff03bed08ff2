"""How long the screen rests between two pieces of a reply: as long as the first took, within reason."""

from __future__ import annotations

import pytest

from muniment.session import events as ev
from muniment.tui.adapter import MOST_REST_SECONDS, PACE_SECONDS, Adapter, rest_after
from muniment.tui.screens.session import SessionScreen
from muniment.tui.widgets.status_line import StatusLine
from muniment.tui.widgets.transcript import Transcript


@pytest.mark.parametrize(
    ("worked", "rest"),
    [(0.0, 0.0), (PACE_SECONDS, 0.0), (0.4, 0.4 - PACE_SECONDS), (60.0, MOST_REST_SECONDS - PACE_SECONDS)],
)
def test_what_took_long_to_draw_is_followed_by_as_long_a_rest(worked: float, rest: float) -> None:
    assert rest_after(worked, PACE_SECONDS) == pytest.approx(rest)


async def test_text_that_waits_does_not_cut_a_rest_short_and_anything_else_does() -> None:
    adapter = Adapter(Transcript(), StatusLine(), SessionScreen())
    adapter.emit(ev.TextDelta("more "))
    adapter.emit(ev.TextDelta("text"))
    assert await adapter._rested(0.0)
    adapter.emit(ev.Notice("The server is busy."))
    assert not await adapter._rested(3600.0)
