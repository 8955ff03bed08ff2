"""Your word on a finished task: one note to its agent, bound to that session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from muniment.memory.origin import Origin, utc_now
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.session.logs.history import History
from muniment.session.logs.line import LineFault
from muniment.session.team.task import TaskEnd, end_of

if TYPE_CHECKING:
    from muniment.memory.team.notefile import Note
    from muniment.memory.team.workspace import Team
    from muniment.paths import Paths
    from muniment.settings import Settings

Rating = Literal["up", "down"]
RATINGS: tuple[Rating, ...] = ("up", "down")
MAX_COMMENT_BYTES = 16_384
_TITLE_CHARACTERS = 80
_WORDS = {"up": "\U0001f44d good", "down": "\U0001f44e not good"}


class NotRated(MunimentError):  # noqa: N818 - named for what happened
    """A session cannot be rated; nothing was written."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What a rating wrote: the note, its place, and the task it is about."""

    note: Note
    end: TaskEnd
    scope: str
    directory: Path


@dataclass(frozen=True, slots=True)
class _Finished:
    session: str
    history: History
    end: TaskEnd
    agent: str
    team: Team
    start: str
    """How the name of a note that rates it begins."""


def rate_session(
    paths: Paths,
    settings: Settings,
    session_id: str,
    rating: Rating,
    comment: str = "",
    *,
    surface: str = "cli",
) -> Rated:
    """Write one note to the agent of a finished task, into the inbox of the place the task worked in.

    Raise `NotFound` for no such session, `NotRated` for one that is no finished task, whose directory is
    gone, or that was rated already.
    """
    from muniment.memory.team.notefile import SUFFIX, NewNote

    if rating not in RATINGS:
        raise InvalidInput(f"A rating is one of: {', '.join(RATINGS)}.")
    if len(comment.encode("utf-8", "replace")) > MAX_COMMENT_BYTES:
        raise InvalidInput(f"A comment has at most {MAX_COMMENT_BYTES} bytes.")
    task = _finished(paths, settings, session_id)
    history, end, team = task.history, task.end, task.team
    recipe = history.header.get("recipe") or {}
    about = _one(history.title or history.first_message) or "a task"
    lines = [
        f"- rating: {_WORDS[rating]}",
        f"- task: {about}",
        f"- recipe: {_one(str(recipe.get('name', '')))}",
        f"- outcome: {end.outcome or 'not reported'}",
        f"- session: {session_id}",
    ]
    if comment.strip():
        lines += ["", comment.strip()]
    with team.guard():
        _not_rated_yet(task)
        note = team.inbox.add(
            NewNote(
                f"Feedback on {about}: {_WORDS[rating]}",
                "\n".join(lines),
                task.agent,
                "feedback",
                session_id,
                f"{task.start}-{utc_now():%Y-%m-%d}{SUFFIX}",
            ),
            Origin("user", surface, session_id, str(recipe.get("name", "")), task.agent, decided_by="user"),
        )
        return Rated(note, end, team.scope, team.directory)


def check_ratable(paths: Paths, settings: Settings, session_id: str) -> None:
    """Raise what `rate_session` would, before anybody is asked for a comment."""
    _not_rated_yet(_finished(paths, settings, session_id))


def _finished(paths: Paths, settings: Settings, session_id: str) -> _Finished:
    from muniment.memory.surfaces import Surfaces
    from muniment.memory.team.notefile import safe_slug
    from muniment.session.logs.export import read_log

    history = History()
    try:
        for record in read_log(paths, session_id):
            history.apply(record)
    except LineFault as fault:
        raise NotRated(f"The log of session {session_id} is damaged: {fault}.") from fault
    end = end_of(history.task)
    if end is None:
        raise NotRated(f"Session {session_id} is no finished task, so there is nothing to rate.")
    place = Path(history.cwd)
    if not place.is_dir():
        raise NotRated(f"{place}, where session {session_id} worked, is not there any more.")
    recipe = history.header.get("recipe") or {}
    agent = recipe.get("agent") or recipe.get("name") or "assistant"
    team = Surfaces(paths, place, settings).team
    return _Finished(session_id, history, end, agent, team, f"{safe_slug(agent)}-feedback-{session_id}")


def _not_rated_yet(task: _Finished) -> None:
    known = _already(task.team, task.start)
    if known is not None:
        raise NotRated(f"Session {task.session} was rated already; see {known}.")


def _already(team: Team, start: str) -> Path | None:
    """Return the note of an earlier rating, waiting or archived."""
    inbox = team.inbox
    for directory in (inbox.directory, inbox.archive_directory):
        for name in team.files.names(directory):
            if start in name:
                return directory / name
    return None


def _one(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_CHARACTERS else f"{line[: _TITLE_CHARACTERS - 1]}…"
