"""The approval dialog: shows all of a proposal and returns the decision of a person who could read it.

Nothing here trusts a binding, a click message or a focus. Every input comes through `admit`, called by the
app's front door with the time the input was made; only there a decision can begin, licensed by the gate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import constants, events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.scrollbar import ScrollBar
from textual.widgets import Input, Static

from muniment.approval.gate import Gate, Kind, Licence, Standing, Verdict
from muniment.approval.proposal import Decision, Proposal
from muniment.safety.visible import reading_line
from muniment.tui.front_door import FrontDoorApp, InputGuard, made_clock
from muniment.tui.modals import approval_keys as keys
from muniment.tui.modals.approval_choices import Choice, ChoiceRow, Offer
from muniment.tui.modals.approval_document import NARROW, Document, View, build_document, size_of
from muniment.tui.modals.approval_reason import ReasonField
from muniment.tui.widgets.arming_bar import ArmingBar, BarState
from muniment.tui.widgets.exact_text import ExactText

LEAST_SIZE = (30, 10)
"""Columns and rows below which the dialog cannot be read, and therefore not be allowed."""
ROOMY_SIZE = (36, 18)
"""Columns and rows from which the whole standing line stays in sight."""
TALL = 30
"""Rows from which the dialog is only as high as it needs to be."""
THREAD_FROM = 40_000
"""Characters from which the text is prepared in a thread."""
TICK_SECONDS = 0.04


class ApprovalScreen(InputGuard, ModalScreen[Decision]):
    """Asks about one proposal; dismissed with a decision, or with None where it was withdrawn."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    CSS_PATH = "approval.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.BINDINGS
    BINDING_GROUP_TITLE = "Approval"
    HELP = "Read what would be written. Keys count once the frame is heavy and says ARMED."

    def __init__(
        self,
        proposal: Proposal,
        *,
        quiet_seconds: float = 0.8,
        place: tuple[int, int] = (1, 1),
        interrupt: Callable[[], None] | None = None,
        keep_paste: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self.proposal = proposal
        self.gate = Gate(quiet_seconds, made_clock)
        self._place = place
        self._interrupt = interrupt
        self._keep_paste = keep_paste
        self._document: Document | None = None
        self._view: View | None = None
        self._chosen: Choice | None = None
        self._pressed: tuple[Choice, Licence] | None = None
        self._judged: events.Event | None = None
        self._layout: tuple[bool, bool] | None = None
        self._writing = False
        self._ended = False
        self._withdrawn = False

    # -- what is shown ---------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield ExactText(id="text")
            yield Static(id="place", markup=False)
            yield Static(id="standing", markup=False)
            yield ReasonField(id="reason")
            yield ChoiceRow(id="choices")
            yield ArmingBar(id="bar")

    async def on_mount(self) -> None:
        self._text = self.query_one("#text", ExactText)
        self._bar = self.query_one("#bar", ArmingBar)
        self._choices = self.query_one("#choices", ChoiceRow)
        self._reason = self.query_one("#reason", ReasonField)
        self._dialog = self.query_one("#dialog", Vertical)
        if isinstance(self.app, FrontDoorApp):
            self.app.watch_for(self)
        self.set_interval(TICK_SECONDS, self._tick)
        self._retitle()
        if size_of(self.proposal) < THREAD_FROM:
            self._take_document(build_document(self.proposal))
        else:
            self.run_worker(self._prepare(), group="approval-document", exclusive=True)
        self._sync()

    async def _prepare(self) -> None:
        self._take_document(await asyncio.to_thread(build_document, self.proposal))
        # What was painted before said nothing about the text.
        self.shaken()

    def _take_document(self, document: Document) -> None:
        self._document = document
        self._view = document.views[0] if document.views else None
        self._show_view()
        self._sync()

    def _show_view(self, top: int = 0) -> None:
        cramped = self._cramped
        proposal = self.proposal
        standing = proposal.coverage if cramped else f"{proposal.coverage} {proposal.shown_later}"
        self.query_one("#standing", Static).update(Content(reading_line(standing.strip())))
        if self._document is not None:
            lines = self._document.lines(self._view, self.size.width, with_later=cramped)
            self._text.show(lines, top=top)

    @property
    def _cramped(self) -> bool:
        """Whether there is no room for all of the standing line."""
        return self.size.width < ROOMY_SIZE[0] or self.size.height < ROOMY_SIZE[1]

    def place_in_queue(self, place: tuple[int, int]) -> None:
        """Tell which of how many waiting proposals this one is."""
        if place != self._place:
            self._place = place
            self._retitle()

    def _retitle(self) -> None:
        number, total = self._place
        counted = f" · {number} of {total}" if total > 1 else ""
        self._dialog.border_title = Content(f"{reading_line(self.proposal.title)}{counted}")

    @on(ExactText.Moved)
    def _tell_place(self) -> None:
        first, last = self._text.visible_rows
        total = self._text.row_count
        hidden = self._document.hidden if self._document is not None else 0
        width = self._text.size.width
        telling = " shown as escapes" if width >= ROOMY_SIZE[0] * 2 else ""
        warning = f" {hidden:,} hidden{telling} " if hidden else ""
        if self._document is None:
            words = "preparing the text …"
        else:
            lines = f"lines {first}–{last} of {total}"
            more = f"▼ {total - last:,} more below" if last < total else "■ end"
            words = f"── {lines} · {more} "
            if len(words) + len(warning) > width:
                words = f"{lines} ▼ " if last < total else f"{lines} "
        content = Content(words)
        if warning:
            content += Content.styled(warning, "$foreground on $warning-muted bold")
        self.query_one("#place", Static).update(content)
        self._fit_height()

    def _fit_height(self) -> None:
        """On a tall screen, be as high as the proposal needs; else fill the screen."""
        height = self.size.height
        if height >= TALL and self._document is not None:
            around = self._dialog.outer_size.height - self._text.size.height
            height = min(height, max(self._text.row_count + around, TALL // 2))
        self._dialog.styles.height = height

    def on_resize(self, event: events.Resize) -> None:
        small = event.size.width < LEAST_SIZE[0] or event.size.height < LEAST_SIZE[1]
        if small != self.has_class("-too-small"):
            self.set_class(small, "-too-small")
            self.shaken()
        self.set_class(event.size.height >= TALL, "-tall")
        layout = (self._cramped, event.size.width < NARROW)
        if layout != self._layout:
            self._layout = layout
            self._show_view(self._text.top_line())
        self._fit_height()
        self._sync()

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def too_small(self) -> bool:
        return self.has_class("-too-small")

    def _bar_state(self) -> BarState:
        if self._reason.has_focus:
            return BarState.WRITING
        if self.gate.standing not in (Standing.DUE, Standing.ARMED):
            return BarState.DISARMED
        if self._writing:
            return BarState.REASONED
        return BarState.ARMED if self.gate.unlocked and not self.too_small else BarState.LOCKED

    def _sync(self) -> None:
        """Draw what the gate says."""
        state = self._bar_state()
        self._bar.tell(state, self.gate.progress, too_small=self.too_small)
        self._dialog.set_class(state is BarState.ARMED, "-armed")
        self._dialog.set_class(state in (BarState.LOCKED, BarState.REASONED), "-locked")
        self._dialog.set_class(self._writing, "-reason")
        if not self.gate.armed:
            self._chosen = Choice.DENY_SO if self._writing and self._chosen is Choice.DENY_SO else None
            self._pressed = None
        self._choices.offer(self._offers(), self._chosen)

    def _offers(self) -> list[Offer]:
        armed = self.gate.armed
        if self._writing:
            ready = armed and not self._reason.has_focus
            return [
                Offer(Choice.DENY_SO, "d", ("Deny with this reason", "Deny so"), ready),
                Offer(Choice.BACK, "Esc", ("Back",), ready),
            ]
        offers = [
            Offer(
                Choice.ALLOW,
                "a",
                ("Allow once", "Allow"),
                armed and self.gate.unlocked and not self.too_small,
            ),
            Offer(Choice.DENY, "d", ("Deny",), armed),
            Offer(Choice.REASON, "r", ("Deny with a reason", "Why"), armed and not self.too_small),
        ]
        if self._document is not None and len(self._document.views) > 1:
            view = self._next_view()
            offers.append(Offer(Choice.VIEW, "v", (f"View {view}", view[:4]), armed and not self.too_small))
        return offers

    def _tick(self) -> None:
        if isinstance(self.app, FrontDoorApp):
            self.app.notice_stall()
        self.gate.tick()
        self._settle()
        if not self._ended:
            self._sync()

    # -- what the front door tells ---------------------------------------------------------------------------

    def shaken(self) -> None:
        self.gate.disarm()
        if self.is_mounted and self._bar.is_mounted:
            self._bar.forget()
            self._sync()

    def frame_displayed(self) -> None:
        if self._ended or not self.is_mounted:
            return
        drawn = self._bar.drawn
        if drawn is BarState.DISARMED or (
            drawn is BarState.WRITING and self.gate.standing is Standing.HIDDEN
        ):
            self.gate.painted()
        armed = drawn not in (None, BarState.DISARMED) and self.gate.armed_painted()
        seen = self._text.end_drawn and not self.too_small and self._document is not None
        unlocked = seen and not self.gate.unlocked and self._view_unlocks()
        if unlocked:
            self.gate.end_painted()
        self.gate.look_painted()
        if armed or unlocked:
            self._sync()

    def _view_unlocks(self) -> bool:
        """Tell whether the end of this view is the end of what is to be approved."""
        views = self._document.views if self._document is not None else ()
        return self._view != "old" or len(views) == 1

    def admit(self, event: events.Event) -> bool:
        self._judged = event
        if self._ended:
            return False
        match event:
            case events.Key():
                admitted = self._admit_key(event)
            case events.Paste():
                admitted = self._admit_paste(event)
            case events.MouseDown() | events.MouseUp():
                admitted = self._admit_button(event)
            case (
                events.MouseScrollUp()
                | events.MouseScrollDown()
                | events.MouseScrollLeft()
                | events.MouseScrollRight()
            ):
                self.gate.judge(Kind.SCROLL, event.time)
                admitted = True
            case _:
                return True
        if not self._ended:
            self._sync()
        return admitted

    def _forward_event(self, event: events.Event) -> None:
        # Mouse events that did not come through the front door are judged as well.
        mouse = isinstance(event, events.MouseEvent) and not isinstance(event, events.Click)
        if mouse and not event.is_forwarded and event is not self._judged and not self.admit(event):
            event._set_forwarded()
            return
        super()._forward_event(event)

    def _admit_key(self, event: events.Key) -> bool:
        if self._reason.has_focus:
            return True
        action = self._action_for(event.key)
        made_at = event.time - (constants.ESCAPE_DELAY if event.key in keys.LATE_KEYS else 0.0)
        verdict = self.gate.judge(keys.kind_of(action, event.character), made_at)
        if action is not None and verdict is not Verdict.SWALLOWED:
            self._perform(action, self.gate.license(made_at), event.key)
        return False

    def _action_for(self, key: str) -> str | None:
        if key in keys.CHOOSING_KEYS:
            return "choose"
        for node, bindings in self._modal_binding_chain:
            if node is self:
                for binding in bindings.key_to_bindings.get(key, ()):
                    return keys.action_name(binding.action)
        return None

    def _admit_paste(self, event: events.Paste) -> bool:
        if self._reason.has_focus:
            return True
        self.gate.judge(Kind.PASTE, event.time)
        if self._keep_paste is not None:
            self._keep_paste(event.text)
        return False

    def _admit_button(self, event: events.MouseDown | events.MouseUp) -> bool:
        widget = self.get_widget_at(event.screen_x, event.screen_y)[0] if self.size.area else None
        if isinstance(widget, ScrollBar):
            self.gate.judge(Kind.SCROLL, event.time)
            return True
        verdict = self.gate.judge(Kind.OWN, event.time)
        licence = self.gate.license(event.time)
        if verdict is Verdict.SWALLOWED or licence is None:
            self._pressed = None
            return False
        choice = self._choices.enabled_at(event.screen_x, event.screen_y)
        if isinstance(event, events.MouseDown):
            self._pressed = None if choice is None else (choice, licence)
        else:
            pressed, self._pressed = self._pressed, None
            if pressed is not None and pressed[0] is choice and pressed[1].epoch == licence.epoch:
                # Both ends of the click must be good; the earlier one is the stricter.
                self._take(choice, pressed[1])
        return False

    # -- what the person does --------------------------------------------------------------------------------

    def action_dialog(self, name: str) -> None:
        """Do nothing: an action that did not come through the front door has no licence to decide."""
        self.log.warning(f"approval action {name!r} without an input")

    def _perform(self, action: str, licence: Licence | None, key: str) -> None:
        text = self._text
        match action:
            case "up":
                text.scroll_relative(y=-1, animate=False)
            case "down":
                text.scroll_relative(y=1, animate=False)
            case "page_up":
                text.scroll_relative(y=-max(text.size.height - 1, 1), animate=False)
            case "page_down":
                text.scroll_relative(y=max(text.size.height - 1, 1), animate=False)
            case "top":
                text.scroll_to(y=0, animate=False)
            case "bottom":
                text.scroll_to(y=text.row_count, animate=False)
            case "next" | "previous":
                self._move(1 if action == "next" else -1)
                self.gate.look_changed()
            case "choose":
                if self._chosen is not None:
                    self._take(self._chosen, licence)
            case "interrupt":
                if self._interrupt is not None:
                    self._interrupt()
            case "deny" if self._writing:
                self._take(Choice.BACK if key == "escape" else Choice.DENY_SO, licence)
            case "allow" | "deny" | "reason" | "view" if not self._writing:
                self._take(Choice(action), licence)

    def _move(self, step: int) -> None:
        able = [offer.choice for offer in self._offers() if offer.enabled]
        if not able:
            return
        if self._chosen in able:
            self._chosen = able[(able.index(self._chosen) + step) % len(able)]
        else:
            self._chosen = able[0 if step > 0 else -1]

    def _take(self, choice: Choice, licence: Licence | None) -> None:
        if licence is None or choice not in [offer.choice for offer in self._offers() if offer.enabled]:
            return
        match choice:
            case Choice.ALLOW:
                self.gate.hold(licence, allow=True)
            case Choice.DENY | Choice.DENY_SO:
                self.gate.hold(licence, allow=False)
            case Choice.REASON:
                self._writing = True
                self._reason.disabled = False
                self._dialog.add_class("-reason")
                self._reason.focus()
            case Choice.BACK:
                self._leave_reason()
            case Choice.VIEW:
                self._view = self._next_view()
                self._show_view()
                self.gate.look_changed()
        self._settle()

    def _next_view(self) -> View:
        views = self._document.views if self._document is not None else ()
        return views[(views.index(self._view) + 1) % len(views)] if self._view in views else "new"

    def _leave_reason(self) -> None:
        """Go back to the choices; what is still being typed must not land on them, so all starts afresh."""
        self._writing = False
        self._chosen = None
        self.set_focus(None)
        self._reason.disabled = True
        self.shaken()

    @on(ReasonField.Left)
    def _reason_left(self) -> None:
        self._leave_reason()

    @on(Input.Submitted, "#reason")
    def _reason_written(self) -> None:
        self.set_focus(None)
        self._chosen = Choice.DENY_SO
        self.gate.look_changed()
        self._sync()

    def on_descendant_focus(self) -> None:
        self._sync()

    def on_descendant_blur(self) -> None:
        self._sync()

    # -- the end ---------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        allowed = self.gate.settle()
        if allowed is None or self._ended or not self.is_current:
            return
        reason = self._reason.value.strip() if self._writing and not allowed else ""
        self._end(Decision(allowed, "user", reason))

    def withdraw(self) -> None:
        """Close without a decision, because nobody waits for one any more."""
        self._withdrawn = True
        if self.is_current and not self._ended:
            self._end(None)

    def _end(self, decision: Decision | None) -> None:
        self._ended = True
        self.dismiss(decision)

    def on_screen_suspend(self) -> None:
        self.shaken()

    def on_screen_resume(self) -> None:
        if self._withdrawn:
            self.withdraw()
        else:
            self.shaken()

    def on_unmount(self) -> None:
        if isinstance(self.app, FrontDoorApp):
            self.app.stop_watching(self)
