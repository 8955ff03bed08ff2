"""No order of inputs, paints, stalls and waits makes the gate decide where nobody can have seen it armed."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from muniment.approval.gate import LONE_SECONDS, Gate, Kind, Licence, Verdict


class Dialog(RuleBasedStateMachine):
    """Drives a gate and remembers, in words of its own, what a person can have seen."""

    @initialize(quiet=st.sampled_from([0.5, 0.8, 5.0]))
    def open(self, quiet: float) -> None:
        self.now = 10.0
        self.quiet = quiet
        self.gate = Gate(quiet, lambda: self.now)
        self.calm_since: float | None = None  # painted, and neither input nor shock since
        self.word_seen_at: float | None = None  # the frame with "armed"
        self.end_seen_at: float | None = None
        self.licences: list[Licence] = []
        self.held: tuple[Licence, bool] | None = None
        self.inputs: list[float] = []

    @rule(seconds=st.floats(0.001, 2.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def paint(self) -> None:
        self.gate.painted()
        self.gate.look_painted()
        if self.calm_since is None:
            self.calm_since = self.now

    @rule()
    def tick_and_paint_word(self) -> None:
        self.gate.tick()
        if self.gate.armed_painted():
            assert self.calm_since is not None
            assert self.now - self.calm_since >= self.quiet
            self.word_seen_at = self.now

    @rule()
    def sit_still_until_armed(self) -> None:
        self.paint()
        self.now += self.quiet
        self.tick_and_paint_word()

    @rule()
    def paint_end(self) -> None:
        self.gate.end_painted()
        if self.end_seen_at is None:
            self.end_seen_at = self.now

    @rule()
    def shock(self) -> None:
        self.gate.disarm()
        self.calm_since = self.word_seen_at = self.held = None

    @rule(allow=st.booleans())
    def press_and_wait(self, allow: bool) -> None:
        self.now += 0.05
        self.make_input(Kind.OWN, 0.0, allow)
        self.now += LONE_SECONDS + 0.001

    @rule(kind=st.sampled_from(Kind), age=st.floats(0, 3.0), allow=st.booleans())
    def make_input(self, kind: Kind, age: float, allow: bool) -> None:
        made = self.now - age
        self.inputs.append(made)
        counts = self.word_seen_at is not None and made > self.word_seen_at
        verdict = self.gate.judge(kind, made)
        if not counts:
            assert verdict is not Verdict.COUNTS
            assert self.gate.license(made) is None
        if verdict is Verdict.SWALLOWED or (kind is Kind.SCROLL and (not counts or self.held)):
            self.word_seen_at = self.held = None
            if self.calm_since is not None:
                self.calm_since = self.now
        if verdict is Verdict.COUNTS and kind is Kind.OWN:
            licence = self.gate.license(made)
            assert licence is not None
            self.licences.append(licence)
            if self.gate.hold(licence, allow=allow):
                self.held = (licence, allow)

    @precondition(lambda self: self.licences)
    @rule(data=st.data(), allow=st.booleans())
    def replay_a_licence(self, data: st.DataObject, allow: bool) -> None:
        licence = data.draw(st.sampled_from(self.licences))
        if self.gate.hold(licence, allow=allow):
            assert self.word_seen_at is not None
            assert licence.made_at > self.word_seen_at
            self.held = (licence, allow)

    @invariant()
    def decisions_are_sound(self) -> None:
        if not hasattr(self, "gate"):
            return
        decided = self.gate.settle()
        if decided is None:
            return
        assert self.word_seen_at is not None
        assert self.held is not None
        licence, allow = self.held
        assert decided is allow
        assert licence.made_at > self.word_seen_at
        assert self.now - licence.made_at >= LONE_SECONDS
        if decided:
            assert self.end_seen_at is not None
            assert licence.made_at > self.end_seen_at


Dialog.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestDialog = Dialog.TestCase
