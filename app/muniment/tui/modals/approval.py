"""The approval dialog: shows all of a proposal and returns the decision of a person who could read it.

Nothing here trusts a binding, a click message or a focus. Every input comes through `admit`, called by the
app's front door with the time the input was made; only there a decision can begin, licensed by the gate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import constants, events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.errors import NoWidget
from textual.geometry import Size
from textual.scrollbar import ScrollBar
from textual.widgets import Input

from muniment.approval.gate import Gate, Kind, Licence, Standing, Verdict
from muniment.approval.proposal import Decision, Proposal
from muniment.tui.front_door import FrontDoorApp, InputGuard, made_clock
from muniment.tui.modals import approval_keys as keys
from muniment.tui.modals.approval_choices import Choice, Offer
from muniment.tui.modals.approval_panel import TALL, ApprovalPanel
from muniment.tui.modals.approval_reason import ReasonField
from muniment.tui.place import Modal
from muniment.tui.widgets.arming_bar import BarState

LEAST_SIZE = (30, 10)
"""Columns and rows below which the dialog cannot be read, and therefore not be allowed."""
TICK_SECONDS = 0.04


class ApprovalScreen(InputGuard, Modal[Decision]):
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
        self._panel = ApprovalPanel(proposal, id="dialog")
        self._reason = self._panel.reason
        self._chosen: Choice | None = None
        self._pressed: tuple[Choice, Licence] | None = None
        self._judged: events.Event | None = None
        self._writing = False
        self._ended = False
        self._withdrawn = False
        self._names = keys.names(keys.own_keys())
        self._panel.bar.keys = self._names

    def compose(self) -> ComposeResult:
        yield self._panel

    def on_mount(self) -> None:
        if isinstance(self.app, FrontDoorApp):
            self.app.watch_for(self)
        self._names = keys.names(self._bound())
        self._panel.bar.keys = self._names
        self._classify(self.app.size)
        self.set_interval(TICK_SECONDS, self._tick)
        self._panel.entitle(*self._place)
        self._sync()

    def place_in_queue(self, place: tuple[int, int]) -> None:
        """Tell which of how many waiting proposals this one is."""
        if place != self._place:
            self._place = place
            self._panel.entitle(*place)

    def on_resize(self, event: events.Resize) -> None:
        small = self.too_small
        self._classify(event.size)
        if small != self.too_small:
            self.shaken()
        self._panel.fit_height()
        self._sync()

    def _classify(self, size: Size) -> None:
        self.set_class(size.width < LEAST_SIZE[0] or size.height < LEAST_SIZE[1], "-too-small")
        self.set_class(size.height >= TALL, "-tall")

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
        if not self.gate.armed:
            self._chosen = Choice.DENY_SO if self._writing and self._chosen is Choice.DENY_SO else None
            self._pressed = None
        self._panel.set_class(self._writing, "-reason")
        self._panel.tell(
            self._bar_state(), self.gate.progress, self._offers(), self._chosen, too_small=self.too_small
        )

    def _offers(self) -> list[Offer]:
        # Drawn together with the word, so that one frame shows all of the state; the gate alone lets act.
        armed = self.gate.standing in (Standing.DUE, Standing.ARMED)
        if self._writing:
            ready = armed and not self._reason.has_focus
            return [
                Offer(Choice.DENY_SO, self._names["deny"], ("Deny with this reason", "Deny so"), ready),
                Offer(Choice.BACK, "Esc", ("Back",), ready),
            ]
        deny = self._names["deny"]
        offers = [
            Offer(
                Choice.ALLOW,
                self._names["allow"],
                ("Allow once", "Allow"),
                armed and self.gate.unlocked and not self.too_small,
            ),
            Offer(Choice.DENY, deny, ("Deny",), armed, "Esc" if deny != "Esc" else ""),
            Offer(
                Choice.REASON,
                self._names["why"],
                ("Deny with a reason", "Why"),
                armed and not self.too_small,
            ),
        ]
        view = self._panel.other_view
        if view is not None:
            ready = armed and not self.too_small
            offers.append(Offer(Choice.VIEW, self._names["view"], (f"View {view}", view[:4]), ready))
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
        if self._panel.bar.is_mounted:
            self._panel.bar.forget()
            self._sync()

    def frame_displayed(self) -> None:
        if self._ended or not self.is_mounted:
            return
        drawn = self._panel.bar.drawn
        if drawn is BarState.DISARMED or (
            drawn is BarState.WRITING and self.gate.standing is Standing.HIDDEN
        ):
            self.gate.painted()
        armed = drawn not in (None, BarState.DISARMED) and self.gate.armed_painted()
        unlocked = self._panel.end_drawn and not self.too_small and not self.gate.unlocked
        self.gate.look_painted()
        if unlocked:
            # The frame that shows Allow unlocked comes next, and only input made after it may allow.
            self.gate.end_painted()
            self.gate.look_changed()
        if armed or unlocked:
            self._sync()

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
        if action == "choose" and self._chosen is None:
            action = None  # it was meant for something else, since there is nothing here to take
        made_at = event.time - (constants.ESCAPE_DELAY if event.key in keys.LATE_KEYS else 0.0)
        verdict = self.gate.judge(keys.kind_of(action), made_at)
        if action is not None and verdict is not Verdict.SWALLOWED:
            self._perform(action, self.gate.license(made_at), event.key)
        return False

    def _action_for(self, key: str) -> str | None:
        if key in keys.CHOOSING_KEYS:
            return "choose"
        if key == keys.LEAVING_KEY:
            return "deny"
        for node, bindings in self._modal_binding_chain:
            if node is self:
                for binding in bindings.key_to_bindings.get(key, ()):
                    return keys.action_name(binding.action)
        return None

    def _bound(self) -> dict[str, list[str]]:
        """Return the keys of each action, as the user's keymap has them."""
        found: dict[str, list[str]] = {}
        for node, bindings in self._modal_binding_chain:
            if node is self:
                for key, each in bindings:
                    found.setdefault(keys.action_name(each.action) or "", []).append(key)
        return found

    def _admit_paste(self, event: events.Paste) -> bool:
        if self._reason.has_focus:
            return True
        self.gate.judge(Kind.PASTE, event.time)
        if self._keep_paste is not None:
            self._keep_paste(event.text)
        return False

    def _admit_button(self, event: events.MouseDown | events.MouseUp) -> bool:
        try:
            widget = self.get_widget_at(event.screen_x, event.screen_y)[0]
        except NoWidget:
            # The terminal became smaller behind the press, or nothing is laid out yet.
            widget = None
        if isinstance(widget, ScrollBar):
            self.gate.judge(Kind.SCROLL, event.time)
            return True
        verdict = self.gate.judge(Kind.OWN, event.time)
        licence = self.gate.license(event.time)
        if verdict is Verdict.SWALLOWED or licence is None:
            self._pressed = None
            return False
        if self._reason.has_focus:
            # The mouse, too, goes from the field to the choices first, and decides with the next click.
            if isinstance(event, events.MouseUp) and widget is self._panel.choices:
                self._reason_written()
            return widget is self._reason
        choice = self._panel.choices.enabled_at(event.screen_x, event.screen_y)
        if isinstance(event, events.MouseDown):
            self._pressed = None if choice is None else (choice, licence)
        else:
            pressed, self._pressed = self._pressed, None
            if pressed is not None and pressed[0] is choice:
                # Both ends of the click must count; the licence is that of the earlier one.
                self._take(choice, pressed[1])
        return False

    # -- what the person does --------------------------------------------------------------------------------

    def action_dialog(self, name: str) -> None:
        """Do nothing: an action that did not come through the front door has no licence to decide."""
        self.log.warning(f"approval action {name!r} without an input")

    def _perform(self, action: str, licence: Licence | None, key: str) -> None:
        match action:
            case _ if action in keys.SCROLLING:
                self._panel.scroll_text(action)
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
            # The first move leads to the choice that changes nothing.
            self._chosen = Choice.DENY if Choice.DENY in able else able[0]

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
                self._panel.add_class("-reason")
                self._reason.focus()
            case Choice.BACK:
                self._leave_reason()
            case Choice.VIEW:
                self._panel.show_other_view()
                self.gate.look_changed()
        self._settle()

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
        if allowed is None or self._ended or not self._on_top:
            return
        reason = self._reason.value.strip() if self._writing and not allowed else ""
        self._end(Decision(allowed, "user", reason))

    def withdraw(self) -> None:
        """Close without a decision, because nobody waits for one any more."""
        self._withdrawn = True
        if self._on_top and not self._ended:
            self._end(None)

    @property
    def _on_top(self) -> bool:
        """Whether nothing lies above; the framework counts a screen below a modal as current too."""
        return self.app.screen is self

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
