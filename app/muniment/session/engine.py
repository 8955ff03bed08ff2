"""The engine: one open session, its turns one at a time, told as typed events to whoever shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from muniment.approval.policy import Mode
from muniment.model.base import AssistantItem, Model, UserItem
from muniment.safety.errors import MunimentError
from muniment.session.calls import Calls, Desk, Emit
from muniment.session.conduct import Conductor
from muniment.session.events import Event, Notice, SessionOpened, TurnEnded
from muniment.session.logs.log import SessionLog, clean_title
from muniment.session.request.context import Assembly, Context

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces
    from muniment.session.logs.line import LogRecord
    from muniment.session.recipes.recipe import Recipe
    from muniment.session.team.task import TaskEnd, TaskState
    from muniment.session.trace import Trace

_END_SECONDS = 5.0
T = TypeVar("T")


class TurnRefused(MunimentError):  # noqa: N818 - named for what happened
    """A message was not taken: nothing was written and nothing was sent."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is made of; `session/start.py` puts it together."""

    log: SessionLog
    context: Context
    desk: Desk
    recipe: Recipe
    surfaces: Surfaces
    cwd: Path
    model: Model | None
    """None where no model can be asked; `model_fault` then says why."""
    model_fault: str
    provider: str
    model_name: str
    mode: Mode
    trace: Trace | None = None
    first_prompt: str | None = None
    notices: tuple[str, ...] = ()
    task: TaskState | None = None
    task_nonce: str | None = None


