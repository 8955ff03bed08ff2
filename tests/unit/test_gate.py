"""The gate lets an input decide only where a person can have seen the armed dialog before making it."""

from __future__ import annotations

import pytest

from muniment.approval.gate import LONE_SECONDS, Gate, Heartbeat, Kind, Standing, Verdict

QUIET = 0.8


class Hand:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def gate(clock: Hand) -> Gate:
    return Gate(QUIET, clock)


def arm(gate: Gate, clock: Hand, *, seen: bool = True) -> None:
    gate.painted()
    clock.now += QUIET + 0.001
    assert gate.tick()
    clock.now += 0.02
    assert gate.armed_painted()
    if seen:
        gate.end_painted()
    clock.now += 0.2


def decide(gate: Gate, clock: Hand, *, allow: bool, made_at: float | None = None) -> bool | None:
    """Make an input, let it be handled at once, and wait until it stood alone."""
    made = clock.now if made_at is None else made_at
    if gate.judge(Kind.OWN, made) is Verdict.COUNTS:
        gate.hold(gate.license(made), allow=allow)
    clock.now += LONE_SECONDS + 0.001
    return gate.settle()


def test_a_new_gate_ignores_everything(gate: Gate, clock: Hand) -> None:
    assert gate.judge(Kind.OWN, clock.now) is Verdict.SWALLOWED
    assert gate.license(clock.now) is None


def test_the_quiet_time_starts_with_the_first_paint_and_not_before(gate: Gate, clock: Hand) -> None:
    clock.now += 60
    assert not gate.tick()
    gate.painted()
    clock.now += QUIET - 0.001
    assert not gate.tick()
    clock.now += 0.002
    assert gate.tick()


def test_it_arms_only_when_a_frame_with_the_word_was_painted(gate: Gate, clock: Hand) -> None:
    gate.painted()
    assert not gate.armed_painted()
    clock.now += QUIET + 0.001
    gate.tick()
    clock.now += 0.01
    assert gate.judge(Kind.OWN, clock.now) is Verdict.SWALLOWED
    assert not gate.armed_painted()
    assert gate.standing is Standing.QUIET


@pytest.mark.parametrize("allow", [True, False])
def test_a_lone_input_made_after_arming_decides(gate: Gate, clock: Hand, allow: bool) -> None:
    arm(gate, clock)
    assert decide(gate, clock, allow=allow) is allow


def test_an_input_made_before_the_armed_frame_never_decides_however_late_it_is_handled(
    gate: Gate, clock: Hand
) -> None:
    arm(gate, clock)
    assert decide(gate, clock, allow=True, made_at=clock.now - 0.25) is None
    assert gate.standing is Standing.QUIET


def test_an_input_made_at_the_very_time_of_the_armed_frame_does_not_count(gate: Gate, clock: Hand) -> None:
    gate.painted()
    clock.now += QUIET + 0.001
    gate.tick()
    gate.armed_painted()
    gate.end_painted()
    assert gate.judge(Kind.OWN, clock.now) is Verdict.SWALLOWED


