"""The life of a task: how it is reported or ended, and the one note that a success leaves."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from muniment.memory.origin import Origin
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session.request.blocks import TaskHints
from muniment.tools.base import ToolResult
from muniment.tools.team import OUTCOMES, Report, TaskOutcome

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.memory.team.notefile import Note
    from muniment.session.recipes.recipe import Recipe

EndedBy = Literal["report", "user", "exit"]
_TITLE_CHARACTERS = 120
TASK_SURFACE = "task"
"""The journal's word for the door through which a task's own note comes."""


class TaskRefused(MunimentError):  # noqa: N818 - named for what happened
    """A task cannot be ended so; nothing was written."""


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How a task ended. `outcome` is empty where nobody said it, `note` the file's name of its note."""

    outcome: str
    by: EndedBy
    summary: str = ""
    note: str | None = None
    failure_class: str | None = None
    pr: str | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the fields of its record in a session's log."""
        return {"outcome": self.outcome, "by": self.by, "summary": self.summary, "note": self.note}


def is_task(recipe: Recipe, *, headless: bool) -> bool:
    """Tell whether a session is a task: as its recipe says, else whether it runs headless."""
    captured = recipe.task.capture
    return captured is True or (headless and captured is not False)


def end_of(fields: Mapping[str, Any] | None) -> TaskEnd | None:
    """Return the end of a task as a session's log has it; None where it has none."""
    if fields is None or not isinstance(fields.get("outcome"), str):
        return None
    texts = {
        name: value
        for name in ("summary", "note", "failure_class", "pr")
        if isinstance(value := fields.get(name), str)
    }
    by = fields.get("by")
    return TaskEnd(fields["outcome"], by if by in ("user", "exit") else "report", **texts)


def hints_of(report: Report) -> TaskHints:
    """Return what of a report helps to choose memories for what comes next."""
    failure = "" if report.outcome == "success" else f"{report.failure_class or ''} {report.summary}".strip()
    return TaskHints(failure, report.pr or "", report.files)


