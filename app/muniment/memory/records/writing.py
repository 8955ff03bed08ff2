"""Carrying out a plan: compared with the disk under the lock, journalled first, written whole or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from muniment.memory.journal import Journal, Target
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, DeletePlan, StorePlan, StoreRefused
from muniment.memory.records.project import ensure_project
from muniment.memory.records.scan import read_copy
from muniment.memory.records.scope import ScopeChain
from muniment.safety.errors import MunimentError
from muniment.safety.files import digest, ensure_private_dir, remove_file, remove_stale_temps, write_atomic


def commit_plan(
    journal: Journal,
    plan: StorePlan | DeletePlan,
    origin: Origin,
    chain: Callable[[], ScopeChain],
    swept: set[Path],
) -> str:
    """Carry out a plan and return the id of its journal entry.

    What killed writers left is cleared away from a directory once, which `swept` keeps.
    Raise `ChangedAfterApproval` where the file is not what was seen, `StoreRefused` where the disk refuses.
    """
    with journal.guard(plan.scope.directory):
        before = _unchanged(plan, chain())
        if isinstance(plan, StorePlan):
            _make_ready(plan, swept)
        return _carry_out(journal, plan, before, origin)


def _make_ready(plan: StorePlan, swept: set[Path]) -> None:
    try:
        if plan.scope.kind == "project":
            ensure_project(plan.scope.directory)
        ensure_private_dir(plan.scope.memory_dir)
        if plan.scope.memory_dir not in swept:
            remove_stale_temps(plan.scope.memory_dir)
            swept.add(plan.scope.memory_dir)
    except OSError as error:
        raise _not_done("written", plan.path, error) from error


def _carry_out(journal: Journal, plan: StorePlan | DeletePlan, before: bytes | None, origin: Origin) -> str:
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
                remove_file(plan.path)
            else:
                write_atomic(plan.path, after)
        except (OSError, MunimentError) as error:
            raise _not_done("deleted" if after is None else "written", plan.path, error) from error
    return entry


def _unchanged(plan: StorePlan | DeletePlan, chain: ScopeChain) -> bytes | None:
    """Return the bytes that stand there now if they are those of the plan."""
    if chain.exclusion(plan.scope.directory) is None:
        reading = read_copy(plan.scope, plan.path.stem)
        now = None if reading.data is None else digest(reading.data)
        if not reading.reason and now == plan.digest_before:
            return reading.data
    raise ChangedAfterApproval(f"{plan.path} was changed after approval, nothing written.")


def _not_done(verb: str, path: Path, error: Exception) -> StoreRefused:
    return StoreRefused(f"{path} was not {verb}: {_why(error)}.")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error).rstrip(".")