class Engine:
    """One open session. `interrupt` ends a turn within a moment, whatever it is doing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._log = parts.log
        self._context = parts.context
        self._mode = parts.mode
        self._conductor: Conductor | None = None
        if parts.model is not None:
            calls = Calls(parts.desk)
            self._conductor = Conductor(
                parts.log, parts.context, calls, parts.model, parts.trace, lambda: self._mode
            )
        self._task: asyncio.Task[Any] | None = None
        self._interrupted = False
        self._closed = False
        self._closing = asyncio.Lock()

    @property
    def id(self) -> str:
        return self._log.id

    @property
    def recipe(self) -> Recipe:
        return self._parts.recipe

    @property
    def surfaces(self) -> Surfaces:
        return self._parts.surfaces

    @property
    def cwd(self) -> Path:
        """The directory this session works in."""
        return self._parts.cwd

    @property
    def provider(self) -> str:
        return self._parts.provider

    @property
    def model(self) -> Model | None:
        """The model itself, for work beside the conversation; None where none can be asked."""
        return self._parts.model

    @property
    def model_name(self) -> str:
        return self._parts.model_name

    @property
    def model_fault(self) -> str:
        """Why no model can be asked, in one sentence; empty where one can."""
        return self._parts.model_fault

    @property
    def first_prompt(self) -> str | None:
        """The recipe's first message, for a session that has none yet."""
        return self._parts.first_prompt

    @property
    def title(self) -> str:
        """The title that the user gave, or an empty text."""
        return self._log.history.title

    @property
    def context(self) -> Context:
        return self._context

    @property
    def task(self) -> TaskState | None:
        """The task that this session is; None for a session that is none."""
        return self._parts.task

    def finish_task(self, outcome: str, summary: str = "") -> TaskEnd:
        """End the task by the user's word: `success`, `partial` or `failure`. Writes to disk.

        Raise `TurnRefused` where this is no task or a turn runs, `TaskRefused` where it has ended.
        """
        self._check_idle()
        task = self._parts.task
        if task is None:
            raise TurnRefused("This session is no task, so there is nothing to end.")
        replies = [each.text for each in self._log.history.items() if isinstance(each, AssistantItem)]
        end = task.finish(outcome, summary, output=replies[-1] if replies else "")
        self._log.append("task", **end.as_record())
        return end

    def alert(self, title: str, body: str) -> bool:
        """Put something for a person to see into the inbox, once a day for a title; never fails."""
        from muniment.session.alerts import raise_alert

        return raise_alert(self.surfaces, self.id, title, body)

    @property
    def task_nonce(self) -> str | None:
        return self._parts.task_nonce

    @property
    def digest_items(self) -> int | None:
        """How many records the digest of this session lists; None where the session carries none."""
        if not self._context.carries_digest:
            return None
        return 0 if self._context.digest is None else self._context.digest.items

    @property
    def opening(self) -> tuple[Event, ...]:
        """The events that every consumer shows first."""
        parts = self._parts
        opened = SessionOpened(self.id, parts.recipe.name, parts.provider, parts.model_name, str(self._mode))
        faults = (parts.model_fault,) if parts.model_fault else ()
        return (opened, *(Notice(text) for text in (*parts.notices, *faults)))

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction runs."""
        return self._task is not None

    @property
    def batch(self) -> tuple[int, int]:
        """Which call of how many in the running reply is being dealt with; zeros outside calls."""
        return (0, 0) if self._conductor is None else self._conductor.batch

    @property
    def last_assembly(self) -> Assembly | None:
        """The newest request of this session, as sent."""
        return None if self._conductor is None else self._conductor.last_assembly

    @property
    def mode(self) -> Mode:
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Change the mode of this session only; asking before a looser one is the screen's part."""
        self._mode = mode

    @property
    def save_fault(self) -> str | None:
        """Why the session is not being saved now, or None."""
        return self._log.fault

    @property
    def unknown_calls(self) -> tuple[str, ...]:
        """Tools that had started when the session broke off and whose outcome nobody knows."""
        return tuple(self._log.history.unknown.values())

    def acknowledge(self) -> None:
        """Note that the user knows about the unknown outcomes; nothing runs again."""
        if self._log.history.unknown:
            self._log.append("recovery_ack", call_ids=list(self._log.history.unknown))

    def replay(self, *, before: int | None = None, newest: int | None = None) -> tuple[LogRecord, ...]:
        """Return the records of the session, oldest first; `session/logs/replay.py` turns them into events.

        With `newest` only about so many, from the beginning of a turn on; with `before` those below it.
        """
        return self._log.replay(before=before, newest=newest)

    def rename(self, title: str) -> None:
        """Give the session a title of the user's own."""
        self._log.append("title", text=clean_title(title))

    def clear(self) -> None:
        """Drop the conversation from the log and from the requests; id, recipe and digest stay."""
        self._check_idle()
        self._log.clear()
        if self._conductor is not None:
            self._conductor.last_assembly = None

    async def turn(self, text: str, emit: Emit) -> TurnEnded:
        """Take one message and answer it; raise `TurnRefused` where it is not taken."""
        conductor = self._ready()
        if self._log.history.unknown:
            names = ", ".join(self.unknown_calls)
            raise TurnRefused(
                f"The session broke off while {names} ran and the outcome is unknown; acknowledge that first."
            )
        if not text.strip():
            raise TurnRefused("There is nothing to send.")
        return await self._joined(conductor.run(text, emit))

    async def compact(self, emit: Emit) -> bool:
        """Summarise the older turns now; True where a summary took their place."""
        return await self._joined(self._ready().compact(emit))

    def interrupt(self) -> None:
        """End what runs; a second call while it ends does nothing."""
        if self._task is not None and not self._interrupted:
            self._interrupted = True
            # Behind the first step of the work: cancelled before it, it could not tell how it ended.
            self._task.get_loop().call_soon(self._task.cancel)

    def assemble_preview(self, prompt: str = "") -> Assembly:
        """Return what the next request would carry; looks memory up afresh, sends and records nothing."""
        history = self._log.history
        items = (*history.items(), *((UserItem(prompt),) if prompt else ()))
        blocks, notices = self._context.look_up(prompt, preview=True)
        return self._context.assemble(items, history.summary, turn_blocks=blocks, notices=notices)

    async def close(self) -> None:
        """End what runs, release model and lock; whoever calls it again waits for the same end."""
        first, self._closed = not self._closed, True
        async with self._closing:
            if first:
                await self._close()

    async def _close(self) -> None:
        task = self._task
        self.interrupt()
        if task is not None:
            await asyncio.wait({task}, timeout=_END_SECONDS)
        self._end_with_run()
        self._log.close()
        await asyncio.to_thread(self.surfaces.close)
        if self._parts.model is not None:
            await self._parts.model.close()

    def _end_with_run(self) -> None:
        """Note the end of a task that ends with its process; without a message there was none."""
        task = self._parts.task
        if task is None or not self._log.history.turns or self._log.history.active is not None:
            return
        end = task.exit()
        if end is not None:
            self._log.append("task", **end.as_record())

    def _ready(self) -> Conductor:
        self._check_idle()
        if self._conductor is None:
            raise TurnRefused(self._parts.model_fault)
        return self._conductor

    def _check_idle(self) -> None:
        if self._closed:
            raise TurnRefused("The session is closed.")
        if self._task is not None:
            raise TurnRefused("A turn is running; wait for its end or interrupt it.")

    async def _joined(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work as a task of its own, so that an interrupt reaches it and never its caller."""
        self._interrupted = False
        task = self._task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait({task}, timeout=_END_SECONDS)
            raise
        finally:
            self._task = None
