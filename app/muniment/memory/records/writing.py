"""Carrying out a plan: compared with the disk under the lock, journalled first, written whole or not."""

from __future__ import annotations

from pathlib import Path

from muniment.memory.journal import Journal, Target
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, DeletePlan, StorePlan, StoreRefused
from muniment.memory.records.project import ensure_project, has_project
from muniment.memory.records.scan import ABSENT, open_memory_dir, read_in
from muniment.memory.records.scope import Scope, still_takes_part
from muniment.safety.errors import MunimentError
from muniment.safety.files import digest, ensure_private_dir, remove_file, remove_stale_temps, write_atomic


def commit_plan(
    journal: Journal,
    plan: StorePlan | DeletePlan,
    origin: Origin,
    data: Path,
    tidied: set[Path],
) -> str:
    """Carry out a plan and return the id of its journal entry; `data` is the data directory.

    A directory's mode is put right, and what killed writers left there cleared away, once: `tidied` keeps it.
    Raise `ChangedAfterApproval` where the file is not what was seen, `StoreRefused` where the disk refuses.
    """
    with journal.guard(plan.scope.directory):
        if not still_takes_part(plan.scope, data):
            raise _changed(plan)
        try:
            with open_memory_dir(plan.scope) as memory:
                before = _unchanged(plan, memory)
                if isinstance(plan, DeletePlan) or (memory is not None and _is_ready(plan.scope, tidied)):
                    return _carry_out(journal, plan, before, origin, memory)
            _make_ready(plan.scope, tidied)
            with open_memory_dir(plan.scope) as memory:
                return _carry_out(journal, plan, _unchanged(plan, memory), origin, memory)
        except OSError as error:
            raise _not_done(plan, error) from error


def _is_ready(scope: Scope, tidied: set[Path]) -> bool:
    return scope.memory_dir in tidied and (scope.kind == "global" or has_project(scope.directory))


def _make_ready(scope: Scope, tidied: set[Path]) -> None:
    if scope.kind == "project":
        ensure_project(scope.directory)
    ensure_private_dir(scope.memory_dir)
    remove_stale_temps(scope.memory_dir)
    tidied.add(scope.memory_dir)


def _carry_out(
    journal: Journal, plan: StorePlan | DeletePlan, before: bytes | None, origin: Origin, memory: int | None
) -> str:
    after = plan.data if isinstance(plan, StorePlan) else None
    action = "delete" if after is None else "replace" if plan.before is not None else "create"
    with journal.announced(
        Target(
            surface="record",
            action=action,
            scope=plan.scope.kind,
            directory=plan.scope.directory,
            item=plan.path.stem,
            path=plan.path,
        ),
        origin,
        before=before,
        after=after,
    ) as entry:
        try:
            if after is None:
                remove_file(plan.path, dir_fd=memory)
            else:
                write_atomic(plan.path, after, dir_fd=memory)
        except (OSError, MunimentError) as error:
            raise _not_done(plan, error) from error
    return entry


def _unchanged(plan: StorePlan | DeletePlan, memory: int | None) -> bytes | None:
    """Return the bytes that stand in the open directory now if they are those of the plan."""
    reading = ABSENT if memory is None else read_in(memory, plan.path.name)
    now = None if reading.data is None else digest(reading.data)
    if reading.reason or now != plan.digest_before:
        raise _changed(plan)
    return reading.data


def _changed(plan: StorePlan | DeletePlan) -> ChangedAfterApproval:
    return ChangedAfterApproval(f"{plan.path} was changed after approval, nothing written.")


def _not_done(plan: StorePlan | DeletePlan, error: Exception) -> StoreRefused:
    verb = "written" if isinstance(plan, StorePlan) else "deleted"
    return StoreRefused(f"{plan.path} was not {verb}: {_why(error)}.")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error).rstrip(".")
