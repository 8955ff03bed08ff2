"""Runs cases through the same engine as the screen, each run in a place of its own that goes afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from muniment.approval.policy import Mode
from muniment.evals.case import Case, Turn
from muniment.evals.graders import grade
from muniment.evals.observed import Check, Observed
from muniment.evals.place import Place, lay_out, temporary_place
from muniment.evals.script import Answers, Ear, steps_of
from muniment.model.base import Usage
from muniment.model.scripted import ScriptedModel
from muniment.safety.errors import MunimentError

if TYPE_CHECKING:
    from muniment.model.base import Model
    from muniment.session.engine import Engine
    from muniment.session.events import TurnEnded
    from muniment.settings import Settings

TURN_SECONDS = 30.0
LIVE_TURN_SECONDS = 600.0
LIVE_RUNS = 3


@dataclass(frozen=True, slots=True)
class Live:
    """The model that live cases ask: the user's own settings, and the variables that hold its key."""

    settings: Settings
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a case: passed where the script fitted and every check holds."""

    number: int
    checks: tuple[Check, ...]
    faults: tuple[str, ...]
    """What went otherwise than the script says, whatever the checks found."""
    requests: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    final_text: str = ""
    logs: tuple[tuple[str, str], ...] = ()
    """Session ids and their logs as JSON with secrets hidden, where they were asked for."""

    @property
    def passed(self) -> bool:
        return not self.faults and all(each.passed for each in self.checks)


@dataclass(frozen=True, slots=True)
class Result:
    """All runs of one case; none where the case was left out, and `skipped` then says why."""

    case: Case
    runs: tuple[Run, ...] = ()
    skipped: str = ""

    @property
    def passes(self) -> int:
        return sum(each.passed for each in self.runs)

    @property
    def status(self) -> str:
        if self.skipped:
            return "skipped"
        return "passed" if self.passes == len(self.runs) else "failed"


Progress = Callable[[Case, int, int], None]
"""Told before each run: the case, the number of the run from 1 on, and how many there will be."""


async def run_cases(
    cases: Sequence[Case],
    environ: Mapping[str, str],
    *,
    live: Live | None = None,
    runs: int | None = None,
    keep_logs: bool = False,
    progress: Progress | None = None,
    done: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run cases one after the other; live ones are left out where `live` is None.

    Without `runs` a scripted case runs once and a live one `LIVE_RUNS` times.
    """
    results: list[Result] = []
    for case in cases:
        if case.live and live is None:
            result = Result(case, skipped="asked of a model, with --live only")
        else:
            wanted = runs or (LIVE_RUNS if case.live else 1)
            made: list[Run] = []
            for number in range(1, wanted + 1):
                if progress is not None:
                    progress(case, number, wanted)
                made.append(await run_case(case, environ, number=number, live=live, keep_logs=keep_logs))
            result = Result(case, tuple(made))
        results.append(result)
        if done is not None:
            done(result)
    return results


async def run_case(
    case: Case,
    environ: Mapping[str, str],
    *,
    number: int = 1,
    live: Live | None = None,
    keep_logs: bool = False,
) -> Run:
    """Run a case once; whatever goes wrong in it is a fault of the run and never an error."""
    began = time.monotonic()
    with temporary_place() as place:
        stage = _Stage(case, place, place.environ(case, environ), live if case.live else None)
        try:
            await stage.play()
        except MunimentError as error:
            stage.faults.append(error.sentence)
        except OSError as error:
            stage.faults.append(f"{error.filename or 'the place of the run'}: {error.strerror or error}.")
        finally:
            await stage.close()
        seen = stage.seen
        checks = () if seen is None else tuple(grade(each, seen) for each in case.expect)
        return Run(
            number,
            tuple(replace(each, detail=stage.scrub(each.detail)) for each in checks),
            tuple(dict.fromkeys(map(stage.scrub, stage.faults))),
            0 if seen is None else len(seen.requests),
            0 if seen is None else len(seen.calls),
            Usage() if seen is None else seen.usage,
            time.monotonic() - began,
            "" if seen is None else stage.scrub(seen.final_text),
            tuple(stage.logs()) if keep_logs else (),
        )


