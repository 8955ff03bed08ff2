"""When a key counts: the rule that keeps typing hands, held keys, pastes and stalls from deciding anything.

The gate is disarmed when a dialog opens. It becomes due after the first paint plus a quiet time without any
input, and armed once a frame that says so has been painted. An input is judged by the time it was made, never
by the time it is handled, and one that was made before that frame never decides. Whatever shakes the
certainty that the person saw the armed dialog disarms the gate: it must then be painted and wait afresh.

All times are seconds of one monotonic clock, which is given from outside; nothing here knows a screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum

from muniment.settings.values import QUIET_MOST

Clock = Callable[[], float]

STALL_SECONDS = 0.2
"""A heartbeat that is later than this says that the process stood still and may have missed a change."""
LONE_SECONDS = 0.12
"""A deciding input must stand alone for this long: pastes without brackets and held keys come in bursts."""


class Standing(StrEnum):
    """Where the gate stands; only `ARMED` lets an input through."""

    HIDDEN = "hidden"
    """Nothing of the dialog has been painted since it opened or was disarmed."""
    QUIET = "quiet"
    """Painted; the quiet time runs."""
    DUE = "due"
    """The quiet time is over; the frame that says so is not painted yet."""
    ARMED = "armed"


class Kind(Enum):
    """What sort of input was made, as far as the rule cares."""

    SCROLL = "scroll"
    """Moves the text only: goes through at any time, yet counts against the quiet time."""
    OWN = "own"
    """A key or mouse button that means something to the dialog."""
    FOREIGN = "foreign"
    """A key without a meaning here: somebody means something else, and the keys to come may, too."""
    PASTE = "paste"


class Verdict(Enum):
    """What becomes of an input."""

    SWALLOWED = "swallowed"
    SCROLL = "scroll"
    COUNTS = "counts"


@dataclass(frozen=True, slots=True)
class Licence:
    """The right to act once on one input; void as soon as the gate has been disarmed since."""

    epoch: int
    made_at: float


class Gate:
    """The state of one dialog, from opening to decision; a new dialog needs a new gate."""

    def __init__(self, quiet_seconds: float, clock: Clock) -> None:
        if quiet_seconds < 0 or quiet_seconds > QUIET_MOST:
            raise ValueError(f"The quiet time must be from 0 to {QUIET_MOST} seconds, not {quiet_seconds}.")
        self.quiet_seconds = quiet_seconds
        self._clock = clock
        self._standing = Standing.HIDDEN
        self._quiet_since = 0.0
        self._armed_at = 0.0
        self._unlocked_at: float | None = None
        self._epoch = 0
        self._held: tuple[Licence, bool] | None = None
        self._look_at: float | None = 0.0

    @property
    def standing(self) -> Standing:
        return self._standing

    @property
    def armed(self) -> bool:
        return self._standing is Standing.ARMED

    @property
    def unlocked(self) -> bool:
        """Whether the end of what is to be approved has been painted."""
        return self._unlocked_at is not None

    @property
    def progress(self) -> float:
        """How much of the quiet time has passed, from 0 to 1."""
        match self._standing:
            case Standing.HIDDEN:
                return 0.0
            case Standing.QUIET if self.quiet_seconds > 0:
                return min(1.0, max(0.0, (self._clock() - self._quiet_since) / self.quiet_seconds))
            case _:
                return 1.0

    def painted(self) -> None:
        """Tell that a frame of the disarmed dialog was painted: the quiet time may start."""
        if self._standing is Standing.HIDDEN:
            self._standing = Standing.QUIET
            self._quiet_since = self._clock()

    def tick(self) -> bool:
        """Look at the clock; return True when the quiet time has just ended and "armed" is to be painted."""
        if self._standing is Standing.QUIET and self._clock() - self._quiet_since >= self.quiet_seconds:
            self._standing = Standing.DUE
            return True
        return False

    def armed_painted(self) -> bool:
        """Tell that a frame saying "armed" was painted; return True when that armed the gate."""
        if self._standing is not Standing.DUE:
            return False
        self._standing = Standing.ARMED
        self._armed_at = self._clock()
        return True

    def end_painted(self) -> None:
        """Tell that a frame with the end of the text was painted: later input may allow."""
        if self._unlocked_at is None:
            self._unlocked_at = self._clock()

    def look_changed(self) -> None:
        """Tell that the dialog looks different now: only input made after the next frame may decide."""
        self._look_at = None

    def look_painted(self) -> None:
        """Tell that a frame with the present look was painted."""
        if self._look_at is None:
            self._look_at = self._clock()

    def disarm(self) -> None:
        """Forget the frames painted so far: after a stall, a lost focus, a covering screen."""
        self._standing = Standing.HIDDEN
        self._held = None
        self._epoch += 1

    def judge(self, kind: Kind, made_at: float) -> Verdict:
        """Say what becomes of an input made at `made_at`; a swallowed one starts the quiet time again."""
        burst = self._held is not None
        if kind is Kind.SCROLL:
            if burst or not self._live(made_at):
                self._restart()
            return Verdict.SCROLL
        if burst or kind in (Kind.FOREIGN, Kind.PASTE) or not self._live(made_at):
            self._restart()
            return Verdict.SWALLOWED
        return Verdict.COUNTS

    def license(self, made_at: float) -> Licence | None:
        """Return the licence of an input that counts, or None."""
        return Licence(self._epoch, made_at) if self._live(made_at) else None

    def hold(self, licence: Licence | None, *, allow: bool) -> bool:
        """Take a decision that must still stand alone for a moment; False where it may not be made.

        To allow needs an input that was made after the end of the text had been painted.
        """
        if self._held is not None or licence is None or not self._valid(licence):
            return False
        if self._look_at is None or licence.made_at <= self._look_at:
            return False
        if allow and (self._unlocked_at is None or licence.made_at <= self._unlocked_at):
            return False
        self._held = (licence, allow)
        return True

    def settle(self) -> bool | None:
        """Return the held decision, True for allowed, once nothing came right behind it; None before that."""
        if self._held is None:
            return None
        licence, allow = self._held
        alone = self._clock() - licence.made_at >= min(LONE_SECONDS, self.quiet_seconds)
        return allow if alone and self._valid(licence) else None

    def _valid(self, licence: Licence) -> bool:
        return licence.epoch == self._epoch and self._live(licence.made_at)

    def _live(self, made_at: float) -> bool:
        return self._standing is Standing.ARMED and self._armed_at < made_at <= self._clock()

    def _restart(self) -> None:
        self._held = None
        self._epoch += 1
        if self._standing is not Standing.HIDDEN:
            self._standing = Standing.QUIET
            self._quiet_since = self._clock()


class Heartbeat:
    """Notices that the process stood still: a stop, a long computation, a machine that slept.

    The clocks given should include one that goes on while the machine sleeps.
    """

    def __init__(self, *clocks: Clock, limit: float = STALL_SECONDS) -> None:
        self._clocks = clocks
        self._limit = limit
        self._last = self._now()

    def beat(self) -> bool:
        """Note that the process is alive; return True where the gap since the last beat was too long."""
        stalled = self.overdue()
        self._last = self._now()
        return stalled

    def overdue(self) -> bool:
        """Tell whether the last beat is too long ago."""
        return any(now - last > self._limit for now, last in zip(self._now(), self._last, strict=True))

    def _now(self) -> tuple[float, ...]:
        return tuple(clock() for clock in self._clocks)
