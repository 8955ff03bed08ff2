"""Every word of the dialog can be read in every theme, and no state is told by colour alone."""

from __future__ import annotations

import pytest
from rich.color import ColorType
from rich.color_triplet import ColorTriplet
from rich.segment import Segment

from muniment.approval.proposal import Warning as ReviewWarning
from muniment.tui.front_door import FrontDoorApp
from muniment.tui.theme import THEMES
from support.approvals import a_proposal, armed, opened, running, shown, until

WARNINGS = (ReviewWarning("secret", "looks like a secret: token", "content"),)
NEW = "Use GPT-5 here.\nKeep \u202e this.\nAdded."
OLD = "Use GPT-4 here.\nKeep \u202e this.\nGone with it."


def luminance(colour: ColorTriplet) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def poor(segments: list[Segment], least: float = 4.5) -> list[str]:
    found = []
    for text, style, _ in segments:
        if not text.strip(" ─━│┃╭╮╰╯┏┓┗┛▁▂▃▄▅▆▇█▎▊▔") or style is None:
            continue
        assert style.color is not None
        assert style.bgcolor is not None
        assert ColorType.DEFAULT not in (style.color.type, style.bgcolor.type)
        front, back = style.color.get_truecolor(), style.bgcolor.get_truecolor()
        if style.reverse:
            front, back = back, front
        if contrast(front, back) < least:
            found.append(f"{contrast(front, back):.2f} {front.hex} on {back.hex}: {text!r}")
    return found


def segments_of(app: FrontDoorApp) -> list[Segment]:
    return [segment for strip in app.screen._compositor.render_strips() for segment in strip]


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", *(theme.name for theme in THEMES)])
async def test_every_text_has_at_least_four_and_a_half_to_one(theme: str) -> None:
    async with running(size=(100, 29)) as (app, pilot, times):
        for own in THEMES:
            app.register_theme(own)
        app.theme = theme
        task = app.ask(a_proposal(NEW, OLD, warnings=WARNINGS))
        await opened(pilot, app)
        await pilot.pause(0.05)
        assert poor(segments_of(app)) == []
        await armed(pilot, app, times)
        await pilot.press("end", "tab")
        await until(pilot, lambda: "▶" in shown(app))
        assert poor(segments_of(app)) == []
        await pilot.press("r")
        await until(pilot, lambda: "WRITING" in shown(app))
        await pilot.press("w")
        await pilot.pause(0.05)
        assert poor(segments_of(app)) == []
        await pilot.press("enter")
        await until(pilot, lambda: "this reason ◀" in shown(app))
        assert poor(segments_of(app)) == []
        task.cancel()


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", *(theme.name for theme in THEMES)])
@pytest.mark.parametrize("lines", [1, 100], ids=["armed", "locked"])
async def test_the_armed_border_stands_out(theme: str, lines: int) -> None:
    async with running() as (app, pilot, times):
        for own in THEMES:
            app.register_theme(own)
        app.theme = theme
        task = app.ask(a_proposal("line\n" * lines))
        await armed(pilot, app, times)
        await pilot.pause(0.05)
        corner = segments_of(app)[0]
        assert corner.style is not None
        assert corner.style.color is not None
        assert corner.style.bgcolor is not None
        assert contrast(corner.style.color.get_truecolor(), corner.style.bgcolor.get_truecolor()) >= 3
        task.cancel()


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_terminal_colours_never_put_a_colour_on_a_colour(theme: str) -> None:
    async with running(size=(100, 29), theme=theme) as (app, pilot, times):
        task = app.ask(a_proposal(NEW, OLD, warnings=WARNINGS))
        await armed(pilot, app, times)
        await pilot.press("end", "tab")
        await until(pilot, lambda: "▶" in shown(app))
        for text, style, _ in segments_of(app):
            if text.strip() and style is not None and style.color and style.bgcolor and "─" not in text:
                assert ColorType.DEFAULT in (style.color.type, style.bgcolor.type), repr(text)
        task.cancel()


async def test_without_colour_the_words_and_shapes_still_tell_all_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running() as (app, pilot, times):
        assert app.no_color
        task = app.ask(a_proposal("\n".join(str(n) for n in range(100))))
        await opened(pilot, app)
        disarmed = shown(app)
        await armed(pilot, app, times)
        locked = shown(app)
        await pilot.press("end", "tab")
        await until(pilot, lambda: "▶ d or Esc · Deny ◀" in shown(app))
        chosen = shown(app)
        assert ("╭" in disarmed, "┏" in locked, "┏" in chosen) == (True, True, True)
        assert "( a · Allow once ) ( d or Esc · Deny )" in disarmed
        assert "( a · Allow once ) [ d or Esc · Deny ]" in locked
        assert "[ a · Allow once ] ▶ d or Esc · Deny ◀" in chosen
        task.cancel()


async def test_an_empty_no_color_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with running() as (app, _, _):
        assert not app.no_color