class _Stage:
    """One run while it is played."""

    def __init__(self, case: Case, place: Place, environ: Mapping[str, str], live: Live | None) -> None:
        self._case = case
        self._place = place
        self._environ = environ
        self._live = live
        self._engine: Engine | None = None
        self._script = ScriptedModel(())
        self._answers = Answers(case.answers, place.edit, self._fill)
        self.faults: list[str] = []
        self.seen: Observed | None = None

    def _fill(self, text: str) -> str:
        nonce = None if self._engine is None else self._engine.task_nonce
        return self._place.fill(text, nonce or "")

    def scrub(self, text: str) -> str:
        """Return a text without the key that is in use: a server or a model may have echoed it."""
        from muniment.safety.redact import without_key

        live = self._live
        return text if live is None else without_key(text, live.environ.get(live.settings.model.api_key_env))

    async def play(self) -> None:
        from muniment.settings import load_settings

        seeding = load_settings(self._place.paths, self._environ)
        lay_out(self._place, self._case, seeding)
        settings = self._live.settings if self._live else load_settings(self._place.paths, self._environ)
        seen = self.seen = Observed(self._place, self._place.surfaces(self._case, settings))
        seen.asked = self._answers.asked
        seen.seeded = self._place.snapshot()
        for at, turn in enumerate(self._case.turns):
            self._place.edit(turn.edits)
            if at == 0 or turn.session != "same":
                await self._open(turn, seen, settings, first=at == 0)
            await self._turn(turn, at + 1, seen)
            # What was answered otherwise than the script says is the reason for what follows from it.
            self.faults[:0] = self._answers.faults
            if self.faults:
                return
        left = self._answers.leftover()
        if left is not None:
            self.faults.append(left)

    async def _open(self, turn: Turn, seen: Observed, settings: Settings, *, first: bool) -> None:
        from muniment.session.options import StartOptions
        from muniment.session.start import open_session

        before = None if self._engine is None else self._engine.id
        await self.close()
        self._script = ScriptedModel(())
        options = StartOptions(
            recipe=self._recipe(),
            params=self._case.parameters,
            resume_id=before if turn.session == "resume" else None,
            mode=self._case.mode if first else Mode.MANUAL,
        )
        self._engine = open_session(
            options,
            self._place.paths,
            self._place.working_directory(self._case),
            self._environ,
            self._answers.approver(),
            settings=settings,
            model=Ear(self._model(settings), seen.requests),
        )
        if self._engine.id not in seen.sessions:
            seen.sessions.append(self._engine.id)
        for event in self._engine.opening:
            seen.events.append(event)

    def _model(self, settings: Settings) -> Model:
        if self._live is None:
            return self._script
        from muniment.model.factory import build_model

        return build_model(settings, self._live.environ)

    def _recipe(self) -> str | None:
        """Return the recipe; a path is one from the case's own file on."""
        named = self._case.recipe
        return str(self._case.path.parent / named) if named and ("/" in named or "." in named) else named

    async def _turn(self, turn: Turn, number: int, seen: Observed) -> None:
        engine = self._engine
        if engine is None:
            raise MunimentError("There is no session.")
        self._script.extend(steps_of(turn.replies, self._fill))
        opening = engine.first_prompt if number == 1 else None
        text = "\n\n".join(each for each in (opening, self._fill(turn.say)) if each)
        seconds = TURN_SECONDS if self._live is None else LIVE_TURN_SECONDS
        try:
            async with asyncio.timeout(seconds):
                ended: TurnEnded = await engine.turn(text, seen.events.append)
        except TimeoutError:
            self.faults.append(f"turn {number} did not end within {seconds:g} seconds")
            return
        self.faults.extend(self._script.faults)
        if self._script.faults:
            return
        wanted = {each.grader for each in self._case.expect}
        if ended.status != "completed" and "turn_status" not in wanted:
            why = f": {seen.errors[-1]}" if seen.errors else ""
            self.faults.append(f"turn {number} ended as {ended.status}{why}")
        elif self._live is None and self._script.remaining:
            self.faults.append(f"turn {number} left {self._script.remaining} of its replies unasked for")

    async def close(self) -> None:
        if self._engine is not None:
            await self._engine.close()

    def logs(self) -> list[tuple[str, str]]:
        from muniment.session.logs.export import as_json, read_log

        found = []
        for session in [] if self.seen is None else self.seen.sessions:
            try:
                found.append((session, as_json(read_log(self._place.paths, session))))
            except MunimentError as error:
                self.faults.append(error.sentence)
        return found