def test_an_input_from_the_future_does_not_count(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    assert gate.judge(Kind.OWN, clock.now + 5) is Verdict.SWALLOWED


def test_every_swallowed_input_starts_the_quiet_time_again(gate: Gate, clock: Hand) -> None:
    gate.painted()
    for _ in range(150):
        clock.now += 0.033
        gate.judge(Kind.OWN, clock.now)
        gate.tick()
    assert gate.standing is Standing.QUIET
    clock.now += QUIET - 0.01
    assert not gate.tick()
    clock.now += 0.02
    assert gate.tick()


def test_scrolling_goes_through_while_disarmed_and_starts_the_quiet_time_again(
    gate: Gate, clock: Hand
) -> None:
    gate.painted()
    clock.now += QUIET - 0.1
    assert gate.judge(Kind.SCROLL, clock.now) is Verdict.SCROLL
    clock.now += 0.2
    assert not gate.tick()


def test_scrolling_does_not_disarm(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    assert gate.judge(Kind.SCROLL, clock.now) is Verdict.SCROLL
    assert gate.armed


def test_scrolling_that_was_made_while_disarmed_disarms_when_it_comes_late(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    gate.judge(Kind.SCROLL, clock.now - 0.5)
    assert not gate.armed


@pytest.mark.parametrize("kind", [Kind.FOREIGN, Kind.PASTE])
def test_a_key_for_something_else_and_a_paste_disarm_again(gate: Gate, clock: Hand, kind: Kind) -> None:
    arm(gate, clock)
    assert gate.judge(kind, clock.now) is Verdict.SWALLOWED
    clock.now += 0.1
    assert decide(gate, clock, allow=True) is None


def test_a_burst_decides_nothing_and_disarms(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    gate.judge(Kind.OWN, clock.now)
    assert gate.hold(gate.license(clock.now), allow=True)
    clock.now += 0.03
    assert gate.settle() is None
    assert gate.judge(Kind.OWN, clock.now) is Verdict.SWALLOWED
    clock.now += 1
    assert gate.settle() is None
    assert not gate.armed


def test_allow_needs_an_input_made_after_the_end_was_painted(gate: Gate, clock: Hand) -> None:
    arm(gate, clock, seen=False)
    assert decide(gate, clock, allow=True) is None
    gate.end_painted()
    before = clock.now
    clock.now += 0.1
    assert decide(gate, clock, allow=True, made_at=before) is None
    assert decide(gate, clock, allow=True) is True


def test_denying_needs_no_reading_to_the_end(gate: Gate, clock: Hand) -> None:
    arm(gate, clock, seen=False)
    assert decide(gate, clock, allow=False) is False


def test_disarming_voids_a_licence_and_a_held_decision(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    licence = gate.license(clock.now)
    assert gate.hold(licence, allow=True)
    gate.disarm()
    clock.now += 1
    assert gate.settle() is None
    arm(gate, clock)
    assert not gate.hold(licence, allow=True)


@pytest.mark.parametrize("shaken", ["disarmed", "restarted"])
def test_a_decision_that_was_voided_does_not_stand_in_the_way_of_the_next(
    gate: Gate, clock: Hand, shaken: str
) -> None:
    arm(gate, clock)
    assert gate.hold(gate.license(clock.now), allow=True)
    if shaken == "disarmed":
        gate.disarm()
    else:
        gate.judge(Kind.FOREIGN, clock.now)
    clock.now += 1
    assert gate.settle() is None
    arm(gate, clock)
    assert decide(gate, clock, allow=False) is False


def test_a_decision_that_is_held_is_not_replaced_by_another(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    assert gate.hold(gate.license(clock.now), allow=False)
    assert not gate.hold(gate.license(clock.now), allow=True)
    clock.now += LONE_SECONDS + 0.001
    assert gate.settle() is False


def test_after_disarming_it_must_be_painted_again(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    gate.disarm()
    clock.now += 60
    assert not gate.tick()
    assert gate.progress == 0
    arm(gate, clock)
    assert decide(gate, clock, allow=True) is True


def test_a_changed_look_must_be_painted_before_the_input_that_decides(gate: Gate, clock: Hand) -> None:
    arm(gate, clock)
    gate.look_changed()
    early = clock.now
    assert not gate.hold(gate.license(early), allow=True)
    clock.now += 0.02
    gate.look_painted()
    clock.now += 0.02
    assert not gate.hold(gate.license(early), allow=True)
    assert gate.hold(gate.license(clock.now), allow=True)
    assert gate.armed


def test_the_gauge_runs_from_empty_to_full(gate: Gate, clock: Hand) -> None:
    assert gate.progress == 0
    gate.painted()
    clock.now += QUIET / 2
    assert gate.progress == pytest.approx(0.5)
    clock.now += QUIET + 0.001
    assert gate.progress == 1


def test_without_a_quiet_time_it_still_wants_both_frames(clock: Hand) -> None:
    gate = Gate(0, clock)
    assert not gate.tick()
    gate.painted()
    assert gate.tick()
    assert gate.armed_painted()
    gate.end_painted()
    clock.now += 0.001
    gate.judge(Kind.OWN, clock.now)
    assert gate.hold(gate.license(clock.now), allow=True)
    assert gate.settle() is True


@pytest.mark.parametrize("seconds", [-0.1, 5.1])
def test_an_impossible_quiet_time_is_refused(clock: Hand, seconds: float) -> None:
    with pytest.raises(ValueError, match="quiet time"):
        Gate(seconds, clock)


def test_the_heart_notices_a_stop_by_either_clock(clock: Hand) -> None:
    asleep = Hand()
    heart = Heartbeat(clock, asleep)
    clock.now += 0.19
    asleep.now += 0.19
    assert not heart.beat()
    clock.now += 0.21
    assert heart.overdue()
    assert heart.beat()
    assert not heart.beat()
    asleep.now += 3600
    assert heart.beat()
