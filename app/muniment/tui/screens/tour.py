"""The tour: one finding, step by step; arrows move, p plays."""

from __future__ import annotations

from typing import ClassVar

from textual import constants
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from muniment.session.tour import Step, steps
from muniment.tui.looks import Sheet
from muniment.tui.text import safe
from muniment.tui.widgets.hanging import Hanging, hanging
from muniment.tui.widgets.key_bar import KeyBar
from muniment.tui.widgets.top_line import TopLine

STEP_SECONDS = 6.0
"""How long a step stands while the tour plays."""


class _Step(VerticalScroll):
    """The step that is read; the keys of the tour are not taken by what never scrolls sideways."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        for key in ("left", "right", "home"):
            self._bindings.key_to_bindings.pop(key, None)


class TourScreen(Sheet[None]):
    """Shows one step at a time; nothing in it reads or writes memory."""

    AUTO_FOCUS: ClassVar[str | None] = "#tour-text"
    SIDE_FROM: ClassVar[int] = 110
    BINDING_GROUP_TITLE = "Tour"
    HELP = "Right and left go through the steps, p plays them. Sample data; nothing is written."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="Leave the tour", id="tour.back"),
        Binding("right,n,space", "step(1)", "Next", tooltip="The next step", id="tour.next"),
        Binding("left", "step(-1)", "Previous", tooltip="The step before", id="tour.previous"),
        Binding("p", "play", "Play", tooltip="Go on by itself, or stop", id="tour.play"),
        Binding("home", "start", "Start", show=False, tooltip="Back to the first step", id="tour.start"),
    ]
    DEFAULT_CSS = """
    TourScreen {
        & #tour-steps { width: 36; height: 1fr; padding: 1 2; display: none; color: $secondary; }
        & #tour-text { width: 1fr; max-width: 120; height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
        &.-side #tour-steps { display: block; }
        & .title { text-style: bold; color: $primary; margin-bottom: 1; }
        & .text { margin-bottom: 1; }
        & .exhibit {
            border: round $border-blurred; padding: 0 1; border-title-color: $secondary; height: auto;
            background: $surface; margin-bottom: 1;
        }
        & #tour-progress { height: 1; padding: 0 2; color: $secondary; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps = steps()
        self._at = 0
        self._timer: Timer | None = None

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self._steps[self._at]

    @property
    def playing(self) -> bool:
        return self._timer is not None

    def compose(self) -> ComposeResult:
        yield TopLine("Tour")
        with Horizontal(classes="body"):
            yield Static("", id="tour-steps", markup=False)
            with _Step(id="tour-text"):
                yield Static("", classes="title", markup=False)
                yield Static("", classes="text", markup=False)
                yield Static("", classes="exhibit", markup=False)
                yield Static("", classes="sees", markup=False)
        yield Static("", id="tour-progress", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TopLine).say("one finding, from a task to a request")
        self._draw()

    def _draw(self) -> None:
        step = self.step
        self.query_one(".title", Static).update(safe(f"{self._at + 1}. {step.title}"))
        self.query_one(".text", Static).update(safe(step.text))
        exhibit = self.query_one(".exhibit", Static)
        exhibit.border_title = safe(step.caption)
        exhibit.update(_exhibit(step.exhibit))
        self.query_one(".sees", Static).update(Content.assemble(("Who sees it  ", "bold"), safe(step.sees)))
        done, left = self._at + 1, len(self._steps) - self._at - 1
        playing = "  ▶ playing, p stops" if self.playing else ""
        self.query_one("#tour-progress", Static).update(
            Content.assemble(
                ("━" * done * 2, "$primary"),
                ("─" * left * 2, "$border-blurred"),
                f"  step {done} of {len(self._steps)}",
                (playing, "bold $foreground"),
            )
        )
        self.query_one("#tour-steps", Static).update(Content("\n").join(self._list()))
        self.query_one("#tour-text").scroll_home(animate=False)

    def _list(self) -> list[Content]:
        """Return all steps, marked as past, present and to come by sign and not by colour alone."""
        lines: list[Content] = []
        for at, step in enumerate(self._steps):
            if at == self._at:
                lines.append(Content.styled(f"▶ {step.title}", "bold $foreground"))
            else:
                lines.append(Content(f"{'✓' if at < self._at else '·'} {step.title}"))
        return lines

    def action_step(self, by: int) -> None:
        """Go on or back; a key of the user's stops the playing."""
        self._stop()
        self._move(by)

    def _move(self, by: int) -> None:
        self._at = max(0, min(len(self._steps) - 1, self._at + by))
        self._draw()

    def action_start(self) -> None:
        """Go to the first step."""
        self._stop()
        self._at = 0
        self._draw()

    def action_play(self) -> None:
        """Go on by itself, or stop; where motion is unwanted, only one step."""
        if self.playing:
            self._stop()
            self._draw()
        elif self.app.animation_level == "none" or constants.TEXTUAL_ANIMATIONS == "none":
            self._move(1)
            self.notify("Motion is off: the tour moves with your keys only.", markup=False)
        else:
            if self._at == len(self._steps) - 1:
                self._at = 0
            self._timer = self.set_interval(STEP_SECONDS, self._play_on)
            self._draw()

    def _play_on(self) -> None:
        if self._at >= len(self._steps) - 2:
            self._stop()
        self._move(1)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def action_leave(self) -> None:
        """Leave the tour."""
        self.dismiss(None)


def _exhibit(text: str) -> Hanging:
    """Return sample text, lines of a difference in their colours and with their signs."""
    shown: list[Content] = []
    for line in text.splitlines():
        style = "$success" if line.startswith("+ ") else "$error" if line.startswith("- ") else ""
        shown.append(safe(line).stylize(style) if style else safe(line))
    return hanging(Content("\n").join(shown))