class TaskState:
    """One session's task. A success and the user's own word are final; another outcome may be corrected."""

    def __init__(
        self,
        surfaces: Surfaces,
        recipe: Recipe,
        session: str,
        nonce: str,
        *,
        ends_with_run: bool,
        known: TaskEnd | None = None,
        about: Callable[[], str] = str,
    ) -> None:
        self._surfaces = surfaces
        self._recipe = recipe
        self._session = session
        self._nonce = nonce
        self._about = about
        self._lock = Lock()
        self._listeners: list[Callable[[Report], None]] = []
        self.ends_with_run = ends_with_run
        """Whether the end of the process ends the task too."""
        self.end = known

    @property
    def reported(self) -> bool:
        """Whether the task has ended, in whatever way."""
        return self.end is not None

    @property
    def outcome(self) -> str | None:
        """`success`, `partial` or `failure`; None where nobody has said one yet."""
        return self.end.outcome or None if self.end is not None else None

    def listen(self, listener: Callable[[Report], None]) -> None:
        """Have every report that counts told to `listener`."""
        self._listeners.append(listener)

    def matches(self, nonce: str) -> bool:
        """Tell whether this is the word of this task, in a time that gives nothing away."""
        return hmac.compare_digest(nonce.encode("utf-8"), self._nonce.encode("utf-8"))

    def report(self, report: Report, origin: Origin) -> ToolResult:
        """Take the agent's report in; one without the task's word is used for nothing."""
        with self._lock:
            if not self.matches(report.nonce):
                return _refused(
                    "The nonce is not that of this task. The report is kept in the session's log and used "
                    "for nothing."
                )
            if self._final:
                return _refused("This task has ended already; a second report is used for nothing.")
            text = report.findings if report.findings and report.findings.strip() else report.summary
            note = self._note(report.outcome, report.summary, text, origin, report.pr)
            self.end = TaskEnd(
                report.outcome,
                "report",
                report.summary,
                None if note is None else note.name,
                report.failure_class,
                report.pr,
            )
            for listener in self._listeners:
                listener(report)
            self._episode(report, origin)
        return self._told(report.outcome, note)

    def finish(self, outcome: str, summary: str = "", *, output: str = "") -> TaskEnd:
        """End the task by the user's word; raise `TaskRefused` where it has ended.

        Only a success for which the user says something leaves a note. `output` is the task's last reply.
        """
        if outcome not in OUTCOMES:
            raise InvalidInput(f"A task ends as one of: {', '.join(OUTCOMES)}.")
        with self._lock:
            if self._final:
                raise TaskRefused(f"This task has ended already ({self.outcome or 'no outcome'}).")
            origin = Origin("user", TASK_SURFACE, self._session, self._recipe.name, self._recipe.agent)
            note = self._note(outcome, summary, summary, origin, None) if summary.strip() else None
            self.end = TaskEnd(outcome, "user", summary, None if note is None else note.name)
            self._episode(Report(_outcome(outcome), summary, self._nonce), origin, output)
            return self.end

    def exit(self) -> TaskEnd | None:
        """End the task with its process where it ends so and nothing ended it before; writes no note."""
        if not self.ends_with_run or self.end is not None:
            return None
        self.end = TaskEnd("", "exit")
        return self.end

    @property
    def _final(self) -> bool:
        return self.end is not None and (self.end.by == "user" or self.end.outcome == "success")

    def _note(self, outcome: str, summary: str, text: str, origin: Origin, pr: str | None) -> Note | None:
        """Write the one note of a success; one that stands there from a broken-off run counts as written."""
        if outcome != "success":
            return None
        from muniment.memory.team.notefile import SUFFIX, NewNote, safe_slug

        team = self._surfaces.team
        start = f"{safe_slug(self._recipe.agent)}-{self._session}-"
        with team.guard():
            waiting = [name for name in team.files.names(team.inbox.directory) if name.startswith(start)]
            if waiting:
                return team.inbox.read(waiting[0])
            return team.inbox.add(
                NewNote(
                    _title(summary),
                    text,
                    self._recipe.agent,
                    "task",
                    self._session,
                    f"{start}{self._surfaces.clock():%Y-%m-%d-%H%M}{SUFFIX}",
                    {"pr": None if pr is None else " ".join(pr.split())},
                ),
                replace(origin, surface=TASK_SURFACE),
            )

    def _episode(self, report: Report, origin: Origin, output: str = "") -> None:
        """Leave an episode where they are on; whatever goes wrong with it changes nothing about the task."""
        if not self._surfaces.settings.episodes.enabled:
            return
        from muniment.memory.ledger.episodes import Episode, record_episode

        team = self._surfaces.team
        try:
            with team.guard() as directory:
                # A project that has no id yet gets one: without it the episode would count everywhere.
                team.files.prepare(directory)
            record_episode(
                self._surfaces.ledger,
                Episode(
                    outcome=report.outcome,
                    task=self._about(),
                    agent=self._recipe.agent,
                    session=self._session,
                    project=team.scope_key,
                    summary=report.summary,
                    pr=report.pr or "",
                    failure_class=report.failure_class or "",
                    files=report.files,
                    tests=report.tests,
                    output=output,
                ),
                settings=self._surfaces.settings.episodes,
                origin=replace(origin, actor="engine", surface=TASK_SURFACE),
            )
        except (OSError, MunimentError):
            return

    def _told(self, outcome: str, note: Note | None) -> ToolResult:
        data: dict[str, Any] = {"accepted": True, "outcome": outcome, "note": None}
        end = self.end
        if end is not None:
            data |= {"by": end.by, "summary": end.summary, "failure_class": end.failure_class, "pr": end.pr}
        if note is None:
            return ToolResult("completed", data, f"The task is reported: {outcome}. It leaves no note.")
        scope, directory = self._surfaces.team.scope, self._surfaces.team.directory
        data |= {"note": note.name, "id": note.id, "scope": scope, "directory": str(directory)}
        return ToolResult(
            "completed",
            data,
            f"The task is reported: {outcome}. Note {note.id} ({note.name}) in {scope} scope, "
            f"{directory}, waits for the user's review.",
            changed=True,
        )


def _refused(text: str) -> ToolResult:
    return ToolResult("failed", {"accepted": False, "error": text}, text)


def _title(summary: str) -> str:
    first = next((line for line in summary.splitlines() if line.strip()), "Task")
    title = " ".join(first.split())
    return title if len(title) <= _TITLE_CHARACTERS else f"{title[: _TITLE_CHARACTERS - 1]}…"


def _outcome(word: str) -> TaskOutcome:
    return next(each for each in OUTCOMES if each == word)
